"""What the pieces of an event loop's tasks come after: who started a task, and who let it go on.

A task is known here by its *anchor*: how many puts and gets it has done, or, if it never did any, the anchors
of what it came after. When a callback is scheduled, the anchor of whoever runs is kept with it; when it lets
a task go on, that is what the task's next piece comes after. For a task that waits for others (await, gather,
a group, wait for all) that is the ends of all of them, not only of the last.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from possibly.control.macro.inside import gate, sharing
from possibly.control.macro.inside.clocks import Known
from possibly.control.macro.model import Started, Turn
from possibly.probes.patching import Patches

Anchor = frozenset[tuple[str, int]]
NOWHERE: Anchor = frozenset()
STEP = "TaskStepMethWrapper"


class Record:
    """What is known of a task."""

    def __init__(self, after: Anchor, started: Started | None = None) -> None:
        self.name = ""
        self.acts = 0
        self.number = next(_numbers)
        self.turns = 0
        """How often it went on, but for messages that it waited for."""
        self.started = started
        self.after = after
        """What the next piece comes after."""
        self.has_suspended = True
        """Since its last put or get; before the first it has, as it had to be started."""
        self.has_begun = False
        self.future: Any = None
        """By which it waits for the controller."""
        self.known = Known()
        _known.append(self.known)

    @property
    def anchor(self) -> Anchor:
        return frozenset([(self.name, self.acts)]) if self.acts else self.after

    def act(self, name: str) -> tuple[bool, tuple[tuple[str, int], ...]]:
        """A put or a get: whether the task suspended before it, and what it came after then."""
        found = self.has_suspended, tuple(sorted(self.after))
        self.name, self.acts = name, self.acts + 1
        self.after, self.has_suspended = NOWHERE, False
        return found

    @property
    def turn(self) -> Turn:
        return Turn(self.number, self.turns)

    @property
    def started_now(self) -> Started | None:
        """Who started it, as long as it has done nothing."""
        return None if self.acts else self.started

    def goes_on(self, after: Anchor) -> None:
        self.turns += 1
        self.resumes(after)

    def resumes(self, after: Anchor) -> None:
        self.after |= after
        self.has_suspended = True


_numbers = count()
_places = count()
_records: WeakKeyDictionary[Any, Record] = WeakKeyDictionary()
_causes: dict[int, Anchor] = {}
"""Of each callback that is scheduled, by the identity of its handle."""
_running: list[Anchor] = []
_stamps: dict[int, dict[int, int]] = {}
"""What whoever scheduled a callback knew."""
_known: list[Known] = []
"""What the tasks of the loop know, those that have ended too."""


def install(patches: Patches) -> None:
    loop: Any = asyncio.BaseEventLoop
    handle: Any = asyncio.Handle
    patches.put(loop, "create_task", _create_task(loop.create_task))
    patches.put(loop, "call_soon", _call_soon(loop.call_soon))
    patches.put(handle, "_run", _run(handle._run))
    tasks: Any = asyncio.tasks
    kind = _cancelling(tasks.Task)
    for module in (asyncio, tasks):
        patches.put(module, "Task", kind)
    group: Any = getattr(asyncio, "TaskGroup", None)
    if group is not None:
        patches.put(group, "__aexit__", _left(group.__aexit__))
        patches.put(group, "create_task", _of_group(group.create_task))


def record(task: Any) -> Record:
    if task not in _records:
        _records[task] = Record(NOWHERE)
    return _records[task]


def joined(tasks: Any) -> None:
    """The running task has waited for all of these."""
    task = asyncio.current_task()
    if task is not None:
        ends = frozenset(pair for each in tasks for pair in _end_of(each))
        record(task).resumes(ends)
        for each in tasks:
            _learn_end(record(task).known, each)


def _end_of(future: Any) -> Anchor:
    if isinstance(future, asyncio.Task):
        return record(future).anchor
    children = getattr(future, "_children", ())
    return frozenset(pair for child in children for pair in _end_of(child))


def _learn_end(known: Known, future: Any) -> None:
    """What a task did comes before what follows its end."""
    if isinstance(future, asyncio.Task):
        known.absorb(record(future).known.clock)
    for child in getattr(future, "_children", ()):
        _learn_end(known, child)


def knowing() -> Known | None:
    """What the running task knows."""
    if asyncio._get_running_loop() is None:
        return None
    task = asyncio.current_task()
    return None if task is None else record(task).known


def left_loop(known: Known) -> None:
    """Whatever follows the run of a loop comes after all that its tasks did."""
    for each in _known:
        known.absorb(each.clock)
    _known.clear()


def _cancelling(plain: Any) -> Any:
    class Task(plain):  # type: ignore[misc]
        """Tells that it is cancelled: where it is then is decided by the loop."""

        def cancel(self, *arguments: Any, **options: Any) -> Any:
            if not self.done():
                gate.told("a task that is cancelled: how far it has come")
            return super().cancel(*arguments, **options)

    Task.__qualname__, Task.__module__ = plain.__qualname__, plain.__module__
    return Task


def _here() -> Anchor:
    """The anchor of whoever runs."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is not None:
        return record(task).anchor
    return _running[-1] if _running else NOWHERE


def _starter() -> Started | None:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is None:
        return None
    return Started(record(task).turn, record(task).acts, next(_places))


def _create_task(plain: Any) -> Any:
    def create_task(self: Any, *arguments: Any, **options: Any) -> Any:
        sharing.started()
        found = plain(self, *arguments, **options)
        _records[found] = Record(_here(), _starter())
        return found

    return create_task


def _call_soon(plain: Any) -> Any:
    def call_soon(self: Any, *arguments: Any, **options: Any) -> Any:
        handle = plain(self, *arguments, **options)
        _causes[id(handle)] = _here()
        here = gate.local.gate
        if here is not None:
            _stamps[id(handle)] = here.knows.stamp()
        return handle

    return call_soon


def _run(plain: Any) -> Any:
    def run(self: Any) -> Any:
        cause = _causes.pop(id(self), NOWHERE)
        callback = self._callback
        task = getattr(callback, "__self__", None)
        stamp = _stamps.pop(id(self), {})
        if isinstance(task, asyncio.Task):
            _noted(task, callback, self._args or (), cause, stamp)
        elif gate.local.gate is not None:
            gate.local.gate.known.absorb(stamp)
        _running.append(cause)
        try:
            return plain(self)
        finally:
            _running.pop()

    return run


def _noted(
    task: Any, callback: Any, arguments: tuple[Any, ...], cause: Anchor, stamp: dict[int, int]
) -> None:
    """A task begins, or goes on."""
    found = record(task)
    if not arguments or arguments[0] is not found.future:
        found.known.absorb(stamp)
    if not arguments or type(callback).__name__ == STEP:
        if found.has_begun:
            found.goes_on(NOWHERE)  # it gave way to others
        found.has_begun = True
        return
    future = arguments[0]
    if future is not found.future:
        found.goes_on(_end_of(future) or cause)
        _learn_end(found.known, future)


def _of_group(plain: Any) -> Any:
    def create_task(self: Any, *arguments: Any, **options: Any) -> Any:
        found = plain(self, *arguments, **options)
        self.__dict__.setdefault("_possibly_tasks", []).append(found)
        return found

    return create_task


def _left(plain: Any) -> Any:
    async def __aexit__(self: Any, *arguments: Any) -> Any:  # noqa: N807
        try:
            return await plain(self, *arguments)
        finally:
            joined(self.__dict__.get("_possibly_tasks", ()))

    return __aexit__
