"""Claims against the clauses of finite LTL: on every prefix, over all continuations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from possibly.logic.ltl.claims import ClaimMonitor, Truth, conjuncts_of
from possibly.logic.parser import parse
from possibly.logic.syntax import Name, Node
from tests.logic.ltl.test_progression import LETTERS, Word, holds, random_formula

CASES = 100 * int(os.environ.get("POSSIBLY_CASES", "1"))
CONTINUATIONS = [word for length in range(5) for word in product(LETTERS, repeat=length)]


def names_of(monitor: ClaimMonitor) -> list[str]:
    return [atom.parts[0] for atom in monitor.atoms if isinstance(atom, Name)]


def valuation(monitor: ClaimMonitor, letter: frozenset[str]) -> int:
    return sum((name in letter) << bit for bit, name in enumerate(names_of(monitor)))


def verdicts_along(monitor: ClaimMonitor, word: Word) -> list[tuple[Truth, bool]]:
    """After each letter: the verdict, and that of finite LTL if the word ended there."""
    state, found = 0, []
    for letter in word:
        state = monitor.step(state, valuation(monitor, letter))
        found.append((monitor.verdicts[state], monitor.final(state)))
    return found


def outcomes(formula: Node, prefix: Word) -> set[bool]:
    """The truth on all continuations, until both have been seen."""
    found: set[bool] = set()
    for continuation in CONTINUATIONS:
        found.add(holds([*prefix, *continuation], formula))
        if len(found) == 2:
            break
    return found


def random_claim(random: Random) -> Node:
    texts = [f"({random_formula(random, random.randint(1, 3))})" for _ in range(random.randint(1, 3))]
    return parse(" & ".join(texts), "ltl")


@pytest.mark.parametrize("seed", range(CASES))
def test_a_verdict_is_known_exactly_when_no_continuation_leaves_a_doubt(seed: int) -> None:
    random = Random(seed)
    formula = random_claim(random)
    monitor = ClaimMonitor(formula)
    word = random.choices(LETTERS, k=4)
    for length, (verdict, final) in enumerate(verdicts_along(monitor, word), start=1):
        prefix = word[:length]
        assert final == holds(prefix, formula)
        found = outcomes(formula, prefix)
        assert (found.pop() if len(found) == 1 else None) == verdict, (formula, prefix)


@pytest.mark.parametrize("seed", range(CASES))
def test_a_verdict_never_changes_and_agrees_with_the_end(seed: int) -> None:
    random = Random(f"law {seed}")
    monitor = ClaimMonitor(random_claim(random))
    known: Truth = None
    for verdict, final in verdicts_along(monitor, random.choices(LETTERS, k=20)):
        assert known is None or verdict == known
        assert verdict is None or verdict == final
        known = verdict


@pytest.mark.parametrize("seed", range(CASES))
def test_asking_on_demand_gives_the_same_states_as_whole_valuations(seed: int) -> None:
    random = Random(f"ask {seed}")
    monitor = ClaimMonitor(random_claim(random))
    state = 0
    for letter in random.choices(LETTERS, k=12):
        whole = valuation(monitor, letter)
        following, asked = monitor.ask(state, lambda atom, whole=whole: bool(whole >> atom & 1))  # type: ignore[misc]
        assert following == monitor.step(state, whole)
        assert all(value == bool(whole >> atom & 1) for atom, value in asked.items())
        state = following


def asked(text: str, rounds: Sequence[set[str]]) -> list[list[str]]:
    """The atoms that are asked for in each round."""
    monitor = ClaimMonitor(parse(text, "ltl"))
    state, found = 0, []
    for letter in rounds:
        whole = valuation(monitor, frozenset(letter))
        state, known = monitor.ask(state, lambda atom, whole=whole: bool(whole >> atom & 1))  # type: ignore[misc]
        found.append(sorted(names_of(monitor)[atom] for atom in known))
    return found


def test_what_is_decided_is_not_evaluated_again() -> None:
    assert asked("F a & G b", [{"b"}, {"a", "b"}, {"b"}, set(), {"a", "b"}]) == [
        ["a", "b"],
        ["a", "b"],
        ["b"],
        ["b"],
        [],
    ]


def test_atoms_of_past_operators_are_fetched_in_each_round() -> None:
    """X X would not need `b` before the third round, but O b there does."""
    assert asked("X X (O b)", [set(), set(), set()]) == [["b"], ["b"], ["b"]]
    assert asked("X X b", [set(), set(), set()]) == [[], [], ["b"]]


def test_a_part_is_asked_for_only_as_far_as_it_is_needed() -> None:
    assert asked("G(a -> b)", [set(), {"a", "b"}]) == [["a"], ["a", "b"]]


def test_conjuncts_that_exclude_each_other_are_false_at_once() -> None:
    assert ClaimMonitor(parse("F a & G !a", "ltl")).verdicts == [False]
    assert ClaimMonitor(parse("a | !a", "ltl")).verdicts == [True]


def test_the_claim_of_the_paper() -> None:
    monitor = ClaimMonitor(parse("G(no_lost_message) & G(!empty -> F empty)", "ltl"))
    assert names_of(monitor) == ["no_lost_message", "empty"]
    good = monitor.run([0b11, 0b01, 0b01, 0b11])
    assert monitor.verdicts[good] is None
    assert monitor.final(good)
    never_drained = monitor.run([0b11, 0b01])
    assert monitor.verdicts[never_drained] is None
    assert not monitor.final(never_drained)
    lost = monitor.run([0b11, 0b00])
    assert monitor.verdicts[lost] is False
    assert monitor.run([0b11] * 5, lost) == lost


def test_twelve_responses_need_no_alphabet_of_all_valuations() -> None:
    text = " & ".join(f"G(p{i} -> F q{i})" for i in range(12))
    monitor = ClaimMonitor(parse(text, "ltl"))
    assert len(monitor.atoms) == 24
    random = Random(5)
    state = monitor.run([random.getrandbits(24) for _ in range(200)])
    assert monitor.verdicts[state] is None
    names = names_of(monitor)
    asks = sum(1 << bit for bit, name in enumerate(names) if name.startswith("p"))
    assert not monitor.final(monitor.step(state, asks))
    assert monitor.final(monitor.run([asks, (1 << 24) - 1], state))


def test_conjuncts_however_they_are_nested() -> None:
    assert len(conjuncts_of(parse("(a & (b & F c)) & G d", "ltl"))) == 4
