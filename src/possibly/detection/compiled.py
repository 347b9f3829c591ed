"""Sets of cuts as rows of bits, in C: the compiled twin of `rowsets.PlainRows`.

Here belongs the calling of the kernels in `_rows.c`, which is built when a compiler is there and otherwise
left out. It takes lattices without joint events, of 2 to 64 processes whose counts fit into 64 bits;
`algebra` falls back to plain Python for all others.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from types import ModuleType

from possibly.compiled import built
from possibly.detection.laws import Law
from possibly.detection.rowsets import PlainRows, RowAlgebra
from possibly.order.lattice import Lattice
from possibly.order.predicate import Holds
from possibly.order.rows import bounds, row_order

LARGEST_MAP = 1 << 26
"""Bytes of the largest table over the counts of several processes."""

MAX_PROCESSES = 64


def kernels() -> ModuleType | None:
    """The compiled module, if it was built."""
    return built("possibly.detection._rows")


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
        self.rows: tuple[bytes, bytes, bytes, bytes] = kernel.enumerate(lengths, shifts, *flat, visit)
        self._keys = memoryview(self.rows[0]).cast("Q")
        self._high = memoryview(self.rows[2]).cast("i")
        self._offset = memoryview(self.rows[3]).cast("Q")
        self.cuts = self._offset[-1]
        self.bytes = sum(map(len, self.rows))

    def everything(self) -> bytearray:
        found: bytearray = self.kernel.everything(self.rows)
        return found

    def nothing(self) -> bytearray:
        return bytearray((self.cuts + 63) // 64 * 8 + 8)

    def combined(self, operator: str, first: bytearray, second: bytearray) -> bytearray:
        found: bytearray = self.kernel.combine(operator, first, second)
        return found

    def row_bits(self, cuts: bytearray) -> Iterator[int]:
        for first, end in pairwise(self._offset):
            here = int.from_bytes(cuts[first >> 3 : (end + 7) >> 3], "little") >> (first & 7)
            yield here & ((1 << end - first) - 1)

    def collected(self, addresses: Iterable[tuple[int, int]]) -> bytearray:
        found = self.nothing()
        for row, bit in addresses:
            at = self._offset[row] + bit
            found[at >> 3] |= 1 << (at & 7)
        return found

    def contains(self, cuts: bytearray, cut: Sequence[int]) -> bool:
        key = sum(cut[process] << self._fields[process][0] for process in self.prefix)
        row = bisect_left(self._keys, key)
        bit = self._offset[row] + self._high[row] - cut[self.last]
        return bool(cuts[bit >> 3] >> (bit & 7) & 1)

    def nearest(self, cuts: bytearray) -> set[int]:
        fields = array("q", [n for process in self.prefix for n in self._fields[process]])
        return {self._packed(row, count) for row, count in self.kernel.nearest(self.rows, fields, cuts)}

    def latest(self, row: int) -> int:
        return self._packed(row, self._high[row])

    def _packed(self, row: int, count: int) -> int:
        key, shifts = self._keys[row], self.lattice.shifts
        counts = {process: key >> shift & mask for process, (shift, mask) in self._fields.items()}
        return sum(n << shifts[process] for process, n in counts.items()) + (count << shifts[self.last])

    # ---- predicates -----------------------------------------------------------------------------

    def local(self, process: int, table: bytearray) -> bytearray:
        found: bytearray
        if process != self.last:
            found = self.kernel.by_prefix(self.rows, *self._fields[process], table)
            return found
        length = len(table) - 1
        whole = sum(1 << length - count for count, truth in enumerate(table) if truth)
        bits = whole.to_bytes((length + 64) // 64 * 8 + 8, "little")
        found = self.kernel.by_last(self.rows, bits, length)
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
        self.kernel.mark(self.rows, fields, stride, table)
        shifts = self.lattice.shifts
        at = table.find(1)
        while at >= 0:
            cut = sum((at // strides[p] % (lengths[p] + 1)) << shifts[p] for p in support)
            table[at] = 2 if holds(cut) else 3
            at = table.find(1, at + 1)
        found: bytearray = self.kernel.by_map(self.rows, fields, stride, table)
        return found

    def _each(self, holds: Holds) -> bytearray:
        """At every cut, one by one."""
        found = self.nothing()
        for row in range(len(self._keys)):
            first = self._packed(row, self._high[row])
            for bit in range(self._offset[row], self._offset[row + 1]):
                if holds(first - (bit - self._offset[row] << self.lattice.shifts[self.last])):
                    found[bit >> 3] |= 1 << (bit & 7)
        return found

    # ---- operators ------------------------------------------------------------------------------

    def some_next(self, cuts: bytearray, process: int | None) -> bytearray:
        units = self._units(self.prefix if process is None else [p for p in self.prefix if p == process])
        found: bytearray = self.kernel.some_next(self.rows, units, process in (None, self.last), cuts)
        return found

    def path(self, law: Law, now: bytearray, meanwhile: bytearray) -> bytearray:
        units = self._units(self.prefix)
        found: bytearray = self.kernel.path(self.rows, units, law.every, law.at_end, now, meanwhile)
        return found

    def _units(self, processes: Sequence[int]) -> array[int]:
        return array("Q", [1 << self._fields[process][0] for process in processes])


def _flat(table: Iterable[Iterable[int]]) -> array[int]:
    return array("i", [number for line in table for number in line])
