"""Sets of slices as rows of bits, for the task logic: the whole lattice, one bit a slice.

Here belongs the algebra that can hold every set. Path operators are single passes over the rows
(`rowsets`, or `compiled` where it was built).

`until` and `before` speak of all slices strictly between two, which is no property of paths. Where the slices
that they look for and those that must not lie between are unions of local ones, `between` has the
answer for all slices at once; everything else is found by the minimal marked slices above each one
(`minimal`). Without the compiled twin two sweeps decide most slices before that: a successor that is a
goal suffices, and a path without bad slices to a goal is necessary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from possibly.detection.explicit.compiled import algebra
from possibly.detection.explicit.laws import LAWS
from possibly.detection.explicit.rowsets import RowAlgebra
from possibly.detection.limits import Budget
from possibly.detection.tasks.between import Local, undisturbed_locals
from possibly.detection.tasks.minimal import Minimal, compiled_undisturbed
from possibly.order.lattice import Lattice

Set = Any


class SliceSets:
    """The algebra of all slices of one lattice."""

    def __init__(self, lattice: Lattice, budget: Budget) -> None:
        self.lattice = lattice
        self.budget = budget
        self.rows: RowAlgebra = algebra(lattice, budget.visit)
        self._full = self.rows.everything()
        self._unions: dict[int, tuple[Set, tuple[Local, ...]]] = {}
        """Which sets are unions of local ones; the set is kept, so its identity stays its own."""

    @property
    def count(self) -> int:
        return self.rows.cuts

    def everything(self) -> Set:
        return self._full

    def nothing(self) -> Set:
        return self.rows.nothing()

    def local(self, task: int, table: bytes) -> Set:
        found = self.rows.local(task, bytearray(table))
        self._unions[id(found)] = found, ((task, table),)
        return found

    def both(self, first: Set, second: Set) -> Set:
        return self.rows.combined("&", first, second)

    def either(self, first: Set, second: Set) -> Set:
        found = self.rows.combined("|", first, second)
        if id(first) in self._unions and id(second) in self._unions:
            parts = (*self._unions[id(first)][1], *self._unions[id(second)][1])
            self._unions[id(found)] = found, parts
        return found

    def outside(self, cuts: Set) -> Set:
        return self.rows.combined("-", self._full, cuts)

    def without(self, first: Set, second: Set) -> Set:
        return self.rows.combined("-", first, second)

    def is_empty(self, cuts: Set) -> bool:
        return not any(cuts)

    def size(self, cuts: Set) -> int:
        if isinstance(cuts, bytearray):
            return int.from_bytes(cuts, "little").bit_count()
        return sum(row.bit_count() for row in cuts)

    def contains(self, cuts: Set, cut: Sequence[int]) -> bool:
        return self.rows.contains(cuts, cut)

    def some_next(self, cuts: Set) -> Set:
        self.budget.look()
        return self.rows.some_next(cuts, None)

    def before(self, cuts: Set) -> Set:
        return self.some_next(self.rows.path(LAWS["EF"], cuts, self._full))

    def never_before(self, cuts: Set) -> Set:
        return self.outside(self.before(cuts))

    def undisturbed(self, goal: Set, bad: Set, within: Set | None) -> Set:
        if id(goal) in self._unions and id(bad) in self._unions and not self.lattice.computation.joint:
            goals, all_bad = self._unions[id(goal)][1], self._unions[id(bad)][1]
            return undisturbed_locals(self.rows, self.lattice, goals, all_bad)
        found = compiled_undisturbed(self.rows, self.lattice, goal, bad, self.budget.look)
        return self._one_by_one(goal, bad, within) if found is None else found

    def _one_by_one(self, goal: Set, bad: Set, within: Set | None) -> Set:
        at_once = self.some_next(goal)
        reaching = self.some_next(self.rows.path(LAWS["EU"], goal, self.outside(bad)))
        free = self.both(self.never_before(bad), self.before(goal))
        sure = self.either(at_once, free)
        open_ = self.without(reaching, sure)
        if within is not None:
            open_ = self.both(open_, within)
        if self.is_empty(open_):
            return sure
        minimal = Minimal(self.rows, self.lattice, goal, self.either(goal, bad), self.budget.visit)
        found = [address for address, cut in self.members(open_) if minimal.has_goal(cut)]
        return self.either(sure, self.collected(found))

    # ---- single slices ------------------------------------------------------------------------------

    def members(self, cuts: Set) -> Iterator[tuple[tuple[int, int], int]]:
        """Each slice of the set, packed, with its address (row and bit)."""
        rows = self.rows
        unit = 1 << self.lattice.shifts[rows.last]
        for row, bits in enumerate(rows.row_bits(cuts)):
            if bits:
                top = rows.latest(row)
                while bits:
                    bit = (bits & -bits).bit_length() - 1
                    bits &= bits - 1
                    yield (row, bit), top - bit * unit

    def collected(self, addresses: Iterable[tuple[int, int]]) -> Set:
        return self.rows.collected(addresses)

    def nearest(self, cuts: Set) -> set[int]:
        """Of the set, the packed slices that the fewest steps lead to."""
        if not self.lattice.computation.joint:
            return self.rows.nearest(cuts)
        for level in self.lattice.levels():
            hits = {cut for cut in level if self.rows.contains(cuts, self.lattice.unpack(cut))}
            if hits:
                return hits
        return set()
