"""What happens below a state, as far as states above it must know: the steps, and what they come after.

Theory of operation. An entry tells of one step that is done somewhere below a state, or is pending there at
an end: whose it is, what it touches, and its cone: what its task knew before it, told by the tasks and things
that this knowledge has come through, as far down as the state. Going up over a step p, the cone takes p in if
p is one of its causes; else, if p and the entry's step are of two tasks and meet, then they are in a race:
the entry's task must also go where p did (`graph`). So the race of two steps is recognised without the
execution that has both, and states that are reached on several ways tell each of them the same.

Of two entries with the same step that with the smaller cone tells of more races: the other is left out.
"""

from __future__ import annotations

from typing import NamedTuple

from possibly.control.execution import ANY, Operation, Task, Thing

Set = frozenset[str]
NOTHING: Set = frozenset()


class Touch(NamedTuple):
    """What a step reads and writes."""

    reads: Set
    writes: Set

    def meets(self, other: Touch) -> bool:
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )

    def with_(self, other: Touch) -> Touch:
        return Touch(self.reads | other.reads, self.writes | other.writes)


def touch_of(*operations: Operation) -> Touch:
    """What operations touch together."""
    accesses = [access for operation in operations for access in operation.footprint]
    writes = frozenset(access.thing for access in accesses if access.writes)
    return Touch(frozenset(access.thing for access in accesses) - writes, writes)


class Move(NamedTuple):
    """A step as it was done."""

    task: Task
    touch: Touch
    creates: Set
    """Tasks that are there because of it."""
    shut: frozenset[tuple[str, Thing]]


class Later(NamedTuple):
    """A step below a state, as it was pending and as it was done."""

    task: Task
    kind: str
    waits: bool
    touch: Touch


class Entry(NamedTuple):
    later: Later
    tasks: Set = NOTHING
    """Those that its task's knowledge has come through; none: of its task's own steps none is below."""
    cone: Touch = Touch(NOTHING, NOTHING)

    def is_within(self, other: Entry) -> bool:
        """Whether it tells of all races that another entry with the same step tells of."""
        return (
            self.tasks <= other.tasks
            and self.cone.writes <= other.cone.writes
            and self.cone.reads <= other.cone.reads | other.cone.writes
        )

    def above(self, move: Move) -> Entry:
        """The entry as the state before a step tells it."""
        if self._is_after(move):
            return Entry(self.later, self.tasks | {move.task}, self.cone.with_(move.touch))
        return self

    def races(self, move: Move) -> bool:
        """Whether it could have come before a step instead of after it."""
        if move.task == self.later.task or self._is_after(move):
            return False
        return move.touch.meets(self._open(move))

    def _is_after(self, move: Move) -> bool:
        if not self.tasks:
            return move.task == self.later.task or self.later.task in move.creates
        if move.task in self.tasks or not move.creates.isdisjoint(self.tasks):
            return True
        return move.touch.meets(self.cone)

    def _open(self, move: Move) -> Touch:
        """What it touches, but for things of which the step shows that they were closed to it before."""
        later = self.later
        if not later.waits or not move.shut:
            return later.touch
        closed = {thing for kind, thing in move.shut if kind in (later.kind, ANY)}
        return Touch(later.touch.reads - closed, later.touch.writes - closed)
