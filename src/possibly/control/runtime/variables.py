"""Variables that several functions see, and the names that things get from them.

A global variable is a thing by its module and its name, a variable of an enclosing function by that function
and its name; whether accesses race is judged for each cell by itself.
"""

from __future__ import annotations

import types
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.primitives import Quiet
from possibly.control.runtime.things import CONTAINER, INSTANCE, OPAQUE

BEHAVIOUR = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
"""What names usually hold for good."""
_ABSENT = object()


def is_behaviour(value: Any) -> bool:
    """Something that does, rather than something that is: functions, classes, modules, descriptors."""
    return isinstance(value, BEHAVIOUR) or hasattr(type(value), "__get__")


def read_global(name: str, word: str, space: dict[str, Any], at: str) -> None:
    """A global variable is about to be read; `word` is its name in its module."""
    kernel, memory = running.kernel, accesses.memory
    if kernel is None or memory is None or kernel.quiet:
        return
    value = space.get(word, _ABSENT)
    if (value is _ABSENT or is_behaviour(value)) and word not in memory.rare:
        return
    mode = memory.access(kernel, name, name, reading(name), at)
    if mode:
        memory.saw(kernel, mode, space.get(word))


def write_global(name: str, word: str, space: dict[str, Any], new: Any, at: str) -> None:
    """A global variable is about to get this value."""
    now = accesses.active()
    if now is None:
        return
    kernel, memory = now
    call_it(new, name, now, at, True)
    _rarely(word, space, new, now)
    mode = memory.access(kernel, name, name, writing(name), at)
    if mode:
        memory.saw(kernel, mode, new)


def delete_global(name: str, word: str, space: dict[str, Any], at: str) -> None:
    now = accesses.active()
    if now is not None:
        _rarely(word, space, None, now)
        now[1].access(now[0], name, name, writing(name), at)


def _rarely(word: str, space: dict[str, Any], new: Any, now: tuple[Kernel, Memory]) -> None:
    held = space.get(word, _ABSENT)
    if held is _ABSENT or is_behaviour(held) or is_behaviour(new):
        now[1].write_rarely(now[0], word)


def read_cell(name: str, cell: Any, at: str) -> None:
    """A variable of an enclosing function is about to be read."""
    kernel, memory = running.kernel, accesses.memory
    if kernel is None or memory is None or kernel.quiet or (kernel.alone and not memory.watched):
        return
    mode = memory.access(kernel, name, name, reading(name), at, id(cell))
    if mode:
        try:
            memory.saw(kernel, mode, cell.cell_contents)
        except ValueError:  # it has no value yet
            pass


def write_cell(name: str, cell: Any, new: Any, at: str) -> None:
    now = accesses.active()
    if now is None:
        return
    call_it(new, name, now, at, True)
    mode = now[1].access(now[0], name, name, writing(name), at, id(cell))
    if mode:
        now[1].saw(now[0], mode, new)


def delete_cell(name: str, cell: Any, at: str) -> None:
    now = accesses.active()
    if now is not None:
        now[1].access(now[0], name, name, writing(name), at, id(cell))


def made(value: Any, at: str) -> None:
    """An object that the running task has just made."""
    now = accesses.active()
    if now is not None and now[1].things.kind(value) in (CONTAINER, INSTANCE, OPAQUE):
        now[1].things.made(value, now[0], at)


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
