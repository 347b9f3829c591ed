"""What the frames of a task hold while it stands still: places, variables, and the values on their stacks.

Law: a frame is read whole or not at all. Variables and cells lie in fixed slots; how many values lie on the
evaluation stack follows from the instructions, so it is computed for each of them once (`depths`). Between
two frames there may be nothing that hides a state of its own: the upper one is what the lower one calls. A
function in C that calls back (`sorted` with a key) is such a thing, and its frame is not read.

Of the frames of a task only those count that are its program's, or a library's or a model's below them; what
starts a thread, and what passes the baton on, is the same in all states.
"""

from __future__ import annotations

import dis
import os
import sys
import threading
from bisect import bisect_right
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple

from possibly.compiled import built
from possibly.control.forking import execution as process
from possibly.control.loading import evaluated
from possibly.control.models import threads
from possibly.control.runtime.task import Task

_slots: Any = built("possibly.control.joining._slots")
EMPTY: Any = _slots.EMPTY if _slots is not None else object()
"""Stands where a frame holds nothing."""
places: Any = getattr(_slots, "places", None)
"""Of a set: where its items lie, where some lay, and where it is looked into next."""
READS = _slots is not None and bool(_slots.READS)
"""Whether frames of this interpreter can be read."""
_ENDS = frozenset({"RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "RETURN_GENERATOR"})
_JUMPS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
_SITES = frozenset({"DELETE_SUBSCR", "STORE_SUBSCR"})
"""How instrumented code shows a value (`probes.instructions`)."""
_HERE = os.path.dirname(__file__)
_RUNTIME = os.path.join(os.path.dirname(_HERE), "runtime")
_LOOKING = ("frames", "state", "route", "alike", "orders")
_STOPPING = ("batons", "kernel", "memory", "sites", "items", "attributes", "calls", "variables")
_PASSING = frozenset(
    {
        *(os.path.join(_HERE, f"{name}.py") for name in _LOOKING),
        *(os.path.join(_RUNTIME, f"{name}.py") for name in _STOPPING),
    }
)
"""Code of ours that a task runs while it looks at states, or comes to stand still: what it holds says no more
than the operation that the task is about to do. Most of it has no frames at all where it is compiled."""
_MAIN = threading.main_thread()
_BEGINS = frozenset(
    {
        (threads.__file__, "body"),
        (threads.__file__, "_bootstrap_inner"),
        (threading.__file__, "_bootstrap_inner"),
        (threading.__file__, "run"),
    }
)
"""What calls the function of a thread."""


class Unreadable(Exception):
    """Something hides its state."""


class Held(NamedTuple):
    """One frame."""

    code: CodeType
    at: int
    values: tuple[Any, ...]


def held_by(task: Task, current: Task) -> list[Held]:
    """The frames of a task that stands at a choice point, the innermost first."""
    if task.operation is not None and task.operation.kind == "end":
        return []  # what it was to do is done
    frame = sys._getframe() if task is current else _suspended(task)
    while frame is not None and frame.f_code.co_filename in _PASSING:
        frame = frame.f_back
    found: list[Held] = []
    callee: FrameType | None = None
    while frame is not None and not _is_begin(frame):
        found.append(_held(frame, callee))
        callee, frame = frame, frame.f_back
    return found


def _is_begin(frame: FrameType) -> bool:
    code = frame.f_code
    if code is process.run.__code__ or _is_import(frame):
        return True
    if code.co_filename == evaluated.__file__:  # how a module is executed, if that is what calls it
        return frame.f_back is not None and _is_import(frame.f_back)
    return (code.co_filename, code.co_name) in _BEGINS


def _is_import(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _suspended(task: Task) -> FrameType | None:
    stack = getattr(task.lock, "stack", None)
    if stack is not None:
        frame: FrameType | None = stack.gr_frame
        return frame
    for identity, thread in threading._active.items():  # type: ignore[attr-defined]
        if vars(thread).get("_possibly_task") is task or (task.index == 0 and thread is _MAIN):
            return sys._current_frames().get(identity)
    raise Unreadable(f"the thread of {task.name}")


def _held(frame: FrameType, callee: FrameType | None) -> Held:
    code, at = frame.f_code, frame.f_lasti
    found = depths(code)
    number = bisect_right(found.offsets, at) - 1
    depth = found.depths[number] if number >= 0 else -1
    if depth < 0:
        raise Unreadable(f"the stack of {code.co_qualname}")
    if found.names[number] == "PRECALL":  # a warm interpreter calls here what a cold one calls in the next
        number += 1
    values = _slots.slots(frame, depth)
    _check_call(code, found.names[number], found.arguments[number], values, depth, callee)
    return Held(code, found.offsets[number], values)


def _check_call(
    code: CodeType, name: str, argument: int, values: tuple[Any, ...], depth: int, callee: FrameType | None
) -> None:
    """Raises if something with a state of its own stands between a frame and what it calls."""
    if callee is None:
        if name in _SITES or "possibly" in code.co_filename:
            return
        raise Unreadable(f"{name} in {code.co_qualname}")
    if len(values) < len(variables(code)) + depth or name == "BEFORE_WITH":  # called without any C between
        return
    if name == "CALL":
        called = values[-argument - 2] if values[-argument - 2] is not EMPTY else values[-argument - 1]
    elif name == "CALL_FUNCTION_EX":
        called = values[-2 - (argument & 1)]
    else:
        raise Unreadable(f"{name} in {code.co_qualname}")
    inner: Any = called.__func__ if type(called) is MethodType else called
    if type(inner) is FunctionType and inner.__code__ is callee.f_code:
        return
    if isinstance(called, type) and callee.f_code.co_name == "__init__":
        return
    if getattr(getattr(type(called), callee.f_code.co_name, None), "__code__", None) is callee.f_code:
        return  # its method: the interpreter has put the object in its place for the call
    raise Unreadable(f"what {code.co_qualname} calls")


@lru_cache(maxsize=4096)
def variables(code: CodeType) -> tuple[str, ...]:
    """The names of its variables, in the order of their slots."""
    return (*dict.fromkeys((*code.co_varnames, *code.co_cellvars)), *code.co_freevars)


class Depths(NamedTuple):
    """Of each instruction of a code: where it begins, its name and argument, how deep the stack is before."""

    offsets: list[int]
    names: list[str]
    arguments: list[int]
    depths: list[int]
    """-1: not known."""


@lru_cache(maxsize=4096)
def depths(code: CodeType) -> Depths:
    """By going through all ways that the instructions can take."""
    instructions = list(dis.get_instructions(code))
    number_at = {each.offset: number for number, each in enumerate(instructions)}
    found = [-1] * len(instructions)
    waiting = [(0, 0)]
    table: list[Any] = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    waiting += [(number_at[entry.target], entry.depth + 1 + bool(entry.lasti)) for entry in table]
    while waiting:
        number, depth = waiting.pop()
        if number >= len(instructions) or found[number] == depth:
            continue
        if found[number] >= 0:
            found[number] = -1
            return Depths([], [], [], [])
        found[number] = depth
        waiting += _following(instructions[number], number, depth, number_at)
    for number, each in enumerate(instructions):
        if each.opname == "CALL" and found[number] >= 0:
            found[number] += (
                each.arg or 0
            )  # `dis` takes the arguments away with PRECALL, the interpreter does not
    return Depths(
        [each.offset for each in instructions],
        [each.opname for each in instructions],
        [each.arg or 0 for each in instructions],
        found,
    )


def _following(
    each: dis.Instruction, number: int, depth: int, number_at: dict[int, int]
) -> list[tuple[int, int]]:
    found = []
    if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
        effect = dis.stack_effect(each.opcode, each.arg, jump=True)
        found.append((number_at[each.argval], depth + effect))
    if each.opname not in _ENDS and each.opname not in _JUMPS:
        found.append((number + 1, depth + dis.stack_effect(each.opcode, each.arg, jump=False)))
    return found
