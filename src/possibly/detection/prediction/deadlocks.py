"""Deadlocks that a reordering of the run reaches: cycles of processes, each waiting for the next.

"Sound dynamic deadlock prediction in linear time" (Tunç, Mathur, Pavlogiannis, Viswanathan), sections 4 and
5. A request is an acquire, or a join of another process. A pattern is a cycle of requests by different
processes, each for a lock that the next one holds or for the end of the next one, such that no two hold the
same lock. It is a deadlock if a reordering that keeps the order of critical sections contains all that the
requesting processes did before and none of the requests: no false alarm, and complete for these
reorderings.

Requests of one process at one place for one thing with the same locks held are taken together. Of their
combinations the first that is a deadlock is found by advancing past requests that the closure contains: it
only grows, so it is grown once for each combined pattern.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from possibly.detection.limits import Budget
from possibly.detection.prediction.closure import Closure, Required
from possibly.detection.prediction.sections import JOIN, Section, Sections
from possibly.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests that are alike, in the order of the run."""

    process: int
    lock: int | None
    """The lock that is wanted; None if the end of a process is."""
    target: int | None
    """That process."""
    holds: frozenset[int]
    """Locks."""
    events: tuple[int, ...]

    def waits_for(self, other: Requests) -> bool:
        return other.process == self.target if self.lock is None else self.lock in other.holds


@dataclass(frozen=True, slots=True)
class Request:
    """A process that waits for ever."""

    process: int
    event: int
    """The acquire or join that it would not have got past."""
    lock: int | None
    target: int
    """The process that it waits for."""
    holds: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Requests in a cycle, each waiting for the next, and the part of the run after which all wait."""

    requests: tuple[Request, ...]
    cut: tuple[int, ...]
    path: tuple[int, ...]
    """Events in an order that leads there."""


class DeadlockFinder:
    """The deadlocks of one run."""

    def __init__(self, trace: Trace, budget: Budget | None = None) -> None:
        self._trace = trace
        self._budget = budget or Budget()
        self._sections = Sections(trace)
        self._order = Required(trace, self._sections)
        self._held = self._sections.held()

    def found(self) -> Iterator[Deadlock]:
        """A deadlock for each pattern that has one. Raises when the budget is spent."""
        for cycle in _cycles(self._requests(), self._budget):
            deadlock = self._instance(cycle)
            if deadlock is not None:
                yield deadlock

    def _requests(self) -> list[Requests]:
        trace = self._trace
        alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for event, inside in self._held.items():
            place = None if trace.place is None else trace.place[event]
            holds = frozenset((each.lock, self._place(each.acquire)) for each in inside)
            alike[trace.process[event], self._lock(event), self._target(event), holds, place].append(event)
        return [self._combined(sorted(events)) for events in alike.values()]

    def _combined(self, events: Sequence[int]) -> Requests:
        first = events[0]
        holds = frozenset(each.lock for each in self._held[first])
        return Requests(
            self._trace.process[first], self._lock(first), self._target(first), holds, tuple(events)
        )

    def _place(self, event: int) -> int | None:
        return None if self._trace.place is None else self._trace.place[event]

    def _lock(self, event: int) -> int | None:
        section = self._sections.of_acquire.get(event)
        return None if section is None else section.lock

    def _target(self, event: int) -> int | None:
        trace = self._trace
        if trace.strings[trace.kind[event]] != JOIN:
            return None
        ends = [each for each in trace.after(event) if trace.strings[trace.kind[each]] == "end"]
        return trace.process[ends[0]] if len(ends) == 1 else None

    def _instance(self, cycle: Sequence[Requests]) -> Deadlock | None:
        """The first combination of requests that a reordering reaches."""
        closure = Closure(self._order)
        places = [0] * len(cycle)
        while True:
            chosen = [each.events[place] for each, place in zip(cycle, places, strict=True)]
            for event in chosen:
                self._grow(closure, event)
            behind = [number for number, event in enumerate(chosen) if closure.contains(event)]
            if not behind:
                return self._deadlock(cycle, chosen, closure)
            for number in behind:
                places[number] += 1
                if places[number] == len(cycle[number].events):
                    return None

    def _grow(self, closure: Closure, request: int) -> None:
        """Take in all that must have happened when the request is made."""
        trace = self._trace
        self._budget.visit()
        closure.grow(trace.process[request], trace.position[request] - 1)
        if self._lock(request) is not None:
            for event in self._order.before(request):
                closure.grow(trace.process[event], trace.position[event])

    def _deadlock(self, cycle: Sequence[Requests], chosen: Sequence[int], closure: Closure) -> Deadlock:
        processes = [each.process for each in cycle]
        requests = tuple(
            Request(each.process, event, each.lock, target, self._held[event])
            for each, event, target in zip(cycle, chosen, [*processes[1:], processes[0]], strict=True)
        )
        return Deadlock(requests, tuple(closure.cut), tuple(closure.events()))


def _cycles(requests: Sequence[Requests], budget: Budget) -> Iterator[tuple[Requests, ...]]:
    """Cycles of requests by different processes that hold no lock in common, each once."""
    useful = [each for each in requests if each.lock is not None or each.target is not None]
    followers = _followers(useful)

    def extended(path: list[int]) -> Iterator[tuple[Requests, ...]]:
        budget.visit()
        for number in followers[path[-1]]:
            if number == path[0]:
                yield tuple(useful[each] for each in path)
            elif number > path[0] and _is_apart(useful[number], [useful[each] for each in path]):
                yield from extended([*path, number])

    for first in range(len(useful)):
        yield from extended([first])


def _followers(requests: Sequence[Requests]) -> list[list[int]]:
    """For each request those that it may wait for."""
    holding: dict[int, list[int]] = defaultdict(list)
    by_process: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(requests):
        by_process[each.process].append(number)
        for lock in each.holds:
            holding[lock].append(number)
    found = []
    for each in requests:
        near = holding[each.lock] if each.lock is not None else by_process[each.target or 0]
        found.append([number for number in near if _may_follow(each, requests[number])])
    return found


def _may_follow(request: Requests, other: Requests) -> bool:
    return request.process != other.process and request.waits_for(other) and not request.holds & other.holds


def _is_apart(request: Requests, path: Sequence[Requests]) -> bool:
    return all(each.process != request.process and not each.holds & request.holds for each in path)
