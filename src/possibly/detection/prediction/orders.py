"""Other orders of unsynchronised accesses: the same events in every order that synchronisation allows.

Two orders are alike if they order all conflicting accesses alike; of those alike one is given. From one
order the next come by reversing a pair of accesses that conflict, that nothing synchronises, and that are
ordered by nothing but themselves. Every order is reached so, since any two linear extensions are joined by
exchanges of neighbours.

What a process did after a read that sees another value in such an order is what it did in the run, and need
not be what it would do: `is_unnoticed` says whether all reads of a path see what they saw.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from possibly.order.computation import Computation
from possibly.trace.model import Trace, Value

MOST_PAIRS = 2_000
"""Racing pairs of accesses of which all orders are considered."""


class TooManyError(Exception):
    """There are more racing accesses than can be considered."""


class Orders:
    """The orders of one run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._computation = Computation(trace, "sync")
        self._reads = [frozenset(trace.reads(event)) for event in range(len(trace))]
        self._writes = [frozenset(name for name, _ in trace.writes(event)) for event in range(len(trace))]
        self._clocks: dict[int, tuple[int, ...]] = {}
        self._pairs = self._racing()

    @property
    def racing(self) -> int:
        """How many pairs of accesses race."""
        return len(self._pairs)

    def all(self) -> Iterator[tuple[int, ...]]:
        """Orders of all events, the recorded one first, each unlike the others."""
        start = tuple(range(len(self._trace)))
        known, queue = {self._signature(start)}, deque([start])
        while queue:
            order = queue.popleft()
            yield order
            for following in self._reversals(order):
                signature = self._signature(following)
                if signature not in known:
                    known.add(signature)
                    queue.append(following)

    def _racing(self) -> list[tuple[int, int]]:
        by_variable: dict[str, list[int]] = {}
        found: dict[tuple[int, int], None] = {}
        for event in range(len(self._trace)):
            for variable in self._reads[event] | self._writes[event]:
                for earlier in by_variable.setdefault(variable, []):
                    if self._conflict(earlier, event) and not self._is_before(earlier, event):
                        found[earlier, event] = None
                        if len(found) > MOST_PAIRS:
                            raise TooManyError
                by_variable[variable].append(event)
        return list(found)

    def _conflict(self, first: int, second: int) -> bool:
        writes = self._writes[first] & (self._reads[second] | self._writes[second])
        return bool(writes or self._reads[first] & self._writes[second])

    def _is_before(self, first: int, second: int) -> bool:
        """Whether synchronisation or the process orders them so."""
        if second not in self._clocks:
            self._clocks[second] = tuple(self._computation.clock(second))
        trace = self._trace
        return trace.position[first] <= self._clocks[second][trace.process[first]]

    def _signature(self, order: Sequence[int]) -> int:
        place = {event: number for number, event in enumerate(order)}
        return sum(
            1 << number for number, (one, other) in enumerate(self._pairs) if place[one] > place[other]
        )

    def _reversals(self, order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        place = {event: number for number, event in enumerate(order)}
        for pair in self._pairs:
            first, second = sorted(pair, key=place.__getitem__)
            found = self._reversed(order, place[first], place[second])
            if found is not None:
                yield found

    def _reversed(self, order: tuple[int, ...], start: int, end: int) -> tuple[int, ...] | None:
        """The order with the event at `end` before that at `start`; None if others stand between them."""
        after = [order[start]]
        before: list[int] = []
        for event in order[start + 1 : end]:
            (after if self._follows(event, after) else before).append(event)
        if self._follows(order[end], after[1:]):
            return None
        return (*order[:start], *before, order[end], *after, *order[end + 1 :])

    def _follows(self, event: int, others: Sequence[int]) -> bool:
        return any(self._is_before(other, event) or self._conflict(other, event) for other in others)


def is_unnoticed(trace: Trace, path: Sequence[int]) -> bool:
    """Whether every read of the path sees the value that it saw in the run."""
    seen = _seen(trace, range(len(trace)))
    inside = _seen(trace, path)
    return all(_same(value, seen[read]) for read, value in inside.items())


def _seen(trace: Trace, path: Sequence[int]) -> dict[tuple[int, str], tuple[Value, ...]]:
    """For each read of the path the value that it sees, none if nobody has written one."""
    values: dict[str, Value] = dict(trace.shared)
    found: dict[tuple[int, str], tuple[Value, ...]] = {}
    for event in path:
        for variable in trace.reads(event):
            found[event, variable] = (values[variable],) if variable in values else ()
        values.update(trace.writes(event))
    return found


def _same(one: tuple[Value, ...], other: tuple[Value, ...]) -> bool:
    return repr(one) == repr(other)
