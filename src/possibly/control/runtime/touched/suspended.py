"""Code that is left and entered again, looked at from outside: how far a coroutine is, and its frame.

Whoever resumes a coroutine changes where it stands. That is told only where somebody looks (`Memory.rare`):
then all coroutines are one thing, which every turn of an event loop and every `send` writes.
"""

from __future__ import annotations

import gc
import sys
import types
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.memory import STANDINGS
from possibly.control.runtime.touched.parts import Now, Part, object_part, touch_all

MOVING = frozenset("f_back f_lasti f_lineno f_locals f_trace".split())
"""What changes of a frame as its code runs."""
ENTERED_AGAIN = 0x20 | 0x80 | 0x200
"""Flags of code that can be left and entered again."""
STANDING = frozenset(
    "cr_frame cr_await cr_running cr_suspended ag_frame ag_await ag_running ag_suspended".split()
)
"""What changes of a coroutine, or of an asynchronous generator, as its code runs."""
RESUMING = frozenset("send throw close asend athrow aclose __next__ __anext__".split())


AWAITABLES = frozenset({types.CoroutineType, types.AsyncGeneratorType})
STEPS = frozenset({"async_generator_asend", "async_generator_athrow"})
"""Names of types in C of which each object is one step of an asynchronous generator."""


def is_resumed(value: Any) -> bool:
    """Whether it is code of its own, or a step of such code, that goes on when this does."""
    cls = type(value)
    return cls in AWAITABLES or cls.__name__ in STEPS


def is_mine(frame: types.FrameType) -> bool:
    """Whether it is the running task that is in the frame, or nobody will be any more."""
    if not frame.f_code.co_flags & ENTERED_AGAIN:
        return True
    found: Any = sys._getframe()
    while found is not None and found is not frame:
        found = found.f_back
    return found is frame


def look_at_code(value: Any, name: str, now: Now, at: str) -> None:
    """An attribute of a frame, or of a coroutine, is about to be read."""
    kernel = now[0]
    kind = type(value)
    if kind is types.FrameType:
        if name in MOVING and not is_mine(value):
            kernel.uncontrolled["a frame of code that another task may run, which is looked at"] = None
    elif name in STANDING and is_resumed(value):
        touch_all(now, standing_parts(now), at)


def standing_parts(now: Now) -> list[Part]:
    """What is read by whoever looks at how far a coroutine is."""
    now[1].write_rarely(now[0], STANDINGS)
    return [Part(STANDINGS, STANDINGS, (Access(STANDINGS, False),))]


def resuming_parts(value: Any, now: Now) -> list[Part]:
    """What changes as a coroutine goes on, if somebody looks at that."""
    if STANDINGS not in now[1].rare or now[0].alone or not is_resumed(value):
        return []
    return [Part(STANDINGS, STANDINGS, (Access(STANDINGS, True),))]


def entering_parts(value: Any, now: Now, at: str) -> list[Part]:
    """What a method changes that makes a coroutine, or an asynchronous generator, go on."""
    if now[0].alone or not is_resumed(value):
        return []
    held = gc.get_referents(value) if type(value) not in AWAITABLES else [value]
    code = [each for each in held if type(each) in AWAITABLES]
    return [*(object_part(each, now, True, at) for each in code), *resuming_parts(value, now)]


def touched_by_turn() -> tuple[Access, ...]:
    """What a turn of an event loop changes of that."""
    memory = accesses.memory
    return (Access(STANDINGS, True),) if memory is not None and STANDINGS in memory.rare else ()
