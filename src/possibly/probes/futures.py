"""`concurrent.futures`: Future, wait, as_completed, and the executors of threads.

`submit` orders the call in the worker, the result orders whoever learns of it. The queues and semaphores
inside an
executor are not recorded: they would order calls that have nothing to do with each other.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches

SOURCE = "_possibly_source"
"""The future or task that a future stands for: what an event loop copies the outcome from."""


def number_of(future: Any) -> int:
    found: int = future.__dict__.setdefault("_possibly", 0) or port.number()
    future._possibly = found
    return found


def learn(future: Any, how: str | None = None) -> None:
    """The running process knows the outcome; `how`: it would have waited for it without a limit."""
    source = future.__dict__.get(SOURCE)
    if source is not None and future.done():
        port.after("join", getattr(source, "number", 0))
    token = future.__dict__.get("_possibly_call")
    if token is not None and not future.cancelled():
        if future.done():
            port.after("passed", token, 1)
    elif future.__dict__.get("_possibly") and future.done():
        port.after("learn", future._possibly, how)


def install(patches: Patches) -> None:
    from concurrent import futures
    from concurrent.futures import _base

    kind: Any = _base.Future
    for name in ("set_result", "set_exception"):
        patches.put(kind, name, _told_outcome(getattr(kind, name)))
    patches.put(kind, "cancel", _told_cancel(kind.cancel))
    patches.put(kind, "add_done_callback", _told_callback(kind.add_done_callback))
    for name in ("result", "exception"):
        patches.put(kind, name, _told_result(getattr(kind, name)))
    for name in ("done", "cancelled"):
        patches.put(kind, name, _told_done(getattr(kind, name)))
    for module in (_base, futures):
        patches.put(module, "wait", _told_wait(module.wait))
        patches.put(module, "as_completed", _told_as_completed(module.as_completed))


def _told_outcome(plain: Any) -> Any:
    def outcome(self: Any, value: Any) -> None:
        if not _TOLD_ELSEWHERE & self.__dict__.keys():
            port.before("resolve", number_of(self))
        plain(self, value)

    outcome.__name__ = plain.__name__
    return outcome


_TOLD_ELSEWHERE = {"_possibly_call", SOURCE}
"""The worker's own process tells, or the task."""


def _told_callback(plain: Any) -> Any:
    def add_done_callback(self: Any, fn: Any) -> None:
        def told(future: Any) -> Any:
            learn(future)
            return fn(future)

        plain(self, fn if port.called_by_library() else told)

    return add_done_callback


def _told_cancel(plain: Any) -> Any:
    def cancel(self: Any) -> bool:
        # If the call begins right now and the future is not cancelled, its outcome is told later and counts.
        if not (self.running() or self.done()):
            port.before("resolve", number_of(self))
        found: bool = plain(self)
        return found

    return cancel


def _told_result(plain: Any) -> Any:
    def result(self: Any, timeout: float | None = None) -> Any:
        try:
            return plain(self, timeout)
        finally:
            if not _asked_by_a_loop():
                learn(self, port.WAITS if port.thorough and timeout is None else None)

    result.__name__ = plain.__name__
    return result


def _asked_by_a_loop() -> bool:
    """An event loop copies the outcome into a future of its own, for the task that awaits it."""
    return sys._getframe(2).f_globals.get("__name__") == "asyncio.futures"


def _told_done(plain: Any) -> Any:
    def done(self: Any) -> bool:
        found: bool = plain(self)
        if found and not port.called_by_library():
            learn(self)
        return found

    done.__name__ = plain.__name__
    return done


def _told_wait(plain: Any) -> Any:
    def wait(*arguments: Any, **options: Any) -> Any:
        found = plain(*arguments, **options)
        for future in found.done:
            learn(future)
        return found

    return wait


def _told_as_completed(plain: Any) -> Any:
    def as_completed(*arguments: Any, **options: Any) -> Any:
        for future in plain(*arguments, **options):
            learn(future)
            yield future

    return as_completed
