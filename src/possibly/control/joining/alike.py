"""Tasks that are interchangeable: of several that are in the same state, the first goes first.

Theory of operation. Threads that do the same with equal arguments (`same_source`) begin in the same state.
As long as two of them have come through the same local states, step by step, exchanging their names changes
nothing that anybody can tell; so of the two orders of their next steps one is enough: the later thread waits
for the earlier. This is a program with fewer schedules, and whatever the program can do, it can do in one of
these, up to the names of such threads. To the search it looks like any other waiting: the k-th step of a
thread writes a thing of its own, which the k-th step of the next one reads and waits for.

Law: a local state is told by the frames of the task, with nothing in them but numbers, strings and objects
that are global variables, by what it holds and what it is about to do. So no object belongs to one of two
tasks that are in the same state, no lock is held by one, and none stands before the other in a line:
operations that do so, and whatever else is not known to be harmless, end the likeness for ever.
(Symmetry of threads as in SPORE, PLDI 2024; there they are compared by their events, here by their states.)
"""

from __future__ import annotations

import re
import sys
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from possibly.control.execution import ANY, Access, Operation
from possibly.control.joining.frames import EMPTY, READS, Held, Unreadable, held_by
from possibly.control.joining.same_source import is_alike
from possibly.control.loading import instrumented as loading
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.task import Task

KINDS = frozenset({"read", "write", "acquire", "release", "end", "take", "give", "is_set", "set", "clear"})
"""Operations in which no task stands before another."""
SCALARS = frozenset({int, bool, str, bytes, float, type(None)})
ITERATORS = frozenset({type(iter(range(0)))})
Shut = tuple[tuple[str, str], ...]


class Alike:
    """The likeness of the tasks of one execution."""

    def __init__(self) -> None:
        self._is_on: bool | None = None
        self._states: dict[str, list[Any]] = {}
        """Of each task its local states, one for each operation that it came to; None: it cannot be told."""
        self._done: dict[str, int] = {}
        self._before: dict[str, str] = {}
        """Of each task the one before it that it is still like."""
        self._last = ""

    def arrive(self, kernel: Kernel, task: Task) -> None:
        """A task is about to do something: if one before it has not yet done the same, it waits for that."""
        if not self._applies(task):
            return
        states = self._states.setdefault(task.name, [])
        if not states and self._last:
            self._before[task.name] = self._last
        if not states:
            self._last = task.name
        states.append(self._state(kernel, task))
        number = len(states)
        before = self._before_at(task.name, number)
        if before is not None:
            self._wait(task, before, number)

    def _applies(self, task: Task) -> bool:
        if self._is_on is None:
            self._is_on = READS and is_alike(loading.executed, loading.codes)
        return self._is_on and len(task.ancestry) == 2

    def _before_at(self, name: str, number: int) -> str | None:
        """The nearest task before it with the same states so far, up to this one."""
        mine = self._states[name]
        before: str | None = self._before.get(name)
        while before is not None:
            other = self._states[before]
            if None not in mine and other[:number] == mine:
                break
            before = self._before.get(before)
        if before is None:
            self._before.pop(name, None)
        else:
            self._before[name] = before
        return before

    def _wait(self, task: Task, before: str, number: int) -> None:
        done, ready, operation = self._done, task.ready, task.operation
        assert operation is not None

        def is_next() -> bool:
            return done.get(before, 0) >= number and (ready is None or bool(ready()))

        task.ready = is_next
        footprint = (*operation.footprint, Access(_turn(before, number), False))
        task.operation = operation._replace(footprint=footprint, waits=True)

    def done(self, task: Task, operation: Operation, shut: Shut) -> tuple[Operation, Shut]:
        """The step as it is told: it lets the next task go on, and has waited for the one before."""
        name = task.name
        if not self._is_on or name not in self._states:
            return operation, shut
        number = self._done[name] = self._done.get(name, 0) + 1
        mine = _turn(name, number)
        footprint = (*operation.footprint, Access(mine, True))
        before = self._before.get(name)
        if before is not None:
            footprint = (*footprint, Access(_turn(before, number), False))
        return operation._replace(footprint=footprint), (*shut, (ANY, mine))

    def plain(self, operation: Operation) -> Operation:
        """What an access touches is told as it is."""
        return operation

    def told(self) -> list[Any]:
        """What of this matters for what comes: who is like whom, and what those before have come through."""
        found: list[Any] = ["alike"]
        for name, before in sorted(self._before.items()):
            found += [name, before, repr(self._states[before][len(self._states[name]) :])]
        return found

    def _state(self, kernel: Kernel, task: Task) -> Any:
        operation = task.operation
        if (
            operation is None
            or operation.kind not in KINDS
            or kernel.has_timers
            or task.calls
            or task.refresh
        ):
            return None
        names = {id(value): name for name, value in vars(sys.modules["__main__"]).items()}
        try:
            frames = [_told(held, names, kernel) for held in held_by(task, task)]
        except Unreadable:
            return None
        thing = "" if operation.thing == task.name else operation.thing
        return (operation.kind, thing, operation.at, tuple(each.name for each in task.held), tuple(frames))


def _turn(task: str, number: int) -> str:
    return f"{task}/{number}"


_TURN = re.compile(r"\d+(\.\d+)*/\d+")


def is_turn(thing: str) -> bool:
    """Whether a thing is a step for which a task waits that is alike."""
    return _TURN.fullmatch(thing) is not None


def _told(held: Held, names: dict[int, str], kernel: Kernel) -> tuple[Any, ...]:
    values = tuple(_value(value, names, kernel) for value in held.values)
    return (held.code.co_filename, held.code.co_firstlineno, held.at, values)


def _value(value: Any, names: dict[int, str], kernel: Kernel) -> Any:
    """A word for a value; raises if it may be an object of the task's own."""
    cls = type(value)
    if cls in SCALARS:
        return cls.__name__, value
    if id(value) in names:
        return "global", names[id(value)]
    if value is EMPTY or value is kernel:
        return ("ours",)
    if cls is tuple or cls is Access or cls is Operation:
        return tuple(_value(each, names, kernel) for each in value)
    if cls is MethodType:
        return "method", value.__func__.__qualname__, _value(value.__self__, names, kernel)
    if cls is BuiltinFunctionType or cls is MethodDescriptorType:
        owner = getattr(value, "__self__", None)
        is_method = owner is not None and type(owner).__name__ != "module"
        return "builtin", value.__qualname__, _value(owner, names, kernel) if is_method else None
    if cls is FunctionType and value.__closure__ is None:
        return "function", value.__module__, value.__qualname__
    if cls in ITERATORS:
        return "iterator", repr(value.__reduce__())
    if cls.__module__ == "possibly.control.runtime.sites":
        return "site", value.kind, value.name, value.at
    raise Unreadable(cls.__qualname__)
