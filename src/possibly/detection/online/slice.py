"""The slice of a regular predicate on a growing computation, current after every event.

Here belongs the slice told by its least cut, its greatest cut and J(e), the least cut of it that contains
e.

Theory of operation. One rising (see `online_search`) finds the least cut, and one a process climbs along
its events: it finds J of the first event, goes on from there to J of the second, and so on, as J never
sinks along a process. What it finds is final: J(e) does not change with what arrives later. The greatest
cut contains e iff J(e) is known, so it needs no search of its own. A rising reads every edge once, so an
event costs amortised O(n) and O(n) for each of its edges, where n is the number of processes; Mittal, Sen
and Garg ("Solving computation slicing using predicate detection", TPDS 2007) take O(n^2) an event. J(e) is
kept as the difference from J of the event before on its process; these differences are the edges of the
slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.detection.online.follow import Following
from possibly.detection.online.search import Rising
from possibly.detection.online.terms import Alternative, alternatives
from possibly.errors import FormulaError
from possibly.logic.printer import unparse
from possibly.logic.syntax import Node
from possibly.order.computation import Cut, Place
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from possibly.order.slice import Edge


class OnlineSlice:
    """The slice of a conjunction of terms on one chain or channel each."""

    def __init__(self, growing: Growing, predicate: Node) -> None:
        found = alternatives(predicate)
        if len(found) > 1:
            raise FormulaError(
                f"{unparse(predicate)} is a disjunction of {len(found)} regular predicates;"
                " its slice is not kept on-line"
            )
        self._start(growing, found)
        growing.follow(self.take)

    @classmethod
    def of(cls, growing: Growing, alternative: Alternative) -> OnlineSlice:
        """The slice of one alternative; whoever holds it tells it each step."""
        found = cls.__new__(cls)
        found._start(growing, [alternative])
        return found

    def _start(self, growing: Growing, found: list[Alternative]) -> None:
        self.growing = growing
        self._is_void = not found
        """The predicate is false whatever happens."""
        self._following = Following(growing, found[0] if found else (), drops=False)
        self._ground = self._following.ground
        self._least = self._ground.rising()
        self._least.settle()
        self._climbs: list[_Climb] = []
        self._process: dict[Rising, int] = {}
        self._widen()

    def take(self, step: Step) -> None:
        if self._is_void:
            return
        self._following.take(step)
        self._widen()
        moved = {line.process for line in step}
        moved.update(self._process[rising] for rising in self._ground.woken if rising is not self._least)
        self._ground.woken.clear()
        for process in moved:
            self._climbs[process].go_on(self._ground.lanes[process].length)

    def _widen(self) -> None:
        """A climb for each process, new ones included."""
        for process in range(len(self._climbs), len(self._ground.lanes)):
            climb = _Climb(self._ground.rising(), process)
            self._climbs.append(climb)
            self._process[climb.rising] = process

    # ---- the slice so far -----------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return self._is_void or not self._least.is_settled

    @property
    def faults(self) -> tuple[str, ...]:
        return self._following.faults

    @property
    def size(self) -> int:
        """How many entries are kept."""
        return self._ground.size + sum(len(climb.changes) for climb in self._climbs)

    @property
    def least(self) -> Cut | None:
        """Final as soon as there is one."""
        return None if self.is_empty else self._least.now

    @property
    def greatest(self) -> Cut | None:
        """It never sinks, and grows with what arrives."""
        return None if self.is_empty else tuple(len(climb.changes) for climb in self._climbs)

    def irreducible(self, process: int) -> Iterator[Cut | None]:
        """For each event of a process the least cut of the slice that contains it, None if none does."""
        climb = self._climbs[process]
        cut = [0] * len(self._climbs)
        for changes in climb.changes:
            for other, count in changes:
                cut[other] = count
            yield tuple(cut)
        for _ in range(len(climb.changes), self._ground.lanes[process].length):
            yield None

    def edges(self) -> Iterator[tuple[Place | None, Place | None]]:
        """(e, f): a cut with f contains e. None as e is the fictitious last event, as f the first one."""
        least, greatest = self.least, self.greatest
        if least is None or greatest is None:
            yield None, None
            return
        lanes = self._ground.lanes
        for process, (low, high) in enumerate(zip(least, greatest, strict=True)):
            if low:
                yield (process, low), None
            if high < lanes[process].length:
                yield None, (process, high + 1)
        for climb in self._climbs:
            yield from climb.edges()

    def contains(self, cut: Sequence[int]) -> bool:
        """Whether a consistent cut of the computation so far belongs to the slice."""
        least, greatest = self.least, self.greatest
        if least is None or greatest is None:
            return False
        bounds = zip(least, cut, greatest, strict=True)
        if any(not low <= count <= high for low, count, high in bounds):
            return False
        edges = (edge for climb in self._climbs for edge in climb.edges())
        return all(cut[i] < y or cut[j] >= x for (j, x), (i, y) in edges)


class _Climb:
    """Finds J of one event of a process after the other."""

    def __init__(self, rising: Rising, process: int) -> None:
        self.rising = rising
        self.process = process
        self.changes: list[tuple[Place, ...]] = []
        """For each event: the entries of J that are larger than for the event before."""
        self._is_asked = False
        """The rising is on its way to the next event."""
        rising.settle()

    def go_on(self, length: int) -> None:
        while True:
            position = len(self.changes) + 1
            if not self._is_asked:
                if position > length:
                    return
                self.rising.demand((self.process, position))
                self.rising.settle()
                self._is_asked = True
            if not self.rising.is_settled:
                return
            cut, changed = self.rising.cut, self.rising.changed
            self.changes.append(tuple((process, cut[process]) for process in sorted(changed)))
            changed.clear()
            self._is_asked = False

    def edges(self) -> Iterator[Edge]:
        for position, changes in enumerate(self.changes, start=1):
            for process, count in changes:
                if process != self.process or count > position:
                    yield (process, count), (self.process, position)
