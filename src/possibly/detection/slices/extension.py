"""Long paths, straight from the sparse order: no cut is visited and nothing is searched.

Here belongs executing the events of a cut in an order that respects the trace and, if given, the edges of a
slice. A process runs on as long as it can; an event that needs another process's makes that process run
first, so there are few changes of process, though not always the fewest. Time is linear in events and edges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from possibly.order.computation import Arcs, Computation
from possibly.order.lattice import Lattice, Move


def extension(
    lattice: Lattice,
    start: Sequence[int],
    target: Sequence[int],
    extra: Arcs | None = None,
    look: Callable[[], None] = lambda: None,
) -> Sequence[Move] | None:
    """A path from one cut to a greater one; None if the extra edges have a cycle there."""
    try:
        steps = _Execution(lattice.computation, start, target, extra).steps()
        return lattice.walk(_with_looks(steps, look))
    except CycleError:
        return None


def _with_looks(steps: Iterable[int], look: Callable[[], None]) -> Iterator[int]:
    """The steps, with a look at the limits now and then; `look` may raise."""
    for count, step in enumerate(steps):
        if not count & 0x3FFF:
            look()
        yield step


class CycleError(Exception):
    """Each of several events needs another one first."""


class _Execution:
    """Executes events on demand."""

    def __init__(
        self, computation: Computation, start: Sequence[int], target: Sequence[int], extra: Arcs | None
    ) -> None:
        self.computation = computation
        self.cut = list(start)
        self.target = target
        self.links = computation.needed
        """Read in place: each event is executed once, in the order of its process."""
        self.next = [
            bisect_right(self.links.position, count, self.links.start[process], self.links.start[process + 1])
            for process, count in enumerate(start)
        ]
        self.extra: list[dict[int, list[tuple[int, int]]]] = [
            dict(zip(positions, ends, strict=True))
            for positions, ends in zip(extra.positions, extra.ends, strict=True)
        ] if extra is not None else [{} for _ in self.cut]  # fmt: skip

    def steps(self) -> Iterator[int]:
        for process in range(len(self.cut)):
            yield from self._run(process, self.target[process])

    def _run(self, process: int, until: int) -> Iterator[int]:
        """The steps that bring the process to that count, and all that they need first."""
        stack = [(process, until)]
        waiting: dict[int, int] = {}
        while stack:
            process, until = stack[-1]
            if self.cut[process] >= until:
                stack.pop()
                continue
            position = self.cut[process] + 1
            step = self.computation.step(self.computation.at(process, position))
            if waiting.setdefault(step, len(stack)) != len(stack):
                raise CycleError
            demand = self._demand(process, position)
            if demand is not None:
                stack.append(demand)
            else:
                del waiting[step]
                self._execute(process, position)
                yield step

    def _demand(self, process: int, position: int) -> tuple[int, int] | None:
        """What must be executed before this event, if anything is missing."""
        lines = self._lines(process, position)
        for line, place in lines:
            if self.cut[line] < place - 1:
                return line, place - 1
            for other, needed in self._needs(line, place):
                if self.cut[other] < needed and (other, needed) not in lines:
                    return other, needed
        return None

    def _needs(self, process: int, position: int) -> Iterator[tuple[int, int]]:
        """What the next event of a process needs of others."""
        start, near, end, shift = self.links
        link, last = self.next[process], start[process + 1]
        while link < last and near[link] == position:
            yield end[link] >> shift, end[link] & ((1 << shift) - 1)
            link += 1
        yield from self.extra[process].get(position, ())

    def _lines(self, process: int, position: int) -> list[tuple[int, int]]:
        if not self.computation.joint:
            return [(process, position)]
        event = self.computation.at(process, position)
        return [self.computation.place(line) for line in self.computation.events(event)]

    def _execute(self, process: int, position: int) -> None:
        near, start = self.links.position, self.links.start
        for line, place in self._lines(process, position):
            self.cut[line] = place
            link, last = self.next[line], start[line + 1]
            while link < last and near[link] <= place:
                link += 1
            self.next[line] = link
