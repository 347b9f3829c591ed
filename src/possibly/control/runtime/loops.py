"""`asyncio`: the tasks of an event loop, one turn of a task being one step.

Theory of operation. Every task of a loop is a task here, hosted by the thread in which the loop runs. When
its next turn is ready, it is pending with `resume`; the loop asks the scheduler whose turn it is. What a
turn touches is known when it is over: memory, futures, locks, queues, the tasks it cancels; until then it
counts as touching the whole loop. A turn that stops inside (another thread races for what it touches, or it
uses a primitive of `threading`) keeps the loop busy until it ends.

Which orders. Tasks that are ready go on in any order: in what order they become ready is up to timers and
the outside world, and a program should not rely on it. With `fifo` they go on in the order in which the loop
got them, as one loop without a world would run them. Sleeps and time-outs (`wait_for`, `timeout`, `wait`) are
taken as those of threads are (`Kernel._timing_out`). Callbacks that are not turns of tasks (the inside of
`gather`, of task groups) run right after the turn that caused them; timers set by the program, and calls from
other threads, are tasks of their own.
"""

from __future__ import annotations

import asyncio
import heapq
import weakref
from asyncio import base_events, events, futures, tasks
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.runtime import failures
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import CLOCK, Kernel, Task
from possibly.control.runtime.places import shown
from possibly.control.runtime.primitives import label, name_for
from possibly.control.runtime.spin import coroutine_stack
from possibly.probes.patching import Patches

_PlainTask: Any = asyncio.Task
_PlainFuture: Any = asyncio.Future
COMMUTING = ("gather.<locals>._done_callback", "TaskGroup._on_task_done", "_wait.<locals>._on_completion")


class LoopState:
    """What the model knows of one event loop."""

    def __init__(self, host: Task) -> None:
        self.name = name_for("loop")
        self.host = host
        self.busy = False
        self.running = False
        self.handles: dict[Task, Any] = {}
        self.turn = 0

    def can_go(self) -> bool:
        return self.running and not self.busy


_states: weakref.WeakKeyDictionary[Any, LoopState] = weakref.WeakKeyDictionary()
_known: weakref.WeakKeyDictionary[Any, Task] = weakref.WeakKeyDictionary()
"""Task of asyncio -> task of ours."""
_timers: dict[Any, Task] = {}
_turn_of: dict[Any, int] = {}


def _state(loop: Any, kernel: Kernel) -> LoopState:
    found = _states.get(loop)
    if found is None:
        host = kernel.current.host or kernel.current
        found = _states[loop] = LoopState(host)
    return found


def touch(thing: Any, writes: bool) -> None:
    """The running turn touches a primitive of asyncio."""
    kernel = running.kernel
    if kernel is not None and kernel.current.host is not None:
        kernel.add(Access(name_of(thing), writes))


def resolved(thing: Any) -> None:
    """The running turn makes a future or a task be done: whoever waits for it could not go on before."""
    kernel = running.kernel
    if kernel is not None and kernel.current.host is not None:
        kernel.add(Access(name_of(thing), True))
        if _holds_up(thing):
            kernel.opened(("resume", name_of(thing)))


def _holds_up(thing: Any) -> bool:
    """Whether somebody may wait for this: a future that is not done, a task whose own turn is not ready."""
    if isinstance(thing, _PlainTask):
        known = _known.get(thing)
        return known is not None and known.operation is not None and known.operation.kind == "await"
    return not _PlainFuture.done(thing)


def name_of(thing: Any) -> str:
    if isinstance(thing, _PlainTask):
        known = _known.get(thing)
        if known is not None:
            return known.name
    found: str | None = getattr(thing, "_possibly_name", None)
    if found is None:
        found = thing._possibly_name = name_for(type(thing).__name__.lower())
        label(found, type(thing).__name__.lower(), 4)
    return found


# ---- tasks and futures --------------------------------------------------------------------------


class _Seen:
    """What a future and a task have in common: asking for the outcome reads it, cancelling writes it."""

    def cancel(self, msg: Any = None) -> bool:
        resolved(self)
        found: bool = super().cancel(msg)  # type: ignore[misc]
        return found

    def done(self) -> bool:
        touch(self, False)
        found: bool = super().done()  # type: ignore[misc]
        return found

    def result(self) -> Any:
        touch(self, False)
        return super().result()  # type: ignore[misc]

    def __await__(self) -> Any:
        touch(self, False)
        return super().__await__()  # type: ignore[misc]

    __iter__ = __await__


class Future(_Seen, _PlainFuture):  # type: ignore[misc]
    """A future whose every use is seen."""

    _possibly_after: Any = ()

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if running.kernel is not None:
            name_of(self)

    def set_result(self, result: Any) -> None:
        resolved(self)
        super().set_result(result)

    def set_exception(self, exception: Any) -> None:
        resolved(self)
        super().set_exception(exception)


