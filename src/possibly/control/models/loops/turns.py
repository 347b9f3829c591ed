"""What a turn of an event loop's task tells of itself: why it could begin, what it used, where it ends.

Each is a moment of the step that the turn is (`Kernel.note`), beside the accesses to memory in between.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.attached import Attached
from possibly.control.endings.failures import met
from possibly.control.models.loops.coroutines import AsyncTask, Future, PlainTask, name_of
from possibly.control.runtime import kernel as running
from possibly.control.runtime.places import of_library, place_of, shown
from possibly.recorder.snapshot import snapshot

Moment = dict[str, Any]


def beginning_of_turn(owner: Any, waker: str) -> Moment:
    """Why the task goes on: it is new, it was woken by another task, it has slept or let others go first."""
    coroutine = owner.get_coro()
    cancelled = getattr(owner, "_possibly_cancelled", None)
    if cancelled is not None and not _is_new(coroutine):
        owner._possibly_cancelled = None
        by, where = cancelled
        told = {"from": where} if where else {"group": True}
        return {"kind": "cancelled", "thing": by, "at": place_of_coroutine(coroutine), **told}
    return beginning_of_coroutine(coroutine, waker)


def beginning_of_coroutine(coroutine: Any, waker: str) -> Moment:
    """Why a coroutine goes on that nobody has cancelled."""
    if _is_new(coroutine):
        word = getattr(coroutine, "__qualname__", "it")
        return {"kind": "begin", "thing": word, "at": _first_line(coroutine)}
    kind = "woken" if waker else "continue"
    return {"kind": kind, "thing": waker, "at": place_of_coroutine(coroutine)}


def end_of_turn(owner: Any) -> Moment:
    """What the task waits for from now on, or how it has ended."""
    if not PlainTask.done(owner):
        coroutine = owner.get_coro()
        return {"kind": "awaits", **_awaited(owner, coroutine), "at": place_of_coroutine(coroutine)}
    if PlainTask.cancelled(owner):
        return {"kind": "ends", "thing": "cancelled", "at": ""}
    error = PlainTask.exception(owner)
    if error is not None:
        met(error)
    return {"kind": "ends", "thing": "" if error is None else f"with {type(error).__name__}", "at": ""}


def caller_of_use() -> str:
    """Where the program uses a primitive; nothing where another primitive does, which tells of itself."""
    frame: Any = sys._getframe(2)
    if frame.f_code.co_name in ("__aenter__", "__aexit__"):  # `async with lock` is a use of the lock
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    if module.startswith(LIBRARIES) or (module.startswith(ON_TOP) and not _is_for_the_user(frame)):
        return ""
    return place_of(frame)


def _is_for_the_user(frame: Any) -> bool:
    """Whether code of the user is between a frame and the event loop that calls it."""
    while frame is not None and frame.f_globals.get("__name__") not in CALLING:
        if shown(frame.f_code.co_filename) and not of_library(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


told_names: Attached[str] = Attached()
"""Primitives of a library on top of the loop, which are ordinary objects: what their uses are told by."""
LIBRARIES = ("asyncio", "trio.", "possibly.")
"""Whose own use of primitives belongs to how they work."""
ON_TOP = "anyio."
"""What is made of them: its own use belongs to how it works too, unless the program asked for it."""
CALLING = ("asyncio.events", "trio._core._run")
"""Where event loops call the code of tasks and callbacks."""
GIVEN = frozenset({"put", "put_nowait", "send", "send_nowait"})
VALUED = GIVEN | {
    "get",
    "get_nowait",
    "receive",
    "receive_nowait",
    "qsize",
    "empty",
    "full",
    "is_set",
    "locked",
}
"""Uses in which a value is what matters."""


def tell_use(method: str, thing: str, place: str, value: Any = None) -> None:
    """The running turn has used a primitive."""
    kernel = running.kernel
    if place and kernel is not None and kernel.current.host is not None and kernel.in_step:
        moment = {"kind": "use", "thing": thing, "method": method, "at": place}
        if method in VALUED:
            moment["value"] = snapshot(value[0] if method in GIVEN and value else value)
        kernel.note(moment)


def place_of_coroutine(coroutine: Any) -> str:
    """Where a coroutine that is suspended stands in the user's code; in a library's if it is in no other."""
    found = library = ""
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None and (file := of_library(frame.f_code.co_filename)):
            library = f"{file}:{frame.f_lineno}"
        elif frame is not None and (file := shown(frame.f_code.co_filename)):
            found = f"{file}:{frame.f_lineno}"
        coroutine = getattr(coroutine, "cr_await", None)
    return found or library


def _is_new(coroutine: Any) -> bool:
    frame = getattr(coroutine, "cr_frame", None)
    return frame is not None and not getattr(coroutine, "cr_await", None) and frame.f_lasti <= 6


def _first_line(coroutine: Any) -> str:
    code: Any = getattr(coroutine, "cr_code", None)
    file = shown(code.co_filename) if code is not None and not of_library(code.co_filename) else ""
    return f"{file}:{code.co_firstlineno}" if file else ""


def _awaited(owner: Any, coroutine: Any) -> Moment:
    """The first thing that is not the user's own code: a primitive, a function of a library, a task."""
    waiter = getattr(owner, "_fut_waiter", None)
    children = getattr(waiter, "_children", None)
    if children:
        return {"thing": "", "things": [name_of(each) for each in children]}
    told = awaited_in(coroutine)
    if told["thing"] or told.get("things"):
        return told
    if isinstance(waiter, AsyncTask | Future):
        return {"thing": name_of(waiter)}
    return {"thing": "" if waiter is None else type(waiter).__name__}


def awaited_in(coroutine: Any) -> Moment:
    """A method of a primitive, or any other function that is not the user's, that a coroutine is in."""
    called = _called_in(coroutine)
    if called is None:
        return {"thing": ""}
    primitive = primitive_of(called)
    if primitive is not None:
        return {"thing": told_names.get(primitive) or name_of(primitive), "method": called.__name__}
    group = awaited_group(coroutine)
    if group:
        return {"thing": "", "things": [name_of(each) for each in group]}
    return {"thing": f"{called.__qualname__.rpartition('.')[2]}()"}


def awaited_primitive(coroutine: Any) -> tuple[Any, str] | None:
    """The primitive that a coroutine waits for, and the method that does."""
    called = _called_in(coroutine)
    primitive = primitive_of(called) if called is not None else None
    return None if primitive is None else (primitive, called.__name__)


def _called_in(coroutine: Any) -> Any:
    """The first function that is not the user's among those that the user's innermost one is in.

    A library (anyio) may run the program's coroutines inside of its own.
    """
    found = None
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None)
        if frame is not None and shown(frame.f_code.co_filename):
            found = None
        elif frame is not None and found is None:
            found = coroutine
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def primitive_of(called: Any) -> Any:
    """What has the method that a coroutine is of, if that is a primitive."""
    found = called.cr_frame.f_locals.get("self")
    shared = getattr(found, "_state", found)
    if shared in told_names:
        return shared
    return found if getattr(found, "_possibly_name", None) else None


def awaited_group(coroutine: Any) -> list[Any]:
    """The tasks for whose ends a coroutine waits where it leaves a task group, of asyncio or of anyio."""
    called = _called_in(coroutine)
    if called is None or called.__name__ != "__aexit__":
        return []
    tasks = getattr(called.cr_frame.f_locals.get("self"), "_tasks", None)
    found = [each for each in tasks if isinstance(each, AsyncTask)] if type(tasks) is set else []
    return sorted(found, key=name_of)
