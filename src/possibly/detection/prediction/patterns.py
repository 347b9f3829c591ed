"""Patterns of a deadlock: requests by different processes, each for what only others of them can give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from possibly.detection.limits import Budget
from possibly.detection.prediction.wants import Requests, Wants
from possibly.order.components import tarjan
from possibly.verdict.deadlocks import END, ITEM, ROOM

Pattern = tuple[Requests, ...]
MOST_SUPPLIERS = 2
"""Processes that could give what is wanted, up to which each may wait for anything."""
MOST_SPARED = 2
"""Processes that could give what is wanted, left out of a pattern as they may have nothing left to give."""


def patterns(requests: Sequence[Requests], wants: Wants, budget: Budget) -> Iterator[Pattern]:
    """Every pattern, once."""
    return _Patterns(requests, wants, budget).all()


class _Patterns:
    def __init__(self, requests: Sequence[Requests], wants: Wants, budget: Budget) -> None:
        self._requests = requests
        self._wants = wants
        self._budget = budget
        self._holding: dict[int, list[int]] = defaultdict(list)
        self._of_process: dict[int, list[int]] = defaultdict(list)
        for number, each in enumerate(requests):
            self._of_process[each.process].append(number)
            for lock in each.holds:
                self._holding[lock].append(number)
        self._component, _ = tarjan([self._may_follow(number) for number in range(len(requests))])

    def _may_follow(self, number: int) -> list[int]:
        """Requests that this one may wait for. A pattern lies in one component of what may follow what."""
        missing = self._missing(number, [number], frozenset())
        choices = {each for found, _ in missing for each in found}
        return [each for each in choices if self._is_apart(each, [number])]

    def all(self) -> Iterator[Pattern]:
        known: set[frozenset[int]] = set()
        for first in range(len(self._requests)):
            for found in self._extended([first], frozenset()):
                if frozenset(found) not in known and self._is_one(found):
                    known.add(frozenset(found))
                    yield tuple(self._requests[number] for number in found)

    def _extended(self, path: list[int], spared: frozenset[int]) -> Iterator[list[int]]:
        """Adds requests until each waits for others of them; the first one has the smallest number.

        A process that may give a signal, an item or room is one of them, or is spared: what it would give
        is shown later not to come.
        """
        self._budget.visit()
        missing = next((each for number in path for each in self._missing(number, path, spared)), None)
        if missing is None:
            yield path
            return
        choices, sparing = missing
        for number in choices:
            is_near = number > path[0] and self._component[number] == self._component[path[0]]
            if is_near and self._is_apart(number, path):
                yield from self._extended([*path, number], spared)
        if sparing is not None and len(spared) < MOST_SPARED:
            yield from self._extended(path, spared | {sparing})

    def _missing(
        self, number: int, path: list[int], spared: frozenset[int]
    ) -> Iterator[tuple[list[int], int | None]]:
        """The requests of which one must be added for this one to wait; and who may be spared instead."""
        request = self._requests[number]
        inside = {self._requests[each].process for each in path}
        if request.want.kind == END:
            if request.want.thing not in inside:
                yield self._of_process[request.want.thing], None
            return
        givers = self._wants.givers(request.want)
        if givers is not None:
            yield from self._suppliers(number, givers.positions.keys() - inside - spared)
        else:
            for lock in self._wants.locks(request.want):
                if not any(lock in self._requests[each].holds for each in path):
                    yield self._holding[lock], None

    def _suppliers(self, number: int, processes: set[int]) -> Iterator[tuple[list[int], int | None]]:
        """Of one or two suppliers any request, of several those that wait for the one that they supply.

        Else there were as many combinations as the product of their requests.
        """
        for process in processes:
            choices = self._of_process[process]
            if len(processes) > MOST_SUPPLIERS:
                choices = [each for each in choices if self._is_for(each, number)]
            yield choices, process

    def _is_for(self, number: int, other: int) -> bool:
        return self._wants.is_given_by(self._requests[number], self._requests[other])

    def _is_apart(self, number: int, path: list[int]) -> bool:
        """Whether it goes with the others: another process, no lock in common, no queue full and empty."""
        one = self._requests[number]
        return all(
            each.process != one.process
            and not each.holds & one.holds
            and not (each.want.thing == one.want.thing and {each.want.kind, one.want.kind} == {ITEM, ROOM})
            for each in (self._requests[other] for other in path)
        )

    def _is_one(self, path: list[int]) -> bool:
        """Whether it has no part that is a pattern: each waits, over others, for each other."""
        return is_knot({one: {other for other in path if self._is_for(one, other)} for one in path})


def is_knot(after: Mapping[int, Set[int]]) -> bool:
    """Whether each waits, directly or over others, for each other."""
    return len(after) > 1 and all(_reached(one, after) == after.keys() for one in after)


def _reached(start: int, after: Mapping[int, Set[int]]) -> set[int]:
    found: set[int] = set()
    pending = [start]
    while pending:
        for each in after[pending.pop()]:
            if each not in found:
                found.add(each)
                pending.append(each)
    return found