class AsyncTask(_Seen, _PlainTask):  # type: ignore[misc]
    """A task whose every use is seen."""

    def __init__(self, coro: Any, *, loop: Any = None, **options: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            super().__init__(coro, loop=loop, **options)
            return
        mine = kernel.new_task("")
        super().__init__(coro, loop=loop, **options)
        mine.label = self.get_name()
        state = _state(loop if loop is not None else self.get_loop(), kernel)
        mine.host, mine.loop = state.host, state.name
        _known[self] = mine
        kernel.admit(mine)
        kernel.add(Access(mine.name, True))

    def set_name(self, value: object) -> None:
        super().set_name(value)
        mine = _known.get(self)
        if mine is not None:
            mine.label = str(value)


# ---- the loop -----------------------------------------------------------------------------------


def _owner(handle: Any) -> Any:
    """The task of asyncio whose turn a handle is, or None."""
    callback = handle._callback
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, _PlainTask) and not owner.done():
        name = getattr(callback, "__name__", "") or type(callback).__name__
        if "step" in name.lower() or "wakeup" in name.lower():
            return owner
    return None


def _run_once(plain: Any) -> Any:
    def run_once(self: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            plain(self)
            return
        state = _state(self, kernel)
        state.busy = False
        _collect(self, state, kernel)
        if self._stopping:
            return
        chosen = kernel.choose()
        if chosen.host is not state.host or chosen not in state.handles:
            kernel.hand_to(chosen)
            state.host.lock.acquire()
            chosen = kernel.current
        kernel.current = chosen
        _turn(self, state, kernel, chosen)

    return run_once


def _turn(loop: Any, state: LoopState, kernel: Kernel, chosen: Task) -> None:
    """One handle, and the callbacks that it causes."""
    handle = state.handles.pop(chosen)
    state.busy = True
    owner = _owner(handle)
    kernel.did(_waited_for(owner) if owner is not None else (Access(chosen.name, True),))
    if kernel.is_mixed:
        kernel.add(Access(state.name, False))
    if kernel.fifo:
        kernel.add(Access(f"{state.name}.line", True))
    handle._run()
    _collect(loop, state, kernel)
    if owner is None:
        kernel.end(chosen)
    elif owner.done():
        _ended(owner, chosen, kernel)
    state.busy = False


def _ended(owner: Any, mine: Task, kernel: Kernel) -> None:
    kernel.add(Access(mine.name, True))
    kernel.opened(("resume", mine.name), ("loop ends", mine.name))
    kernel.end(mine)


def _waited_for(owner: Any) -> tuple[Access, ...]:
    """What the task waited for, which was resolved before its turn."""
    mine = _known[owner]
    found = [Access(mine.name, False)]
    waited = getattr(owner, "_possibly_waits", None)
    if waited is not None:
        found += [Access(name, False) for name in waited]
        owner._possibly_waits = None
    return tuple(dict.fromkeys(found))


def _names_behind(future: Any) -> list[str]:
    children = getattr(future, "_children", None)
    found = [name_of(future)] if isinstance(future, AsyncTask | Future) else []
    for child in children or ():
        found += _names_behind(child)
    found += getattr(future, "_possibly_after", ())
    return found


def _collect(loop: Any, state: LoopState, kernel: Kernel) -> None:
    """Sorts what the loop has to do: turns of tasks are pending, plain callbacks run now."""
    while loop._ready:
        handle = loop._ready.popleft()
        if handle._cancelled:
            continue
        owner = _owner(handle)
        if owner is None or owner not in _known:
            _run_callback(handle, kernel, state)
        else:
            state.turn += 1
            _make_ready(state, kernel, _known[owner], handle, owner)
    while loop._scheduled and loop._scheduled[0]._cancelled:
        heapq.heappop(loop._scheduled)._scheduled = False
    for handle in loop._scheduled:
        mine = _timers.get(handle)
        if mine is not None and handle._cancelled and not mine.ended:
            state.handles.pop(mine, None)
            kernel.end(mine)
    for owner, mine in list(_known.items()):
        if (
            not mine.ended
            and mine.operation is None
            and mine not in state.handles
            and mine.loop == state.name
        ):
            if mine is not kernel.current or not state.busy:
                _make_blocked(kernel, mine, owner)
            waiter = getattr(owner, "_fut_waiter", None)
            if waiter is not None:
                owner._possibly_waits = _names_behind(waiter)


def _run_callback(handle: Any, kernel: Kernel, state: LoopState) -> None:
    name = getattr(handle._callback, "__qualname__", "")
    given = handle._args[0] if handle._args else None
    if name in COMMUTING and _succeeded(given):
        group = getattr(handle._callback, "__self__", None)
        if group is not None:
            names = group.__dict__.setdefault("_possibly_names", [])
            names.append(name_of(given))
            future = getattr(group, "_on_completed_fut", None)
            if future is not None:
                future._possibly_after = names
    elif not name.startswith("_run_until_complete"):
        kernel.add(Access(f"{state.name}.callbacks", True))
    handle._run()


def _succeeded(future: Any) -> bool:
    return (
        isinstance(future, _PlainFuture | _PlainTask)
        and super(type(future), future).done()
        and not future.cancelled()
        and future._exception is None
    )


def _place(owner: Any) -> str:
    """Where a task that is suspended stands in the user's code."""
    found = ""
    coroutine = owner.get_coro()
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None and shown(frame.f_code.co_filename):
            found = f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def _make_ready(state: LoopState, kernel: Kernel, mine: Task, handle: Any, owner: Any) -> None:
    state.handles[mine] = handle
    waits = getattr(owner, "_possibly_waits", None) or ()
    footprint = (Access(state.name, True), *(Access(name, False) for name in waits))
    mine.operation = Operation("resume", mine.name, footprint, _place(owner))
    mine.why = None
    mine.ready = state.can_go
    turn = state.turn
    if kernel.fifo:
        mine.ready = lambda: state.can_go() and turn == min(_turns(state))
        _turn_of[id(handle)] = turn
    mine.trail.arrive(mine, kernel, mine.operation, coroutine_stack(owner.get_coro()))


def _turns(state: LoopState) -> list[int]:
    return [_turn_of.get(id(handle), 0) for handle in state.handles.values()] or [0]


def _make_blocked(kernel: Kernel, mine: Task, owner: Any) -> None:
    """A task that waits for a future nobody has resolved: pending, and not to be done."""
    waiter = getattr(owner, "_fut_waiter", None)
    names = _names_behind(waiter) if waiter is not None else []
    footprint = tuple(Access(name, False) for name in names)
    mine.operation = Operation("await", names[0] if names else mine.name, footprint, _place(owner))
    mine.ready = _never


def _never() -> bool:
    return False


def _call_at(plain: Any) -> Any:
    def call_at(self: Any, when: float, callback: Any, *given: Any, context: Any = None) -> Any:
        kernel = running.kernel
        handle = plain(self, when, callback, *given, context=context)
        if kernel is None:
            return handle
        state = _state(self, kernel)
        name = getattr(callback, "__qualname__", "")
        mine = kernel.new_task(f"timer {name}")
        mine.host, mine.loop, mine.daemon = state.host, state.name, True
        _timers[handle] = mine
        kernel.admit(mine)
        kernel.add(Access(mine.name, True))
        state.handles[mine] = handle
        mine.operation = Operation(
            "timer", mine.name, (Access(state.name, True), Access(mine.name, True)), ""
        )
        mine.ready = state.can_go
        mine.wakes_at = when
        if name in ("_release_waiter", "Timeout._on_timeout"):
            mine.ready = _never
            mine.deadline, mine.wakes_at = when, None
            kernel.repeat = kernel.repeat or not (kernel.timed or kernel.early_timeouts)
        if kernel.timed:
            clock = Access(CLOCK, mine.deadline is not None)
            mine.operation = mine.operation._replace(footprint=(*mine.operation.footprint, clock))
        return handle

    return call_at


def _cancel_timer(plain: Any) -> Any:
    def cancel(self: Any) -> None:
        mine = _timers.get(self)
        kernel = running.kernel
        if mine is not None and kernel is not None and not mine.ended and not self._cancelled:
            kernel.add(Access(mine.name, True))
            for state in _states.values():
                state.handles.pop(mine, None)
            if mine is not kernel.current:
                kernel.end(mine)
        plain(self)

    return cancel


def _call_soon_threadsafe(plain: Any) -> Any:
    def call_soon_threadsafe(self: Any, callback: Any, *given: Any, context: Any = None) -> Any:
        kernel = running.kernel
        if kernel is None:
            return plain(self, callback, *given, context=context)
        state = _state(self, kernel)
        if kernel.current.host is state.host or kernel.current is state.host:
            return self.call_soon(callback, *given, context=context)
        mine = kernel.new_task("call from a thread")
        kernel.visible("call", mine.name, (Access(mine.name, True),))
        self._check_closed()
        handle = events.Handle(callback, given, self, context)
        mine.host, mine.loop, mine.daemon = state.host, state.name, True
        kernel.admit(mine)
        state.handles[mine] = handle
        mine.operation = Operation(
            "callback", mine.name, (Access(state.name, True), Access(mine.name, True)), ""
        )
        mine.ready = state.can_go
        return handle

    return call_soon_threadsafe


def _run_forever(plain: Any) -> Any:
    def run_forever(self: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            plain(self)
            return
        host = kernel.current
        state = _state(self, kernel)
        state.host, state.running, state.busy = host, True, False
        try:
            plain(self)
        finally:
            state.running = False
            last = kernel.current
            kernel.current = host
            if last is not host:
                # Not sooner than its last task has ended, though nobody sees the host wait for that.
                footprint = (Access(last.name, False), Access(state.name, True))
                kernel.visible("loop ends", state.name, footprint, None, lambda: True)

    return run_forever


def _time(plain: Any) -> Any:
    def time(self: Any) -> float:
        kernel = running.kernel
        if kernel is None:
            found: float = plain(self)
            return found
        return 1_000.0 * 0 + kernel.current.time

    return time


def _sleep(plain: Any) -> Any:
    async def sleep(delay: float, result: Any = None) -> Any:
        kernel = running.kernel
        if kernel is None or delay <= 0:
            return await plain(delay, result)
        kernel.current.wakes_at = kernel.current.time + delay
        await plain(0)
        return result

    return sleep


def install(patches: Patches) -> None:
    loop: Any = base_events.BaseEventLoop
    for name, wrap in (
        ("_run_once", _run_once),
        ("call_at", _call_at),
        ("call_soon_threadsafe", _call_soon_threadsafe),
        ("run_forever", _run_forever),
        ("time", _time),
    ):
        patches.put(loop, name, wrap(getattr(loop, name)))
    patches.put(loop, "create_future", lambda self: Future(loop=self))
    patches.put(loop, "call_exception_handler", _exception_handler(loop.call_exception_handler))
    patches.put(events.TimerHandle, "cancel", _cancel_timer(events.TimerHandle.cancel))
    for module in (asyncio, tasks):
        patches.put(module, "Task", AsyncTask)
        patches.put(module, "sleep", _sleep(tasks.sleep) if module is asyncio else asyncio.sleep)
    for module in (asyncio, futures):
        patches.put(module, "Future", Future)
    for module in (asyncio, tasks):
        patches.put(module, "all_tasks", _all_tasks(module.all_tasks))
    for kind in ("Lock", "Semaphore", "Event", "Condition", "Queue"):
        patches.put(getattr(asyncio, kind), "__init__", _named(getattr(asyncio, kind).__init__))
    for kind, methods in _PRIMITIVES.items():
        for name, writes in methods.items():
            patches.put(getattr(asyncio, kind), name, _seen(getattr(getattr(asyncio, kind), name), writes))


_PRIMITIVES: dict[str, dict[str, bool]] = {
    "Lock": {"acquire": True, "release": True, "locked": False},
    "Semaphore": {"acquire": True, "release": True, "locked": False},
    "BoundedSemaphore": {"release": True},
    "Event": {"set": True, "clear": True, "is_set": False, "wait": False},
    "Condition": {"wait": True, "notify": True},
    "Queue": {
        "put_nowait": True, "get_nowait": True, "put": True, "get": True, "qsize": False, "empty": False,
        "full": False, "task_done": True, "join": False,
    },
}  # fmt: skip


def _named(plain: Any) -> Any:
    """A primitive has its name from the task that makes it, whoever uses it first."""

    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        if running.kernel is not None:
            name_of(self)

    return __init__


def _seen(plain: Any, writes: bool) -> Any:
    """The method, with its use of the primitive told; a coroutine tells again when it goes on."""
    if asyncio.iscoroutinefunction(plain):

        async def coroutine(self: Any, *given: Any, **options: Any) -> Any:
            touch(self, writes)
            try:
                return await plain(self, *given, **options)
            finally:
                touch(self, writes)

        coroutine.__name__ = plain.__name__
        return coroutine

    def method(self: Any, *given: Any, **options: Any) -> Any:
        touch(self, writes)
        return plain(self, *given, **options)

    method.__name__ = plain.__name__
    return method


class _InLine(set[Any]):
    """Tasks that are gone through in the order of their names rather than of their addresses."""

    def __iter__(self) -> Any:
        return iter(sorted(set.__iter__(self), key=_rank))


def _rank(task: Any) -> tuple[int, ...]:
    known = _known.get(task)
    return known.ancestry if known is not None else ()


def _all_tasks(plain: Any) -> Any:
    return lambda loop=None: _InLine(plain(loop))


def _exception_handler(plain: Any) -> Any:
    """What a loop would only log, a task that failed and nobody asked, is a failure here."""

    def call_exception_handler(self: Any, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if running.kernel is not None and isinstance(error, Exception):
            task = context.get("future") or context.get("task")
            mine = _known.get(task) if task is not None else None
            failures.note(failures.failure_of(error, mine.name if mine is not None else None))
        plain(self, context)

    return call_exception_handler
