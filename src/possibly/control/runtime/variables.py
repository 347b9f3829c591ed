"""Variables that several functions see, and the names that things get from them (see `hooks`)."""

from __future__ import annotations

from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import NOTHING, Memory
from possibly.control.runtime.primitives import Quiet
from possibly.control.runtime.things import CONTAINER, INSTANCE, OPAQUE


def read(name: str, at: str) -> int:
    """A global variable, or one of an enclosing function, is about to be read; returns what `saw` needs."""
    kernel, memory = running.kernel, accesses.memory
    if kernel is None or memory is None or kernel.quiet:
        return NOTHING
    return memory.access(kernel, name, name, reading(name), at)


def saw(mode: int, value: Any) -> Any:
    if mode:
        now = accesses.active()
        if now is not None:
            now[1].saw(now[0], mode, value)
    return value


def wrote(value: Any, name: str, at: str) -> Any:
    """The variable is about to get this value."""
    now = accesses.active()
    if now is not None:
        call_it(value, name, now, at, True)
        mode = now[1].access(now[0], name, name, writing(name), at)
        if mode:
            now[1].saw(now[0], mode, value)
    return value


def made(value: Any, at: str) -> Any:
    """An object that the running task has just made."""
    now = accesses.active()
    if now is not None and now[1].things.kind(value) in (CONTAINER, INSTANCE, OPAQUE):
        now[1].things.made(value, now[0], at)
    return value


def turn() -> None:
    """A round of a `for` loop."""
    kernel = running.kernel
    if kernel is not None:
        kernel.running().trail.turn()


def call_it(value: Any, name: str, now: tuple[Kernel, Memory], at: str, is_global: bool = False) -> None:
    """A primitive or a container that gets into a variable is called after it."""
    kernel, memory = now
    kind = type(value)
    if isinstance(value, Quiet):
        if kernel.labels.get(value.name, "the ").startswith("the "):
            kernel.labels[value.name] = name
        return
    state = getattr(value, "__dict__", {}).get("_state") if hasattr(kind, "task_done") else None
    if state is not None:
        kernel.labels[state.name] = name
        return
    of = memory.things.kind(value)
    if of == CONTAINER or (of in (INSTANCE, OPAQUE) and is_global):
        known = memory.things.made(value, kernel, at)
        kernel.labels.setdefault(known.name, name)
