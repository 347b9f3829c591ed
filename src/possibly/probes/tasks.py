"""`asyncio`: tasks as processes, futures, and the primitives built on them.

A task's coroutine is driven through `_Driver`, which sees every step: what the task waits for, and that it
goes on.
Going on after a future is ordered after whoever resolved it; after a task, after that task's end. Futures
that the
library makes for its own use (sleep, the inside of locks) are told only when a task resolves them.

`Lock`, `Semaphore`, `Event`, `Condition` and `Queue` tell of themselves as their namesakes in `threading`
do: a
primitive that is free orders too, although nobody waits.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Coroutine, Generator
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches

_processes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_current = asyncio.current_task
SOURCE = "_possibly_source"
"""The future of a thread or process that a future of the loop stands for."""


def _task_process(loop: Any) -> Any:
    def find() -> int:
        task = _current(loop)
        return 0 if task is None else _processes.get(task, 0)

    return find


class _Driver(Coroutine):  # type: ignore[type-arg]
    """Stands between a task and its coroutine."""

    __slots__ = ("__weakref__", "_coroutine", "_started", "_task", "_waits_for")

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine
        self._task: Any = None
        self._waits_for: Any = None
        self._started = False

    def send(self, value: Any) -> Any:
        self._go_on()
        try:
            self._waits_for = found = self._coroutine.send(value)
        except BaseException:
            port.before("end", self._task)
            raise
        return found

    def throw(self, *error: Any) -> Any:
        self._go_on()
        port.after("resume", self._task)
        try:
            self._waits_for = found = self._coroutine.throw(*error)
        except BaseException:
            port.before("end", self._task)
            raise
        return found

    def _go_on(self) -> None:
        if not self._started:
            self._started = True
            port.after("start", self._task)
        awaited, self._waits_for = self._waits_for, None
        if awaited is not None:
            _learn(awaited)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        found: Generator[Any, Any, Any] = self._coroutine.__await__()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coroutine, name)

    def __repr__(self) -> str:
        return repr(self._coroutine)


def _learn(future: Any) -> None:
    """The running task knows that the future, or all of a gathering, is done."""
    children = getattr(future, "_children", None)
    if children is not None:
        for child in children:
            if child.done():
                _learn(child)
    source = getattr(future, SOURCE, None)
    if source is not None:
        from possibly.probes.futures import learn

        learn(source)
    if isinstance(future, Task):
        if future.number:
            port.after("join", future.number)
    elif getattr(future, "number", 0) and getattr(future, "was_told", False):
        port.after("learn", future.number)


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
        self.number = driver._task = port.new_process(self.get_name())
        _processes[self] = self.number
        port.before("spawn", self.number)

    def set_name(self, value: object) -> None:
        super().set_name(value)
        port.listener.switch(self.number, str(value))

    def get_coro(self) -> Any:
        found = super().get_coro()
        return found._coroutine if isinstance(found, _Driver) else found

    def __await__(self) -> Any:
        if self.done():
            _learn(self)
        return super().__await__()

    __iter__ = __await__

    def result(self) -> Any:
        self._asked()
        return super().result()

    def exception(self) -> Any:
        self._asked()
        return super().exception()

    def _asked(self) -> None:
        if self.done() and _current_or_none() is not None and not port.called_by_library(3):
            port.after("join", self.number)

    def cancel(self, msg: Any = None) -> bool:
        if not self.done() and self.number:
            port.before("cancel", self.number)
        found: bool = super().cancel(msg)
        return found


def _current_or_none() -> Any:
    try:
        return _current()
    except RuntimeError:
        return None


class Future(_PlainFuture):  # type: ignore[misc]
    """A future that tells who resolved it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.number = port.number()
        self.was_told = False

    def _tell(self) -> None:
        if not self.done() and _current_or_none() is not None:
            self.was_told = True
            port.before("resolve", self.number)

    def set_result(self, result: Any) -> None:
        self._tell()
        super().set_result(result)

    def set_exception(self, exception: Any) -> None:
        self._tell()
        super().set_exception(exception)

    def __await__(self) -> Any:
        if self.done():
            _learn(self)
        return super().__await__()

    __iter__ = __await__


# ---- primitives ---------------------------------------------------------------------------------


def _numbered(kind: Any, name: str, patches: Patches) -> None:
    plain = kind.__init__

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *arguments, **options)
        self.number = port.number()
        port.after("new", self.number, name)
        if name == "Semaphore":
            port.after("units", self.number, self._value)

    patches.put(kind, "__init__", __init__)


def _after(kind: Any, method: str, action: str, patches: Patches) -> None:
    """An asynchronous method that tells when it has succeeded."""
    plain = getattr(kind, method)

    async def told(self: Any, *arguments: Any) -> Any:
        if port.waits:
            port.before(action, self.number)
        found = await plain(self, *arguments)
        port.after(action, self.number)
        return found

    told.__name__ = method
    patches.put(kind, method, told)


