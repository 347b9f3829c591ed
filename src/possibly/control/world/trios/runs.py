"""`trio`: its own scheduler, with our order of runnable tasks and our clock; one turn of a task is one step.

Theory of operation. Trio runs what is in its queue of runnable tasks, in any order, once it has looked for
input. Here it looks for input by asking the scheduler whose turn it is, and finds that one task in its
queue. The deadline of a scope is a task of ours, which goes on when it is up; one that is up when it is set
passes before any other turn, as it does in trio. A call from another thread is a task of ours too; what trio
does with all that have come is one turn. Trio's own code runs as it is, and tells what it touches
(`things`). A task that waits for a file is in `waits`; one that leads outside leaves the search open.
"""

from __future__ import annotations

import asyncio  # noqa: F401 - first: what takes the place of its parts imports them
import heapq
import math
import sys
import threading
from collections.abc import Generator
from functools import partial
from types import SimpleNamespace
from typing import Any

from possibly.control.endings.failures import met
from possibly.control.execution import Access, Operation
from possibly.control.models.loops.timers import LOOP_START, never
from possibly.control.models.loops.turns import beginning_of_coroutine, place_of_coroutine
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import INPUT, Kernel, Task
from possibly.control.runtime.spin import coroutine_stack
from possibly.control.world.trios import things as trio_things
from possibly.control.world.trios import waits
from possibly.control.world.trios.known import Run, busy, run_with_files, runs
from possibly.probes.patching import Patches
from possibly.probes.port import called

WAITS = (0.0, 0.1, 1.0)
"""Seconds that are waited for the world outside when nobody can go on."""
GUEST = "trio as the guest of another loop (start_guest_run), which is not under control"
REMEDY = "run it with trio.run, or with the other loop alone"
CALLS = "EntryQueue.task"
"""Trio's own task that does what others have called."""


