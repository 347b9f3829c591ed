"""A state that comes twice on a path: then what the path shows can go on for ever.

Here belongs the search for it (Sen's thesis, section 6.9, asks for it). A finite run can only show that
something good did not happen yet. If the same global state comes again on the way, the program may repeat
the stretch between without end, as far as the trace shows its state: the variables, the messages in
transit, and for each process the kind, label and function of its last event.
"""

from __future__ import annotations

from collections.abc import Sequence

from possibly.order.computation import Computation
from possibly.order.state import RunningState
from possibly.trace.model import NONE, Value

Point = tuple[int, str | None, str | None]


def repeated_state(computation: Computation, steps: Sequence[int], start: int = 0) -> tuple[int, int] | None:
    """Numbers of executed steps i < j, from `start` on, after which the states are equal."""
    seen: dict[object, int] = {}
    following = _Following(computation)
    for count in range(len(steps) + 1):
        if count:
            following.execute(steps[count - 1])
        if count < start:
            continue
        key = following.key()
        if key in seen:
            return seen[key], count
        seen[key] = count
    return None


class _Following:
    """The state along a path in a form that can be compared."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.state = RunningState(computation)
        self.values: dict[object, str] = {name: _text(value) for name, value in self.state.values.items()}
        self.transit: dict[tuple[int, int, str | None], int] = {}
        self.points: dict[int, Point] = {}
        trace = computation.trace
        received = zip(trace.delivery_send, trace.delivery_receive, strict=True)
        self.received = {receive: send for send, receive in received if receive != NONE}

    def execute(self, step: int) -> None:
        for name, _, after in self.state.execute(step):
            self.values[name] = _text(after)
        for event in self.computation.events(step):
            self._deliver(event)
            trace = self.computation.trace
            label, function = trace.text(trace.label, event), trace.text(trace.function, event)
            self.points[trace.process[event]] = (trace.kind[event], label, function)

    def _deliver(self, event: int) -> None:
        trace = self.computation.trace
        for row in trace.deliveries(event):
            self._count((trace.process[event], trace.delivery_to[row], trace.text(trace.tag, event)), 1)
        if event in self.received:
            send = self.received[event]
            self._count((trace.process[send], trace.process[event], trace.text(trace.tag, send)), -1)

    def _count(self, channel: tuple[int, int, str | None], by: int) -> None:
        number = self.transit.pop(channel, 0) + by
        if number:
            self.transit[channel] = number

    def key(self) -> object:
        return (
            frozenset(self.values.items()),
            frozenset(self.transit.items()),
            frozenset(self.points.items()),
        )


def _text(value: Value) -> str:
    return f"{type(value).__name__} {value!r}"
