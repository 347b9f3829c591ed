"""The lattice of a run projected to a few tasks: cells, the slices with the same counts of these tasks.

Here belongs what the engine of `fibers` asks of the order. A *cell* says how many events of each of the tasks
have happened; the slices that agree with it, its fiber, have a least one L(c) and a greatest one U(c). The
cells that have a slice are a lattice themselves, that of the events of these tasks with the order of the
whole run between them. A *term* allows each task a set of counts; its cells are closed under meet and join,
so there is a least one above any cell, found by raising counts.

Counts in which nothing that is read of a task differs are a *stretch*. Cells whose counts lie in the same
stretches are a *region*, again a lattice with a least and a greatest cell.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from possibly.order.computation import Computation, Cut
from possibly.order.knowledge import Knowledge

Cell = tuple[int, ...]
Tables = Mapping[int, bytes]
"""A term: for some of the tasks, by their place among them, a byte for each count, 1 where it is allowed."""


class Stretch(NamedTuple):
    """The counts from `first` to `last`."""

    first: int
    last: int


Region = tuple[Stretch, ...]


def stretches(tables: Sequence[bytes], length: int) -> list[Stretch]:
    """Those of a task with so many events, of which these tables are read."""
    starts = {0}
    for table in tables:
        starts.update(_changes(table))
    firsts = sorted(starts)
    return [Stretch(first, after - 1) for first, after in zip(firsts, [*firsts[1:], length + 1], strict=True)]


def _changes(table: bytes) -> Iterator[int]:
    """The counts whose byte is not that of the count before."""
    at, length = 0, len(table)
    others = {value: [other for other in set(table) if other != value] for value in set(table)}
    while at < length:
        found = (table.find(other, at) for other in others[table[at]])
        at = min((each for each in found if each >= 0), default=length)
        if at < length:
            yield at


class Cells:
    """The cells of some tasks."""

    def __init__(self, computation: Computation, knowledge: Knowledge, tasks: Sequence[int]) -> None:
        self.computation = computation
        self.knowledge = knowledge
        self.tasks = tuple(tasks)
        self.lengths = [computation.lengths[task] for task in tasks]
        self._places = range(len(self.tasks))

    def least(self, term: Tables, start: Iterable[int]) -> Cell | None:
        """The least cell of the term that is not below `start`, None if it has none."""
        cell = list(start)
        raised = True
        while raised:
            raised = False
            for place, table in term.items():
                cell[place] = table.find(1, cell[place])
                if cell[place] < 0:
                    return None
            for place in self._places if len(cell) > 1 else ():
                row = self.knowledge.row(self.tasks[place], cell[place])
                for other in self._places:
                    if other != place and row[self.tasks[other]] > cell[other]:
                        cell[other] = row[self.tasks[other]]
                        raised = True
        return tuple(cell)

    def greatest(self, limit: Iterable[int]) -> Cell:
        """The greatest cell that is not above `limit`."""
        cell = list(limit)
        lowered = len(cell) > 1
        while lowered:
            lowered = False
            for place in self._places:
                for other in self._places:
                    if other != place:
                        most = self.knowledge.ignorant(self.tasks[other], self.tasks[place], cell[place])
                        lowered = lowered or most < cell[other]
                        cell[other] = min(cell[other], most)
        return tuple(cell)

    def above(self, term: Tables, cell: Cell) -> Iterator[Cell]:
        """Cells of the term strictly above this one, all that are minimal among them."""
        for place in self._places:
            if cell[place] < self.lengths[place]:
                found = self.least(term, (*cell[:place], cell[place] + 1, *cell[place + 1 :]))
                if found is not None:
                    yield found

    def after_a_step(self, cell: Cell) -> Iterator[Cell]:
        """The cells to which one event of these tasks leads, from some slice of the cell."""
        for place in self._places:
            if cell[place] < self.lengths[place]:
                event = self.computation.trace.events_of[self.tasks[place]][cell[place]]
                found = list(cell)
                for line in self.computation.events(self.computation.step(event)):
                    task, count = self.computation.place(line)
                    if task in self.tasks:
                        found[self.tasks.index(task)] = count
                is_one_step = all(now <= before + 1 for now, before in zip(found, cell, strict=True))
                if is_one_step and self.least({}, found) == tuple(found):
                    yield tuple(found)

    # ---- the slices of a cell -----------------------------------------------------------------------

    def past(self, cell: Cell) -> list[int]:
        """The least slice of the cell."""
        rows = [self.knowledge.row(task, count) for task, count in zip(self.tasks, cell, strict=True)]
        found = list(map(max, *rows)) if len(rows) > 1 else list(rows[0])
        for task, count in zip(self.tasks, cell, strict=True):
            found[task] = count
        return found

    def most(self, cell: Cell) -> list[int]:
        """The greatest slice of the cell."""
        rows = [
            self.knowledge.all_ignorant(task, count) for task, count in zip(self.tasks, cell, strict=True)
        ]
        return list(map(min, *rows)) if len(rows) > 1 else rows[0]

    def grows(self, cell: Cell, further: Sequence[int]) -> bool:
        """Whether the fiber has a slice beyond its least one that is part of this slice too."""
        rows = [self.knowledge.row(task, count) for task, count in zip(self.tasks, cell, strict=True)]
        for other, more in enumerate(further):
            known = max([row[other] for row in rows])
            if known < more and other not in self.tasks and self._belongs(other, known + 1, cell):
                return True
        return False

    def _belongs(self, other: int, count: int, cell: Cell) -> bool:
        """Whether the greatest slice of the cell has that event of another task."""
        row = self.knowledge.row(other, count)
        return all(row[task] <= known for task, known in zip(self.tasks, cell, strict=True))

    # ---- regions ------------------------------------------------------------------------------------

    def regions(self, parts: Sequence[Sequence[Stretch]]) -> Iterator[tuple[Region, Cell]]:
        """Those made of such stretches of each task that have a cell, with their least one."""
        if len(self.tasks) == 2:
            yield from self._of_two(*parts)
            return
        for region in self._products(parts, ()):
            cell = self.least({}, [stretch.first for stretch in region])
            if cell is not None and is_below(cell, [stretch.last for stretch in region]):
                yield region, cell

    def _products(self, parts: Sequence[Sequence[Stretch]], chosen: Region) -> Iterator[Region]:
        if len(chosen) == len(parts):
            yield chosen
            return
        task = self.tasks[len(chosen)]
        rows = [self.knowledge.row(self.tasks[n], each.first) for n, each in enumerate(chosen)]
        least = max((row[task] for row in rows), default=0)
        mine = parts[len(chosen)]
        for number in range(bisect_left(mine, least, key=lambda each: each.last), len(mine)):
            row = self.knowledge.row(task, max(least, mine[number].first))
            if any(row[self.tasks[n]] > each.last for n, each in enumerate(chosen)):
                return
            yield from self._products(parts, (*chosen, mine[number]))

    def _of_two(self, ones: Sequence[Stretch], twos: Sequence[Stretch]) -> Iterator[tuple[Region, Cell]]:
        """The same for two tasks, of which there are so many pairs."""
        (one, two), row_of = self.tasks, self.knowledge.row
        start, count = 0, len(twos)
        for mine in ones:
            least = row_of(one, mine.first)[two]
            while start < count and twos[start].last < least:
                start += 1
            for number in range(start, count):
                other = twos[number]
                second = max(least, other.first)
                first = max(mine.first, row_of(two, second)[one])
                if first > mine.last:
                    break
                second = max(second, row_of(one, first)[two])
                if second <= other.last:
                    cell = self.least({}, (first, second))
                    if cell is not None and cell[0] <= mine.last and cell[1] <= other.last:
                        yield (mine, other), cell

    def leaving(self, region: Region) -> Iterator[Cell]:
        """For some of the tasks, the least cell from which their next events lead out of the region."""
        for some in product((False, True), repeat=len(region)):
            start = [each.last if leaves else each.first for each, leaves in zip(region, some, strict=True)]
            cell = self.least({}, start)
            if cell is not None and is_below(cell, [each.last for each in region]):
                yield cell

    def inside(self, region: Region) -> Iterator[Cell]:
        """Every cell of a region."""
        yield from self._inside(region, ())

    def _inside(self, region: Region, counts: Cell) -> Iterator[Cell]:
        if len(counts) == len(region):
            if self.least({}, counts) == counts:
                yield counts
            return
        stretch = region[len(counts)]
        for count in range(stretch.first, stretch.last + 1):
            yield from self._inside(region, (*counts, count))


def is_below(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def met(one: Sequence[int], other: Sequence[int]) -> Cut:
    return tuple(map(min, one, other))
