"""What goes wrong in a task: its exception, as plain data. The others go on, as they do without control."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from possibly.control.endings.labels import name_by_lines
from possibly.control.endings.own import INTERNAL, REMEDY, error_of_ours, is_broken, own_file
from possibly.control.execution import CALLED_FROM
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.places import of_library, shown

ask: Callable[[BaseException], None] | None = None
"""Lets a person look at an uncaught exception, if one is there."""


def thread_failed(given: Any) -> None:
    """In place of `threading.excepthook`."""
    kernel = running.kernel
    if kernel is None or given.exc_value is None or given.exc_type is SystemExit:
        return
    note(failure_of(given.exc_value))


def note(failure: dict[str, Any]) -> None:
    """The first failure is the one that is told; after an error of ours nothing says anything any more."""
    kernel = running.kernel
    if kernel is None:
        return
    if failure["kind"] == INTERNAL:
        kernel.uncontrolled[failure["message"]] = REMEDY
        kernel.uncontrolled.places[failure["message"]] = failure["place"]
    elif kernel.failure is None and not is_broken(kernel.uncontrolled):
        name_by_lines(kernel.labels)
        kernel.failure = {"step": len(kernel.steps) + kernel.in_step, **failure}
        kernel.logged = len(accesses.memory.log) if accesses.memory is not None else 0


def met(error: BaseException) -> None:
    """The running turn ends with this exception."""
    kernel = running.kernel
    if kernel is not None and id(error) not in kernel.met:
        kernel.met[id(error)] = error, kernel.current.name, len(kernel.steps) + kernel.in_step


def failure_of(error: BaseException, task: str | None = None) -> dict[str, Any]:
    """The kind, the message and the place of an exception, and its traceback without our frames."""
    if ask is not None:
        ask(error)
    kernel = running.kernel
    if kernel is not None:
        kernel.quiet += 1  # what the program's own classes say of themselves is no step of it
    try:
        return _told(error, kernel.current.name if task is None and kernel is not None else task or "0")
    finally:
        if kernel is not None:
            kernel.quiet -= 1


def _told(error: BaseException, task: str) -> dict[str, Any]:
    broken = error_of_ours(error)
    if broken is not None:
        return _broken(error, broken, task)
    whole, error = error, _first_in(error)
    frames, place = _users_place(error)
    text = traceback.format_exception_only(type(error), error)[-1].strip()
    is_assertion = isinstance(error, AssertionError)
    kernel = running.kernel
    known = kernel.met if kernel is not None else {}
    _, task, step = known.get(id(error)) or known.get(id(whole)) or (error, task, None)
    return {
        **({} if step is None else {"step": step}),
        "kind": "assertion" if is_assertion else "exception",
        "type": type(error).__name__,
        "message": _without_addresses(text),
        "task": task,
        "place": place,
        **_called_from(frames),
        "frames": _told_frames(error.__traceback__),
        "traceback": _without_addresses(
            "".join(traceback.format_exception(type(whole), whole, _clean(whole.__traceback__)))
        ),
    }


def _broken(error: BaseException, message: str, task: str) -> dict[str, Any]:
    """An error of ours, with the whole traceback: whoever mends it wants to see our frames."""
    whole = "".join(traceback.format_exception(error))
    return {
        "kind": INTERNAL,
        "type": type(error).__name__,
        "message": _without_addresses(message),
        "task": task,
        "place": _users_place(error)[1],
        "traceback": _without_addresses(whole),
    }


def _users_place(error: BaseException) -> tuple[list[tuple[str, int]], str]:
    """The frames that are not ours, and the innermost place that means something to the user."""
    frames = _frames(error.__traceback__)
    return frames, next((f"{shown(file)}:{line}" for file, line in reversed(frames) if shown(file)), "")


def _first_in(error: BaseException) -> BaseException:
    """What went wrong first, where tasks that belong together hand on all that went wrong as a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _without_addresses(text: str) -> str:
    """What two executions of one schedule both say: where an object lies differs from process to process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _called_from(frames: list[tuple[str, int]]) -> dict[str, str]:
    """The user's line that called the library in which it was raised."""
    mine = [(file, line) for file, line in frames if shown(file)]
    users = [each for each in mine if not of_library(each[0])]
    if not users or users[-1] == mine[-1]:
        return {}
    return {CALLED_FROM: f"{shown(users[-1][0])}:{users[-1][1]}"}


def _told_frames(trace: TracebackType | None) -> list[list[str]]:
    """The frames of the user's code, and the innermost one of a library: its function and its place."""
    found: list[list[str]] = []
    library: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if own_file(trace.tb_frame):
            pass
        elif name := shown(code.co_filename):
            found.append([code.co_name, f"{name}:{trace.tb_lineno}"])
            library = []
        elif name := of_library(code.co_filename):
            library = [code.co_name, f"{name}:{trace.tb_lineno}"]
        trace = trace.tb_next
    return [*found, library] if library and found else found


def _frames(trace: TracebackType | None) -> list[tuple[str, int]]:
    """Those that are not ours."""
    found = []
    while trace is not None:
        if not own_file(trace.tb_frame):
            found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _clean(trace: TracebackType | None) -> TracebackType | None:
    kept = []
    while trace is not None:
        if not own_file(trace.tb_frame) and not trace.tb_frame.f_code.co_filename.startswith("<frozen "):
            kept.append(trace)
        trace = trace.tb_next
    found: TracebackType | None = None
    for each in reversed(kept):
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found
