"""`asyncio`: the tasks of an event loop, one turn of a task being one step.

Theory of operation. Every task of a loop is a task here, hosted by the thread in which the loop runs. When
its next turn is ready, it is pending with `resume`; the loop asks the scheduler whose turn it is. What a
turn touches is known when it is over: memory, futures, locks, queues, the tasks it cancels; until then it
counts as touching the whole loop. A turn that stops inside (another thread races for what it touches, or it
uses a primitive of `threading`) keeps the loop busy until it ends.

Which orders. What one turn starts or wakes goes on in the order in which it did so, as asyncio promises.
Else tasks that are ready go on in any order: in what order they become ready is up to timers and the outside
world, for which sleeps stand, also those of no time, and a program should not rely on it. With `fifo` they go
on as the loop's own queue and heap have them (`in_turn`). Sleeps and time-outs
(`wait_for`, `timeout`, `wait`) are taken as those of threads are (`moments`). Input and output of the loop is
waited for as ever, and leaves the search open. Callbacks that are not turns of tasks (the inside of `gather`,
of task groups) run right after the turn that caused them; timers set by the program, and calls from other
threads, are tasks of their own.
"""

from __future__ import annotations

import asyncio
import heapq
import inspect
import sys
from asyncio import base_events, events, futures, runners, tasks
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from types import CodeType
from typing import Any

from possibly.control.endings import failures
from possibly.control.execution import Access, Operation
from possibly.control.models import told
from possibly.control.models.futures import install_in_loop as install_handing_over
from possibly.control.models.loops import async_primitives
from possibly.control.models.loops.async_primitives import why_blocked
from possibly.control.models.loops.coroutines import (
    AsyncTask,
    Future,
    LoopState,
    PlainFuture,
    PlainTask,
    is_asked_by_threads,
    known_tasks,
    meet_threads,
    name_of,
    state_of,
    states,
    unheard,
)  # fmt: skip
from possibly.control.models.loops.timers import (
    LOOP_START,
    never,
    put_in_line,
    timers,
    told_call_at,
    told_call_from_thread,
    told_call_soon,
    told_cancel,
)
from possibly.control.models.loops.turns import beginning_of_turn, end_of_turn, place_of_coroutine
from possibly.control.runtime import kernel as running
from possibly.control.runtime.calls import tell_of_callback
from possibly.control.runtime.kernel import INPUT, Kernel, Task
from possibly.control.runtime.spin import coroutine_stack
from possibly.control.runtime.touched.suspended import touched_by_turn
from possibly.control.world import faults, libraries, network
from possibly.probes import port
from possibly.probes.patching import Patches
from possibly.probes.stated import stated, stated_text

WAITS = (0.1, 1.0)
"""Seconds that are waited for the world outside when nobody can go on."""
OFTEN, AGAIN = 20, 0.5
"""A callback that has called itself so often comes again so many seconds later."""
FEW = 2
"""So often in one turn where it is a library's."""
GATHERS = "gather.<locals>._done_callback"
GROUPS = "TaskGroup._on_task_done"
SERVES = "StreamReaderProtocol.connection_made.<locals>.callback"
TOLD = ("_run_until_complete", "_chain_future")
"""Callbacks of asyncio that touch nothing but futures, which tell of themselves."""
COMMUTING = (GATHERS, GROUPS, SERVES, "_wait.<locals>._on_completion")


def _owner(handle: Any) -> Any:
    """The task of asyncio whose turn a handle is, or None."""
    callback = handle._callback
    owner = stated(callback, "__self__")
    if isinstance(owner, PlainTask) and not PlainTask.done(owner):
        name = stated_text(callback, "__name__") or type(callback).__name__
        if "step" in name.lower() or "wakeup" in name.lower():
            return owner
    return None


