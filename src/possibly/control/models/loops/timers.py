"""What comes to an event loop from outside its tasks: timers, and calls from other threads.

Each is a task of its own (see `loops`). Calls come in the order in which threads made them, as far as the
threads can tell (`coroutines.Calls`).
"""

from __future__ import annotations

from asyncio import events
from collections.abc import Callable
from functools import partial
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.models.loops.coroutines import LoopState, state_of, states
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import EARLY, Kernel, Task
from possibly.probes.stated import stated_text

LOOP_START = 1_000.0
"""What the clock of every loop says when an execution begins, as `time.monotonic` does."""
TIME_OUTS = frozenset({"_release_waiter", "Timeout._on_timeout"})
timers: dict[Any, Task] = {}


def never() -> bool:
    return False


def told_call_at(plain: Any) -> Any:
    def call_at(self: Any, when: float, callback: Any, *given: Any, context: Any = None) -> Any:
        kernel = running.kernel
        handle = plain(self, when, callback, *given, context=context)
        if kernel is None:
            return handle
        state = state_of(self, kernel)
        name = stated_text(callback, "__qualname__")
        mine = kernel.new_task(f"timer {name}")
        mine.host, mine.loop, mine.daemon = state.host, state.name, True
        timers[handle] = mine
        kernel.admit(mine)
        kernel.add(Access(mine.name, True))
        state.handles[mine] = handle
        state.new_timers.append(mine)
        mine.operation = Operation(
            "timer",
            mine.name,
            (Access(state.name, True), Access(state.end, False), Access(mine.name, True)),
            "",
        )
        mine.ready = state.can_go
        kernel.has_timers = True
        if kernel.early_timeouts and name in TIME_OUTS:
            kernel.assumed[EARLY] = None
        else:
            mine.wakes_at = float(when) - LOOP_START
        if kernel.fifo and mine.wakes_at is not None:
            _stand_in_turn(state, mine, kernel)
        return handle

    return call_at


def _stand_in_turn(state: LoopState, mine: Task, kernel: Kernel) -> None:
    otherwise = mine.ready or never
    state.in_turn.enter(mine, kernel)
    mine.ready = lambda: otherwise() and state.in_turn.is_first(mine)


def put_in_line(state: LoopState, kernel: Kernel) -> None:
    """Timers that the turn has made come after all who are ready by now, as the loop runs these first."""
    new, state.new_timers = state.new_timers, []
    for mine in new if not kernel.free_sleeps else ():
        before = state.line.follow(mine, kernel)
        if before and not mine.ended and mine.operation is not None:
            footprint = (*mine.operation.footprint, *state.line.footprint_of(mine))
            mine.operation = mine.operation._replace(footprint=footprint)
            mine.ready = partial(_has_come, state, before, mine.ready or never)


def _has_come(state: LoopState, before: frozenset[str], otherwise: Callable[[], bool]) -> bool:
    return before.isdisjoint(state.line.waiting) and otherwise()


def told_cancel(plain: Any) -> Any:
    def cancel(self: Any) -> None:
        mine = timers.get(self)
        kernel = running.kernel
        if mine is not None and kernel is not None and not mine.ended and not self._cancelled:
            kernel.add(Access(mine.name, True))
            for state in states.values():
                state.handles.pop(mine, None)
            if mine is not kernel.current:
                kernel.end(mine)
        plain(self)

    return cancel


def told_call_soon(plain: Any) -> Any:
    """From another thread it wakes nobody: if the loop sleeps, it hears of it when something else comes."""

    def _call_soon(self: Any, callback: Any, given: Any, context: Any) -> Any:
        kernel, state = running.kernel, states.get(self)
        is_foreign = kernel is not None and state is not None and state.running
        if kernel is None or state is None or not is_foreign or _is_in(state.host, kernel):
            return plain(self, callback, given, context)
        kernel.visible("call", state.name, (Access(state.name, True),))
        handle = plain(self, callback, given, context)
        if state.is_asleep():
            self._ready.remove(handle)
            state.unheard.append(handle)
        return handle

    return _call_soon


def _is_in(host: Task, kernel: Kernel) -> bool:
    return kernel.current is host or kernel.current.host is host


def told_call_from_thread(plain: Any) -> Any:
    def call_soon_threadsafe(self: Any, callback: Any, *given: Any, context: Any = None) -> Any:
        kernel = running.kernel
        if kernel is None:
            return plain(self, callback, *given, context=context)
        state = state_of(self, kernel)
        if kernel.current.host is state.host or kernel.current is state.host:
            return self.call_soon(callback, *given, context=context)
        mine = kernel.new_task("call from a thread")
        kernel.visible("call", mine.name, (Access(mine.name, True),))
        self._check_closed()
        handle = events.Handle(callback, given, self, context)
        mine.host, mine.loop, mine.daemon = state.host, state.name, True
        kernel.admit(mine)
        state.handles[mine] = handle
        before = state.calls.make(kernel.current, mine)
        touched = (Access(state.name, True), Access(state.end, False), Access(mine.name, True))
        footprint = (*touched, *state.calls.footprint_of(mine))
        mine.operation = Operation("callback", mine.name, footprint, "")
        mine.ready = lambda: state.can_go() and all(each.ended for each in before)
        if kernel.fifo:
            _stand_in_turn(state, mine, kernel)
        return handle

    return call_soon_threadsafe
