"""Sets of cuts as rows of bits, in plain Python: what `sweep` computes with.

Here belongs each operation on sets of cuts of one lattice; `compiled` is the same in C, and the two are
tested against each other.

Theory of operation. A row of cuts is one integer, bit 0 the latest cut (see `order.rows`). An operator over
paths has the law value = now | while & (some or every successor's value). The successors along the other
processes are whole rows, shifted into place; the successor along the last process is the next lower bit,
and the law along a row is: from the seeds spread to higher bits as long as `while` holds. An addition does
that for all bits at once, its carry running through the ones of `while`. So the cost is a few operations
on integers for a row and a process, whatever the length of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from possibly.detection.explicit.laws import Law
from possibly.order.lattice import Lattice
from possibly.order.predicate import Holds
from possibly.order.rows import NO_ROW, Rows

Set = Any
"""A set of cuts, in the form of the algebra that made it."""


class RowAlgebra(Protocol):
    """Operations on sets of cuts of one lattice."""

    cuts: int
    last: int
    """The process along which a row runs."""
    bytes: int
    """Memory of the lattice's structure, without any set."""

    def latest(self, row: int) -> int:
        """The packed cut of a row's bit 0: the one with the high count."""

    def everything(self) -> Set: ...

    def nothing(self) -> Set: ...

    def local(self, process: int, table: bytearray) -> Set:
        """The cuts whose count of that process has its byte set in the table."""

    def several(self, support: Sequence[int], holds: Holds) -> Set:
        """The cuts where `holds`, which depends on the counts of those processes, is true."""

    def combined(self, operator: str, first: Set, second: Set) -> Set:
        """`&`, `|`, `^`, or `-` for the first without the second."""

    def some_next(self, cuts: Set, process: int | None) -> Set:
        """The cuts with a successor in the set; by a step of that process, if one is given."""

    def path(self, law: Law, now: Set, meanwhile: Set) -> Set:
        """value = now | while & (some or every successor's value)."""

    def row_bits(self, cuts: Set) -> Iterator[int]:
        """The set row by row, each as an integer whose bit 0 is the latest cut."""

    def collected(self, addresses: Iterable[tuple[int, int]]) -> Set:
        """The set of the cuts at these places: row and bit."""

    def contains(self, cuts: Set, cut: Sequence[int]) -> bool: ...

    def nearest(self, cuts: Set) -> set[int]:
        """Of the set, the packed cuts with the fewest events."""


