"""Loops that wait: busy waiting, polling with a sleep or under a lock, retrying after a time-out.

Law: a task that comes back to the same operation, with the same local variables on its stack, having changed
nothing since, and finds unchanged everything it read on the way, would do the same again for ever. So, where
it holds the fewest locks, it is not enabled until something it read has been written. Then one round of such
a loop stands for all, the exploration of a correct busy-waiting program is finite, and tasks that all wait in
this way are a livelock.

What counts as a change: every write, also of memory that only this task uses; every round of a `for` loop
(its iterator is hidden from us); every call into foreign code that may keep state. Taking and giving back a
lock, sleeping, and a wait whose time is up change nothing. A lock that was tried in vain has been read, and
whoever releases it writes it. The test errs on one side only: a loop that is
not recognised is explored round by round.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

from possibly.control.execution import SPIN, Access, Operation
from possibly.control.runtime import places
from possibly.control.runtime.footprints import reading
from possibly.control.runtime.places import shown


class Task(Protocol):
    """What matters of a task here."""

    held: list[Any]
    operation: Operation | None
    ready: Callable[[], bool] | None


class Kernel(Protocol):
    versions: dict[str, int]


NEUTRAL = frozenset({"acquire", "release", "sleep", "timeout", "await", "resume", SPIN})
"""Operations that may stand in a round without being a change; their own things do not count as read."""
LOOKS = frozenset({"await", "timeout"})
"""Of these, those that look whether something has happened meanwhile: a change of it ends the round."""
CHANGES = frozenset({"write", "start", "end"})
"""Operations that are always a change, and never wait."""
ALWAYS = frozenset({"_:clock", "_:exit"})
"""What every operation may touch: the CLOCK and the EXIT of the kernel."""
PLAIN = frozenset({int, str, bool, float, bytes, type(None)})

Stack = list[tuple[CodeType, int, list[Any]]]


class _Visit:
    __slots__ = ("arrivals", "held", "operations", "reads", "stack")

    def __init__(self, stack: Stack, held: list[Any], reads: int, operations: int, arrivals: int) -> None:
        self.arrivals = arrivals
        self.stack = stack
        self.held = held
        self.reads = reads
        self.operations = operations


class Trail:
    """What a task did since it last changed anything."""

    __slots__ = (
        "arrivals", "changed", "footprints", "history", "reads", "turns", "visits", "waits_for",
    )  # fmt: skip

    def __init__(self) -> None:
        self.visits: dict[tuple[str, str, str], _Visit] = {}
        self.reads: list[tuple[str, int]] = []
        self.footprints: list[Access] = []
        self.arrivals: list[int] = []
        """How many locks the task held when it came to each operation."""
        self.changed: Callable[[], bool] | None = None
        """The task waits in a loop until this is true."""
        self.turns = 0
        """How often it did something whose effect is hidden from us."""
        self.history: list[tuple[Stack | None, list[Any], int]] = []
        """Where it was whenever it came to an operation: stack if that was looked at, locks held, turns."""
        self.waits_for: list[str] = []
        """What it reads in that loop."""

    def effect(self) -> None:
        """The task has changed something."""
        if self.visits or self.reads:
            self.visits.clear()
            self.reads.clear()
            self.footprints.clear()
            self.arrivals.clear()

    def turn(self) -> None:
        """The task has done something of which we do not know what it changes."""
        self.turns += 1
        self.effect()

    def done(self, operation: Operation, versions: dict[str, int]) -> None:
        """A visible operation of this task is over."""
        footprint = operation.footprint
        if operation.kind not in NEUTRAL:
            for _, writes in footprint:
                if writes:
                    self.effect()
                    return
            self.reads += [(thing, versions.get(thing, 0)) for thing, _ in footprint]
        elif operation.kind in LOOKS:
            self.reads += [(thing, versions.get(thing, 0)) for thing, _ in footprint if thing not in ALWAYS]
        for thing, _ in footprint:
            self.footprints += reading(thing)

    def arrive(self, task: Task, kernel: Kernel, operation: Operation, stack: Stack | None = None) -> None:
        """The task is about to do an operation: has it been here before?"""
        self.changed = None
        if operation.kind in CHANGES:  # when it is done, all that is known here is out of date
            self.history.append((None, [], self.turns))
            return
        key = (operation.kind, operation.thing, operation.at)
        if stack is None:
            stack = _stack()
        self.history.append((stack, list(task.held), self.turns))
        before = self.visits.get(key)
        self.arrivals.append(len(task.held))
        if before is not None and self._is_round(before, task, stack):
            reads = self.reads[before.reads :]
            versions = kernel.versions
            met = self.footprints[before.operations :]
            known = bool(reads) or _only_sleeps(operation, met)
            if known and all(versions.get(thing, 0) == version for thing, version in reads):
                self._wait(task, operation, reads, met, versions)
                return
        begin = len(self.arrivals) - 1
        self.visits[key] = _Visit(stack, list(task.held), len(self.reads), len(self.footprints), begin)

    def _is_round(self, before: _Visit, task: Task, stack: Stack) -> bool:
        """The same state as before; and nowhere on the way were fewer locks held: others may need these."""
        fewest = min(self.arrivals[before.arrivals :])
        return len(task.held) <= fewest and before.held == task.held and is_same(before.stack, stack)

    def _wait(
        self,
        task: Task,
        operation: Operation,
        reads: list[tuple[str, int]],
        met: list[Access],
        versions: dict[str, int],
    ) -> None:
        def changed() -> bool:
            return any(versions.get(thing, 0) != version for thing, version in reads)

        plain = task.ready
        self.changed = changed
        self.waits_for = list(dict.fromkeys(thing for thing, _ in reads))
        task.ready = changed if plain is None else lambda: changed() and plain()
        own = {access.thing for access in operation.footprint}
        more = {access for access in met if access.thing not in own}
        footprint = (*operation.footprint, *sorted(more))
        task.operation = operation._replace(kind=SPIN, footprint=footprint, waits=True)


def _only_sleeps(operation: Operation, met: list[Access]) -> bool:
    """A round that met nothing but the clock and the end of the program waits for nothing: it lasts for ever.

    One that met a lock, or whose time was up, is no such round: what these wait for is not among the reads.
    """
    return operation.kind == "sleep" and all(access.thing in ALWAYS for access in met)


def _stack() -> Stack:
    """The user's frames of the running task, with their variables; globals are watched elsewhere."""
    frame: Any = sys._getframe()  # what its variables are held in depends on the version of Python
    found: Stack = []
    known, boundary = places.known, places.boundary
    while frame is not None and (code := frame.f_code) is not boundary:
        if known.get(code.co_filename) if code.co_filename in known else shown(code.co_filename):
            values = list(frame.f_locals.values()) if code.co_flags & 2 else []
            found.append((code, frame.f_lasti, values))
        frame = frame.f_back
    return found


def coroutine_stack(coroutine: Any) -> Stack:
    """The same of a coroutine that is suspended."""
    found: Stack = []
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None and shown(frame.f_code.co_filename):
            found.append((frame.f_code, frame.f_lasti, list(frame.f_locals.values())))
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def is_same(one: Stack, other: Stack) -> bool:
    return len(one) == len(other) and all(
        a[0] is b[0] and a[1] == b[1] and len(a[2]) == len(b[2]) and all(map(_equal, a[2], b[2]))
        for a, b in zip(one, other, strict=True)
    )


def _equal(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and type(one) in PLAIN and one == other)
