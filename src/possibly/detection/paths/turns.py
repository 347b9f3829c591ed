"""The order that an event loop gives to the events of an expression.

Here belongs what makes tasks of a loop other than threads: a turn of a task (see `trace.turns`) is not
interrupted, so two turns of a loop are ordered as they were recorded, as two critical sections of a lock
are. The bare name of a function stands for the whole call: while it lasts beyond a turn, that turn is not
over, since others can come in the middle of the call. `f.enter` and `f.exit` are moments, and where
one of them stands in the expression, so is the bare name.

One event a loop suffices: the end of the last turn that is over comes after those of all turns before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from possibly.logic.paths.compiled import Compiled
from possibly.logic.paths.syntax import Control
from possibly.order.computation import Computation
from possibly.trace.model import NONE, Trace
from possibly.trace.turns import TURN, turn_kind

Event = TypeVar("Event")


def whole_calls(expression: Compiled) -> frozenset[str]:
    """The functions whose calls stand in the expression as a whole."""
    named = [atom.event for atom in expression.symbols if isinstance(atom.event, Control)]
    moments = {event.name for event in named if event.phase}
    return frozenset({event.name for event in named} - moments)


def tells_turns(trace: Trace) -> bool:
    return turn_kind(trace) != NONE and trace.tag is not None


def turn_pairs(trace: Trace, calls: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The end of a turn and the beginning of the next one that comes after it, for each that is over."""
    over: Over[int] = Over(calls)
    for event in range(len(trace)):
        kind = trace.strings[trace.kind[event]]
        tag, function = trace.text(trace.tag, event), trace.text(trace.function, event)
        earlier = over.before(trace.process[event], event, kind, tag, function)
        if earlier is not None:
            yield earlier, event


def with_turns(computation: Computation, expression: Compiled) -> Computation:
    """The same computation in the order that event loops give to the events of the expression."""
    trace = computation.trace
    if not tells_turns(trace):
        return computation
    return computation.with_pairs(turn_pairs(trace, whole_calls(expression)))


class Over(Generic[Event]):
    """For each loop the end of the last turn that is over; told of every event in the recorded order."""

    def __init__(self, calls: frozenset[str]) -> None:
        self._calls = calls
        self._running: dict[str, int] = {}
        """For each loop the task whose turn it is."""
        self._latest: dict[int, Event] = {}
        """For each task of a loop its last event."""
        self._lasting: dict[int, int] = {}
        """For each task how many of the calls it is in."""
        self._over: dict[str, tuple[int, Event]] = {}
        """For each loop whose turn it was, and its last event."""

    def before(
        self, process: int, event: Event, kind: str, tag: str | None, function: str | None
    ) -> Event | None:
        """The event comes; the end of a turn of another task that comes before it, if it begins a turn."""
        found = None
        if kind == TURN and tag is not None:
            found = self._handed(tag, process)
        if process in self._latest or kind == TURN:
            self._latest[process] = event
        if function in self._calls:
            self._lasting[process] = self._lasting.get(process, 0) + (kind == "enter") - (kind == "exit")
        return found

    def _handed(self, loop: str, process: int) -> Event | None:
        """The turn goes to this task."""
        last = self._running.get(loop)
        if last is not None and not self._lasting.get(last):
            self._over[loop] = last, self._latest[last]
        self._running[loop] = process
        task, end = self._over.get(loop, (process, None))
        return None if task == process else end
