"""What a turn of an event loop's task tells of itself: why it could begin, what it used, where it ends.

Each is a moment of the step that the turn is (`Kernel.note`), beside the accesses to memory in between.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime.coroutines import AsyncTask, Future, name_of
from possibly.control.runtime.places import place_of, shown

Moment = dict[str, Any]


def beginning_of_turn(owner: Any, waker: str) -> Moment:
    """Why the task goes on: it is new, it was woken by another task, it has slept or let others go first."""
    coroutine = owner.get_coro()
    if _is_new(coroutine):
        return {
            "kind": "begin",
            "thing": getattr(coroutine, "__qualname__", "it"),
            "at": _first_line(coroutine),
        }
    if owner.cancelling() and getattr(owner, "_must_cancel", False):
        return {"kind": "cancelled", "thing": waker, "at": place_of_coroutine(coroutine)}
    kind = "woken" if waker else "continue"
    return {"kind": kind, "thing": waker, "at": place_of_coroutine(coroutine)}


def end_of_turn(owner: Any) -> Moment:
    """What the task waits for from now on, or how it has ended."""
    if not owner.done():
        coroutine = owner.get_coro()
        return {"kind": "awaits", "thing": _awaited(owner, coroutine), "at": place_of_coroutine(coroutine)}
    if owner.cancelled():
        return {"kind": "ends", "thing": "cancelled", "at": ""}
    error = super(AsyncTask, owner).exception() if isinstance(owner, AsyncTask) else owner.exception()
    return {"kind": "ends", "thing": "" if error is None else f"with {type(error).__name__}", "at": ""}


def tell_use(method: str, primitive: Any) -> None:
    """The running turn uses a primitive of asyncio."""
    kernel = running.kernel
    if kernel is not None and kernel.current.host is not None and kernel.in_step:
        place = place_of(sys._getframe(2))
        kernel.note({"kind": "use", "thing": name_of(primitive), "method": method, "at": place})


def place_of_coroutine(coroutine: Any) -> str:
    """Where a coroutine that is suspended stands in the user's code."""
    found = ""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None and shown(frame.f_code.co_filename):
            found = f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def _is_new(coroutine: Any) -> bool:
    frame = getattr(coroutine, "cr_frame", None)
    return frame is not None and not getattr(coroutine, "cr_await", None) and frame.f_lasti <= 6


def _first_line(coroutine: Any) -> str:
    code: Any = getattr(coroutine, "cr_code", None)
    file = shown(code.co_filename) if code is not None else ""
    return f"{file}:{code.co_firstlineno}" if file else ""


def _awaited(owner: Any, coroutine: Any) -> str:
    """The first thing that is not the user's own code: a function of a library, a task, a future."""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None and not shown(frame.f_code.co_filename):
            return f"{coroutine.__qualname__}()"
        coroutine = getattr(coroutine, "cr_await", None)
    waiter = getattr(owner, "_fut_waiter", None)
    if isinstance(waiter, AsyncTask | Future):
        return name_of(waiter)
    return "" if waiter is None else type(waiter).__name__
