"""The whole lattice in rows: cuts that differ only in the count of one process, the *last* one.

Here belongs the explicit lattice as a structure; what holds at its cuts is computed in `detection.sweep`.

Theory of operation. With the counts of all other processes (the prefix of a row) fixed, the counts of the
last process that make a cut form an interval, so a row is a prefix with a low and a high count, and a set
of cuts of one row is an integer with a bit a cut. Bit 0 is the cut with the high count: then "earlier"
means a higher bit, and what follows from later cuts spreads by the carry of an addition.
Prefixes are enumerated in lexical order by nested ranges: each fixed count raises what the following
processes need at least and lowers what they may have at most. The successor along another process is
the row whose prefix is greater by one there, looked up once and kept; it never comes earlier in the
list, so an operator over paths is one pass from the last row to the first.
A joint event leads to the row whose prefix is greater by one in each of its processes; if the last
process takes part, that is an arc between two single cuts, kept apart as a *crossing*.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from possibly.order.computation import Computation, Cut
from possibly.order.slice import Rise, whole

NO_ROW = -1


@dataclass(frozen=True, slots=True)
class Crossing:
    """A joint event in which the last process takes part: from the cut with count - 1 to that with count."""

    target: int
    count: int
    processes: tuple[int, ...]


class Rows:
    """All cuts of a computation. `visit` is told the size of each row and may raise to stop."""

    def __init__(self, computation: Computation, visit: Callable[[int], None] = lambda cuts: None) -> None:
        self.computation = computation
        order = row_order(computation)
        self.last = order[-1] if order else NO_ROW
        """The longest process: long rows, and few of them."""
        self.prefix = tuple(order[:-1])
        """The other processes, in the order of the prefix."""
        self.prefixes: list[Cut] = []
        """Counts of the processes of `prefix`, a row each, ascending."""
        self.low, self.high = array("i"), array("i")
        for counts, low, high in _enumerate(computation, order):
            visit(high - low + 1)
            self.prefixes.append(counts)
            self.low.append(low)
            self.high.append(high)
        self.following: list[array[int]] = []
        """For each process of `prefix`: the row its next step leads to from each row, or NO_ROW."""
        self.crossings: dict[int, list[Crossing]] = {}
        self._link()

    def __len__(self) -> int:
        return len(self.low)

    @property
    def cuts(self) -> int:
        return sum(self.high) - sum(self.low) + len(self)

    @property
    def bytes(self) -> int:
        """Memory of the structure, about: 8 a prefix count, 8 for the bounds, 4 a link."""
        return len(self) * (56 + 12 * len(self.prefix) + 8)

    def row_of(self, cut: Sequence[int]) -> int:
        """The row that contains the cut."""
        return bisect_left(self.prefixes, tuple(cut[process] for process in self.prefix))

    def _link(self) -> None:
        numbers = {counts: row for row, counts in enumerate(self.prefixes)}
        joint = self.computation.joint
        for place, process in enumerate(self.prefix):
            following = array("i")
            for counts in self.prefixes:
                greater = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                following.append(numbers.get(greater, NO_ROW))
            self.following.append(following)
            if joint:
                self._link_joint(numbers, place, process)

    def _link_joint(self, numbers: dict[Cut, int], place: int, process: int) -> None:
        """Add the moves of joint events whose first process, in the order of the prefix, is this one."""
        for row, counts in enumerate(self.prefixes):
            if counts[place] == self.computation.lengths[process]:
                continue
            event = self.computation.at(process, counts[place] + 1)
            lines = self.computation.events(event)
            if len(lines) == 1:
                continue
            ends = dict(map(self.computation.place, lines))
            inside = [index for index, other in enumerate(self.prefix) if other in ends]
            if inside[0] != place or any(counts[i] + 1 != ends[self.prefix[i]] for i in inside):
                continue
            greater = tuple(count + (index in inside) for index, count in enumerate(counts))
            target = numbers.get(greater, NO_ROW)
            if target == NO_ROW:
                continue
            if self.last in ends:
                crossing = Crossing(target, ends[self.last], tuple(ends))
                self.crossings.setdefault(row, []).append(crossing)
            else:
                self.following[place][row] = target

    def step_processes(self, row: int, place: int) -> tuple[int, ...]:
        """Who takes part in the next step of that process of the prefix."""
        process = self.prefix[place]
        event = self.computation.at(process, self.prefixes[row][place] + 1)
        return tuple(self.computation.trace.process[line] for line in self.computation.events(event))


def row_order(computation: Computation) -> list[int]:
    """The processes by length, the longest last."""
    return sorted(range(len(computation.lengths)), key=lambda process: computation.lengths[process])


def _enumerate(computation: Computation, order: Sequence[int]) -> Iterator[tuple[Cut, int, int]]:
    """Prefix, low and high of each row, in lexical order of the prefix."""
    if not order:
        return
    needs, allows = bounds(computation, order)
    depth = len(order) - 1
    lows: list[list[int]] = [[0] * len(order)]
    highs: list[list[int]] = [[computation.lengths[process] for process in order]]
    counts = [0] * depth
    if not depth:
        yield (), 0, highs[0][0]
        return
    place = 0
    counts[0] = -1
    while place >= 0:
        counts[place] += 1
        if counts[place] > highs[place][place]:
            place -= 1
            lows.pop()
            highs.pop()
            continue
        low = list(map(max, lows[place], needs[place][counts[place]]))
        high = list(map(min, highs[place], allows[place][counts[place]]))
        if place == depth - 1:
            yield tuple(counts), low[depth], high[depth]
        else:
            place += 1
            lows.append(low)
            highs.append(high)
            counts[place] = low[place] - 1


Bounds = list[list[Cut]]
"""For each place in the order and each count there: a number for each place."""


def bounds(computation: Computation, order: Sequence[int]) -> tuple[Bounds, Bounds]:
    """What a count needs at least of the other processes, and what it allows them at most."""
    needs: Bounds = []
    for process in order:
        needs.append([(0,) * len(order), *_needed(computation, process, order)])
    allows: Bounds = []
    for place in range(len(order)):
        columns = [_most(needs[other], place, len(needs[place])) for other in range(len(order))]
        allows.append(list(zip(*columns, strict=True)))
    return needs, allows


def _needed(computation: Computation, process: int, order: Sequence[int]) -> Iterator[Cut]:
    """For each event of a process its clock; no table of all clocks is kept for it."""
    rise = Rise(whole(computation))
    for position in range(1, computation.lengths[process] + 1):
        clock = rise.at_least(process, position)
        assert clock is not None, "every event is in some cut"
        yield tuple([clock[other] for other in order])


def _most(clocks: Sequence[Cut], place: int, counts: int) -> list[int]:
    """For each count at `place`: how far the process of these clocks may go without needing more."""
    found, most = [], 0
    for count in range(counts):
        while most + 1 < len(clocks) and clocks[most + 1][place] <= count:
            most += 1
        found.append(most)
    return found
