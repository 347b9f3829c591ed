"""Matches are complete and sound: the leaves of the tree are the matchings that brute force finds."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.control.macro.before import Before
from tests.control.macro.simulated import (
    Program,
    all_matchings,
    explored,
    matchings,
    random_asking,
    random_queues,
    random_ranks,
)

CASES = 40 * int(os.environ.get("POSSIBLY_CASES", "1"))


def same_as_brute_force(program: Program, once: bool = False) -> int:
    tree = explored(program)
    found = matchings(tree)
    if tree.uncontrolled:  # somebody polls too often: nothing false is said, but something may be left out
        assert set(found) <= all_matchings(program)
        assert tree.verdict is not True
    else:
        assert set(found) == all_matchings(program)
    assert not once or len(found) == len(set(found)), "a matching was met twice"
    return len(set(found))


@pytest.mark.parametrize("seed", range(CASES))
def test_every_sender_that_could_match_is_tried_and_no_other(seed: int) -> None:
    same_as_brute_force(random_ranks(Random(seed)), once=True)


@pytest.mark.parametrize("seed", range(CASES))
def test_queues_with_several_senders_and_receivers(seed: int) -> None:
    """Two orders of taking may give one matching."""
    same_as_brute_force(random_queues(Random(f"queues {seed}")))


def asking(seed: int) -> Program:
    return random_asking(Random(f"asking {seed}"))


SMALL = [seed for seed in range(CASES) if sum(map(len, asking(seed).values())) < 14]


@pytest.mark.parametrize("seed", [*SMALL, 366, 969, 2490])
def test_ranks_that_ask_without_waiting(seed: int) -> None:
    """Tests, probes, waits for one of several. The last seeds once found an order that need not be."""
    same_as_brute_force(asking(seed))


def test_a_test_waits_for_what_another_choice_may_bring() -> None:
    """A sends to M only after it has received; M may ask before that or after."""
    program: Program = {
        "A": [("recv", None), ("recv", None), ("send", "M")],
        "B": [("send", "A")],
        "C": [("send", "A")],
        "M": [("post", "A"), ("test", 0), ("wait", 0)],
    }
    assert same_as_brute_force(program) == 4


def test_workers_that_report_to_a_master_arrive_in_every_order() -> None:
    program: Program = {f"W{i}": [("send", "M")] for i in range(4)}
    program["M"] = [("recv", None)] * 4
    assert same_as_brute_force(program, once=True) == 24


def test_a_receive_from_a_named_source_is_no_choice() -> None:
    program: Program = {"A": [("send", "M")], "B": [("send", "M")], "M": [("recv", "B"), ("recv", "A")]}
    assert same_as_brute_force(program, once=True) == 1


def test_a_sender_that_comes_late_is_waited_for() -> None:
    """B's message can only come after C has received; the wildcard of M waits for both."""
    program: Program = {
        "A": [("send", "M")],
        "B": [("recv", "C"), ("send", "M")],
        "C": [("recv", None), ("send", "B")],
        "D": [("send", "C")],
        "M": [("recv", None), ("recv", None)],
    }
    assert same_as_brute_force(program, once=True) == 2


def test_a_message_that_needs_the_receive_is_not_offered_to_it() -> None:
    program: Program = {
        "A": [("send", "M"), ("recv", "M"), ("send", "M")],
        "M": [("recv", None), ("send", "A"), ("recv", None)],
    }
    assert same_as_brute_force(program, once=True) == 1


def test_a_posted_receive_is_served_before_a_later_one() -> None:
    program: Program = {
        "A": [("send", "M"), ("send", "M")],
        "M": [("post", None), ("post", None), ("wait", 1), ("wait", 0)],
    }
    assert matchings(explored(program)) == [(frozenset({("M?1", "A#1"), ("M?2", "A#2")}), "finished")]


def test_tags_let_a_message_be_overtaken() -> None:
    program: Program = {
        "A": [("send", "M", "0"), ("send", "M", "1")],
        "M": [("recv", None, "1"), ("recv", None, None)],
    }
    assert matchings(explored(program)) == [(frozenset({("M?1", "A#2"), ("M?2", "A#1")}), "finished")]


def test_finding_nothing_too_often_is_left_out_and_leaves_the_answer_open() -> None:
    program: Program = {"A": [("put", "Q")], "B": [("try", "Q")] * 4}
    tree = explored(program)
    assert tree.uncontrolled == ["B polls: it was let find nothing 3 times in a row"]
    assert tree.verdict is None
    assert len(all_matchings(program)) == len(matchings(tree)) + 1


def test_a_poll_too_many_leaves_the_answer_open_even_if_nothing_is_left_out() -> None:
    """The message need not have entered the bounded queue: that branch has the fourth nothing."""
    program: Program = {"A": [("put", "R", 2), *[("try", "Q")] * 4], "B": [("put", "Q", 2), ("get", "R")]}
    tree = explored(program)
    assert set(matchings(tree)) == all_matchings(program)
    assert tree.verdict is None


def test_two_queues_cannot_contradict_each_other() -> None:
    """a before b in Q and d before c in R cannot both be: each process puts into the one after the other."""
    program: Program = {
        "A": [("put", "R"), ("put", "Q")],
        "B": [("put", "Q"), ("put", "R")],
        "C": [("get", "Q"), ("get", "Q")],
        "D": [("get", "R"), ("get", "R")],
    }
    assert same_as_brute_force(program) == 3


def test_a_rendezvous_without_its_partner_is_a_deadlock() -> None:
    tree = explored({"A": [("ssend", "B")], "B": [("ssend", "A")]})
    assert [leaf.end for leaf in tree.leaves] == ["deadlock"]
    assert tree.verdict is False


def test_before_is_reflexive_and_transitive() -> None:
    before = Before()
    first = before.event()
    second = before.event(first)
    third = before.event(second)
    assert before.holds(first, third)
    assert before.holds(first, first)
    assert not before.holds(third, first)
