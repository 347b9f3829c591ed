"""`threading.Thread` and its kin (Timer, pools): start, end, join.

The parent's `spawn` stands before everything the thread does, the thread's `end` before whoever learns
that it is
over, by `join` or by `is_alive`. A thread is a process under the name that its user gave it.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches


def install(patches: Patches) -> None:
    kind = threading.Thread
    patches.put(kind, "start", _start(kind.start))
    patches.put(kind, "join", _join(kind.join))
    patches.put(kind, "is_alive", _is_alive(kind.is_alive))
    patches.put(kind, "_bootstrap_inner", _bootstrap(kind._bootstrap_inner))  # type: ignore[attr-defined]


def _start(plain: Any) -> Any:
    def start(self: threading.Thread) -> None:
        if not self._started.is_set() and not _is_helper():  # type: ignore[attr-defined]
            process = self._possibly_process = port.new_process(self.name)  # type: ignore[attr-defined]
            port.before("spawn", process)
        plain(self)

    return start


_HELPERS = ("multiprocessing", "concurrent.futures.process")


def _is_helper() -> bool:
    """A thread that a library starts to move data between processes; it is no process of the trace by
    itself."""
    name = sys._getframe(2).f_globals.get("__name__", "")
    return isinstance(name, str) and name.startswith(_HELPERS)


def _bootstrap(plain: Any) -> Any:
    def _bootstrap_inner(self: threading.Thread) -> None:
        process = getattr(self, "_possibly_process", 0)
        if not process:
            port.become(0)
            plain(self)
            return
        port.become(process)
        port.after("start", process)
        try:
            plain(self)
        finally:
            port.before("end", process)
            port.become(0)

    return _bootstrap_inner


def _join(plain: Any) -> Any:
    def join(self: threading.Thread, timeout: float | None = None) -> None:
        plain(self, timeout)
        _learn(self, _plain_is_alive(self), port.WAITS if timeout is None else None)

    return join


_plain_is_alive = threading.Thread.is_alive


def _is_alive(plain: Any) -> Any:
    def is_alive(self: threading.Thread) -> bool:
        found: bool = plain(self)
        # Inside `threading` the question is asked for other reasons, and of threads that never ran.
        if not found and self._started.is_set() and not port.called_by_library():  # type: ignore[attr-defined]
            _learn(self, found)
        return found

    return is_alive


def _learn(thread: threading.Thread, alive: bool, how: str | None = None) -> None:
    process = getattr(thread, "_possibly_process", 0)
    if process and not alive:
        port.after("join", process, how)
