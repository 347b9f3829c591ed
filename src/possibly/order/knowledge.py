"""What each task knows of the others: vector clocks, kept only where they change.

Here belongs the clock for those who ask often and of a few tasks. Between two events that come after
something on another process, the clock of a process changes in its own entry alone; so a row is kept for
each event with a direct predecessor elsewhere, and looked up by bisection.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence

from possibly.order.computation import Computation, Cut
from possibly.order.kernels import raised_row

LOOK_EVERY = 256
"""Rows between two looks at the clock of the one who waits."""
NARROW = 1 << 16
"""Events of a process from which on an entry of a row has four bytes, not two."""
MOST_KEPT = 2_000
"""Greatest cuts that are kept, as they are asked for again."""


class Knowledge:
    """`of(process, count, other)`: how many events of the other come before the count-th one or are it."""

    def __init__(self, computation: Computation, look: Callable[[], None] = lambda: None) -> None:
        self.lengths = computation.lengths
        self._code = "H" if max(self.lengths, default=0) < NARROW else "i"
        self._width = len(self.lengths)
        nothing = [0] * self._width
        self._positions = [array("i", [0]) for _ in self.lengths]
        self._rows: list[array[int]] = [array(self._code, nothing) for _ in self.lengths]
        """The rows of each process in one piece."""
        self._ignorant: dict[tuple[int, int], list[int]] = {}
        rows = 0
        start, edges = computation.edge_columns
        for step in computation.steps:
            lines = computation.events(step) if computation.joint else (step,)
            elsewhere = [other for line in lines for other in edges[start[line] : start[line + 1]]]
            if elsewhere:
                self._add(computation, lines, [other for other in elsewhere if other not in lines])
                rows += 1
                if not rows % LOOK_EVERY:
                    look()

    def _add(self, computation: Computation, lines: Sequence[int], elsewhere: Sequence[int]) -> None:
        places = [computation.place(line) for line in lines]
        earlier = [computation.place(other) for other in elsewhere]
        earlier += [(process, position - 1) for process, position in places]
        rows = [self.row(process, count) for process, count in earlier]
        row = raised_row(rows[0], rows[1:])
        for process, count in earlier:
            row[process] = max(row[process], count)
        for process, position in places:
            row[process] = position
        for process, position in places:
            self._positions[process].append(position)
            self._rows[process].extend(row)

    def learnt(self, process: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Position by position: of whom the process knows more there than before, and how much."""
        width, before = self._width, array(self._code, [0] * self._width)
        for number, position in enumerate(self._positions[process]):
            row = self._rows[process][number * width : (number + 1) * width]
            found = [(other, count) for other, count in enumerate(row) if count > before[other]]
            yield position, [(other, count) for other, count in found if other != process]
            before = row

    def row(self, process: int, count: int) -> array[int]:
        """The clock of that event, but for the entry of its own process."""
        start = self._start(process, count)
        return self._rows[process][start : start + self._width]

    def _start(self, process: int, count: int) -> int:
        """Where the row begins."""
        return (bisect_right(self._positions[process], count) - 1) * self._width

    def packed(self) -> tuple[list[bytes], list[bytes], int]:
        """For kernels, by process: where its rows begin, the rows in one piece, the width of an entry."""
        positions = [each.tobytes() for each in self._positions]
        return positions, [rows.tobytes() for rows in self._rows], array(self._code).itemsize

    def of(self, process: int, count: int, other: int) -> int:
        return self._rows[process][self._start(process, count) + other]

    def past(self, process: int, count: int) -> Cut:
        """The least cut with so many events of the process."""
        found = list(self.row(process, count))
        found[process] = count
        return tuple(found)

    def ignorant(self, process: int, other: int, count: int) -> int:
        """How many events of the process know at most so many of the other."""
        rows, positions = self._rows[process], self._positions[process]
        known = range(other, len(rows), self._width)
        first = bisect_right(known, count, key=rows.__getitem__)
        return positions[first] - 1 if first < len(known) else self.lengths[process]

    def all_ignorant(self, other: int, count: int) -> list[int]:
        """The greatest cut with at most so many events of the other."""
        key = other, count
        found = self._ignorant.get(key)
        if found is None:
            if len(self._ignorant) >= MOST_KEPT:
                self._ignorant.clear()
            found = [self.ignorant(process, other, count) for process in range(len(self.lengths))]
            found[other] = count
            self._ignorant[key] = found
        return found


MOST_ENTRIES = 40_000_000
"""Of clocks that are kept to say who learns what, at most."""


def learnt_by_event(computation: Computation) -> Mapping[int, list[tuple[int, int]]] | None:
    """By event: of which processes it knows more than the one before it, and how many events.

    Of the other parties of a joint event nothing is said: they are one with it. None if it is too much.
    """
    _, edges = computation.edge_columns
    if len(edges) * len(computation.lengths) > MOST_ENTRIES:
        return None
    knowledge = Knowledge(computation)
    found: dict[int, list[tuple[int, int]]] = {}
    for process in range(len(computation.lengths)):
        for position, learnt in knowledge.learnt(process):
            if not position:
                continue
            event = computation.at(process, position)
            parties = {computation.place(line) for line in computation.joint.get(event, ())}
            found[event] = [place for place in learnt if place not in parties]
    return found
