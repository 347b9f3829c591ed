"""Equal values are told alike, whatever else differs; values that differ are not."""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest

from possibly.control.execution import Choice, Outcome, Step
from possibly.control.joining.frames import Unreadable
from possibly.control.joining.values import Words
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.things import Things


class First:
    def choose(self, choice: Choice) -> str:
        return choice.enabled[0]

    def done(self, step: Step) -> None:
        pass


def told(*values: Any) -> list[Any]:
    def stuck(_: Kernel) -> tuple[Outcome, None]:
        return Outcome.DEADLOCK, None

    words = Words(Kernel(First(), lambda *_: exit(), stuck), Things())
    words.all("values", values)
    return words.said


def shared() -> Any:
    one: list[int] = []
    return [one, one]


def moved(count: int) -> Any:
    found = iter([1, 2, 3])
    for _ in range(count):
        next(found)
    return found


VALUES: tuple[Any, ...] = (
    0, 1, True, False, None, "", "1", b"1", 1.0, -0.0, 0.0, 1j, (), (1,), ((1,),), [], [1], [[1]], [1, 2],
    [2, 1], {}, {1: 2}, {2: 1}, {1: 2, 3: 4}, {3: 4, 1: 2}, {1}, {1, 2}, frozenset({1}), deque([1]),
    deque([1], 3), defaultdict(list), defaultdict(int), Counter("a"), OrderedDict(a=1), bytearray(b"1"),
    range(3), range(4), slice(1), slice(2), moved(0), moved(1), shared(), [[], []], len, print,
    [].append, [1].append, told, shared, lambda: 0, int, list, object(), Ellipsis, enumerate([1]), itertools,
)  # fmt: skip


def test_different_values_are_told_differently() -> None:
    found = [repr(told(each)) for each in VALUES]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("make", [shared, lambda: moved(2), lambda: {1: [2]}, lambda: deque([[1]])])
def test_equal_values_are_told_alike(make: Any) -> None:
    assert told(make(), make()) == told(make(), make())
    assert told(make()) == told(make())


def test_what_goes_round_is_told() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert told(ring) == ["values", 1, "list", 1, "again", 0]


@pytest.mark.parametrize("value", [itertools.count(), (n for n in [1]), iter({}), {object()}, map(abs, [])])
def test_what_hides_its_state_is_not_read(value: Any) -> None:
    with pytest.raises(Unreadable):
        told(value)
