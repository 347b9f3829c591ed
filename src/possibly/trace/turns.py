"""Turns of tasks: from an event of kind `turn` to the next of its process no other task of its loop runs.

The `tag` names the loop. Tasks that are ready go on in the order in which they became so. Since when a task
was ready is known if its turn is the first (since it was spawned), if it gave its turn before away without
waiting (`yielded`), or if it begins with what it had waited for; else it waited for a time or for the world,
and may have been ready at any moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from possibly.records import dataclass
from possibly.trace.model import NONE, Ints, Trace

TURN, YIELDED, WAITED = "turn", "yielded", "waited"
_LEARNT = ("join", "result", "cancelled")
"""What a task tells first that goes on after somebody else."""


@dataclass(frozen=True, slots=True)
class Turn:
    loop: int
    process: int
    first: int
    """The position of its `turn`."""
    last: int
    ready: int | None
    """The event since which it was ready; None: any moment since it could be."""
    earliest: int
    """The event since which it could be ready."""


def turn_kind(trace: Trace) -> int:
    """The number of the kind of events with which turns begin; NONE: there are none."""
    return next((kind for kind in trace.kinds if trace.strings[kind] == TURN), NONE)


class Turns:
    """The turns of a run; empty if it tells none."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._turn = turn_kind(trace)
        self._of: dict[int, Turn] = {}
        if self._turn != NONE and trace.tag is not None:
            for process in range(len(trace.processes)):
                for turn in self._turns(process, trace.tag):
                    events = trace.events_of[process][turn.first - 1 : turn.last]
                    self._of.update(dict.fromkeys(events, turn))

    def __bool__(self) -> bool:
        return bool(self._of)

    def of(self, event: int) -> Turn | None:
        """The turn that an event is in."""
        return self._of.get(event)

    def all(self) -> Iterator[Turn]:
        """By process, each process's in its order."""
        return iter({(turn.process, turn.first): turn for turn in self._of.values()}.values())

    def asked(self, event: int) -> int:
        """How many events its process had done when it came to this one: what it waited for, it asked for
        in its turn before."""
        turn = self._of.get(event)
        if turn is not None and self._trace.extra.get(event, {}).get(WAITED):
            return turn.first - 1
        return self._trace.position[event] - 1

    def learnt(self, turn: Turn) -> Iterator[int]:
        """The events with which the turn begins that tell of what its task had waited for."""
        return takewhile(self._is_learnt, self._trace.events_of[turn.process][turn.first : turn.last])

    def _is_learnt(self, event: int) -> bool:
        trace = self._trace
        return trace.strings[trace.kind[event]] in _LEARNT or bool(trace.extra.get(event, {}).get(WAITED))

    def together(self, one: int, other: int) -> bool:
        """Whether the events are in turns of one loop, so that never both come next."""
        first, second = self._of.get(one), self._of.get(other)
        return first is not None and second is not None and first.loop == second.loop

    def _turns(self, process: int, tags: Ints) -> Iterator[Turn]:
        trace = self._trace
        events = trace.events_of[process]
        starts = [place for place, event in enumerate(events, start=1) if trace.kind[event] == self._turn]
        for first, following in pairwise([*starts, len(events) + 1]):
            before = events[first - 2] if first > 1 else None
            ready = self._ready(events[first - 1 : following - 1], before, is_first=first == starts[0])
            earliest = ready if ready is not None else before if before is not None else events[first - 1]
            yield Turn(tags[events[first - 1]], process, first, following - 1, ready, earliest)

    def _ready(self, events: Sequence[int], before: int | None, *, is_first: bool) -> int | None:
        trace = self._trace
        turn, *rest = events
        if is_first:
            spawned = trace.after(before) if before is not None else ()
            return max(spawned, default=None)
        if trace.extra.get(turn, {}).get(YIELDED):
            return before
        is_woken = bool(rest) and trace.strings[trace.kind[rest[0]]] in _LEARNT
        return max(trace.after(rest[0]), default=None) if is_woken else None
