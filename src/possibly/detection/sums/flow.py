"""The cut of a slice where a sum is least, by maximum flow.

Here belongs Picard's closure problem ("Maximal closure of a graph and applications to combinatorial
problems", 1976), which the thesis uses for relational predicates (section 4.3.2): a cut is a set of events
closed under "needs", each event has a weight, and the closed set of least weight is a minimum cut of a
network. The source feeds every event of negative weight, events of positive weight drain to the sink, an
event that needs another one has an arc of unlimited capacity to it. The constraints of a slice are needs
like the trace's own.

Only what lies between the least and the greatest cut of the slice enters the network, and of that only the
events that have a weight or a need: the others go with the next one before them. The source's side of the
minimum cut that is returned is the smallest, so the answer is the least of all cuts where the sum is least.
The flow is computed by OR-Tools (the optional extra `solver`), imported when it is first needed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from possibly.detection.limits import MissingExtraError
from possibly.order.computation import Cut, Place
from possibly.order.slice import Slice

EXTRA = 'needs OR-Tools, which is not installed: pip install "possibly[solver]"'


BYTES = 4_500
"""Of memory for an event with a weight or a need: mostly the tables of the solver, as measured."""


def least_total(
    part: Slice, changes: Mapping[Place, int], room_for: Callable[[int], None] = lambda more: None
) -> Cut | None:
    """The least of the cuts of the slice where the sum of the changes is least; None if there is no cut.

    `room_for` is told how much memory it takes, and may raise.
    """
    low, high = part.least, part.greatest
    if low is None or high is None:
        return None
    inside = {place: change for place, change in changes.items() if _is_between(place, low, high)}
    if not any(change < 0 for change in inside.values()):
        return low
    needs = part.computation.needed
    room_for(BYTES * (len(inside) + len(needs.position) + len(part.edges)))
    return _Network(part, low, high, inside).cut()


def needs_of(part: Slice, low: Cut, high: Cut) -> Iterator[tuple[Place, Place]]:
    """(f, e): a cut of the slice with f contains e; for events in `high` and not in `low`.

    That a process executes its events in order is not among them.
    """
    needed = part.computation.needed
    for process, (least, most) in enumerate(zip(low, high, strict=True)):
        for position, other in needed.between(process, least, most):
            if other[1] > low[other[0]]:
                yield (process, position), other
    for e, f in part.edges:
        if low[e[0]] < e[1] and low[f[0]] < f[1] <= high[f[0]]:
            yield f, e
    for process, states in part.allowed.items():
        state = states.find(0, low[process] + 1, high[process])
        while state >= 0:
            following = states.find(1, state, high[process] + 1)
            yield (process, state), (process, following)
            state = states.find(0, following, high[process])


def _is_between(place: Place, low: Cut, high: Cut) -> bool:
    process, count = place
    return low[process] < count <= high[process]


class _Network:
    """Nodes are the events that matter, numbered along each process; two more are source and sink."""

    def __init__(self, part: Slice, low: Cut, high: Cut, changes: Mapping[Place, int]) -> None:
        self.low = low
        self.changes = changes
        self.needs = list(needs_of(part, low, high))
        positions: list[set[int]] = [set() for _ in low]
        for process, count in changes:
            positions[process].add(count)
        for ends in self.needs:
            for process, count in ends:
                positions[process].add(count)
        self.positions = [sorted(counts) for counts in positions]
        self.first: list[int] = []
        self.size = 0
        for counts in self.positions:
            self.first.append(self.size)
            self.size += len(counts)

    def number(self, place: Place) -> int:
        process, count = place
        return self.first[process] + bisect_left(self.positions[process], count)

    def cut(self) -> Cut:
        chosen = self._source_side()
        found = list(self.low)
        for process, counts in enumerate(self.positions):
            taken = [count for index, count in enumerate(counts) if self.first[process] + index in chosen]
            if taken:
                found[process] = taken[-1]
        return tuple(found)

    def _source_side(self) -> set[int]:
        solver = _flow_solver()
        source, sink = self.size, self.size + 1
        unlimited = sum(map(abs, self.changes.values())) + 1
        tails, heads, capacities = array("i"), array("i"), array("q")

        def arc(tail: int, head: int, capacity: int) -> None:
            tails.append(tail)
            heads.append(head)
            capacities.append(capacity)

        for place, change in self.changes.items():
            number = self.number(place)
            arc(*((source, number, -change) if change < 0 else (number, sink, change)))
        for f, e in self.needs:
            arc(self.number(f), self.number(e), unlimited)
        for process, counts in enumerate(self.positions):
            for number in range(self.first[process] + 1, self.first[process] + len(counts)):
                arc(number, number - 1, unlimited)
        # A sum without events of positive weight has no arc to the sink: give the network one.
        arc(source, sink, 0)
        solver.add_arcs_with_capacity(tails, heads, capacities)
        status = solver.solve(source, sink)
        assert status == solver.OPTIMAL, f"maximum flow ended with {status}"
        return set(solver.get_source_side_min_cut())


def _flow_solver() -> Any:
    try:
        from ortools.graph.python import max_flow
    except ImportError:
        raise MissingExtraError(EXTRA) from None
    return max_flow.SimpleMaxFlow()
