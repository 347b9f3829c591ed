"""`asyncio`: tasks as processes, and futures.

A task's coroutine is driven through `_Driver`, which sees every step: what the task waits for, and that it
goes on. Going on after a future is ordered after whoever resolved it; after a task, after that task's end.
Futures that the library makes for its own use (sleep, the inside of locks) are told only when a task resolves
them.

Locks and their kin are in `task_locks`; what runs in a loop outside of tasks, and what other threads ask of
it, is in `loops`.
"""

from __future__ import annotations

import asyncio
import weakref
from _thread import get_ident
from collections.abc import Coroutine, Generator
from typing import Any

from possibly.probes import port
from possibly.probes.futures import SOURCE, learn
from possibly.probes.loops import callbacks, limits
from possibly.probes.patching import Patches

_counts: dict[str, int] = {}
"""Tasks that nobody named, by their coroutines."""
_processes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_current = asyncio.current_task
asked_elsewhere: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""Coroutines that another thread asked the loop to run -> the message that said so."""


def find_tasks_of(loop: Any) -> None:
    """From now on the process that runs in this thread is the current task of the loop."""

    def find() -> int:
        task = _current(loop)
        return 0 if task is None else _processes.get(task, 0)

    port.set_task_finder(find)


def _asked_for(coroutine: Any) -> int:
    try:
        return asked_elsewhere.pop(coroutine, 0)
    except TypeError:  # the end of an asynchronous generator, which no weak reference leads to
        return 0


class _Driver(Coroutine):  # type: ignore[type-arg]
    """Stands between a task and its coroutine."""

    __slots__ = ("__weakref__", "_asked", "_coroutine", "_started", "_task", "_waits_for")

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine
        self._task: Any = None
        self._waits_for: Any = None
        self._started = False
        self._asked = _asked_for(coroutine)

    def send(self, value: Any) -> Any:
        self._go_on()
        thread = port.stand_in(self._task)
        try:
            self._waits_for = found = self._coroutine.send(value)
        except BaseException:
            port.before("end", self._task)
            raise
        finally:
            port.become(thread)
        return found

    def throw(self, *error: Any) -> Any:
        self._go_on()
        port.after("resume", self._task)
        thread = port.stand_in(self._task)
        try:
            self._waits_for = found = self._coroutine.throw(*error)
        except BaseException:
            port.before("end", self._task)
            raise
        finally:
            port.become(thread)
        return found

    def _go_on(self) -> None:
        is_new = False
        if not self._started:
            self._started = True
            if not port.has_task_finder():  # a loop of its own kind, as that of uvloop, says not that it runs
                find_tasks_of(asyncio._get_running_loop())
            port.after("start", self._task)
            is_new = True
            if self._asked:
                port.after("get", self._asked)
        awaited, self._waits_for = self._waits_for, None
        callbacks.tell_turn(port.YIELDED if awaited is None and not is_new else None)
        if awaited is not None:
            learn_future(awaited)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        found: Generator[Any, Any, Any] = self._coroutine.__await__()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coroutine, name)

    def __repr__(self) -> str:
        return repr(self._coroutine)


def learn_future(future: Any) -> None:
    """The running task knows that the future, or all of a gathering, is done."""
    children = getattr(future, "_children", None)
    if children is not None:
        for child in children:
            if child.done():
                learn_future(child)
    source = getattr(future, SOURCE, None)
    if source is not None:
        learn_future(source) if asyncio.isfuture(source) else learn(source)
    if isinstance(future, Task):
        if future.number:
            port.after("join", future.number)
    elif getattr(future, "number", 0) and getattr(future, "was_told", False):
        port.after("learn", future.number)


def _awaited(future: Any, plain: Any) -> Any:
    """How a future is awaited: a driven task learns when it goes on, others at the end."""
    if future.done():
        learn_future(future)
    elif _current_or_none() not in _processes:
        return _awaited_by_stranger(future, plain)
    return plain


def _awaited_by_stranger(future: Any, plain: Any) -> Generator[Any, Any, Any]:
    """A task that ran before anybody listened, such as a cell of a notebook, has no driver."""
    try:
        return (yield from plain)
    finally:
        if future.done():
            learn_future(future)


_PlainTask: Any = asyncio.Task
_PlainFuture: Any = asyncio.Future


class Task(_PlainTask):  # type: ignore[misc]
    """A task that is a process of the trace."""

    def __init__(self, coro: Any, **options: Any) -> None:
        self.number = 0
        if getattr(coro, "__qualname__", "").startswith("BaseEventLoop.shutdown_"):
            super().__init__(coro, **options)  # how `asyncio.run` ends
            return
        driver = _Driver(coro)
        super().__init__(driver, **options)
        if not port.has_task_finder() and asyncio._get_running_loop() is self.get_loop():
            find_tasks_of(self.get_loop())  # it ran before anybody listened
        is_named = options.get("name") is not None
        name = port.given_name(self.get_name()) if is_named else port.called(coro, _counts)
        self.number = driver._task = port.new_process(name)
        _processes[self] = self.number
        port.before("spawn", self.number)

    def set_name(self, value: object) -> None:
        super().set_name(value)
        port.listener.switch(self.number, str(value))

    def get_coro(self) -> Any:
        found = super().get_coro()
        return found._coroutine if isinstance(found, _Driver) else found

    def __await__(self) -> Any:
        return _awaited(self, super().__await__())

    __iter__ = __await__

    def result(self) -> Any:
        self._asked()
        return super().result()

    def exception(self) -> Any:
        self._asked()
        return super().exception()

    def done(self) -> bool:
        return _learnt(self, super().done())

    def cancelled(self) -> bool:
        return _learnt(self, super().cancelled())

    def _asked(self) -> None:
        """In a callback of the loop nobody asks but the library."""
        if super().done() and _current_or_none() is not None:
            port.after("join", self.number)

    def add_done_callback(self, fn: Any, *, context: Any = None) -> None:
        super().add_done_callback(Callback(fn) if callbacks.is_told(fn) else fn, context=context)

    def cancel(self, msg: Any = None) -> bool:
        if not super().done() and self.number:
            port.before("cancel", self.number)
        found: bool = super().cancel(msg)
        return found


def _learnt(future: Any, found: bool) -> bool:
    """Whoever of the program asks, and hears that it is done, knows what came before."""
    if found and not port.called_by_library(3):
        learn_future(future)
    return found


def _current_or_none() -> Any:
    try:
        return _current()
    except RuntimeError:
        return None


class Callback(callbacks.Scheduled):
    """A function of the program that is called when a future is done."""

    __slots__ = ()

    def _begin(self, future: Any) -> None:
        super()._begin()
        learn_future(future)


class Future(_PlainFuture):  # type: ignore[misc]
    """A future that tells who resolved it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.number = port.number()
        self.was_told = False

    def _tell(self, is_library: bool) -> None:
        """In a callback of its own the library resolves futures for reasons of its own."""
        is_inner = is_library and _current_or_none() is None and get_ident() not in callbacks.running
        if not super().done() and not is_inner:
            self.was_told = True
            port.before("resolve", self.number)

    def done(self) -> bool:
        return _learnt(self, super().done())

    def cancelled(self) -> bool:
        return _learnt(self, super().cancelled())

    def set_result(self, result: Any) -> None:
        self._tell(port.called_by_library())
        super().set_result(result)

    def set_exception(self, exception: Any) -> None:
        self._tell(port.called_by_library())
        super().set_exception(exception)

    def add_done_callback(self, fn: Any, *, context: Any = None) -> None:
        super().add_done_callback(Callback(fn) if callbacks.is_told(fn) else fn, context=context)

    def __await__(self) -> Any:
        return _awaited(self, super().__await__())

    __iter__ = __await__


