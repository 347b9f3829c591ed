"""A trace arranged by process: how long each is, the course of each local variable, who is linked to whom.

Here belong the arrangements that analyses of large runs read instead of the events one by one, in flat
arrays; the columnar form stores them, so that a mapped file has them for nothing. Each is one pass over
columns, written twice: in Python here, and in `_columns.c`, which is built when a compiler is there. Both
yield the same arrays.

A *course* is a local variable along its process. A variable that is set often has one number an event
(dense), else the positions where it is set and a number for each (sparse), whichever is smaller. *Links* are
pairs of events of different processes, sorted by the process and position of the near end; the far end is
packed into one integer, process << shift | position, of 32 bits if that fits and of 64 otherwise.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from possibly.compiled import built

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from possibly.records import NamedTuple

Ints = Sequence[int]
"""An `array` of integers, or a `memoryview` cast to them."""

NONE = -1
"""Marks "no entry" in a column of string or event numbers."""


def kernels() -> ModuleType | None:
    """The compiled twin, if it was built."""
    return built("possibly.trace.columns._columns")


# ---- lengths, positions, events ------------------------------------------------------------------------


def lengths_of(process: Ints, processes: int) -> Ints:
    """How many events each process has."""
    kernel = kernels()
    if kernel is not None:
        return array("i", kernel.lengths(process, processes))
    count = [0] * processes
    for number in process:
        count[number] += 1
    return array("i", count)


def positions_of(process: Ints, processes: int) -> Ints:
    """For each event: it is the position-th of its process, from 1."""
    kernel = kernels()
    if kernel is not None:
        return array("i", kernel.positions(process, processes))
    count = [0] * processes
    found = array("i", bytes(4 * len(process)))
    for event, number in enumerate(process):
        count[number] += 1
        found[event] = count[number]
    return found


def events_by_process(process: Ints, processes: int) -> Sequence[Ints]:
    """For each process its events in their order."""
    kernel = kernels()
    if kernel is not None:
        return [array("i", chain) for chain in kernel.events(process, processes)]
    found = [array("i") for _ in range(processes)]
    append = [chain.append for chain in found]
    for event, number in enumerate(process):
        append[number](event)
    return found


# ---- links ------------------------------------------------------------------------------------------------


class Links(NamedTuple):
    """Pairs of events by the process of their near end."""

    start: Ints
    """Where the links of each process begin, and after the last one where they end."""
    position: Ints
    """Of the near end; ascending in each process."""
    end: Ints
    """The far end, process << shift | position."""
    shift: int

    def of(self, process: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """(position of the near end, place of the far end)."""
        return self._told(self.start[process], self.start[process + 1])

    def between(self, process: int, low: int, high: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """The same for positions beyond `low` up to `high`."""
        first, last = self.start[process], self.start[process + 1]
        first = bisect_right(self.position, low, first, last)
        return self._told(first, bisect_right(self.position, high, first, last))

    def _told(self, first: int, last: int) -> Iterator[tuple[int, tuple[int, int]]]:
        mask = (1 << self.shift) - 1
        for number in range(first, last):
            end = self.end[number]
            yield self.position[number], (end >> self.shift, end & mask)


def shift_for(lengths: Ints) -> int:
    """How many bits a position needs."""
    return max(lengths, default=0).bit_length()


def code_for(shift: int, processes: int) -> str:
    """The type of a packed end."""
    return "I" if shift + max(processes - 1, 0).bit_length() <= 32 else "Q"


def links(process: Ints, position: Ints, lengths: Ints, near: Ints, far: Ints) -> Links:
    """Links of pairs of events; pairs with NONE and pairs inside one process are left out."""
    processes, shift = len(lengths), shift_for(lengths)
    code, kernel = code_for(shift, processes), kernels()
    if kernel is not None:
        width = 4 if code == "I" else 8
        columns = kernel.links(process, position, processes, near, far, shift, width)
        return Links(array("i", columns[0]), array("i", columns[1]), array(code, columns[2]), shift)
    place = {}
    for events in (near, far):
        for event in events:
            if event != NONE:
                place[event] = process[event], position[event]
    pairs = [
        (place[a], place[b])
        for a, b in zip(near, far, strict=True)
        if a != NONE and b != NONE and process[a] != process[b]
    ]
    return linked(pairs, processes, shift)


Place = tuple[int, int]


def linked(pairs: Iterable[tuple[Place, Place]], processes: int, shift: int) -> Links:
    """Links of pairs of places (near, far)."""
    found = sorted(pairs)
    code = code_for(shift, processes)
    count = [0] * (processes + 1)
    for (process, _), _ in found:
        count[process + 1] += 1
    for process in range(processes):
        count[process + 1] += count[process]
    return Links(
        array("i", count),
        array("i", [position for (_, position), _ in found]),
        array(code, [process << shift | position for _, (process, position) in found]),
        shift,
    )


# ---- courses ----------------------------------------------------------------------------------------------


class Course(NamedTuple):
    """A local variable along its process."""

    position: Ints | None
    """Where it is set, from 1 and ascending; None: `number` has one entry an event."""
    number: Ints
    """Value numbers; NONE, in the dense form, before it is first set."""


Courses = Mapping[tuple[int, int], Course]
"""By process and string number of the variable."""


def number_code(values: int) -> str:
    """The narrowest type of value numbers."""
    return "b" if values <= 1 << 7 else "h" if values <= 1 << 15 else "i"


class Assignments(NamedTuple):
    """The columns of a trace that say which event sets which local variable."""

    process: Ints
    start: Ints
    variable: Ints
    value: Ints


def courses(columns: Assignments, processes: int, values: int) -> Courses:
    """The courses of all local variables that events set; `values` is the size of the table of values."""
    code, kernel = number_code(values), kernels()
    if kernel is None:
        return _courses(columns, processes, code)
    width = array(code).itemsize
    process, *rest = columns
    found = kernel.courses(process, processes, *rest, width)
    return {
        (process, variable): Course(position and array("i", position), array(code, number))
        for process, variable, position, number in found
    }


def _courses(columns: Assignments, processes: int, code: str) -> Courses:
    found: dict[tuple[int, int], tuple[array[int], array[int]]] = {}
    _, start, variables, values = columns
    count = [0] * processes
    for event, process in enumerate(columns.process):
        count[process] += 1
        for entry in range(start[event], start[event + 1]):
            key = process, variables[entry]
            if key not in found:
                found[key] = array("i"), array(code)
            found[key][0].append(count[process])
            found[key][1].append(values[entry])
    return {key: _smaller(*course, count[key[0]]) for key, course in found.items()}


def _smaller(position: array[int], number: array[int], length: int) -> Course:
    width = number.itemsize
    if width * length > (4 + width) * len(position):
        return Course(position, number)
    dense: array[Any] = array(number.typecode, [NONE]) * (position[0] - 1)
    ends = [*position[1:], length + 1]
    for first, last, value in zip(position, ends, number, strict=True):
        dense.extend(array(number.typecode, [value]) * (last - first))
    return Course(None, dense)
