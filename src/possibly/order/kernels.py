"""The searches for least and greatest cuts, in Python: the plain twin of `_kernels.c`.

Here belong the innermost loops over bitmaps and links, with the same arguments and effects as those in C,
which take their place where they were built.

A search works on a cut in place. `states` has for each process None or a bitmap of allowed local states;
a source is (start, position, end, shift, read), the links of `trace.index` and how far each process's were
read; `todo` are the processes to begin with. Every link is read at most once, also over several calls.
Processes are looked at in the order in which they were moved, so that each is moved as often as it may be
before it is looked at again.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cached_property

from possibly.order.bitmaps import Bits
from possibly.order.compiled import kernels
from possibly.trace.index import Links

Source = tuple[Sequence[int], Sequence[int], Sequence[int], int, "array[int]"]


class Bitmaps(list[Bits | None]):
    """By process None or a bitmap; of many processes few have one."""

    def __init__(self, processes: int, given: Mapping[int, Bits]) -> None:
        super().__init__([None] * processes)
        self._given = given
        for process, states in given.items():
            self[process] = states

    @cached_property
    def data(self) -> list[bytes | None]:
        """What the compiled twins take of them, kept for the next search."""
        found: list[bytes | None] = [None] * len(self)
        for process, states in self._given.items():
            found[process] = states.data
        return found


def raised_row(row: array[int], others: Sequence[array[int]]) -> array[int]:
    """A new row with the greatest of the entries at each place; all rows have the same type."""
    kernel = kernels()
    if kernel is None:
        return array(row.typecode, map(max, row, *others)) if others else row[:]
    found = row[:]
    for other in others:
        kernel.raise_row(found, other, found.itemsize)
    return found


def from_the_first(links: Links) -> Source:
    """Nothing read yet, for rising."""
    return (*links, copied(links.start, 0, -1))


def from_the_last(links: Links) -> Source:
    """Nothing read yet, for falling."""
    return (*links, copied(links.start, 1, None))


def copied(numbers: Sequence[int], first: int = 0, last: int | None = None) -> array[int]:
    """A part of a column, all at once: there are as many numbers as processes."""
    found = array("i")
    if isinstance(numbers, (array, memoryview)) and numbers.itemsize == found.itemsize:
        found.frombytes(memoryview(numbers)[first:last].cast("B"))
    else:
        found.extend(numbers[first:last])
    return found


def rise(
    cut: array[int],
    high: array[int],
    states: Bitmaps,
    sources: tuple[Source, ...],
    todo: list[int],
) -> bool:
    """Raises the cut to the least one of the slice that contains it; False if there is none."""
    kernel = kernels()
    if kernel is not None:
        found: bool = kernel.rise(cut, high, states.data, sources, todo)
        return found
    queue, waiting = deque(todo), set(todo)
    while queue:
        process = queue.popleft()
        waiting.discard(process)
        count, bits = cut[process], states[process]
        if bits is not None:
            count = bits.find(1, count)
        if not 0 <= count <= high[process]:
            return False
        cut[process] = count
        for start, position, end, shift, read in sources:
            link, last, mask = read[process], start[process + 1], (1 << shift) - 1
            while link < last and position[link] <= count:
                far = end[link]
                other = far >> shift
                if cut[other] < far & mask:
                    cut[other] = far & mask
                    if other not in waiting:
                        waiting.add(other)
                        queue.append(other)
                link += 1
            read[process] = link
    return True


def fall(
    cut: array[int],
    low: array[int],
    states: Bitmaps,
    sources: tuple[Source, ...],
    todo: list[int],
) -> bool:
    """Lowers the cut to the greatest one of the slice inside it; False if there is none."""
    kernel = kernels()
    if kernel is not None:
        found: bool = kernel.fall(cut, low, states.data, sources, todo)
        return found
    queue, waiting = deque(todo), set(todo)
    while queue:
        process = queue.popleft()
        waiting.discard(process)
        count, bits = cut[process], states[process]
        if bits is not None:
            count = bits.rfind(1, 0, count + 1)
        if count < 0 or count < low[process]:
            return False
        cut[process] = count
        for start, position, end, shift, read in sources:
            link, first, mask = read[process], start[process], (1 << shift) - 1
            while link > first and position[link - 1] > count:
                link -= 1
                far = end[link]
                other = far >> shift
                if cut[other] >= far & mask:
                    cut[other] = (far & mask) - 1
                    if other not in waiting:
                        waiting.add(other)
                        queue.append(other)
            read[process] = link
    return True
