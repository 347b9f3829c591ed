"""Deadlocks that a reordering of the run reaches: processes that wait for each other for ever.

"Sound dynamic deadlock prediction in linear time" (Tunç, Mathur, Pavlogiannis, Viswanathan), sections 4 and
5. A request is made by a process that waits: for a lock, for the end of another process, and, beyond the
paper, for a unit of a semaphore, room or an item in a queue, or a signal (`wants`). A pattern is a set of
requests by different processes, each for what only others of the set can give, such that no two hold the
same lock; of locks and joins alone it is a cycle. It is a deadlock if a reordering that keeps the order of
critical sections contains all that the requesting processes did before and none of the requests, and after
it nobody else can give what they want: no false alarm. For locks and joins of threads it is complete for
these reorderings. Tasks of an event loop are not interrupted: what one of them wants must be missing when its
turn comes to the request (`ways`).

Requests of one process at one place for one thing with the same locks held are taken together. Of their
combinations the first that is a deadlock is found by advancing past requests that the closure contains: it
only grows, so it is grown once for each combined pattern. Where more than locks and ends are waited for, a
combination that is none is left by advancing the request that comes first in the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from possibly.detection.limits import Budget
from possibly.detection.prediction.closure import Closure, Required
from possibly.detection.prediction.patterns import is_knot, patterns
from possibly.detection.prediction.sections import Sections
from possibly.detection.prediction.wants import Requests, Wants
from possibly.detection.prediction.ways import Ways
from possibly.trace.model import Trace
from possibly.verdict.deadlocks import Deadlock, Request, Want

MOST_TRIES = 20
"""Combinations of a pattern for which it is looked what all others can do yet."""


class DeadlockFinder:
    """The deadlocks of one run."""

    def __init__(self, trace: Trace, budget: Budget | None = None) -> None:
        self._trace = trace
        self._budget = budget or Budget()
        self._sections = Sections(trace)
        self._order = Required(trace, self._sections)
        self._held = self._sections.held()
        self._wants = Wants(self._sections)
        self._ways = Ways(self._order, self._wants)

    def found(self) -> Iterator[Deadlock]:
        """A deadlock for each pattern that has one. Raises when the budget is spent."""
        for pattern in patterns(self._requests(), self._wants, self._budget):
            deadlock = self._instance(pattern)
            if deadlock is not None:
                yield deadlock

    def _requests(self) -> list[Requests]:
        """Those that are alike together."""
        alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for event, inside in self._held.items():
            holds = frozenset((each.lock, self._place(each.acquire)) for each in inside)
            for want in self._wants.of(event):
                alike[self._trace.process[event], want, holds, self._place(event)].append(event)
        return [self._combined(want, sorted(events)) for (_, want, *_), events in alike.items()]

    def _combined(self, want: object, events: Sequence[int]) -> Requests:
        assert isinstance(want, Want)
        holds = frozenset(each.lock for each in self._held[events[0]])
        return Requests(self._trace.process[events[0]], want, holds, tuple(events))

    def _place(self, event: int) -> int | None:
        return None if self._trace.place is None else self._trace.place[event]

    def _instance(self, pattern: Sequence[Requests]) -> Deadlock | None:
        """The first combination of requests that a reordering reaches, and that nobody else ends."""
        closure = Closure(self._order)
        places = [0] * len(pattern)
        tries = MOST_TRIES
        while True:
            chosen = [each.events[place] for each, place in zip(pattern, places, strict=True)]
            for each, event in zip(pattern, chosen, strict=True):
                self._grow(closure, each.want, event)
            behind = [number for number, event in enumerate(chosen) if closure.is_past(event)]
            if not behind:
                reached = closure
                if not self._lasts(pattern, chosen, closure) and tries > 0:
                    reached, tries = self._extended(closure, pattern, chosen), tries - 1
                if self._lasts(pattern, chosen, reached):
                    path = self._ways.to(reached, [each.want for each in pattern], chosen)
                    if path is not None:
                        return self._deadlock(pattern, chosen, reached, path)
                behind = [self._passing(pattern, chosen, reached)]
            for number in behind:
                places[number] += 1
                if places[number] == len(pattern[number].events):
                    return None

    def _grow(self, closure: Closure, want: Want, request: int) -> None:
        """Take in all that must have happened when the request is made."""
        trace = self._trace
        self._budget.visit()
        closure.reach(request)
        if want.is_lock:
            for event in self._order.before(request):
                closure.grow(trace.process[event], trace.position[event])

    def _extended(self, closure: Closure, pattern: Sequence[Requests], chosen: Sequence[int]) -> Closure:
        """What the others can do yet: they may fill a queue, or have given all that they give."""
        trace, found = self._trace, closure.copy()
        waiting = {each.process for each in pattern}
        going = [process for process in range(len(trace.processes)) if process not in waiting]
        while going:
            for process in list(going):
                if found.cut[process] == len(trace.events_of[process]):
                    going.remove(process)
                    continue
                self._budget.visit()
                further = found.copy()
                further.grow(process, found.cut[process] + 1)
                if any(further.is_past(event) for event in chosen):
                    going.remove(process)
                else:
                    found = further
        return found

    def _lasts(self, pattern: Sequence[Requests], chosen: Sequence[int], closure: Closure) -> bool:
        """Whether each waits, and none but these could give what it waits for."""
        inside = {each.process for each in pattern}
        after: dict[int, set[int]] = {}
        for each, event in zip(pattern, chosen, strict=True):
            left = self._wants.still_given(each.want, event, closure.cut)
            if left is None or any(
                process not in inside and not self._is_behind(process, position, chosen)
                for process, position in left.items()
            ):
                return False
            static = self._wants.givers(each.want) is None
            after[each.process] = set(self._targets(each, pattern)) if static else left.keys() & inside
        return is_knot(after)

    def _passing(self, pattern: Sequence[Requests], chosen: Sequence[int], closure: Closure) -> int:
        """The request that is let go: one that finds what it wants, else the first in the run."""
        given = (
            number
            for number, (each, event) in enumerate(zip(pattern, chosen, strict=True))
            if self._wants.still_given(each.want, event, closure.cut) is None
        )
        return next(given, min(range(len(chosen)), key=chosen.__getitem__))

    def _is_behind(self, process: int, position: int, chosen: Sequence[int]) -> bool:
        """Whether an event needs one of these, by spawns alone."""
        trace = self._trace
        first = {trace.process[event]: trace.position[event] for event in chosen}
        pending, seen = [(process, position)], {process: 0}
        while pending:
            at, until = pending.pop()
            if at in first and until >= first[at]:
                return True
            for number in range(seen.get(at, 0), until):
                needed = self._wants.surely_before(trace.events_of[at][number])
                pending += [(trace.process[each], trace.position[each]) for each in needed]
            seen[at] = max(seen.get(at, 0), until)
        return False

    def _deadlock(
        self, pattern: Sequence[Requests], chosen: Sequence[int], closure: Closure, path: Sequence[int]
    ) -> Deadlock:
        requests = tuple(
            Request(each.process, event, each.want, self._targets(each, pattern), self._held[event])
            for each, event in zip(pattern, chosen, strict=True)
        )
        return Deadlock(requests, tuple(closure.cut), tuple(path))

    def _targets(self, request: Requests, pattern: Sequence[Requests]) -> tuple[int, ...]:
        return tuple(each.process for each in pattern if self._wants.is_given_by(request, each))
