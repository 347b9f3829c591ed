"""`until` and `before` of any sets of slices, by the minimal marked slices above each one.

Here belongs the general case of `slices`. Let X be the slices of the goal together with the bad ones. A
slice has an undisturbed later goal iff one of the minimal elements of X strictly above it is a goal: below a
goal with nothing bad between lies a minimal goal with nothing of X between, and the other way round. The
minimal elements above a slice are those above its successors (or these themselves), so they are found by one
pass from the later slices to the earlier ones. How many there are at once depends on the sets: for a union of
k conjunctions at most k for each task; so the pass is linear in the slices times that number.

`Minimal` visits the slices one by one as they are asked for; `_between.c`, its compiled twin, all of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import le
from types import ModuleType
from typing import Any

from possibly.compiled import built
from possibly.detection.explicit.compiled import CompiledRows
from possibly.detection.explicit.rowsets import PlainRows, RowAlgebra
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice

Set = Any
MOST_PLACES, MOST_BITS = 64, 64
"""What the compiled twin can hold: processes, and bits of the counts of all but one."""


def kernels() -> ModuleType | None:
    """The compiled module, if it was built."""
    return built("possibly.detection.tasks._between")


class Minimal:
    """The minimal elements of a set above a slice, with answers kept."""

    def __init__(
        self, rows: RowAlgebra, lattice: Lattice, goal: Set, marked: Set, visit: Callable[[], None]
    ) -> None:
        self.rows = rows
        self.lattice = lattice
        self.goal = goal
        self.marked = marked
        self.visit = visit
        self._above: dict[int, tuple[int, ...]] = {}
        self._is_marked: dict[int, bool] = {}

    def has_goal(self, cut: int) -> bool:
        unpack = self.lattice.unpack
        return any(self.rows.contains(self.goal, unpack(found)) for found in self.above(cut))

    def marks(self, cut: int) -> bool:
        if cut not in self._is_marked:
            self._is_marked[cut] = self.rows.contains(self.marked, self.lattice.unpack(cut))
        return self._is_marked[cut]

    def above(self, cut: int) -> tuple[int, ...]:
        known, lattice = self._above, self.lattice
        stack = [(cut, list(lattice.successors(cut)))]
        while stack:
            here, following = stack[-1]
            if here in known:
                stack.pop()
                continue
            missing = [later for later in following if later not in known and not self.marks(later)]
            if missing:
                stack.extend((later, list(lattice.successors(later))) for later in missing)
                continue
            self.visit()
            found: set[int] = set()
            for later in following:
                found.update((later,) if self.marks(later) else known[later])
            known[here] = self._least(found)
            stack.pop()
        return known[cut]

    def _least(self, cuts: set[int]) -> tuple[int, ...]:
        if len(cuts) < 2:
            return tuple(cuts)
        unpack = self.lattice.unpack
        found: list[tuple[int, tuple[int, ...]]] = []
        for _, counts, cut in sorted([(sum(c := unpack(cut)), c, cut) for cut in cuts]):
            if not any(all(map(le, less, counts)) for _, less in found):
                found.append((cut, counts))
        return tuple([cut for cut, _ in found])


# ---- the compiled twin ------------------------------------------------------------------------------


def compiled_undisturbed(
    rows: RowAlgebra, lattice: Lattice, goal: Set, bad: Set, look: Callable[[], None]
) -> Set | None:
    """The slices with a later goal and nothing bad between, or None where the kernel cannot hold them."""
    kernel = kernels()
    computation = lattice.computation
    if kernel is None or not isinstance(rows, CompiledRows | PlainRows) or not computation.lengths:
        return None
    order = [*_prefix(rows), rows.last]
    shifts, width = _shifts(computation, order)
    if len(order) - 1 > MOST_PLACES or width > MOST_BITS:
        return None
    marked = rows.combined("|", goal, bad)
    flat = _flat_rows(rows, shifts)
    fields = array("q")
    for process in order[:-1]:
        fields.extend((shifts[process], (1 << (computation.lengths[process] + 1).bit_length()) - 1))
    deltas, alongs = _steps(computation, order, shifts)
    found: bytearray = kernel.undisturbed(
        flat,
        fields,
        array("i", [computation.lengths[process] for process in order]),
        deltas,
        alongs,
        _flat_set(rows, flat[3], goal),
        _flat_set(rows, flat[3], marked),
        lambda slices: look(),
    )
    return found if isinstance(rows, CompiledRows) else _rows_of(flat[3], found)


def _prefix(rows: CompiledRows | PlainRows) -> Sequence[int]:
    return rows.prefix if isinstance(rows, CompiledRows) else rows.rows.prefix


def _shifts(computation: Computation, order: Sequence[int]) -> tuple[dict[int, int], int]:
    """Where the counts stand in the key of a row: the first process in the highest bits."""
    found, width = {}, 0
    for process in reversed(order[:-1]):
        found[process] = width
        width += (computation.lengths[process] + 1).bit_length()
    return found, width


def _flat_rows(rows: CompiledRows | PlainRows, shifts: dict[int, int]) -> tuple[Any, Any, Any, Any]:
    """Keys, low and high counts and offsets of the rows."""
    if isinstance(rows, CompiledRows):
        return rows.rows
    plain, offset = rows.rows, array("Q", [0])
    places = [shifts[process] for process in plain.prefix]
    keys = array("Q", [sum(map(int.__lshift__, counts, places)) for counts in plain.prefixes])
    for low, high in zip(plain.low, plain.high, strict=True):
        offset.append(offset[-1] + high - low + 1)
    return keys, plain.low, plain.high, offset


def _steps(
    computation: Computation, order: Sequence[int], shifts: dict[int, int]
) -> tuple[tuple[array[int], ...], tuple[array[int], ...]]:
    """For each process and count, what the next step that it leads adds to key and last count."""
    deltas, alongs = [], []
    for process in order:
        delta, along = array("Q"), array("b")
        for count in range(computation.lengths[process]):
            event = computation.at(process, count + 1)
            is_leading = computation.step(event) == event
            taking_part = [computation.trace.process[line] for line in computation.events(event)]
            delta.append(sum(1 << shifts[each] for each in taking_part if each != order[-1]))
            along.append((order[-1] in taking_part) if is_leading else -1)
        delta.append(0)
        along.append(-1)
        deltas.append(delta)
        alongs.append(along)
    return tuple(deltas), tuple(alongs)


def _flat_set(rows: CompiledRows | PlainRows, offset: Any, cuts: Set) -> bytearray:
    """A bit a slice, rows end to end, bit 0 of a row first."""
    if isinstance(rows, CompiledRows):
        found: bytearray = cuts
        return found
    flat = bytearray(offset[-1] // 8 + 9)
    for bits, first in zip(cuts, offset, strict=False):
        if bits:
            data = (bits << (first & 7)).to_bytes((bits.bit_length() + 14) // 8, "little")
            start = first >> 3
            flat[start : start + len(data)] = bytes(map(int.__or__, flat[start : start + len(data)], data))
    return flat


def _rows_of(offset: Any, flat: bytearray) -> list[int]:
    found = []
    for row in range(len(offset) - 1):
        first, end = offset[row], offset[row + 1]
        bits = int.from_bytes(flat[first >> 3 : (end + 7) >> 3], "little") >> (first & 7)
        found.append(bits & ((1 << end - first) - 1))
    return found
