"""The search for least cuts on a computation that grows: it waits where the next event is missing.

Here belongs the search and what it reads; which constraints a predicate has is decided in `online_terms`.

Theory of operation. The constraints are those of `order.slice`, told as they come: for each process the
positions at which a cut may stop, and edges (a cut with f contains e). A needed event e may not have
arrived: it is then a `Promise`. `Rising` holds the least cut that all constraints so far demand. It is
*settled* if nothing demanded is missing, and then it is the least cut of the slice so far that contains
what it was asked for. Every demand is met by an event whose place never changes, so whatever arrives later,
every cut of the slice contains the cut of a rising ("advance the forbidden process", Garg, "Predicate
detection to solve combinatorial optimization problems"): a settled cut is final, and one that waits goes on
from where it stood.

Each edge and each allowed position is read at most once by a rising: amortised O(1) an edge. What every
rising has read can be dropped: then memory is that of the events beyond the lowest cut of a rising.
"""

from __future__ import annotations

from collections.abc import Sequence

from possibly.order.computation import Cut, Place
from possibly.order.growing.lines import Line, Step

KEPT_ANYWAY = 64
"""Entries of a process below which nobody looks what can be dropped."""


class Promise:
    """An event that a constraint needs: unknown until it arrives."""

    __slots__ = ("claims", "place")

    def __init__(self) -> None:
        self.place: Place | None = None
        self.claims: list[Rising] = []
        """The risings that wait for it."""


Need = Place | Promise


class Lane:
    """What searches read of one process, from the first thing on that one of them has not read."""

    __slots__ = ("allowed", "arcs", "dropped", "is_bound", "length", "look_at", "passed", "stuck")

    def __init__(self) -> None:
        self.length = 0
        self.is_bound = False
        """A cut may stop only at allowed positions."""
        self.allowed: list[int] = []
        self.passed = 0
        """How many allowed positions have been dropped."""
        self.arcs: list[tuple[int, Sequence[Need]]] = []
        """(position, what the event needs), ascending."""
        self.dropped = 0
        self.stuck: list[Rising] = []
        """The risings that need one more event of this process."""
        self.look_at = KEPT_ANYWAY
        """Entries after which it is worth looking what can be dropped."""


class Ground:
    """The constraints so far, and the risings that stand on them."""

    def __init__(self, processes: int, *, drops: bool = True) -> None:
        self.drops = drops
        """Forget what every rising has read; then there can be no new risings."""
        self.lanes = [Lane() for _ in range(processes)]
        self.risings: list[Rising] = []
        self.initial: list[Need] = []
        """What every cut contains."""
        self.woken: dict[Rising, None] = {}
        """The risings that moved or may have settled since they were last asked for."""

    def rising(self) -> Rising:
        found = Rising(self)
        self.risings.append(found)
        return found

    def add(self, line: Line, needs: Sequence[Need], is_allowed: bool) -> None:
        """An event with what it needs; for a bound process, whether a cut may stop there."""
        lane = self.lanes[line.process]
        lane.length = line.position
        if lane.is_bound and is_allowed:
            lane.allowed.append(line.position)
        if needs:
            lane.arcs.append((line.position, needs))
        if self.drops and len(lane.allowed) + len(lane.arcs) > lane.look_at:
            self._drop(line.process)

    def widen(self, processes: int) -> None:
        """There are now at least that many processes; those of a predicate are there from the beginning."""
        while len(self.lanes) < processes:
            self.lanes.append(Lane())
            for rising in self.risings:
                rising.widen()

    def keep(self, promise: Promise, place: Place) -> None:
        """The promised event has arrived; call `go_on` when its step is added."""
        promise.place = place
        for rising in promise.claims:
            rising.pending -= 1
            rising.demand(place)
            self.woken[rising] = None
        promise.claims.clear()

    def go_on(self, step: Step) -> None:
        """The step is added: whoever waits for its events goes on."""
        for line in step:
            lane = self.lanes[line.process]
            stuck, lane.stuck = lane.stuck, []
            for rising in stuck:
                rising.waits[line.process] = False
                rising.pending -= 1
                rising.demand(line.place)
                self.woken[rising] = None
        for rising in self.woken:
            rising.settle()

    def _drop(self, process: int) -> None:
        """Forget what every rising has read."""
        lane = self.lanes[process]
        passed = min((rising.seen[process] for rising in self.risings), default=0)
        dropped = min((rising.read[process] for rising in self.risings), default=0)
        del lane.allowed[: passed - lane.passed]
        del lane.arcs[: dropped - lane.dropped]
        lane.passed, lane.dropped = passed, dropped
        lane.look_at = 2 * (len(lane.allowed) + len(lane.arcs)) + KEPT_ANYWAY

    @property
    def size(self) -> int:
        """How many entries are kept, for tests and figures."""
        return sum(len(lane.allowed) + len(lane.arcs) for lane in self.lanes)


class Rising:
    """The least cut that the constraints demand together with what was asked for. It never sinks."""

    __slots__ = ("changed", "cut", "ground", "pending", "read", "seen", "todo", "waits")

    def __init__(self, ground: Ground) -> None:
        count = len(ground.lanes)
        self.ground = ground
        self.cut = [0] * count
        self.read = [0] * count
        """For each process how many of its arcs were read,"""
        self.seen = [0] * count
        """and how many of its allowed positions lie below the cut."""
        self.waits = [False] * count
        """Whether it needs one more event of a process than have arrived."""
        self.pending = 0
        """How many demands wait for events that have not arrived."""
        self.todo = list(range(count))
        self.changed: set[int] = set()
        """The processes raised since somebody last cleared this."""
        for need in ground.initial:
            self._need(need)

    @property
    def is_settled(self) -> bool:
        return not self.pending

    def widen(self) -> None:
        for column in (self.cut, self.read, self.seen):
            column.append(0)
        self.waits.append(False)

    def demand(self, place: Place) -> None:
        """The cut has to contain this event, which has arrived."""
        process, position = place
        if self.cut[process] < position:
            self.cut[process] = position
            self.changed.add(process)
            self.todo.append(process)

    def settle(self) -> None:
        """Follow the demands as far as the events go."""
        while self.todo:
            process = self.todo.pop()
            lane = self.ground.lanes[process]
            if lane.is_bound:
                self._stop(process, lane)
            self._follow(process, lane)

    def _stop(self, process: int, lane: Lane) -> None:
        """Raise the process to where a cut may stop, or to its end, where it waits."""
        number, count = self.seen[process] - lane.passed, self.cut[process]
        allowed = lane.allowed
        while number < len(allowed) and allowed[number] < count:
            number += 1
        self.seen[process] = number + lane.passed
        if number < len(allowed):
            count = allowed[number]
        else:
            count = lane.length
            if not self.waits[process]:
                self.waits[process] = True
                lane.stuck.append(self)
                self.pending += 1
        if count > self.cut[process]:
            self.cut[process] = count
            self.changed.add(process)

    def _follow(self, process: int, lane: Lane) -> None:
        number, arcs, count = self.read[process] - lane.dropped, lane.arcs, self.cut[process]
        first = number
        while number < len(arcs) and arcs[number][0] <= count:
            number += 1
        self.read[process] = number + lane.dropped
        for _, needs in arcs[first:number]:
            for need in needs:
                self._need(need)

    def _need(self, need: Need) -> None:
        if isinstance(need, Promise):
            if need.place is None:
                need.claims.append(self)
                self.pending += 1
                return
            need = need.place
        self.demand(need)

    @property
    def now(self) -> Cut:
        return tuple(self.cut)
