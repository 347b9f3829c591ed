"""Events that are alike: fewer readings, the same answers; and the limits that are told in time."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.logic.paths.alike import Class, canonical, change, choices, joined, renumbered, split
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine, TooMuchError
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.run import Run
from possibly.logic.source import Source
from tests.logic.paths.languages import Pomset, language, linearised
from tests.logic.paths.languages import plain as called
from tests.logic.paths.test_alternatives import fed

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
OPEN = "((a@; b) & c)@"
"""No order tells which copy an a belongs to, and which c."""


def machine(text: str, tells: bool = False) -> Machine:
    return Machine(compiled(parse_path(Source(text))), tells)


def test_eight_concurrent_events_have_as_many_readings_as_eight_has_partitions() -> None:
    plain, fast = Run(machine(OPEN, tells=True)), Run(machine(OPEN))
    for event in range(8):
        assert plain.feed(event, (0,)) and fast.feed(event, (0,))
    assert plain.state is not None and fast.state is not None
    assert (len(plain.state.readings), len(fast.state.readings)) == (4140, 22)
    for number, group in enumerate([[0, 5], [7], [1, 2, 3, 4, 6]]):
        assert fast.feed(8 + number, (1,), group)
        assert not fast.is_complete and fast.feed(11 + number, (2,))
    assert fast.is_complete and not fast.copy().feed(20, (1,), [7])


def grown(random: Random) -> Pomset:
    """Some concurrent events, and others after a few of them: much that is alike, and is told apart later."""
    first = random.randint(1, 5)
    labels = [random.choice("ab") for _ in range(first)]
    order: set[tuple[int, int]] = set()
    for event in range(first, first + random.randint(0, 4)):
        labels.append(random.choice("abc"))
        for before in random.sample(range(first), random.randint(0, min(2, first))):
            order.add((before, event))
    return Pomset(tuple(labels), frozenset(order))


TEXTS = [
    "(a@; b)@", "(a & b)@", "((a & b); c)@", "(a; b + a)@; c", "((a@; b) & c)@", "((a + b)@; c)@",
    "(a@ & b@); c",
    "((a & b)@)*", "(a; (b & c))@", "((a; c)@ & b)@", "(a@; b@)@",
    "(a & (b; c)@)@", "(a & a^)@; c", "((a & b) & (b; c))@",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_answers_are_those_of_each_reading_by_itself(text: str) -> None:
    random = Random(text)
    fast, plain = machine(text), machine(text, tells=True)
    names = {atom.text.rstrip("^") for atom in fast.expression.symbols}
    members = sorted({called(each) for each in language(fast.expression.expression.root, 5)}, key=repr)
    tried = random.sample(members, min(len(members), 30 * CASES))
    tried += [each for _ in range(60 * CASES) if names.issuperset((each := grown(random)).labels)]
    complete = 0
    for pomset in (linearised(random, each) for each in tried):
        found = fed(fast, pomset)
        assert found == fed(plain, pomset), pomset
        complete += found[1]
    assert complete >= len(members[: 30 * CASES])


def test_classes_are_split_by_what_comes_after_some_of_them() -> None:
    key = ((0,), (), ())
    classes = joined(joined(joined((), 0, key), 1, key), 2, ((1,), (), ()))
    assert [each.members for each in classes] == [0b011, 0b100]
    assert split(classes, 0b001) == (Class(0b001, None), Class(0b010, key), classes[1])
    assert renumbered(classes, {1: 0, 2: 1}, {}) == (Class(0b01, key), Class(0b10, ((1,), (), ())))
    assert renumbered((Class(0b10, ((0,), (0,), ())),), {1: 0}, {}) == (Class(0b1, None),)
    assert change(classes, (0,), (1,)) == {0: 1, 1: 0, 2: 2}
    assert change(classes, (0,), (2,)) is None and change(classes, (0, 1), (0,)) is None
    assert sorted(choices(classes, (0, 2))) == [(0, 2), (1, 2)]
    assert canonical((1, (1,)), classes) == canonical((1, (0,)), classes)


def test_a_run_that_can_be_read_in_too_many_ways_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.logic.paths.machine.MOST_READINGS", 100)
    run = Run(machine(OPEN))
    with pytest.raises(TooMuchError, match="the run so far can be read in more than 100 ways"):
        for event in range(40):
            run.feed(event, (0,))


def test_the_clock_is_looked_at_while_a_move_is_computed() -> None:
    class StopError(Exception):
        pass

    def look() -> None:
        looks.append(1)
        if len(looks) > 50:
            raise StopError

    looks: list[int] = []
    made = machine(OPEN)
    made.look = look
    run = Run(made)
    with pytest.raises(StopError):
        for event in range(40):
            run.feed(event, (0,))
