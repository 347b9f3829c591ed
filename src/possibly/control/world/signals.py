"""Signals: those that the program sends to itself, its timers bring, its children's ends bring, or faults.

A signal to the first thread comes at once if that sends it, as in reality, where it comes before the call
returns. One that comes from elsewhere (another thread, `alarm` and `setitimer`, a child that ends, a fault)
is a task of one handler, hosted by the first thread: its handler runs on that thread's stack, before any of
its steps, and may raise an exception there. What it touches is its own, so that memory that both use is found
to be raced for, and becomes a place at which it may come. What the thread waits for, it waits for again
afterwards, until the same moment. While the first thread runs an event loop, handlers come in turns of their
own; a handler of the loop itself does so some time later. A signal that ends a process ends it between two of
its steps. That none comes from outside is named as an assumption. One that another process handles is not
under control.
"""

from __future__ import annotations

import _thread
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from possibly.control.execution import ANY, Access, Operation
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import EXIT, Kernel, Task
from possibly.control.world import faults
from possibly.control.world.processes import channel, holding
from possibly.probes import port
from possibly.probes.patching import Patches

NONE = "no signal comes from outside the program"
IN_CHILD = "a timer of signals in a process that the program has started"
IN_TRIO = "a signal to a program of trio"
SIGNALS = "_:signals"
"""What each step of the first thread reads, and whatever comes to that thread writes."""
HANDLED = "_:signals handled"
COMING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""What may come from outside, if signals are among the faults that are looked for."""
_of_loops: dict[int, tuple[Any, Any, tuple[Any, ...]]] = {}
"""Signal -> the loop that handles it, and what it calls."""
_plainly_raised = signal.raise_signal


def install(patches: Patches) -> None:
    patches.put(signal, "signal", _signal(signal.signal))
    patches.put(signal, "raise_signal", _raised(signal.raise_signal))
    patches.put(signal, "pthread_kill", _pthread_kill(signal.pthread_kill))
    patches.put(signal, "getsignal", lambda number: _handler_of(number))
    patches.put(signal, "alarm", _alarm(signal.alarm))
    patches.put(signal, "setitimer", _setitimer(signal.setitimer))
    patches.put(signal, "getitimer", _getitimer(signal.getitimer))
    patches.put(signal, "pause", _pause(signal.pause))
    patches.put(_thread, "interrupt_main", _interrupt_main(_thread.interrupt_main))
    patches.put(os, "kill", _kill(os.kill))
    patches.when_imported("asyncio.unix_events", install_for_loops)


def install_for_loops(patches: Patches) -> None:
    kind: Any = sys.modules["asyncio.unix_events"]._UnixSelectorEventLoop
    patches.put(kind, "add_signal_handler", _add_signal_handler(kind.add_signal_handler))
    patches.put(kind, "remove_signal_handler", _remove_signal_handler(kind.remove_signal_handler))


def _signal(plain: Any) -> Any:
    def set_handler(signalnum: Any, handler: Any) -> Any:
        if running.kernel is not None:
            running.kernel.assumed[NONE] = None
            if callable(handler) and channel.upward is None:
                _notice(running.kernel.all[0])  # who sends one might have done so before any of its steps
        if channel.upward is not None:
            how = "ignored" if handler is signal.SIG_IGN else "handled" if callable(handler) else ""
            channel.ask("handles", int(signalnum), how)
        elif running.kernel is not None and callable(handler):
            _notice(running.kernel.all[0])
            _threaten(running.kernel, int(signalnum))
        if running.kernel is not None and signalnum == signal.SIGCHLD:
            before = _handler_of(signalnum)
            _of_children[:] = [(running.kernel, handler)]
            return before
        return plain(signalnum, handler)

    return set_handler


_of_children: list[tuple[Kernel, Any]] = []
"""The execution, and what handles the end of a child; real ends come when the system likes, untold."""
_plain_handler = signal.getsignal


def _handler_of(number: int) -> Any:
    for kernel, handler in _of_children:
        if number == signal.SIGCHLD and kernel is running.kernel:
            return handler
    return _plain_handler(number)


def handles_ends() -> bool:
    """Whether the program wants to be told of the end of a child."""
    return callable(_handler_of(signal.SIGCHLD))


def _threaten(kernel: Kernel, number: int) -> None:
    """A signal that the program handles may come from outside, if that is looked for."""
    if number not in COMING or not faults.may_come(kernel, faults.SIGNAL):
        return

    def comes() -> None:
        if number in _of_loops:
            _come_to_loop(kernel, number)
        else:
            send(kernel, number)

    def is_handled() -> bool:
        return number in _of_loops or callable(_handler_of(number))

    _notice(kernel.all[0])
    label = f"{signal.Signals(number).name} from outside"
    faults.possible(kernel, label, (Access(SIGNALS, True),), comes, is_handled)


def _raised(plain: Any) -> Any:
    def raise_signal(signum: int) -> None:
        if not _sent(signum, sys._getframe(1)):
            plain(signum)

    return raise_signal


def _kill(plain: Any) -> Any:
    def kill(pid: int, sig: int) -> None:
        kernel = running.kernel
        if pid == os.getpid():  # which is not the number that the system knows (`runner.call_oneself`)
            if not _sent(sig, sys._getframe(1)):
                _plainly_raised(sig)
        elif kernel is None or kernel.ending or not holding.sent(pid, sig):
            plain(pid, sig)

    return kill


def _sent(number: int, frame: Any) -> bool:
    """Whether a signal of the program to itself has come, or will."""
    kernel = running.kernel
    if kernel is None or kernel.ending:
        return False
    if number in _of_loops and not _of_loops[number][0].is_closed():
        _come_to_loop(kernel, number)
        return True
    handler = _handler_of(number)
    first = kernel.all[0]
    if handler is signal.SIG_IGN:
        return True
    if not callable(handler) or channel.upward is not None:
        return False
    if kernel.current is first or kernel.current.host is first:
        handler(number, frame)
        _tell_handled(kernel)
    else:  # a step of its own: the first thread may have come any way before
        kernel.labels[SIGNALS] = "signals"
        kernel.visible("send", SIGNALS, (Access(SIGNALS, True),))
        send(kernel, number)
    return True


# ---- what comes to the first thread from elsewhere ----------------------------------------------

_pending: list[tuple[int, Task, Kernel]] = []
_handled = 0


def send(
    kernel: Kernel, number: int, after: float | None = None, event: Task | None = None, then: Any = None
) -> Task:
    """A signal comes to the first thread: from now on, after so many seconds, or after the end of a task."""
    first = kernel.all[0]
    mine = kernel.new_task(signal.Signals(number).name, daemon=True)
    mine.host = first
    is_sent = after is None and event is None
    mine.act = partial(_handle, kernel, mine, number, then, is_sent)
    kernel.admit(mine)
    kernel.add(Access(mine.name, True))
    kernel.labels[SIGNALS] = "signals"
    _notice(first)
    touched: tuple[Access, ...] = (Access(SIGNALS, True), Access(mine.name, True), Access(EXIT, False))
    if event is not None:
        touched = (*touched, Access(event.name, False))

    def now() -> Operation:
        loops = _loops_of(first)
        mine.loop = loops[0].name if loops else ""
        return Operation("signal", SIGNALS, (*touched, *(Access(each.name, True) for each in loops)), "")

    mine.operation, mine.refresh = now(), now
    mine.ready = lambda: (event is None or event.ended) and _is_at_rest(kernel, first)
    if after is not None:
        kernel.has_timers = True
        mine.wakes_at = kernel.current.time + after
    if is_sent:
        _come_first(kernel, mine, first)
    _pending[:] = [each for each in _pending if each[2] is kernel and not each[1].ended]
    _pending.append((number, mine, kernel))
    return mine


def _come_first(kernel: Kernel, mine: Task, first: Task) -> None:
    """A signal that has been sent comes before whatever the first thread does next."""
    kernel.add(Access(SIGNALS, True))
    if first.operation is not None and first.operation.kind != "exit":
        ready = first.ready
        first.ready = lambda: mine.ended and (ready is None or ready())


def _notice(first: Task) -> None:
    """From now on whatever the first thread does, to its end, comes before or after a signal."""
    reads = Access(SIGNALS, False)
    if reads not in first.always:
        first.always = (*first.always, reads)
        if first.operation is not None:
            footprint = (*first.operation.footprint, reads)
            first.operation = first.operation._replace(footprint=footprint)


def _loops_of(first: Task) -> list[Any]:
    if "asyncio.base_events" not in sys.modules:
        return []
    from possibly.control.models.loops.coroutines import states

    return [state for state in states.values() if state.running and state.host is first]


def _is_at_rest(kernel: Kernel, first: Task) -> bool:
    """Whether the first thread stands before one of its steps, or waits for a turn of its loop."""
    if first.operation is not None:
        return first.operation.kind != "exit" and not _put_off
    is_in_loop = bool(_loops_of(first))
    trios: Any = sys.modules.get("possibly.control.world.trios.runs")
    if not is_in_loop and trios is not None and any(run.host is first for run in trios.runs.values()):
        kernel.uncontrolled[IN_TRIO] = "explore without it, for example with an event that a task sets"
    return is_in_loop


_put_off = 0


@contextmanager
def put_off() -> Iterator[None]:
    """What our own code does meanwhile is one call of the program, which no signal interrupts."""
    global _put_off
    _put_off += 1
    try:
        yield
    finally:
        _put_off -= 1


def _handle(kernel: Kernel, mine: Task, number: int, then: Callable[[], None] | None, is_sent: bool) -> None:
    """What the first thread does when a signal has come; several of one kind that have come are one."""
    if is_sent and all(task is mine or task.ended for _, task, _ in _pending):
        kernel.opened((ANY, SIGNALS))  # else another one could have come just before
    for other, task, _ in _pending:
        if other == number and task is not mine and not task.ended and task.wakes_at is None:
            kernel.add(Access(task.name, True))
            if task.ready is not None and task.ready():
                kernel.end(task)
    if then is not None:
        then()
    handler = _handler_of(number)
    try:
        if callable(handler):
            handler(number, _users_frame())
        elif handler is signal.SIG_DFL and number != signal.SIGCHLD:
            raise SystemExit(128 + number)
    finally:
        _tell_handled(kernel)


def _tell_handled(kernel: Kernel) -> None:
    global _handled
    _handled += 1
    kernel.add(Access(HANDLED, True))
    kernel.opened(("pause", HANDLED))


def _users_frame() -> Any:
    frame: Any = sys._getframe()
    while frame is not None and not port.is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _pause(plain: Any) -> Any:
    def pause() -> None:
        kernel = running.kernel
        if kernel is None or kernel.ending:
            plain()
            return
        if channel.upward is not None:
            channel.ask("leave", "signal.pause in a process that the program has started", HELPS)
        kernel.labels[HANDLED] = "a signal"
        kernel.visible("pause", SIGNALS, (Access(SIGNALS, False),))  # one that comes before is not waited for
        before = _handled
        kernel.visible("pause", HANDLED, (Access(HANDLED, False),), None, lambda: _handled != before)

    return pause


def _pthread_kill(plain: Any) -> Any:
    def pthread_kill(thread_id: int, signalnum: int) -> None:
        if not _sent(signalnum, sys._getframe(1)):
            plain(thread_id, signalnum)

    return pthread_kill


def _interrupt_main(plain: Any) -> Any:
    def interrupt_main(signum: int = signal.SIGINT) -> None:
        if not _sent(signum, sys._getframe(1)):
            plain(signum)

    return interrupt_main


# ---- timers -------------------------------------------------------------------------------------

HELPS = "explore without it, for example with a stand-in that does the same each time"


class _Timer:
    """The timer of the real clock: when it comes, and how often again."""

    task: Task | None = None
    kernel: Kernel | None = None
    when = 0.0
    interval = 0.0

    def set(self, kernel: Kernel, seconds: float, interval: float) -> tuple[float, float]:
        before = self.rest(kernel)
        self.stop(kernel)
        if seconds:
            self.kernel, self.interval = kernel, interval
            self.when = kernel.current.time + seconds
            again = partial(self.set, kernel, interval, interval) if interval else None
            self.task = send(kernel, signal.SIGALRM, seconds, None, again)
        return before

    def rest(self, kernel: Kernel) -> tuple[float, float]:
        if self.kernel is not kernel or self.task is None or self.task.ended:
            return 0.0, 0.0
        return max(self.when - kernel.current.time, 1e-6), self.interval

    def stop(self, kernel: Kernel) -> None:
        task = self.task
        if self.kernel is kernel and task is not None and not task.ended and task is not kernel.current:
            kernel.add(Access(task.name, True))
            kernel.end(task)
        self.task = None


_timer = _Timer()


def _is_elsewhere(kernel: Kernel | None) -> bool:
    """Whether a timer is not ours to set; in a process that the program has started it is named."""
    if kernel is not None and channel.upward is not None:
        channel.ask("open", IN_CHILD, HELPS)
    return kernel is None or kernel.ending or channel.upward is not None


def _alarm(plain: Any) -> Any:
    def alarm(seconds: int) -> int:
        kernel = running.kernel
        if kernel is None or _is_elsewhere(kernel):
            return int(plain(seconds))
        return math.ceil(_timer.set(kernel, seconds, 0.0)[0])

    return alarm


def _setitimer(plain: Any) -> Any:
    def setitimer(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        kernel = running.kernel
        if kernel is None or which != signal.ITIMER_REAL or _is_elsewhere(kernel):
            found: tuple[float, float] = plain(which, seconds, interval)
            return found
        return _timer.set(kernel, seconds, interval)

    return setitimer


def _getitimer(plain: Any) -> Any:
    def getitimer(which: int) -> tuple[float, float]:
        kernel = running.kernel
        if kernel is None or which != signal.ITIMER_REAL or _is_elsewhere(kernel):
            found: tuple[float, float] = plain(which)
            return found
        return _timer.rest(kernel)

    return getitimer


# ---- handlers of event loops --------------------------------------------------------------------


def _come_to_loop(kernel: Kernel, number: int) -> None:
    from possibly.control.world.happenings import hosted

    loop, callback, given = _of_loops[number]
    thing = name_for("signal")
    kernel.labels[thing] = name = signal.Signals(number).name
    operation = Operation("arrive", thing, (Access(thing, True),), "")
    hosted(kernel, loop, name, operation, lambda: callback(*given), lambda: True)


def _add_signal_handler(plain: Any) -> Any:
    def add_signal_handler(self: Any, sig: int, callback: Any, *args: Any) -> None:
        if running.kernel is None:
            plain(self, sig, callback, *args)
            return
        running.kernel.assumed[NONE] = None
        _of_loops[sig] = self, callback, args
        _threaten(running.kernel, int(sig))

    return add_signal_handler


def _remove_signal_handler(plain: Any) -> Any:
    def remove_signal_handler(self: Any, sig: int) -> bool:
        if running.kernel is None:
            return bool(plain(self, sig))
        return _of_loops.pop(sig, None) is not None

    return remove_signal_handler
