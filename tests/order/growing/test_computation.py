"""A computation that grows: the same order as off-line whatever the order of arrival, and clear errors."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from possibly.errors import PossiblyError, TraceError, UsageError
from possibly.order.computation import Computation
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from possibly.trace.notation import trace
from tests.detection.online.arrivals import SoFar, growing_like, lines_of
from tests.generate import random_trace

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


class Taken:
    """Remembers what was taken in."""

    def __init__(self, growing: Growing) -> None:
        self.steps: list[Step] = []
        growing.follow(self.steps.append)

    @property
    def names(self) -> list[str]:
        return [line.name for step in self.steps for line in step]


def grown(*lines: dict[str, Any], processes: str = "P Q") -> tuple[Growing, Taken]:
    growing = Growing([(name, {}) for name in processes.split()])
    taken = Taken(growing)
    for fields in lines:
        growing.arrive(fields)
    return growing, taken


# ---- the order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", range(5))
def test_any_order_of_arrival_gives_the_order_of_the_run(batch: int) -> None:
    """Without shared variables nothing depends on the order of the lines."""
    for seed in range(batch * 100_000, batch * 100_000 + 100 * MANY):
        random = Random(seed)
        run = random_trace(random, events=random.randint(0, 12), shared=False)
        growing = growing_like(run)
        so_far = SoFar(growing)
        lines = lines_of(run, random, addressed=random.random() < 0.5)
        random.shuffle(lines)
        for fields in lines:
            growing.arrive(fields)
        growing.finish()
        there, here = Computation(run), so_far.computation
        assert here.lengths == there.lengths == growing.lengths
        for event in range(len(run)):
            place = there.place(event)
            assert here.clock(here.at(*place)) == there.clock(event)


@pytest.mark.parametrize("order", ["causal", "sync"])
def test_the_edges_are_those_of_the_lines_as_they_were_taken_in(order: str) -> None:
    for seed in range(300 * MANY):
        random = Random(seed)
        run = random_trace(random, events=random.randint(0, 12))
        growing = growing_like(run, order)
        so_far, taken = SoFar(growing), Taken(growing)
        lines = lines_of(run, random, addressed=False)
        random.shuffle(lines)
        for fields in lines:
            growing.arrive(fields)
        assert growing.taken == len(run) and not growing.waiting()
        clocks: dict[tuple[int, int], list[int]] = {}
        for step in taken.steps:
            clock = [0] * len(growing.processes)
            own = {line.place for line in step}
            for line in step:
                earlier = [(line.process, line.position - 1)] if line.position > 1 else []
                for place in [*earlier, *line.needs]:
                    if place not in own:
                        clock = list(map(max, clock, clocks[place]))
            for line in step:
                clock[line.process] = line.position
            clocks |= dict.fromkeys(own, clock)
        for place, clock in clocks.items():
            assert so_far.computation.clock(so_far.computation.at(*place)) == tuple(clock)


def test_in_the_order_of_the_lines_nothing_waits() -> None:
    for seed in range(100):
        random = Random(seed)
        run = random_trace(random, events=12, joint=False)
        growing = growing_like(run)
        taken = Taken(growing)
        for fields in lines_of(run, random):
            assert growing.arrive(fields) == 1
        assert taken.names == [run.name(event) for event in range(len(run))]


def test_early_lines_wait_and_say_for_what() -> None:
    growing, taken = grown(
        {"p": "Q", "id": "got", "kind": "receive", "msg": "m"},
        {"p": "P", "k": 2},
        {"p": "Q", "k": 2, "after": ["P:2"]},
    )
    assert taken.names == []
    assert growing.waiting() == [
        ("got", 'the send of "m"'),
        ("Q:2", 'event "Q:1"'),
        ("P:2", 'event "P:1"'),
    ]
    assert growing.arrive({"p": "P", "k": 1, "kind": "send", "msg": "m", "to": "Q"}) == 4
    assert sorted(taken.names) == ["P:1", "P:2", "Q:2", "got"]
    assert growing.waiting() == []
    growing.finish()


def test_without_numbers_lines_of_a_process_arrive_in_its_order() -> None:
    _, taken = grown({"p": "P", "id": "a", "after": ["c"]}, {"p": "P", "id": "b"}, {"p": "Q", "id": "c"})
    assert taken.names == ["c", "a", "b"]
    assert [line.place for step in taken.steps for line in step] == [(1, 1), (0, 1), (0, 2)]


def test_a_joint_event_waits_for_all_its_lines_and_what_they_need() -> None:
    both = {"meet": "m", "parties": ["P", "Q"]}
    growing, taken = grown({"p": "P", **both}, {"p": "Q", "k": 2, **both})
    assert growing.waiting() == [("P:1", 'event "Q:1"'), ("Q:2", 'event "Q:1"')]
    growing.arrive({"p": "Q", "k": 1})
    assert [[line.name for line in step] for step in taken.steps] == [["Q:1"], ["P:1", "Q:2"]]
    assert [line.needs for line in taken.steps[1]] == [((1, 2),), ((0, 1),)]


def test_a_joint_event_names_who_is_missing() -> None:
    growing, _ = grown({"p": "P", "meet": "m", "parties": ["P", "Q"]})
    assert growing.waiting() == [("P:1", 'the part of Q in meet "m"')]


def test_messages_between_the_lines_of_a_joint_event() -> None:
    both = {"meet": "m", "parties": ["P", "Q"]}
    _, taken = grown(
        {"p": "P", "kind": "receive", "msg": "a", **both},
        {"p": "Q", "kind": "send", "msg": "a", "to": "P", **both},
    )
    assert taken.names == ["Q:1", "P:1"]


def test_a_broadcast_is_received_once_by_each() -> None:
    growing, taken = grown(
        {"p": "P", "kind": "receive", "msg": "m"},
        {"p": "Q", "kind": "send", "msg": "m", "to": ["P", "R"]},
        {"p": "R", "kind": "receive", "msg": "m"},
    )
    assert taken.names == ["Q:1", "P:1", "R:1"] and growing.processes == ("P", "Q", "R")
    growing.finish()


def test_conflicting_accesses_are_ordered_as_they_are_taken_in() -> None:
    lines: list[dict[str, Any]] = [
        {"p": "P", "write": {"s": 1}},
        {"p": "Q", "read": "s"},
        {"p": "R", "read": ["s"]},
        {"p": "Q", "read": ["s"]},
        {"p": "P", "write": {"s": 2}},
    ]
    _, taken = grown(*lines, processes="P Q R")
    assert [line.needs for step in taken.steps for line in step] == [
        (),
        ((0, 1),),
        ((0, 1),),
        ((0, 1),),
        ((1, 2), (2, 1)),
    ]


def test_the_notation_agrees() -> None:
    run = trace("P: a send(m) | Q: recv(m) b<a")
    growing = growing_like(run)
    so_far = SoFar(growing)
    for fields in reversed(lines_of(run, Random(1))):
        growing.arrive(fields)
    assert sorted(map(so_far.trace.name, range(4))) == ["P:2", "Q:1", "a", "b"]


# ---- errors -----------------------------------------------------------------------------------------

GOOD: list[dict[str, Any]] = [
    {"p": "P", "id": "a"},
    {"p": "P", "kind": "send", "msg": "m", "to": ["Q"]},
    {"p": "Q", "k": 3, "id": "early"},
    {"p": "P", "k": 4, "meet": "j", "parties": ["P", "Q"]},
]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, '7: an event needs "p"'),
        ({"p": 3}, '7: "p" must be a string'),
        ({"p": "P", "k": 0}, '7: "k" must be a number from 1, found the number 0'),
        ({"p": "P", "k": True}, '"k" must be a number from 1'),
        ({"p": "P", "set": [1]}, '"set" must be an object'),
        ({"p": "P", "after": [1]}, '"after" must be a list of names'),
        ({"p": "P", "msg": "x"}, "an event with msg needs kind send or receive"),
        ({"p": "P", "kind": "enter"}, "an event of kind enter needs fn"),
        ({"p": "P", "kind": "send", "to": ["Q", "Q"]}, '"to" names a process twice'),
        ({"p": "P", "k": 1}, '7: "P:1": event 1 of process "P" has arrived already'),
        ({"p": "P", "id": "P:2"}, 'event 2 of process "P" has arrived already'),
        ({"p": "Q", "k": 3}, 'event 3 of process "Q" has arrived already'),
        ({"p": "Q", "id": "a"}, '7: "a": another event has this name'),
        ({"p": "P", "id": "early"}, '"early": another event has this name'),
        ({"p": "Q", "id": "P:9"}, 'an event of "Q" has the name "P:9" of another'),
        ({"p": "Q", "id": "Q:4", "k": 5}, '"k" is 5, but the name is "Q:4"'),
        ({"p": "Q", "id": "b", "after": ["b"]}, '"after" names the event itself'),
        ({"p": "Q", "meet": "x"}, 'meet "x" needs "parties"'),
        ({"p": "Q", "meet": "x", "parties": ["P"]}, '"parties" must name each process once, the own one too'),
        ({"p": "P", "k": 9, "meet": "j", "parties": ["P", "Q"]}, 'two events of process "P" in meet "j"'),
        ({"p": "Q", "k": 9, "meet": "j", "parties": ["Q", "R"]}, 'the lines of meet "j" disagree'),
    ],
)
def test_a_bad_line_is_an_error_and_changes_nothing(fields: dict[str, Any], message: str) -> None:
    growing, taken = grown(*GOOD)
    before = growing.waiting(), growing.lengths, list(taken.names)
    with pytest.raises(TraceError) as caught:
        growing.arrive(fields, line=7)
    assert message in str(caught.value)
    assert (growing.waiting(), growing.lengths, taken.names) == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"p": "Q", "kind": "send", "msg": "m", "to": ["P"]}, 'message "m" is sent twice'),
        ({"p": "P", "kind": "receive", "msg": "m"}, 'message "m" is received by a process that its send'),
        ({"p": "P", "kind": "exit", "fn": "f"}, 'exit of "f", but no function is open'),
    ],
)
def test_an_error_that_shows_when_the_line_is_taken_in(fields: dict[str, Any], message: str) -> None:
    """The line is left out, and a correct one can take its place."""
    growing, taken = grown(*GOOD[:2])
    with pytest.raises(TraceError) as caught:
        growing.arrive(fields, line=3)
    assert message in str(caught.value) and str(caught.value).startswith("3: ")
    assert growing.arrive({"p": fields["p"]}) == 1
    assert len(taken.names) == 3


def test_a_second_receive_and_a_wrong_exit() -> None:
    growing, _ = grown(
        *GOOD[:2], {"p": "Q", "kind": "receive", "msg": "m"}, {"p": "Q", "kind": "enter", "fn": "f"}
    )
    with pytest.raises(TraceError, match='message "m" is received a second time'):
        growing.arrive({"p": "Q", "kind": "receive", "msg": "m"})
    with pytest.raises(TraceError, match='exit of "g", but "f" is the innermost open one'):
        growing.arrive({"p": "Q", "kind": "exit", "fn": "g"})


def test_one_bad_line_does_not_hold_up_the_others_that_waited() -> None:
    growing, taken = grown(
        {"p": "P", "id": "bad", "kind": "receive", "msg": "m"},
        {"p": "Q", "id": "good", "kind": "receive", "msg": "m"},
    )
    with pytest.raises(TraceError, match='"bad": message "m" is received by a process'):
        growing.arrive({"p": "R", "kind": "send", "msg": "m", "to": ["Q"]})
    assert taken.names == ["R:1", "good"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"p": "P", "k": 2}, '5: "P:2" waits for event "P:1", which never arrived'),
        ({"p": "P", "after": ["nowhere"]}, '5: "P:1" waits for event "nowhere", which never arrived'),
        (
            {"p": "P", "kind": "receive", "msg": "x"},
            '5: "P:1" waits for the send of "x", which never arrived',
        ),
        ({"p": "P", "kind": "send", "to": ["X"]}, '5: "to" names the unknown process "X"'),
    ],
)
def test_unknown_references_are_errors_at_the_end(fields: dict[str, Any], message: str) -> None:
    growing, _ = grown()
    growing.arrive(fields, line=5)
    with pytest.raises(TraceError) as caught:
        growing.finish()
    assert str(caught.value) == message


def test_a_cycle_is_found_at_the_end() -> None:
    growing, taken = grown({"p": "P", "id": "a", "after": ["b"]}, {"p": "Q", "id": "b", "after": ["a"]})
    assert taken.names == []
    with pytest.raises(TraceError, match='"a" waits for event "b", which never arrived'):
        growing.finish()


def test_a_meet_that_is_complete_takes_no_more_lines() -> None:
    both = {"meet": "m", "parties": ["P", "Q"]}
    growing, _ = grown({"p": "P", **both}, {"p": "Q", **both})
    with pytest.raises(TraceError, match='meet "m" is complete already'):
        growing.arrive({"p": "R", "meet": "m", "parties": ["R"]})


def test_a_joint_event_that_was_left_out_may_come_again() -> None:
    both = {"meet": "m", "parties": ["P", "Q"]}
    growing, taken = grown({"p": "P", "kind": "exit", "fn": "f", **both})
    with pytest.raises(TraceError, match="no function is open"):
        growing.arrive({"p": "Q", **both})
    assert growing.arrive({"p": "P", **both}) == 0
    assert growing.arrive({"p": "Q", **both}) == 2
    assert taken.names == ["P:1", "Q:1"]


def test_a_message_to_anybody_is_received_once_even_in_a_joint_event() -> None:
    both = {"meet": "m", "parties": ["P", "Q"], "kind": "receive", "msg": "a"}
    growing, _ = grown({"p": "R", "kind": "send", "msg": "a"}, {"p": "P", **both})
    with pytest.raises(TraceError, match='message "a" is received a second time'):
        growing.arrive({"p": "Q", **both})


def test_a_given_name_that_looks_like_a_default_one_does_not_stand_for_an_event() -> None:
    """The process a comes later: its second event still waits for its first, which may not have that name."""
    growing, taken = grown({"p": "P", "id": "a:1"})
    assert growing.arrive({"p": "a", "k": 2}) == 0
    with pytest.raises(TraceError, match='"a:1": another event has this name'):
        growing.arrive({"p": "a", "k": 1})
    assert growing.arrive({"p": "a", "k": 1, "id": "first"}) == 2
    assert taken.names == ["a:1", "first", "a:2"]


def test_the_order_has_a_known_name() -> None:
    with pytest.raises(PossiblyError, match="unknown order 'total'"):
        Growing(order="total")


def test_a_process_stands_in_the_header_once() -> None:
    with pytest.raises(TraceError, match='the header names process "P" twice'):
        Growing([("P", {}), ("P", {})])


def test_messages_in_flight_are_all_that_is_remembered_if_one_wants() -> None:
    growing = Growing([("P", {}), ("Q", {})], remember=False)
    for _ in range(3):
        growing.arrive({"p": "P", "kind": "send", "msg": "m", "to": "Q"})
        growing.arrive({"p": "Q", "kind": "receive", "msg": "m"})
        assert not growing._messages
    assert growing.taken == 6


def test_a_send_whose_channel_is_counted_names_its_receiver() -> None:
    growing, _ = grown()
    growing.addressed.add("P")
    with pytest.raises(TraceError, match='the send needs "to"'):
        growing.arrive({"p": "P", "kind": "send", "msg": "m"})
    assert growing.arrive({"p": "Q", "kind": "send", "msg": "m"}) == 1


def test_followers_come_before_the_first_event() -> None:
    growing, _ = grown({"p": "P"})
    with pytest.raises(UsageError, match="from its first event on"):
        Taken(growing)
