"""Signals that the program sends to itself, and to processes that it has started.

One that ends a process ends it between two of its steps. To the first thread one comes at once, as in
reality, where it comes before the call returns. A handler of an event loop is called in a turn of its own,
some time later. That none comes from outside is named as an assumption. One that another thread sends, that a
process handles, or that a timer of the system brings is not under control.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.processes import channel, holding
from possibly.probes import port
from possibly.probes.patching import Patches

NONE = "no signal comes from outside the program"
_of_loops: dict[int, tuple[Any, Any, tuple[Any, ...]]] = {}
"""Signal -> the loop that handles it, and what it calls."""
_plainly_raised = signal.raise_signal


def install(patches: Patches) -> None:
    patches.put(signal, "signal", _signal(signal.signal))
    patches.put(signal, "raise_signal", _raised(signal.raise_signal))
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
        if channel.upward is not None:
            how = "ignored" if handler is signal.SIG_IGN else "handled" if callable(handler) else ""
            channel.ask("handles", int(signalnum), how)
        return plain(signalnum, handler)

    return set_handler


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
    if kernel is None or kernel.ending or not port.is_user_file(frame.f_code.co_filename):
        return False
    if number in _of_loops and not _of_loops[number][0].is_closed():
        _come_to_loop(kernel, number)
        return True
    handler = signal.getsignal(number)
    first = kernel.all[0]
    if handler is signal.SIG_IGN:
        return True
    if not callable(handler) or (kernel.current is not first and kernel.current.host is not first):
        return False
    handler(number, frame)
    return True


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

    return add_signal_handler


def _remove_signal_handler(plain: Any) -> Any:
    def remove_signal_handler(self: Any, sig: int) -> bool:
        if running.kernel is None:
            return bool(plain(self, sig))
        return _of_loops.pop(sig, None) is not None

    return remove_signal_handler
