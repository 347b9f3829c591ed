"""Loops that wait: busy waiting, polling with a sleep or under a lock, retrying after a time-out.

Law: a task that comes back to the same operation, with the same local variables on its stack, having changed
nothing since, and finds unchanged everything it read on the way, would do the same again for ever. So, where
it holds the fewest locks, it is not enabled until something it read has been written. Then one round of such
a loop stands for all, the exploration of a correct busy-waiting program is finite, and tasks that all wait in
this way are a livelock.

What counts as a change: every write, also of memory that only this task uses; every round of a `for` loop
(its iterator is hidden from us); every call into code that is not instrumented and may keep state. Where such
code is on the stack itself, its package is instrumented and the search begins anew, before anything is said
of a round; where that cannot be, or one call of a function in C lasts from one visit to the other, nothing is
said. Two operations of one instruction (`dict(proxy)` asks for one item after the other) are no round either,
nor are two comparisons of a key, of which a dictionary may make several.
Taking and giving back a lock, sleeping, and a wait whose time is up change nothing. A lock that was tried has
been read, in vain or not, and so has one that was asked whether it is taken: that has changed if the answer
would be another now. When a task goes on that waited in a loop, it does what it came for: that is judged by
its own kind, not as `SPIN`. The test errs on one side only: a loop that is not recognised is explored round
by round.

What the variables hold is remembered without keeping it: it ends when it does without us.
"""

from __future__ import annotations

import opcode
import sys
import weakref
from collections.abc import Callable
from itertools import pairwise
from types import CodeType
from typing import Any, Protocol

from possibly.control.execution import SPIN, Access, Operation
from possibly.control.loading.packages import is_atomic, root_of_file
from possibly.control.runtime import places
from possibly.control.runtime.footprints import reading
from possibly.control.runtime.places import is_instrumented, shown, variables_of


class Task(Protocol):
    """What matters of a task here."""

    held: list[Any]
    calls: list[Any]
    shown: int
    operation: Operation | None
    ready: Callable[[], bool] | None


class Kernel(Protocol):
    versions: dict[str, int]
    locks: dict[str, Callable[[], bool]]
    look_inside: Callable[[CodeType], None]


NEUTRAL = frozenset({"acquire", "release", "sleep", "timeout", "await", "resume"})
"""Operations that may stand in a round without being a change; their own things do not count as read."""
LOOKS = frozenset({"await", "timeout"})
"""Of these, those that look whether something has happened meanwhile: a change of it ends the round."""
CHANGES = frozenset({"write", "start", "end"})
"""Operations that are always a change, and never wait."""
ALWAYS = frozenset({"_:clock", "_:exit"})
"""What every operation may touch: the CLOCK and the EXIT of the kernel."""
PLAIN = frozenset({int, str, bool, float, bytes, type(None)})
ASKING = frozenset(
    opcode.opmap[name]
    for name in (
        "CALL",
        "CALL_KW",
        "CALL_FUNCTION_EX",
        "CONTAINS_OP",
        "LIST_EXTEND",
        "SET_UPDATE",
        "DICT_UPDATE",
        "DICT_MERGE",
    )
    if name in opcode.opmap
)
"""Instructions in which C code may use one object again and again."""

LOOKING_UP = frozenset(
    opcode.opmap[name]
    for name in ("CONTAINS_OP", "BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")
    if name in opcode.opmap
)
"""Instructions in which a dictionary or set may compare one key with another more than once."""
COMPARING = frozenset({"__eq__", "__hash__"})

FREE = 0
"""The number of a lock that nobody holds."""

Stack = list[tuple[CodeType, int, list[Any]]]


class _Visit:
    __slots__ = ("arrivals", "calls", "held", "operations", "reads", "shown", "stack")

    def __init__(self, stack: Stack, task: Task, reads: int, operations: int, arrivals: int) -> None:
        self.arrivals = arrivals
        self.calls = list(task.calls)
        self.shown = task.shown
        self.stack = stack
        self.held = list(task.held)
        self.reads = reads
        self.operations = operations


