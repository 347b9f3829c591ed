"""The explorer that joins equal states: every state in which the program can end is reached.

It hands out routes to what is still to be tried (`graph`): a place that became known last, or any. When more
memory turns out to be shared than the digests have told of (`state`), it begins anew.
"""

from __future__ import annotations

from random import Random

from possibly.control.execution import Execution, Outcome, Task, Thing
from possibly.control.joining.graph import Graph, Place
from possibly.control.joining.route import UNSEEN, Route, Wishes

MOST_WISHES = 2_000


class Joining:
    """An explorer over states."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.executions = 0
        self.truncated = 0
        """Executions that ended before the program did: the search is not complete."""
        self.looked = 0
        """States that were looked at."""
        self.unread = 0
        """Those of them that could not be read."""
        self._begun = 0
        self._is_begun = False
        """The graph has its first execution, or that is under way."""
        self._touched: dict[Thing, set[tuple[Task, bool]]] = {}
        self._shared: frozenset[Thing] = frozenset()
        """Hidden things that two tasks touch, one of them writing, in whatever executions."""
        self._random = Random(0)
        self._running: dict[int, Graph] = {}
        """The plans that are under way, and for which graph."""

    @property
    def is_complete(self) -> bool:
        """Nothing is left to be tried, and nothing went another way than it should."""
        return self._is_begun and not (self.left or self.truncated or self.graph.divergence)

    @property
    def left(self) -> int:
        return sum(len(place.todo) for place in self.graph.open) + len(self._running)

    def knows(self, execution: Execution) -> bool:
        """Whether an execution followed a plan of this explorer."""
        return execution.seen is not None and execution.seen.plan in self._running

    def plan(self) -> Route | None:
        if not self._is_begun:
            self._is_begun = True
            return self._route(())
        found = self._next()
        if found is None:
            return None
        place, task = found
        del place.todo[task]
        if not place.todo:
            del self.graph.open[place]
        return self._route((*place.schedule(), task))

    def _route(self, prefix: tuple[Task, ...]) -> Route:
        self._begun += 1
        self._running[self._begun] = self.graph
        return Route(self._begun, prefix, self._wishes(), self._shared)

    def _next(self) -> tuple[Place, Task] | None:
        places = self.graph.open
        if not places:
            return None
        place = next(reversed(places)) if self._begun % 2 else self._random.choice(list(places))
        return place, next(iter(place.todo))

    def _wishes(self) -> Wishes:
        found: Wishes = {}
        for place in reversed(self.graph.open):
            if place.state is not None:
                found[place.state] = tuple(place.todo)
                if len(found) >= MOST_WISHES:
                    break
        return found

    def learn(self, execution: Execution) -> None:
        seen = execution.seen
        assert seen is not None
        self.executions += 1
        graph = self._running.pop(seen.plan)
        if self._shares_more(execution):
            self.graph = Graph()
            self.truncated = 0
            self._is_begun = False
        if graph is not self.graph:
            return
        self.looked += sum(state != UNSEEN for state in seen.states)
        self.unread += seen.states.count(None)
        if execution.outcome in (Outcome.CUT_OFF, Outcome.DIVERGED):
            self.truncated += 1
        graph.learn(execution.steps, seen.states, execution.pending)

    def _shares_more(self, execution: Execution) -> bool:
        """Whether more is shared than the states have told: then they cannot be compared with others."""
        assert execution.seen is not None
        known = self._touched
        for thing, accesses in execution.seen.touched.items():
            known.setdefault(thing, set()).update((task, writes) for task, writes in accesses)
        shared = frozenset(thing for thing, accesses in known.items() if _is_shared(accesses))
        grown = shared != self._shared
        self._shared = shared
        return grown


def _is_shared(accesses: set[tuple[Task, bool]]) -> bool:
    return len({task for task, _ in accesses}) > 1 and any(writes for _, writes in accesses)
