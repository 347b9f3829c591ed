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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from possibly.order.computation import Computation
from possibly.trace.model import Trace, Value
from possibly.trace.recorded import recorded_of

MOST_PAIRS = 2_000
"""Racing pairs of accesses of which all orders are considered."""
MOST_WORK = 400_000
"""Those times events: each order asks for each pair what lies between."""


class TooManyError(Exception):
    """There are more racing accesses than can be considered."""


class Deciding(NamedTuple):
    """An order that shows what was looked for."""

    order: tuple[int, ...]
    """All events."""
    decided: int
    """After so many of them nothing that may follow makes a difference."""


class Orders:
    """The orders of one run."""

    def __init__(self, trace: Trace, look: Callable[[], None] = lambda: None) -> None:
        self._trace = trace
        self._look = look
        self._most = min(MOST_PAIRS, MOST_WORK // max(len(trace), 1))
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
            self._look()
            for variable in self._reads[event] | self._writes[event]:
                for earlier in by_variable.setdefault(variable, []):
                    if self._conflict(earlier, event) and not self._is_before(earlier, event):
                        found[earlier, event] = None
                        if len(found) > self._most:
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
            self._look()
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


@dataclass(frozen=True, slots=True)
class Sight:
    """What a read sees."""

    writer: int | None
    """None: the value from before the run."""
    value: Value
    is_told: bool
    """Whether the value stands for itself, rather than for an object or for what was not recorded."""
    has_value: bool = True
    """Whether there is a value at all."""

    @property
    def key(self) -> tuple[str, object]:
        """Equal for what nobody can tell apart."""
        return ("value", repr(self.value)) if self.is_told else ("writer", self.writer)

    def is_like(self, other: Sight) -> bool:
        return self.writer == other.writer or (
            self.is_told and other.is_told and repr(self.value) == repr(other.value)
        )


class Sights:
    """What is there to see in the shared variables of a run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        recorded = recorded_of(trace.header)
        self._untold = recorded.for_order if recorded is not None else frozenset[str]()

    def before(self, name: str) -> Sight:
        """What there is before the run."""
        if name not in self._trace.shared:
            return Sight(None, None, is_told=False, has_value=False)
        value = self._trace.shared[name]
        return Sight(None, value, _is_told(name, value, self._untold))

    def written(self, event: int) -> dict[str, Sight]:
        """What the event leaves in the variables that it writes."""
        return {
            name: Sight(event, value, _is_told(name, value, self._untold))
            for name, value in self._trace.writes(event)
        }

    def seen(self, path: Sequence[int]) -> dict[tuple[int, str], Sight]:
        """What each read of the path sees."""
        now: dict[str, Sight] = {}
        found: dict[tuple[int, str], Sight] = {}
        for event in path:
            for name in self._trace.reads(event):
                found[event, name] = now[name] if name in now else self.before(name)
            now |= self.written(event)
        return found


def is_unnoticed(trace: Trace, path: Sequence[int]) -> bool:
    """Whether every read of the path sees what it saw in the run: the same write, or an equal value."""
    sights = Sights(trace)
    recorded, inside = sights.seen(range(len(trace))), sights.seen(path)
    return all(sight.is_like(recorded[read]) for read, sight in inside.items())


def _is_told(name: str, value: Value, untold: frozenset[str]) -> bool:
    """An object is told as a text such as `<Lock>`; two of them need not be alike."""
    is_plain = isinstance(value, (bool, int, float)) or (isinstance(value, str) and not value.startswith("<"))
    return is_plain and name not in untold