class Trail:
    """What a task did since it last changed anything."""

    __slots__ = (
        "arrivals", "came_for", "changed", "effects", "footprints", "history", "reads", "seen_free", "turns",
        "visits", "waits_for",
    )  # fmt: skip

    def __init__(self) -> None:
        self.visits: dict[tuple[str, str, str], _Visit] = {}
        self.reads: list[tuple[str, int]] = []
        self.footprints: list[Access] = []
        self.arrivals: list[int] = []
        """How many locks the task held when it came to each operation."""
        self.changed: Callable[[], bool] | None = None
        """The task waits in a loop until this is true."""
        self.came_for: Operation | None = None
        """What it was about to do when it was found to wait there."""
        self.seen_free = ""
        """A lock that it has tried with success in the operation that it does."""
        self.effects = 0
        """How often it changed something."""
        self.turns = 0
        """How often it did something whose effect is hidden from us."""
        self.history: list[tuple[Stack | None, list[Any], int]] = []
        """Where it was whenever it came to an operation: stack if that was looked at, locks held, turns."""
        self.waits_for: list[str] = []
        """What it reads in that loop."""

    def effect(self) -> None:
        """The task has changed something."""
        self.effects += 1
        if self.visits or self.reads:
            self.visits.clear()
            self.reads.clear()
            self.footprints.clear()
            self.arrivals.clear()

    def turn(self) -> None:
        """The task has done something of which we do not know what it changes."""
        self.turns += 1
        self.effect()

    def plain(self, operation: Operation) -> Operation:
        """What an operation is if the task does not wait there in a loop."""
        came_for = self.came_for
        if operation.kind != SPIN or came_for is None:
            return operation
        touched = tuple([each for each in came_for.footprint if each in operation.footprint])
        return operation._replace(kind=came_for.kind, footprint=touched)

    def done(self, operation: Operation, kernel: Kernel) -> None:
        """A visible operation of this task is over."""
        plain = self.plain(operation)
        kind, seen_free, self.seen_free = plain.kind, self.seen_free, ""
        if kind not in NEUTRAL:
            for _, writes in plain.footprint:
                if writes:
                    self.effect()
                    return
            self.reads += [(thing, number_of(thing, kernel)) for thing, _ in plain.footprint]
        elif kind in LOOKS:
            looked_at = [thing for thing, _ in plain.footprint if thing not in ALWAYS]
            self.reads += [(thing, number_of(thing, kernel)) for thing in looked_at]
        elif seen_free:
            self.reads.append((seen_free, FREE))
        for thing, _ in operation.footprint:
            self.footprints += reading(thing)

    def arrive(self, task: Task, kernel: Kernel, operation: Operation, stack: Stack | None = None) -> None:
        """The task is about to do an operation: has it been here before?"""
        self.changed = self.came_for = None
        if operation.kind in CHANGES:  # when it is done, all that is known here is out of date
            self.history.append((None, [], self.turns))
            return
        key = (operation.kind, operation.thing, operation.at)
        if stack is None:
            stack = stack_here()
        self.history.append((stack, list(task.held), self.turns))
        before = self.visits.get(key)
        self.arrivals.append(len(task.held))
        stays = before is not None and _counts(operation, stack) and before.shown == task.shown
        if before is not None and not stays and self._is_round(before, task, stack):
            reads = self.reads[before.reads :]
            met = self.footprints[before.operations :]
            known = bool(reads) or _only_sleeps(operation, met)
            if known and not is_changed(reads, kernel):
                hidden = unwatched(stack)
                if hidden is None:
                    self._wait(task, operation, reads, met, kernel)
                    return
                kernel.look_inside(hidden)
        begin = len(self.arrivals) - 1
        self.visits[key] = _Visit(stack, task, len(self.reads), len(self.footprints), begin)

    def _is_round(self, before: _Visit, task: Task, stack: Stack) -> bool:
        """The same state as before; and nowhere on the way were fewer locks held: others may need these."""
        fewest = min(self.arrivals[before.arrivals :])
        is_back = len(task.held) <= fewest and before.held == task.held and is_same(before.stack, stack)
        lasts = any(one is other for one in before.calls for other in task.calls)
        return is_back and not lasts and not is_hidden(stack) and not is_compared(stack)

    def _wait(
        self,
        task: Task,
        operation: Operation,
        reads: list[tuple[str, int]],
        met: list[Access],
        kernel: Kernel,
    ) -> None:
        def changed() -> bool:
            return is_changed(reads, kernel)

        plain = task.ready
        self.changed, self.came_for = changed, operation
        self.waits_for = list(dict.fromkeys(thing for thing, _ in reads))
        task.ready = changed if plain is None else lambda: changed() and plain()
        own = {access.thing for access in operation.footprint}
        more = {access for access in met if access.thing not in own}
        footprint = (*operation.footprint, *sorted(more))
        task.operation = operation._replace(kind=SPIN, footprint=footprint, waits=True)


def number_of(thing: str, kernel: Kernel) -> int:
    """Tells what a thing is now from what it was: whether a lock is taken, else how often it was written."""
    taken = kernel.locks.get(thing)
    return kernel.versions.get(thing, 0) if taken is None else int(taken())


