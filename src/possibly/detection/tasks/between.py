"""`until` and `before` of local formulas, for all slices at once.

Here belongs the frequent case of `slices`: goals and bad slices are unions of sets that depend on the
count of one task each, and there are no joint events. Then no slice is looked at singly. A slice has an
undisturbed goal iff it has one of some part of the union, and it is disturbed iff some part disturbs it; so
let the goal depend on the count of task j alone, the bad slices on that of task i alone.

Let l be a slice none of whose successors is a goal, and g the next count of j beyond l that is a goal. Every
goal above l has at least g events of j (one with as many as l would make a successor a goal), so there is one
minimal goal q above l: l with the event g of j and all that it needs. A bad slice strictly between l and q
exists iff

1. some count of i beyond that in l, not beyond that in q, is bad: the least slice with it lies between; or
2. the count of i in l is bad, and an event of another task k is enabled in l and belongs to q.

In case 1 the answer depends on the counts of i and j alone; in case 2, for each k, on the counts of k and j,
together with whether k can move. So both are maps over two counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from possibly.detection.explicit.rowsets import RowAlgebra
from possibly.order.lattice import Lattice

Set = Any
Local = tuple[int, bytes]
"""A task, and a table with a 1 for each of its counts that belongs to the set."""

NEVER = -1


def undisturbed_locals(
    rows: RowAlgebra, lattice: Lattice, goals: Sequence[Local], all_bad: Sequence[Local]
) -> Set:
    """The slices with a strictly later goal and nothing bad strictly between."""
    found = rows.nothing()
    for task, table in goals:
        goal = rows.local(task, bytearray(table))
        quiet = rows.local(task, bytearray(g != NEVER for g in _next(table)))
        for bad in all_bad:
            between = _Between(rows, lattice, (task, table), bad)
            for disturbed in (between.by_later_counts(), between.by_other_tasks()):
                quiet = rows.combined("-", quiet, disturbed)
        at_once = rows.some_next(goal, None)
        found = rows.combined("|", found, rows.combined("|", at_once, quiet))
    return found


class _Between:
    def __init__(self, rows: RowAlgebra, lattice: Lattice, goal: Local, bad: Local) -> None:
        self.rows = rows
        self.lattice = lattice
        self.j, goals = goal
        self.i, self.bad = bad
        self.next_goal = _next(goals)
        self.next_bad = _next(self.bad)
        computation = lattice.computation
        clocks = [computation.initial, *map(computation.clock, computation.trace.events_of[self.j])]
        self.needs = [clocks[g] if g != NEVER else computation.initial for g in self.next_goal]
        """For each count of j: what the next goal needs of every task."""

    def by_later_counts(self) -> Set:
        """Case 1."""
        i, next_goal, next_bad = self.i, self.next_goal, self.next_bad
        if i == self.j:
            pairs = zip(next_goal, next_bad, strict=True)
            return self.rows.local(i, bytearray(NEVER < b < g for g, b in pairs))
        needed = [need[i] for need in self.needs]
        return self._map(i, lambda here, there: NEVER < next_bad[here] <= needed[there])

    def by_other_tasks(self) -> Set:
        """Case 2."""
        rows, full = self.rows, self.rows.everything()
        found = rows.nothing()
        for k in range(len(self.lattice.computation.lengths)):
            if k != self.i:
                moves = rows.combined("&", rows.some_next(full, k), self._belongs(k))
                found = rows.combined("|", found, moves)
        return rows.combined("&", found, rows.local(self.i, bytearray(self.bad)))

    def _belongs(self, k: int) -> Set:
        """Whether the next event of k is needed for the next goal, or is it."""
        if k == self.j:
            return self.rows.local(k, bytearray(g != NEVER for g in self.next_goal))
        needed = [need[k] for need in self.needs]
        return self._map(k, lambda here, there: here < needed[there])

    def _map(self, task: int, holds: Callable[[int, int], bool]) -> Set:
        """The slices where it holds for the counts of this task and of j."""
        lattice = self.lattice
        shift, mask = lattice.shifts[task], lattice.masks[task]
        shift_j, mask_j = lattice.shifts[self.j], lattice.masks[self.j]
        return self.rows.several(
            (task, self.j), lambda cut: holds(cut >> shift & mask, cut >> shift_j & mask_j)
        )


def _next(table: bytes) -> list[int]:
    """For each count the next greater one with a 1 in the table, or NEVER."""
    found, later = [NEVER] * len(table), NEVER
    for count in range(len(table) - 1, -1, -1):
        found[count] = later
        if table[count]:
            later = count
    return found
