"""Who knows of whom while the program runs: vector clocks from the actions that the probes tell.

Law: what is ordered here is ordered in the trace. Not the other way round: order that passes through another
process of the operating system, a stream or a barrier is not followed here. So accesses that are unordered
here are written down, and the whole order of the trace decides about them.

An action counts as `edges.ACTIONS` says; here it carries a copy of a clock where it there carries the name of
an event.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from possibly.recorder.edges import (
    ACTIONS,
    FOLLOWS,
    GATHERS,
    GIVES,
    MARKS,
    PASSES,
    RECEIVES,
    SENDS,
    TAKES,
    changed_queue,
)

Clock = dict[int, int]
"""Process -> how much of it is known."""


class Clocks:
    """The clock of each process, and what actions have left for others."""

    def __init__(self) -> None:
        self._clocks: dict[int, Clock] = {}
        self._marks: dict[tuple[str, Any], Clock] = {}
        self._units: dict[Any, deque[Clock]] = {}

    def now(self, process: int) -> Clock:
        """What the process knows by now; it may be changed."""
        found = self._clocks.get(process)
        if found is None:
            found = self._clocks[process] = {process: 1}
        return found

    def told(self, action: str, process: int, thing: Any, detail: Any) -> None:
        """An action of a probe."""
        rule, family = ACTIONS[action].rule, ACTIONS[action].family
        if rule == FOLLOWS:
            self._learn(process, self._marks.get((family, thing)))
        elif rule == MARKS and family == "waiter":
            for waiter in detail:
                self._marks[family, waiter] = self._left_by(process)
        elif rule in (MARKS, SENDS):
            self._marks[family or SENDS, thing] = self._left_by(process)
        elif rule == RECEIVES:
            self._learn(process, self._marks.pop((SENDS, thing), None))
        elif rule == GIVES:
            self._units.setdefault(thing, deque()).extend([self._left_by(process)] * (detail or 1))
        elif rule == TAKES:
            self._learn(process, self._units[thing].popleft() if self._units.get(thing) else None)
        elif rule == GATHERS:
            self._gather(process, thing)
        elif rule == PASSES:
            self._learn(process, self._marks.get((GATHERS, thing)))
        elif action == "units":
            self._units[thing] = deque([{} for _ in range(max(0, detail))])
        if rule in (SENDS, RECEIVES) and (number := changed_queue(detail)) is not None:
            self._gather(process, number)

    def _gather(self, process: int, thing: Any) -> None:
        _join(self._marks.setdefault((GATHERS, thing), {}), self._left_by(process))

    def _left_by(self, process: int) -> Clock:
        """What the process knows now; what it does from now on is not known by that."""
        clock = self.now(process)
        found = dict(clock)
        clock[process] += 1
        return found

    def _learn(self, process: int, clock: Clock | None) -> None:
        if clock:
            _join(self.now(process), clock)


def _join(into: Clock, clock: Clock) -> None:
    for process, time in clock.items():
        if into.get(process, 0) < time:
            into[process] = time