def _run_once(plain: Any) -> Any:
    def run_once(self: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            plain(self)
            return
        state = state_of(self, kernel)
        state.busy = False
        _collect(self, state, kernel)
        _repeat(self, state, kernel)
        _poll(self, state, kernel)
        if self._stopping:
            return
        chosen = _first_turn(state, kernel) or kernel.choose()
        if chosen.host is not state.host or chosen not in state.handles:
            kernel.hand_to(chosen)
            state.host.lock.acquire()
            chosen = kernel.current
        kernel.current = chosen
        if chosen.act is not None:
            _handle_signal(state, kernel, chosen)
        else:
            _turn(self, state, kernel, chosen)

    return run_once


def _handle_signal(state: LoopState, kernel: Kernel, chosen: Task) -> None:
    """A signal comes to the thread of the loop between two turns; what its handler raises leaves the loop."""
    assert chosen.act is not None
    state.busy = True
    try:
        chosen.act()
    finally:
        kernel.add(Access(chosen.name, True))
        kernel.end(chosen)
        state.busy = False


def _first_turn(state: LoopState, kernel: Kernel) -> Task | None:
    """The first thing that a new thread does is to run a loop: whoever started the thread goes on first."""
    host = state.host
    parent = host.returns_to
    if parent is None:
        return None
    host.returns_to = None
    kernel.hand_to(parent)
    host.lock.acquire()
    return kernel.current


def _poll(loop: Any, state: LoopState, kernel: Kernel) -> None:
    """Lets the world outside have its say: what comes from there is taken when it comes."""
    selector = getattr(loop, "_selector", None)
    if selector is None or len(selector.get_map()) <= 1:  # the loop's own way to be woken
        return
    kernel.uncontrolled[INPUT] = None
    for patience in (0.0, *WAITS):
        loop._process_events(selector.select(patience))
        _collect(loop, state, kernel)
        if kernel.enabled_in_time() or loop._stopping:
            return


def _stops(state: LoopState, kernel: Kernel) -> None:
    """The running turn stops the loop: whoever could have gone on cannot now, and may never do so.

    What is done next is to cancel them, as a rule: a turn of theirs, and whoever wakes them, meets this one.
    """
    kernel.add(Access(state.end, True))
    kernel.add(Access(state.census, True))
    for owner, mine in known_tasks.items():
        if mine.loop == state.name and not mine.ended and mine is not kernel.current:
            waiter = getattr(owner, "_fut_waiter", None)
            for name in (mine.name, *(_names_behind(waiter) if waiter is not None else ())):
                kernel.add(Access(name, True))


def _turn(loop: Any, state: LoopState, kernel: Kernel, chosen: Task) -> None:
    """One handle, and the callbacks that it causes."""
    handle = state.handles.pop(chosen)
    state.in_turn.leave(chosen)
    state.busy = True
    owner = _owner(handle)
    in_line = state.line.leave(chosen, kernel)
    waited = _waited_for(owner) if owner is not None else (Access(chosen.name, True),)
    waited += state.calls.footprint_of(chosen)
    kernel.did((*waited, *in_line, *kernel.spun, *state.touched_by_turn(), *touched_by_turn()))
    for access in in_line:
        if access.writes:
            kernel.opened(("resume", access.thing), ("timer", access.thing))
    if kernel.is_mixed or state.name in kernel.halted:
        kernel.add(Access(state.name, False))
    if kernel.fifo:
        kernel.add(Access(f"{state.name}.line", True))
    if owner is not None:
        kernel.note(beginning_of_turn(owner, state.wakers.pop(chosen, "")))
    state.calls.come(chosen, state.line)
    if owner is None:
        libraries.runs(handle._callback)
    loop._ready.extend(state.unheard)
    state.unheard.clear()
    if not handle._cancelled:
        tell_of_callback(handle._callback, handle._args)
        handle._run()
    if owner is not None:
        if PlainTask.done(owner):  # from now on, though its callbacks may stop before it counts as ended
            meet_threads(chosen.name, True, kernel)
            if is_asked_by_threads(chosen.name):
                kernel.add(Access(chosen.name, True))
        kernel.note(end_of_turn(owner))
    _collect(loop, state, kernel)
    if loop._stopping:
        _stops(state, kernel)
    if owner is None:
        state.calls.gone(chosen, state.line)
        kernel.opened(("callback", chosen.name))
        if not chosen.ended:  # a timer may cancel itself
            kernel.end(chosen)
    elif PlainTask.done(owner):
        _ended(state, chosen, kernel)
    state.busy = False


def _ended(state: LoopState, mine: Task, kernel: Kernel) -> None:
    kernel.add(Access(mine.name, True))
    kernel.add(Access(state.census, False))
    kernel.opened(("resume", mine.name), ("leave_loop", mine.name))
    kernel.end(mine)


def _waited_for(owner: Any) -> tuple[Access, ...]:
    """What the task waited for, which was resolved before its turn."""
    mine = known_tasks[owner]
    found = [Access(mine.name, False)]
    waited = getattr(owner, "_possibly_waits", None)
    if waited is not None:
        found += [Access(name, False) for name in waited]
        owner._possibly_waits = None
    return tuple(dict.fromkeys(found))


def _resolved_by(owner: Any) -> list[str]:
    """What had to be done before a task can go on."""
    waiter = getattr(owner, "_fut_waiter", None)
    if waiter is not None and _has_failed(waiter):
        return _names_of_failed(waiter)
    found: list[str] = getattr(owner, "_possibly_waits", None) or []
    return found


def _names_of_failed(future: Any) -> list[str]:
    """Of gathered futures the first that fails is enough: nobody waits for the others."""
    failed = [child for child in getattr(future, "_children", None) or () if _has_failed(child)]
    return [name for child in failed for name in _names_of_failed(child)] or _names_behind(future)


def _has_failed(future: Any) -> bool:
    """Without asking the future, which would be seen."""
    if not isinstance(future, PlainFuture | PlainTask):
        return False
    seen: Any = future
    plain: Any = super(type(seen), seen) if isinstance(seen, AsyncTask | Future) else seen
    return bool(plain.done() and (plain.cancelled() or seen._exception is not None))


def _names_behind(future: Any) -> list[str]:
    children = getattr(future, "_children", None)
    found = [name_of(future)] if isinstance(future, AsyncTask | Future) else []
    for child in children or ():
        found += _names_behind(child)
    found += getattr(future, "_possibly_after", ())
    return found


def _collect(loop: Any, state: LoopState, kernel: Kernel) -> None:
    """Sorts what the loop has to do: turns of tasks are pending, plain callbacks run now.

    A callback that has itself called again and again would never let the turn end: at last it is a timer, or
    comes once after each turn if it is a library's, which looks whether a task has gone on meanwhile.
    """
    again: dict[int, int] = {}
    loop._ready.extend(state.repeated)
    again |= {id(handle): FEW for handle in state.repeated}
    state.repeated = []
    while loop._ready:
        handle = loop._ready.popleft()
        if handle._cancelled:
            continue
        owner = _owner(handle)
        if owner is None or owner not in known_tasks:
            count = again.pop(id(handle), 0) + 1
            if count > FEW and _is_of_library(handle._callback):
                state.repeated.append(handle)
                continue
            if count > OFTEN:
                _call_later(loop, handle, kernel)
                continue
            before = len(loop._ready)
            was_busy, state.busy = state.busy, True  # it may stop in the middle: no turn comes between
            with _kept(kernel.current):
                _run_callback(handle, kernel, state)
            state.busy = was_busy
            for new in islice(loop._ready, before, None):
                if new._callback == handle._callback:
                    again[id(new)] = count
        else:
            _make_ready(state, kernel, known_tasks[owner], handle, owner)
    put_in_line(state, kernel)
    while loop._scheduled and loop._scheduled[0]._cancelled:
        heapq.heappop(loop._scheduled)._scheduled = False
    for handle in loop._scheduled:
        mine = timers.get(handle)
        if mine is not None and handle._cancelled and not mine.ended:
            state.handles.pop(mine, None)
            kernel.end(mine)
    for owner, mine in known_tasks.items():
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


def _call_later(loop: Any, handle: Any, kernel: Kernel) -> None:
    later = LOOP_START + kernel.current.time + AGAIN
    loop.call_at(later, handle._callback, *handle._args, context=handle._context)


def _repeat(loop: Any, state: LoopState, kernel: Kernel) -> None:
    """What comes after each turn comes some time later if there is none."""
    if state.repeated and not kernel.enabled_in_time():
        repeated, state.repeated = state.repeated, []
        for handle in repeated:
            _call_later(loop, handle, kernel)
        _collect(loop, state, kernel)


@contextmanager
def _kept(task: Task) -> Iterator[None]:
    """Its next turn, if it is ready already, is not forgotten where a callback stops in the middle."""
    operation, ready, why = task.operation, task.ready, task.why
    yield
    if operation is not None:
        task.operation, task.ready, task.why = operation, ready, why


def _is_of_library(callback: Any) -> bool:
    code = stated(stated(callback, "__func__") or callback, "__code__")
    return isinstance(code, CodeType) and port.is_installed(code.co_filename)


def _run_callback(handle: Any, kernel: Kernel, state: LoopState) -> None:
    name = stated_text(handle._callback, "__qualname__")
    given = handle._args[0] if handle._args else None
    if name in COMMUTING and _succeeded(given):
        _note_member(handle._callback, given)
    else:
        if name == GROUPS:
            _meet_members(handle._callback, kernel)
        if not name.startswith(TOLD) and _is_of_asyncio(handle._callback):
            kernel.add(Access(f"{state.name}.callbacks", True))
    libraries.runs(handle._callback)
    tell_of_callback(handle._callback, handle._args)
    if name == GATHERS and _succeeded(given) and _only_wakes(handle._callback, handle._loop, state, kernel):
        with unheard():
            handle._run()
    else:
        handle._run()


def _note_member(callback: Any, member: Any) -> None:
    """A member of a task group has ended: whoever waits for the group waits for that."""
    group = getattr(callback, "__self__", None)
    if group is not None:
        names = group.__dict__.setdefault("_possibly_names", [])
        names.append(name_of(member))
        future = getattr(group, "_on_completed_fut", None)
        if future is not None:
            future._possibly_after = names


def _meet_members(callback: Any, kernel: Kernel) -> None:
    """A member fails: those that have ended would have been cancelled, had it come before."""
    for name in getattr(callback.__self__, "_possibly_names", ()):
        kernel.add(Access(name, True))


def _only_wakes(callback: Any, loop: Any, state: LoopState, kernel: Kernel) -> bool:
    """Whether the last of several tasks that are gathered does nothing but wake the one that waits for all.

    Then it makes no difference which of them is the last: the one that waits reads what all have become. It
    does make one if that turn wakes others too, so that one of them stands behind another.
    """
    if state.line.has_begun or loop._ready or kernel.is_mixed or kernel.fifo:
        return False
    outer = inspect.getclosurevars(callback).nonlocals.get("outer")
    waiting: list[Any] = getattr(outer, "_callbacks", None) or []
    return len(waiting) == 1 and isinstance(getattr(waiting[0][0], "__self__", None), PlainTask)


def _is_of_asyncio(callback: Any) -> bool:
    """Whether nobody tells what a callback touches: the program's own and those of packages are watched."""
    code = stated(stated(callback, "__func__") or callback, "__code__")
    return not isinstance(code, CodeType) or "/asyncio/" in code.co_filename.replace("\\", "/")


def _succeeded(future: Any) -> bool:
    return (
        isinstance(future, PlainFuture | PlainTask)
        and super(type(future), future).done()
        and not future.cancelled()
        and future._exception is None
    )


def _make_ready(state: LoopState, kernel: Kernel, mine: Task, handle: Any, owner: Any) -> None:
    state.handles[mine] = handle
    if faults.may_come(kernel, faults.CANCEL):
        faults.threaten_task(kernel, owner, mine, state.host)
    if kernel.current is mine:
        before = state.line.follow(mine, kernel)
    else:
        before = state.line.stand_behind(mine, kernel)
        if kernel.current.host is not None:
            state.wakers[mine] = kernel.current.name
    waits = owner._possibly_waits = _resolved_by(owner)
    footprint = (Access(state.name, True), *(Access(name, False) for name in (mine.name, *waits)))
    footprint += (*state.line.footprint_of(mine), Access(state.end, False))
    mine.operation = Operation("resume", mine.name, footprint, place_of_coroutine(owner.get_coro()))
    mine.why = None
    waiting = state.line.waiting
    mine.ready = (lambda: state.can_go() and before.isdisjoint(waiting)) if before else state.can_go
    if kernel.fifo:
        state.in_turn.enter(mine, kernel)
        free: Callable[[], bool] = mine.ready
        mine.ready = lambda: free() and state.in_turn.is_first(mine)
    mine.trail.arrive(mine, kernel, mine.operation, coroutine_stack(owner.get_coro()))


def _make_blocked(kernel: Kernel, mine: Task, owner: Any) -> None:
    """A task that waits for a future nobody has resolved: pending, and not to be done."""
    waiter = getattr(owner, "_fut_waiter", None)
    names = _names_behind(waiter) if waiter is not None else []
    footprint = tuple(Access(name, False) for name in names)
    mine.operation = Operation(
        "await", names[0] if names else mine.name, footprint, place_of_coroutine(owner.get_coro())
    )
    mine.ready = never
    mine.why = partial(why_blocked, owner)


def _run_forever(plain: Any) -> Any:
    def run_forever(self: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            plain(self)
            return
        host = kernel.current
        state = state_of(self, kernel)
        if state.host is not host:
            _move(state, host, kernel)
        state.begin_run(kernel, _is_closing())
        try:
            plain(self)
        finally:
            state.running = False
            last = kernel.current
            kernel.current = host
            if last is not host:
                # Not sooner than its last task has ended, though nobody sees the host wait for that.
                footprint = (Access(last.name, False), Access(state.name, True))
                kernel.visible("leave_loop", last.name, footprint, None, lambda: True)

    return run_forever


def _move(state: LoopState, host: Task, kernel: Kernel) -> None:
    """Another thread runs the loop than the one that made it: what waits for a turn has it there."""
    for task in kernel.all:
        if task.loop == state.name:
            task.host = host
    state.host = host


def _is_closing() -> bool:
    """Whether `asyncio.run` runs the loop to end what its program has left, of which that sees nothing."""
    frame: Any = sys._getframe(2)
    files = 0
    while frame is not None and frame.f_code.co_name != "__exit__":
        frame, files = frame.f_back, files + 1
        if files > 6:
            return False
    if frame is None or frame.f_code.co_filename != runners.__file__:
        return False
    caller = frame.f_back
    return caller is not None and caller.f_code is runners.run.__code__


def _time(plain: Any) -> Any:
    def time(self: Any) -> float:
        kernel = running.kernel
        if kernel is None:
            found: float = plain(self)
            return found
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("asyncio"):
            kernel.current.trail.turn()  # a loop that looks at the clock does not do the same again
        return LOOP_START + kernel.current.time

    return time


def _sleep(plain: Any) -> Any:
    async def sleep(delay: float, result: Any = None) -> Any:
        kernel = running.kernel
        if kernel is None or delay <= 0:
            return await plain(delay, result)
        kernel.current.wakes_at = kernel.current.time + float(delay)
        kernel.has_timers = True
        await plain(0)
        return result

    sleep.__qualname__ = "sleep"
    return sleep


def install(patches: Patches) -> None:
    loop: Any = base_events.BaseEventLoop
    for name, wrap in (
        ("_run_once", _run_once),
        ("call_at", told_call_at),
        ("call_soon_threadsafe", told_call_from_thread),
        ("_call_soon", told_call_soon),
        ("run_forever", _run_forever),
        ("time", _time),
    ):
        patches.put(loop, name, wrap(getattr(loop, name)))
    patches.put(loop, "create_future", lambda self: Future(loop=self))
    patches.put(loop, "call_exception_handler", _exception_handler(loop.call_exception_handler))
    patches.put(events.TimerHandle, "cancel", told_cancel(events.TimerHandle.cancel))
    for module in (asyncio, tasks):
        patches.put(module, "Task", AsyncTask)
        patches.put(module, "sleep", _sleep(tasks.sleep) if module is asyncio else asyncio.sleep)
    for module in (asyncio, futures):
        patches.put(module, "Future", Future)
    for module in (asyncio, tasks):
        patches.put(module, "all_tasks", _all_tasks(module.all_tasks))
    install_handing_over(patches, loop)
    told.put(patches, loop, told.LOOPS, is_asked_within=True)
    told.put(patches, loop, told.ENDS)
    async_primitives.install(patches)
    network.install(patches)


class _InLine(set[Any]):
    """Tasks that are gone through in the order of their names rather than of their addresses."""

    def __iter__(self) -> Any:
        return iter(sorted(set.__iter__(self), key=_rank))


def _rank(task: Any) -> tuple[int, ...]:
    known = known_tasks.get(task)
    return known.ancestry if known is not None else ()


def _all_tasks(plain: Any) -> Any:
    def all_tasks(loop: Any = None) -> Any:
        kernel, found = running.kernel, _InLine(plain(loop))
        state = states.get(loop or events._get_running_loop())
        if kernel is not None and state is not None and kernel.in_step:
            kernel.add(Access(state.census, True))
        return found

    return all_tasks


def _exception_handler(plain: Any) -> Any:
    """What a loop would only log, a task that failed and nobody asked, is a failure here."""

    def call_exception_handler(self: Any, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if running.kernel is not None and isinstance(error, Exception):
            task = context.get("future") or context.get("task")
            mine = known_tasks.get(task) if task is not None else None
            failures.note(failures.failure_of(error, mine.name if mine is not None else None))
        plain(self, context)

    return call_exception_handler
