"""Sets of cuts as rows of bits, in C: the compiled twin of `rowsets.PlainRows`.

Here belongs the calling of the kernels in `_rows.c`, which is built when a compiler is there and otherwise
left out. It takes lattices without joint events, of 2 to 64 processes whose counts fit into 64 bits;
`algebra` falls back to plain Python for all others.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from types import ModuleType
from typing import Literal

from possibly.compiled import built
from possibly.detection.explicit.laws import Law
from possibly.detection.explicit.rowsets import PlainRows, RowAlgebra
from possibly.order.lattice import Lattice
from possibly.order.predicate import Holds
from possibly.order.rows import bounds, row_order

LARGEST_MAP = 1 << 26
"""Bytes of the largest table over the counts of several processes."""

MAX_PROCESSES = 64


def kernels() -> ModuleType | None:
    """The compiled module, if it was built."""
    return built("possibly.detection.explicit._rows")


def algebra(lattice: Lattice, visit: Callable[[int], None]) -> RowAlgebra:
    """The fastest algebra that can hold the lattice."""
    compiled = kernels()
    if compiled is None or lattice.computation.joint:
        return PlainRows(lattice, visit)
    lengths = lattice.computation.lengths
    width = sum((length + 1).bit_length() for length in lengths)
    if not 2 <= len(lengths) <= MAX_PROCESSES or width - min((n + 1).bit_length() for n in lengths) > 64:
        return PlainRows(lattice, visit)
    return CompiledRows(lattice, visit, compiled)


class CompiledRows:
    """Sets are byte arrays with a bit a cut."""

    def __init__(self, lattice: Lattice, visit: Callable[[int], None], kernel: ModuleType) -> None:
        self.lattice = lattice
        self.kernel = kernel
        computation = lattice.computation
        order = row_order(computation)
        self.last, self.prefix = order[-1], tuple(order[:-1])
        self._fields: dict[int, tuple[int, int]] = {}
        width = 0
        for process in reversed(self.prefix):
            bits = (computation.lengths[process] + 1).bit_length()
            self._fields[process] = (width, (1 << bits) - 1)
            width += bits
        shifts = array("i", [self._fields[process][0] for process in self.prefix])
        needs, allows = bounds(computation, order)
        flat = [[_flat(table) for table in part] for part in (needs, allows)]
        lengths = array("i", [computation.lengths[process] for process in order])
        self.planes: tuple[bytearray, ...] = kernel.enumerate(lengths, shifts, *flat, visit)
        """Rows with the same counts of all processes but two: (key, first, row, offset, low, high)."""
        key, first, row, offset, low, high = self.planes
        self._keys, self._first = memoryview(key).cast("Q"), memoryview(first).cast("i")
        self._row, self._offset = memoryview(row).cast("I"), memoryview(offset).cast("Q")
        form: Literal["H", "i"] = "H" if len(low) == 2 * self._row[-1] else "i"
        self._low, self._high = memoryview(low).cast(form), memoryview(high).cast(form)
        self.cuts = self._offset[-1]
        self.bytes = sum(map(len, self.planes))

    @cached_property
    def rows(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Each row by itself: (key, low, high, offset)."""
        found: tuple[bytes, bytes, bytes, bytes] = self.kernel.expanded(self.planes)
        return found

    def _at(self, row: int) -> tuple[int, int]:
        """The key of a row and the offset of its bits."""
        plane = bisect_right(self._row, row) - 1
        start = self._row[plane]
        before = sum(self._high[start:row]) - sum(self._low[start:row]) + row - start
        return self._keys[plane] + self._first[plane] + row - start, self._offset[plane] + before

    def everything(self) -> bytearray:
        found: bytearray = self.kernel.everything(self.planes)
        return found

    def nothing(self) -> bytearray:
        return bytearray((self.cuts + 63) // 64 * 8 + 8)

    def combined(self, operator: str, first: bytearray, second: bytearray) -> bytearray:
        found: bytearray = self.kernel.combine(operator, first, second)
        return found

    def row_bits(self, cuts: bytearray) -> Iterator[int]:
        first = 0
        for low, high in zip(self._low, self._high, strict=True):
            end = first + high - low + 1
            here = int.from_bytes(cuts[first >> 3 : (end + 7) >> 3], "little") >> (first & 7)
            yield here & ((1 << end - first) - 1)
            first = end

    def collected(self, addresses: Iterable[tuple[int, int]]) -> bytearray:
        found = self.nothing()
        for row, bit in addresses:
            at = self._at(row)[1] + bit
            found[at >> 3] |= 1 << (at & 7)
        return found

    def contains(self, cuts: bytearray, cut: Sequence[int]) -> bool:
        *outer, inner = self.prefix
        key = sum(cut[process] << self._fields[process][0] for process in outer)
        plane = bisect_left(self._keys, key)
        row = self._row[plane] + cut[inner] - self._first[plane]
        bit = self._at(row)[1] + self._high[row] - cut[self.last]
        return bool(cuts[bit >> 3] >> (bit & 7) & 1)

    def nearest(self, cuts: bytearray) -> set[int]:
        fields = array("q", [n for process in self.prefix for n in self._fields[process]])
        return {self._packed(row, count) for row, count in self.kernel.nearest(self.planes, fields, cuts)}

    def latest(self, row: int) -> int:
        return self._packed(row, self._high[row])

    def _packed(self, row: int, count: int) -> int:
        key, shifts = self._at(row)[0], self.lattice.shifts
        counts = {process: key >> shift & mask for process, (shift, mask) in self._fields.items()}
        return sum(n << shifts[process] for process, n in counts.items()) + (count << shifts[self.last])

    # ---- predicates -----------------------------------------------------------------------------

    def local(self, process: int, table: bytearray) -> bytearray:
        found: bytearray
        if process != self.last:
            found = self.kernel.by_prefix(self.planes, *self._fields[process], table)
            return found
        length = len(table) - 1
        whole = sum(1 << length - count for count, truth in enumerate(table) if truth)
        bits = whole.to_bytes((length + 64) // 64 * 8 + 8, "little")
        found = self.kernel.by_last(self.planes, bits, length)
        return found

    def several(self, support: Sequence[int], holds: Holds) -> bytearray:
        """Evaluated once for each combination of counts that occurs, by way of a table."""
        lengths = self.lattice.computation.lengths
        strides, size = {}, 1
        for process in support:
            strides[process] = size
            size *= lengths[process] + 1
        if size > LARGEST_MAP:
            return self._each(holds)
        inside = [process for process in support if process != self.last]
        fields = array("q", [n for process in inside for n in (*self._fields[process], strides[process])])
        table, stride = bytearray(size), strides.get(self.last, 0)
        self.kernel.mark(self.planes, fields, stride, table)
        shifts = self.lattice.shifts
        at = table.find(1)
        while at >= 0:
            cut = sum((at // strides[p] % (lengths[p] + 1)) << shifts[p] for p in support)
            table[at] = 2 if holds(cut) else 3
            at = table.find(1, at + 1)
        found: bytearray = self.kernel.by_map(self.planes, fields, stride, table)
        return found

    def _each(self, holds: Holds) -> bytearray:
        """At every cut, one by one."""
        found = self.nothing()
        bit = 0
        for row, (low, high) in enumerate(zip(self._low, self._high, strict=True)):
            first = self._packed(row, high)
            for down in range(high - low + 1):
                if holds(first - (down << self.lattice.shifts[self.last])):
                    found[bit >> 3] |= 1 << (bit & 7)
                bit += 1
        return found

    # ---- operators ------------------------------------------------------------------------------

    def some_next(self, cuts: bytearray, process: int | None) -> bytearray:
        *outer, inner = self.prefix
        units = self._units(outer if process is None else [p for p in outer if p == process])
        along = (process in (None, inner), process in (None, self.last))
        found: bytearray = self.kernel.some_next(self.planes, units, *along, cuts)
        return found

    def path(self, law: Law, now: bytearray, meanwhile: bytearray) -> bytearray:
        units = self._units(self.prefix[:-1])
        found: bytearray = self.kernel.path(self.planes, units, law.every, law.at_end, now, meanwhile)
        return found

    def _units(self, processes: Sequence[int]) -> array[int]:
        return array("Q", [1 << self._fields[process][0] for process in processes])


def _flat(table: Iterable[Iterable[int]]) -> array[int]:
    return array("i", [number for line in table for number in line])