def _before(kind: Any, method: str, action: str, patches: Patches) -> None:
    plain = getattr(kind, method)

    def told(self: Any, *arguments: Any) -> Any:
        port.before(action, self.number)
        return plain(self, *arguments)

    told.__name__ = method
    patches.put(kind, method, told)


_PlainEvent: Any = asyncio.Event


class Event(_PlainEvent):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.number = port.number()
        self._cause = 0
        port.after("new", self.number, "Event")

    def set(self) -> None:
        if not super().is_set():
            self._cause = port.number()
            port.after("set", self._cause, self.number)
        super().set()

    def is_set(self) -> bool:
        found: bool = super().is_set()
        if found and not port.called_by_library():
            port.after("await", self._cause)
        return found

    async def wait(self) -> Any:
        if not super().is_set():
            await super().wait()
        port.after("await", self._cause)
        return True


def _told_queue(patches: Patches) -> None:
    from possibly.probes.queues import Messages

    kind: Any = asyncio.Queue
    init, put, get = kind.__init__, kind.put_nowait, kind.get_nowait

    def __init__(self: Any, maxsize: int = 0) -> None:  # noqa: N807
        init(self, maxsize)
        in_line = type(self)._get is asyncio.Queue._get
        self._possibly = Messages(maxsize, in_line)
        self._possibly_done = port.number()
        port.after("new", self._possibly.number, type(self).__name__)

    def put_nowait(self: Any, item: Any) -> None:
        if not self.full():
            self._possibly.sent(item)
        put(self, item)

    def get_nowait(self: Any) -> Any:
        item = get(self)
        self._possibly.received(item)
        return item

    patches.put(kind, "__init__", __init__)
    patches.put(kind, "put_nowait", put_nowait)
    patches.put(kind, "get_nowait", get_nowait)


def _told_condition(patches: Patches) -> None:
    kind: Any = asyncio.Condition
    init, notify = kind.__init__, kind.notify

    def __init__(self: Any, lock: Any = None) -> None:  # noqa: N807
        init(self, lock)
        self.number = port.number()

    def told_notify(self: Any, n: int = 1) -> None:
        # Each waiter sleeps on a future of its own; who resolves it is told there.
        port.before("notify", self.number, [])
        notify(self, n)

    patches.put(kind, "__init__", __init__)
    patches.put(kind, "notify", told_notify)


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
                    _learn(task)

    patches.put(kind, "create_task", create_task)
    patches.put(kind, "__aexit__", __aexit__)


def _told_wait(patches: Patches) -> None:
    plain = asyncio.wait

    async def wait(*arguments: Any, **options: Any) -> Any:
        done, pending = await plain(*arguments, **options)
        for each in done:
            _learn(each)
        return done, pending

    patches.put(asyncio.tasks, "wait", wait)
    patches.put(asyncio, "wait", wait)
    waits_for = asyncio.wait_for

    async def wait_for(fut: Any, timeout: float | None) -> Any:
        inner = asyncio.ensure_future(fut)
        try:
            return await waits_for(inner, timeout)
        finally:
            if inner.done():
                _learn(inner)

    patches.put(asyncio.tasks, "wait_for", wait_for)
    patches.put(asyncio, "wait_for", wait_for)


def _told_loop(patches: Patches) -> None:
    from asyncio import base_events, futures

    loop: Any = base_events.BaseEventLoop
    run, complete, wrap = loop.run_forever, loop.run_until_complete, futures.wrap_future

    def run_forever(self: Any) -> None:
        port.set_task_finder(_task_process(self))
        try:
            run(self)
        finally:
            port.set_task_finder(None)

    def run_until_complete(self: Any, future: Any) -> Any:
        inner = asyncio.ensure_future(future, loop=self)
        try:
            return complete(self, inner)
        finally:
            if inner.done():
                _learn(inner)

    def create_future(self: Any) -> Any:
        return Future(loop=self)

    def wrap_future(future: Any, *, loop: Any = None) -> Any:
        found = wrap(future, loop=loop)
        if found is not future:
            setattr(found, SOURCE, future)
        return found

    patches.put(loop, "run_forever", run_forever)
    patches.put(loop, "run_until_complete", run_until_complete)
    patches.put(loop, "create_future", create_future)
    patches.put(futures, "wrap_future", wrap_future)
    patches.put(asyncio, "wrap_future", wrap_future)


def install(patches: Patches) -> None:
    for module in (asyncio, asyncio.tasks):
        patches.put(module, "Task", Task)
    for module in (asyncio, asyncio.futures):
        patches.put(module, "Future", Future)
    _numbered(asyncio.Lock, "Lock", patches)
    _numbered(asyncio.Semaphore, "Semaphore", patches)
    _after(asyncio.Lock, "acquire", "acquire", patches)
    _before(asyncio.Lock, "release", "release", patches)
    _after(asyncio.Semaphore, "acquire", "take", patches)
    _before(asyncio.Semaphore, "release", "give", patches)
    patches.put(asyncio, "Event", Event)
    _told_queue(patches)
    _told_condition(patches)
    _told_groups(patches)
    _told_wait(patches)
    _told_loop(patches)