class Unlocked:
    """In place of the lock under which a call is put down: nobody else goes on meanwhile."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None:
        pass


Unlocked.__module__ = "_thread"  # trio looks whether signals cannot disturb it


def _run_of(runner: Any) -> Run | None:
    return runs.get(runner) if running.kernel is not None else None


def _waits_outside(run: Run, manager: Any) -> bool:
    """Whether some task waits for a file that is not under control; a run has one of its own, to be woken."""
    own = run.runner.entry_queue.wakeup.wakeup_sock.fileno()
    return any(file != own for file in manager._registered)


# ---- turns --------------------------------------------------------------------------------------


def _get_events(plain: Any) -> Any:
    def get_events(self: Any, timeout: float) -> Any:
        kernel = running.kernel
        run = run_with_files(self)
        if kernel is None or run is None:
            return plain(self, timeout)
        _end_turn(run, kernel)
        if _waits_outside(run, self):
            kernel.uncontrolled[INPUT] = None
            for patience in WAITS:
                events = plain(self, patience)
                if events or kernel.enabled_in_time():
                    if events:
                        return events
                    break
        if run.is_woken:
            run.is_woken = False
            return plain(self, 0)
        if run.runner.waiting_for_idle and not kernel.enabled_in_time():
            return []
        return _next_turn(run, kernel, lambda: plain(self, 0))  # whoever calls has woken it by now

    return get_events


def _next_turn(run: Run, kernel: Kernel, poll: Any) -> Any:
    chosen = kernel.choose()
    if chosen.host is not run.host or not _is_of(run, chosen):
        kernel.hand_to(chosen)
        run.host.lock.acquire()
        chosen = kernel.current
    kernel.current = chosen
    busy.add(id(run))
    due = next((key for key, each in run.timers.items() if each is chosen), None)
    in_turn = (Access(run.name, False), Access(run.opened, chosen is run.opening))  # none begins in another
    if chosen is run.opening:
        run.opening = None
    if due is not None:
        kernel.did((Access(chosen.name, True), *in_turn))
        run.expiring = due[0]
        run.due.append(due)
        return []
    if chosen in run.calls:
        kernel.did((Access(chosen.name, True), *in_turn))
        run.calls.discard(chosen)
        kernel.end(chosen)
        return poll()
    task = next(each for each, mine in run.known.items() if mine is chosen)
    looked = (*_granted(run, chosen), *trio_things.ends_awaited(task))
    run.queue.chosen = task
    kernel.did((Access(chosen.name, False), *looked, *kernel.spun, *in_turn))
    trio_things.touch_scopes(task)
    if task.coro.__qualname__ == CALLS:
        kernel.add(Access(run.called, True))
    kernel.note(_beginning(task, run.wakers.pop(chosen, "")))
    return []


def _granted(run: Run, chosen: Task) -> tuple[Access, ...]:
    """If the task waits for a file that is ready: trio has it in its queue now; what told that."""
    key = next((key for key, (mine, _, _) in run.waits.items() if mine is chosen), None)
    if key is None:
        return ()
    _, task, wish = run.waits.pop(key)
    run.granted = task
    run.runner.reschedule(task)
    run.granted = None
    return wish.touched()


def _beginning(task: Any, waker: str) -> dict[str, Any]:
    """Why a task goes on; one that is cancelled gets that from whoever woke it."""
    error = getattr(task._next_send, "error", None)
    if waker and isinstance(error, sys.modules["trio"].Cancelled):
        return {"kind": "cancelled", "thing": waker, "at": place_of_coroutine(task.coro)}
    return beginning_of_coroutine(task.coro, waker)


def _is_of(run: Run, chosen: Task) -> bool:
    return chosen in run.timers.values() or chosen in run.calls or chosen in run.known.values()


def _end_turn(run: Run, kernel: Kernel) -> None:
    run.expiring = -math.inf
    busy.discard(id(run))
    for task, mine in run.known.items():
        if not mine.ended and mine is kernel.current:
            trio_things.touch_scopes(task)
            told = trio_things.awaited(task, run.known)
            kernel.note({"kind": "awaits", **told, "at": place_of_coroutine(task.coro)})
            if mine.operation is not None and (ends := trio_things.ends_awaited(task)):
                mine.operation = mine.operation._replace(footprint=(*mine.operation.footprint, *ends))
        if not mine.ended and mine.operation is None:
            footprint = (Access(mine.name, False),)
            mine.operation = Operation("await", mine.name, footprint, place_of_coroutine(task.coro))
            mine.ready = never
            mine.why = partial(trio_things.why_blocked, task, run.known)


def _add(plain: Any) -> Any:
    def add(self: Any, deadline: float, cancel_scope: Any) -> None:
        plain(self, deadline, cancel_scope)
        kernel = running.kernel
        run = _run_with(self)
        if kernel is None or run is None:
            return
        timer = kernel.new_task("deadline")
        timer.host, timer.loop, timer.daemon = run.host, run.name, True
        kernel.admit(timer)
        kernel.add(Access(timer.name, True))
        touched = (Access(run.name, True), Access(timer.name, True))
        timer.operation = Operation("timer", timer.name, touched, "")
        timer.ready, timer.wakes_at = run.can_go, deadline - LOOP_START
        kernel.has_timers = True
        run.timers[deadline, id(cancel_scope)] = timer
        if deadline - LOOP_START <= kernel.current.time:
            run.due.append((deadline, id(cancel_scope)))

    return add


def _remove(plain: Any) -> Any:
    def remove(self: Any, deadline: float, cancel_scope: Any) -> None:
        plain(self, deadline, cancel_scope)
        kernel = running.kernel
        run = _run_with(self)
        timer = run.timers.pop((deadline, id(cancel_scope)), None) if run is not None else None
        if kernel is not None and timer is not None and not timer.ended:
            kernel.add(Access(timer.name, True))
            kernel.end(timer)

    return remove


def _expire(plain: Any) -> Any:
    """Only what is due passes: other deadlines that are up may come late."""

    def expire(self: Any, now: float) -> bool:
        run = _run_with(self)
        if running.kernel is None or run is None:
            found: bool = plain(self, now)
            return found
        due, run.due = set(run.due), []
        if not due:
            return False
        rest = [each for each in self._heap if each[:2] not in due]
        self._heap = [each for each in self._heap if each[:2] in due]
        try:
            found = plain(self, math.inf)
        finally:
            self._heap += rest
            heapq.heapify(self._heap)
        return found

    return expire


def _run_with(deadlines: Any) -> Run | None:
    return next((each for each in runs.values() if each.runner.deadlines is deadlines), None)


# ---- tasks --------------------------------------------------------------------------------------


def _reschedule(plain: Any) -> Any:
    def reschedule(self: Any, task: Any, *given: Any) -> None:
        plain(self, task, *given)
        run, kernel = _run_of(self), running.kernel
        if run is None or kernel is None or run.granted is task:
            return
        mine = run.known.get(task)
        if mine is None:
            mine = run.known[task] = kernel.new_task(_name_of(task, kernel.counts))
            mine.host, mine.loop = run.host, run.name
            kernel.admit(mine)
            run.opening = mine if task.coro.__qualname__ == CALLS else run.opening
        elif mine.operation is not None:
            kernel.opened(("resume", mine.name))
        if kernel.current is not mine and kernel.current.host is not None:
            run.wakers[mine] = kernel.current.name
        ends = trio_things.ends_awaited(task) if kernel.current is not mine else ()
        if not ends:  # else which of several tasks is the last of a nursery makes no difference
            kernel.add(Access(mine.name, True))
        footprint = (Access(run.name, True), Access(mine.name, False), *ends)
        mine.operation = Operation("resume", mine.name, footprint, place_of_coroutine(task.coro))
        mine.ready = run.is_free if mine is run.opening else run.can_go
        mine.why = mine.refresh = None
        mine.trail.arrive(mine, kernel, mine.operation, coroutine_stack(task.coro))

    return reschedule


def _name_of(task: Any, counts: dict[str, int]) -> str:
    """Of its coroutine; of the function that a library (anyio) calls on its behalf."""
    own = getattr(task.coro, "__qualname__", "")
    if not isinstance(task.name, str) or task.name.endswith(own) or task.name.startswith("<"):
        return called(task.coro, counts)
    if "." not in task.name:
        counts[task.name] = count = counts.get(task.name, 0) + 1
        return task.name if count == 1 else f"{task.name}#{count}"
    return called(SimpleNamespace(__name__=task.name.rpartition(".")[2]), counts)


def _task_exited(plain: Any) -> Any:
    def task_exited(self: Any, task: Any, outcome: Any) -> None:
        run, kernel = _run_of(self), running.kernel
        mine = run.known.get(task) if run is not None else None
        if mine is not None and kernel is not None:
            if kernel.current is mine:
                kernel.note(_end(outcome))
            kernel.add(Access(mine.name, True))
            kernel.end(mine)
            if task.parent_nursery is not None and getattr(outcome, "error", None) is None:
                trio_things.ended_well(task.parent_nursery, mine)
                kernel.add(Access(trio_things.end_of(mine), True))
                kernel.opened(("resume", trio_things.end_of(mine)))
        plain(self, task, outcome)

    return task_exited


def _end(outcome: Any) -> dict[str, Any]:
    """How a task has ended, as a moment of its last turn."""
    error = getattr(outcome, "error", None)
    if error is None or isinstance(error, sys.modules["trio"].Cancelled):
        return {"kind": "ends", "thing": "" if error is None else "cancelled", "at": ""}
    met(error)
    return {"kind": "ends", "thing": f"with {type(error).__name__}", "at": ""}


def _unrolled_run(plain: Any) -> Any:
    def unrolled_run(runner: Any, *given: Any, **options: Any) -> Generator[Any, Any, None]:
        kernel = running.kernel
        is_guest = getattr(runner, "is_guest", False)
        if kernel is not None and is_guest:
            kernel.uncontrolled[GUEST] = REMEDY
        if kernel is None or is_guest:
            yield from plain(runner, *given, **options)
            return
        run = runs[runner] = Run(runner, kernel)
        runner.runq = run.queue
        runner.entry_queue.lock = Unlocked()
        try:
            yield from plain(runner, *given, **options)
        finally:
            _leave(run, kernel)

    return unrolled_run


def pause(runner: Any) -> None:
    """The run stands still: whoever drives it goes on, as after a run that is over."""
    run, kernel = _run_of(runner), running.kernel
    if run is None or kernel is None or run.is_over:
        return
    _end_turn(run, kernel)
    run.is_paused = True
    _give_back(run, kernel)


def _leave(run: Run, kernel: Kernel) -> None:
    run.is_over = True
    busy.discard(id(run))
    for task in (*run.timers.values(), *run.calls, *run.known.values()):
        if not task.ended:
            kernel.end(task)
    _give_back(run, kernel)


def _give_back(run: Run, kernel: Kernel) -> None:
    last, kernel.current = kernel.current, run.host
    if last is not run.host:
        footprint = (Access(last.name, False), Access(run.name, True))
        kernel.visible("leave_loop", last.name, footprint, None, lambda: True)


def _run_sync_soon(plain: Any) -> Any:
    def run_sync_soon(self: Any, *given: Any, **options: Any) -> None:
        kernel = running.kernel
        run = next((each for each in runs.values() if each.runner.entry_queue is self), None)
        if kernel is None or run is None:
            plain(self, *given, **options)
            return
        is_own = kernel.current.host is run.host or kernel.current is run.host
        if is_own and kernel.current is run.known.get(run.runner.init_task):
            plain(self, *given, **options)
            run.is_woken = True
            return
        mine = kernel.new_task("call from a thread")
        if not is_own:
            kernel.visible("call", mine.name, (Access(mine.name, True), Access(run.called, True)))
        else:
            kernel.add(Access(run.called, True))
        plain(self, *given, **options)
        mine.host, mine.loop, mine.daemon = run.host, run.name, True
        kernel.admit(mine)
        run.calls.add(mine)
        touched = (Access(run.name, True), Access(mine.name, True))
        mine.operation = Operation("callback", mine.name, touched, "")
        mine.ready = run.can_go

    return run_sync_soon


# ---- the clock ----------------------------------------------------------------------------------


def _clock(plain: Any, abstract: Any) -> Any:
    class Clock(abstract):  # type: ignore[misc]
        """Virtual time."""

        def start_clock(self) -> None:
            pass

        def current_time(self) -> float:
            kernel = running.kernel
            assert kernel is not None
            latest = max((run.expiring for run in runs.values()), default=-math.inf)
            caller = sys._getframe(2).f_globals.get("__name__", "")
            if caller.partition(".")[0] not in ("trio", "possibly"):
                kernel.current.trail.turn()  # a loop that looks at the clock does not do the same again
            return max(LOOP_START + kernel.current.time, latest)

        def deadline_to_sleep_time(self, deadline: float) -> float:
            return deadline - self.current_time()

    return lambda *given, **options: plain(*given, **options) if running.kernel is None else Clock()


def _has_instrument(self: Any, name: object) -> bool:
    """Asked before and after every turn: no use of memory by the program."""
    return name in self.data if hasattr(self, "data") else dict.__contains__(self, name)


def install(patches: Patches) -> None:
    library: Any = sys.modules["trio"]
    core: Any = sys.modules["trio._core._run"]
    patches.put(core, "unrolled_run", _unrolled_run(core.unrolled_run))
    patches.put(core, "SystemClock", _clock(core.SystemClock, library.abc.Clock))
    patches.put(core.Runner, "reschedule", _reschedule(core.Runner.reschedule))
    patches.put(core.Runner, "task_exited", _task_exited(core.Runner.task_exited))
    patches.put(core.Deadlines, "add", _add(core.Deadlines.add))
    patches.put(core.Deadlines, "expire", _expire(core.Deadlines.expire))
    patches.put(core.Deadlines, "remove", _remove(core.Deadlines.remove))
    trio_things.install(patches)
    waits.install(patches)
    kind: Any = core.TheIOManager
    patches.put(kind, "get_events", _get_events(kind.get_events))
    instruments: Any = sys.modules["trio._core._instrumentation"].Instruments
    patches.put(instruments, "__contains__", _has_instrument)
    threads: Any = sys.modules["trio._core._thread_cache"]
    patches.put(threads, "Lock", threading.Lock)  # it may have been imported before that is a model
    queue: Any = sys.modules["trio._core._entry_queue"].EntryQueue
    patches.put(queue, "run_sync_soon", _run_sync_soon(queue.run_sync_soon))