def is_changed(reads: list[tuple[str, int]], kernel: Kernel) -> bool:
    return any(number_of(thing, kernel) != number for thing, number in reads)


def _counts(operation: Operation, stack: Stack) -> bool:
    """Whether instructions of the program are counted on the way to this operation (`Task.shown`)."""
    return operation.kind == "read" or is_counted(stack)


def is_counted(stack: Stack) -> bool:
    """Whether the innermost code that may go round shows each of its calls, and is at an instruction that may
    ask several times."""
    if not stack:
        return False
    code, place, _ = stack[0]
    return is_instrumented(code) and place >= 0 and code.co_code[place] in ASKING


def _only_sleeps(operation: Operation, met: list[Access]) -> bool:
    """A round that met nothing but the clock and the end of the program waits for nothing: it lasts for ever.

    One that met a lock, or whose time was up, is no such round: what these wait for is not among the reads.
    """
    return operation.kind == "sleep" and all(access.thing in ALWAYS for access in met)


def stack_here() -> Stack:
    """The frames of the running task, with their variables; globals are watched elsewhere."""
    frame: Any = sys._getframe()  # what its variables are held in depends on the version of Python
    found: Stack = []
    known, boundary = places.known, places.boundary
    while frame is not None and (code := frame.f_code) is not boundary:
        file = code.co_filename
        is_own = known.get(file) if file in known else shown(file)
        if is_own or root_of_file(file) or is_atomic(file) or is_instrumented(code):
            is_function = bool(code.co_flags & 2)
            values = [_marked(each) for each in variables_of(frame).values()] if is_function else []
            found.append((code, frame.f_lasti, values))
        frame = frame.f_back
    return found


def coroutine_stack(coroutine: Any) -> Stack:
    """The same of a coroutine that is suspended; of what is modelled, only the place and plain values."""
    found: Stack = []
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None:
            values = list(variables_of(frame).values())
            file = frame.f_code.co_filename
            if not shown(file) and not root_of_file(file):
                values = [value for value in values if type(value) in PLAIN]
            found.append((frame.f_code, frame.f_lasti, [_marked(each) for each in values]))
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def unwatched(stack: Stack) -> CodeType | None:
    """Code of a package that is on the stack and not instrumented: what it keeps aside is not known."""
    for code, _, _ in stack:
        if not is_instrumented(code) and root_of_file(code.co_filename):
            return code
    return None


def is_hidden(stack: Stack) -> bool:
    """Whether code that is never watched is on the stack: how far it is cannot be told."""
    return any(is_atomic(code.co_filename) and not is_instrumented(code) for code, _, _ in stack)


def is_compared(stack: Stack) -> bool:
    """Whether a key is being compared: how far the table that asks for it is cannot be told."""
    return any(
        inner[0].co_name in COMPARING and outer[1] >= 0 and outer[0].co_code[outer[1]] in LOOKING_UP
        for inner, outer in pairwise(stack)
    )


def is_same(one: Stack, other: Stack) -> bool:
    return len(one) == len(other) and all(
        a[0] is b[0] and a[1] == b[1] and len(a[2]) == len(b[2]) and all(map(_equal, a[2], b[2]))
        for a, b in zip(one, other, strict=True)
    )


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Container):
        is_it = one.number == other.number and len(one.held) == len(other.held)
        return is_it and all(map(_equal, one.held, other.held))
    if isinstance(one, Kept):
        return one.value is other.value
    return type(one) in PLAIN and bool(one == other)


class Container:
    """A container or an exception by its address, and what it held."""

    __slots__ = ("held", "number")

    def __init__(self, number: int, held: list[Any]) -> None:
        self.number = number
        self.held = held


class Kept:
    """What cannot be referred to weakly, or is too large to be looked through."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _marked(value: Any, depth: int = 3) -> Any:
    """What tells a value from others and does not keep it, nor what it holds, if that can be had.

    A plain value stands for itself, a weak reference for its object: there is one for each object.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind in HOLDING:
        if not depth or len(value) > MOST:
            return Kept(value)
        held = [*value, *value.values()] if kind is dict else list(value)
        return Container(id(value), [_marked(each, depth - 1) for each in held])
    if issubclass(kind, BaseException):  # to keep it would keep the variables of all that it came through
        return Container(id(value), [_marked(each, depth - 1) for each in value.args] if depth else [])
    try:
        return weakref.ref(value)
    except TypeError:
        return Kept(value)


HOLDING = frozenset({list, tuple, dict})
MOST = 64
"""Items of a container that are looked at."""