class PlainRows:
    """Sets are lists with an integer a row."""

    def __init__(self, lattice: Lattice, visit: Callable[[int], None]) -> None:
        self.lattice = lattice
        self.rows = Rows(lattice.computation, visit)
        self.cuts = self.rows.cuts
        self.last = self.rows.last
        self.bytes = self.rows.bytes
        sizes = zip(self.rows.low, self.rows.high, strict=True)
        self.full = [(1 << high - low + 1) - 1 for low, high in sizes]

    def everything(self) -> list[int]:
        return list(self.full)

    def nothing(self) -> list[int]:
        return [0] * len(self.full)

    def combined(self, operator: str, first: list[int], second: list[int]) -> list[int]:
        pairs = zip(first, second, strict=True)
        match operator:
            case "&":
                return [a & b for a, b in pairs]
            case "|":
                return [a | b for a, b in pairs]
            case "^":
                return [a ^ b for a, b in pairs]
        return [a & ~b for a, b in pairs]

    def row_bits(self, cuts: list[int]) -> Iterator[int]:
        return iter(cuts)

    def collected(self, addresses: Iterable[tuple[int, int]]) -> list[int]:
        found = self.nothing()
        for row, bit in addresses:
            found[row] |= 1 << bit
        return found

    def contains(self, cuts: list[int], cut: Sequence[int]) -> bool:
        row = self.rows.row_of(cut)
        return bool(cuts[row] >> self.rows.high[row] - cut[self.rows.last] & 1)

    def nearest(self, cuts: list[int]) -> set[int]:
        rows = self.rows
        least, found = len(self.lattice.computation.trace) + 1, set[int]()
        for row, here in enumerate(cuts):
            if here:
                count = rows.high[row] - here.bit_length() + 1
                level = sum(rows.prefixes[row]) + count
                if level < least:
                    least, found = level, set()
                if level == least:
                    found.add(self._packed(row, count))
        return found

    def latest(self, row: int) -> int:
        return self._packed(row, self.rows.high[row])

    def _packed(self, row: int, count: int) -> int:
        prefix = zip(self.rows.prefix, self.rows.prefixes[row], strict=True)
        shifts = self.lattice.shifts
        return sum(n << shifts[process] for process, n in prefix) + (count << shifts[self.rows.last])

    # ---- predicates -----------------------------------------------------------------------------

    def local(self, process: int, table: bytearray) -> list[int]:
        if process != self.rows.last:
            place = self.rows.prefix.index(process)
            pairs = zip(self.full, self.rows.prefixes, strict=True)
            return [full if table[counts[place]] else 0 for full, counts in pairs]
        length = len(table) - 1
        whole = sum(1 << length - count for count, truth in enumerate(table) if truth)
        return [whole >> length - high & full for full, high in zip(self.full, self.rows.high, strict=True)]

    def several(self, support: Sequence[int], holds: Holds) -> list[int]:
        """At each cut, or once a row if the last process does not matter."""
        rows, unit = self.rows, 1 << self.lattice.shifts[self.rows.last]
        if rows.last not in support:
            starts = (self._packed(row, rows.low[row]) for row in range(len(rows)))
            return [full if holds(cut) else 0 for full, cut in zip(self.full, starts, strict=True)]
        places = [index for index, process in enumerate(rows.prefix) if process in support]
        known: dict[tuple[int, ...], int] = {}
        found: list[int] = []
        for row, (low, high) in enumerate(zip(rows.low, rows.high, strict=True)):
            key = (low, high, *[rows.prefixes[row][place] for place in places])
            if key not in known:
                first = self._packed(row, low)
                cuts = range(first, first + (high - low) * unit + 1, unit)
                known[key] = int("".join("1" if holds(cut) else "0" for cut in cuts), 2)
            found.append(known[key])
        return found

    # ---- operators ------------------------------------------------------------------------------

    def some_next(self, cuts: list[int], process: int | None) -> list[int]:
        found: list[int] = []
        for row, full in enumerate(self.full):
            here = cuts[row] << 1 if process is None or process == self.rows.last else 0
            for place, target in self._targets(row):
                if process is None or process in self.rows.step_processes(row, place):
                    here |= self._shifted(cuts[target], row, target)
            for crossing in self.rows.crossings.get(row, ()):
                if process is None or process in crossing.processes:
                    here |= self._crossed(cuts, row, crossing.target, crossing.count)
            found.append(here & full)
        return found

    def path(self, law: Law, now: list[int], meanwhile: list[int]) -> list[int]:
        value = self.nothing()
        for row in range(len(self.full) - 1, -1, -1):
            sources = self._every if law.every else self._some
            seeds, through = sources(row, value, meanwhile[row], law)
            seeds |= now[row]
            # The carry of the addition runs from each seed through the ones of `through` above it.
            start = seeds << 1 & through
            value[row] = (seeds | start | ((through + start) ^ through) & through) & self.full[row]
        return value

    def _some(self, row: int, value: list[int], meanwhile: int, law: Law) -> tuple[int, int]:
        """Seeds: a successor in another row has it. It spreads through `while`."""
        others = 1 if law.at_end and row == len(value) - 1 else 0
        for _, target in self._targets(row):
            others |= self._shifted(value[target], row, target)
        for crossing in self.rows.crossings.get(row, ()):
            others |= self._crossed(value, row, crossing.target, crossing.count)
        return others & meanwhile, meanwhile

    def _every(self, row: int, value: list[int], meanwhile: int, law: Law) -> tuple[int, int]:
        """It spreads through cuts all of whose successors in other rows have it.

        The one seed is the lowest bit, which has no successor in this row: if it has one in another row, or
        is the final cut and that counts.
        """
        full = self.full[row]
        failing = some = 0
        for _, target in self._targets(row):
            there = self._shifted(self.full[target], row, target) & full
            failing |= there & ~self._shifted(value[target], row, target)
            some |= there
        for crossing in self.rows.crossings.get(row, ()):
            there = self._crossed(self.full, row, crossing.target, crossing.count)
            failing |= there & ~self._crossed(value, row, crossing.target, crossing.count)
            some |= there
        through = meanwhile & ~failing
        final = 1 if law.at_end and row == len(value) - 1 else 0
        return through & 1 & (some | final), through

    def _targets(self, row: int) -> Iterator[tuple[int, int]]:
        for place, following in enumerate(self.rows.following):
            if following[row] != NO_ROW:
                yield place, following[row]

    def _shifted(self, bits: int, row: int, target: int) -> int:
        """The bits of the target row, moved to where the same counts stand in this row."""
        shift = self.rows.high[target] - self.rows.high[row]
        return bits >> shift if shift >= 0 else bits << -shift

    def _crossed(self, cuts: list[int], row: int, target: int, count: int) -> int:
        """The bit of a joint event's target, at the one cut of this row from which it leads there."""
        high = self.rows.high
        inside = self.rows.low[row] <= count - 1 <= high[row]
        return (cuts[target] >> high[target] - count & 1) << high[row] - count + 1 if inside else 0
