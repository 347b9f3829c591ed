"""Reads that can no longer get what they got: a configuration in which there is one leads nowhere.

A read has a hope in a state if operations that build on the state (an append) may still lead to what it
read. Without a hope it needs an operation that sets the state anew (a write), may still happen before the
read returns, and sets one in which the read has a hope. Here it is found out before the search, for every
return, which reads to watch and which operations could help them. Where there are too many to look through,
help is assumed: a watch less costs time, never an answer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from possibly.detection.histories.models import Move

AHEAD = 3
"""Reads that are watched before they are called."""
MOST_HELPERS = 64
"""Operations that are looked through for one watch."""


@dataclass(frozen=True, slots=True)
class Overlapping:
    """An operation of a part: the moments of its call and of its return (None: unknown), and what it does."""

    called: int
    returned: int | None
    move: Move


@dataclass(frozen=True, slots=True)
class Watch:
    """A read at a return, and what could help it."""

    bit: int
    """Of the read, 0 if it is not called yet."""
    hope: Callable[[Any], bool]
    helpers: int
    """Bits of operations with a known return, of which one that is not in order yet helps."""
    unknown: int
    """The same for operations whose return is unknown."""

    def is_lost(self, done: int, used: int, state: object) -> bool:
        return not (done & self.bit or self.helpers & ~done or self.unknown & ~used or self.hope(state))


class Lookahead:
    """The watches of a part."""

    def __init__(self, operations: Sequence[Overlapping]) -> None:
        self._operations = operations
        self._calls = sorted(range(len(operations)), key=lambda number: operations[number].called)
        self._called = [operations[number].called for number in self._calls]
        self._reads = sorted(
            (each.called, number)
            for number, each in enumerate(operations)
            if each.move.hope is not None and each.returned is not None
        )

    def watches(
        self, returned: int, active: Mapping[int, int], unknown: Iterable[tuple[int, int]]
    ) -> tuple[Watch, ...]:
        """At this return, with the bits of the operations that overlap it and of the unknown ones."""
        if not self._reads:
            return ()
        first = bisect_right(self._reads, (returned, -1))
        coming = [(number, 0) for _, number in self._reads[first : first + AHEAD]]
        possible = list(unknown)
        reads = [pair for pair in active.items() if self._operations[pair[0]].move.hope is not None]
        found = (self._watch(*read, returned, active, possible) for read in (*reads, *coming))
        return tuple(watch for watch in found if watch is not None)

    def _watch(
        self,
        number: int,
        bit: int,
        returned: int,
        active: Mapping[int, int],
        unknown: Sequence[tuple[int, int]],
    ) -> Watch | None:
        """None if an operation that is called later may help, or there are too many to know."""
        read = self._operations[number]
        hope, end = read.move.hope, read.returned
        assert hope is not None and end is not None, "only reads with a result are watched"
        later = range(bisect_left(self._called, returned), bisect_left(self._called, end))
        if len(later) + len(unknown) > MOST_HELPERS:
            return None
        if any(self._helps(self._calls[each], hope) for each in later):
            return None
        helpers = sum(mark for each, mark in active.items() if self._helps(each, hope))
        return Watch(bit, hope, helpers, sum(mark for each, mark in unknown if self._helps(each, hope)))

    def _helps(self, number: int, hope: Callable[[Any], bool]) -> bool:
        sets = self._operations[number].move.sets
        return sets is not None and hope(sets[0])