def _told_groups(patches: Patches) -> None:
    kind: Any = asyncio.TaskGroup
    create, leave = kind.create_task, kind.__aexit__

    def create_task(self: Any, coro: Any, **options: Any) -> Any:
        task = create(self, coro, **options)
        self.__dict__.setdefault("_possibly_tasks", []).append(task)
        return task

    async def __aexit__(self: Any, *error: Any) -> Any:  # noqa: N807
        try:
            return await leave(self, *error)
        finally:
            for task in self.__dict__.get("_possibly_tasks", ()):
                if task.done():
                    learn_future(task)

    patches.put(kind, "create_task", create_task)
    patches.put(kind, "__aexit__", __aexit__)


def _told_gather(patches: Patches) -> None:
    plain = asyncio.gather

    class Gathering(asyncio.tasks._GatheringFuture):  # type: ignore[name-defined, misc]
        """A gathering that tells whoever awaits it of its parts."""

        def __await__(self) -> Any:
            return _awaited(self, super().__await__())

        __iter__ = __await__

    def gather(*futures: Any, return_exceptions: bool = False) -> Any:
        found = plain(*futures, return_exceptions=return_exceptions)
        if type(found) is asyncio.tasks._GatheringFuture:  # type: ignore[attr-defined]
            found.__class__ = Gathering
        return found

    for module in (asyncio, asyncio.tasks):
        patches.put(module, "gather", gather)


def _told_wait(patches: Patches) -> None:
    plain = asyncio.wait

    async def wait(*arguments: Any, **options: Any) -> Any:
        done, pending = await plain(*arguments, **options)
        for each in done:
            learn_future(each)
        return done, pending

    patches.put(asyncio.tasks, "wait", wait)
    patches.put(asyncio, "wait", wait)
    waits_for = asyncio.wait_for

    async def wait_for(fut: Any, timeout: float | None) -> Any:
        inner = asyncio.ensure_future(fut)
        if timeout is not None:
            limits.limit(inner)
        try:
            return await waits_for(inner, timeout)
        finally:
            if inner.done():
                learn_future(inner)

    patches.put(asyncio.tasks, "wait_for", wait_for)
    patches.put(asyncio, "wait_for", wait_for)


def install(patches: Patches) -> None:
    for module in (asyncio, asyncio.tasks):
        patches.put(module, "Task", Task)
    for module in (asyncio, asyncio.futures):
        patches.put(module, "Future", Future)
    limits.install(patches)
    _told_groups(patches)
    _told_gather(patches)
    _told_wait(patches)
