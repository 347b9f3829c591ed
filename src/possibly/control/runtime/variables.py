"""Variables that several functions see, and the names that things get from them.

A global variable is a thing by its module and its name, a variable of an enclosing function by that function
and its name; whether accesses race is judged for each cell by itself.
"""

from __future__ import annotations

import types
from queue import Queue
from typing import Any

from possibly.control.models.primitives import Quiet
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import reading, touching, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import CELLS, SPACES, Memory
from possibly.control.runtime.things import CONTAINER, INSTANCE, OPAQUE, class_has, dictionary_of, is_a

BEHAVIOUR = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
"""What names usually hold for good."""
ITEMS = 100
"""Of a list, so many items at most are called after it."""
_ABSENT = object()
_doing: dict[type, bool] = {}


def is_behaviour(value: Any) -> bool:
    """Something that does, rather than something that is: functions, classes, modules, descriptors."""
    kind = type(value)
    found = _doing.get(kind)
    if found is None:
        found = _doing[kind] = issubclass(kind, BEHAVIOUR) or class_has(kind, "__get__")
    return found


def read_global(name: str, word: str, space: dict[str, Any], at: str) -> None:
    """A global variable is about to be read; `word` is its name in its module."""
    kernel, memory = running.kernel, accesses.memory
    if kernel is None or memory is None or kernel.quiet:
        return
    value = space.get(word, _ABSENT)
    if SPACES in memory.rare:
        whole = f"{name[: len(name) - len(word)]}__dict__"
        memory.access(kernel, whole, whole, reading(whole), at)
    if (value is _ABSENT or is_behaviour(value)) and word not in memory.rare:
        return
    if value is _ABSENT:  # a name that somebody may give to everybody
        memory.access(kernel, f"builtins.{word}", f"builtins.{word}", reading(f"builtins.{word}"), at)
    mode = memory.access(kernel, name, name, reading(name), at)
    if mode:
        memory.saw(kernel, mode, space.get(word), name)


def write_global(name: str, word: str, space: dict[str, Any], new: Any, at: str) -> None:
    """A global variable is about to get this value."""
    now = accesses.active()
    if now is None:
        return
    kernel, memory = now
    call_it(new, name, now, at, True)
    _rarely(word, space, new, now)
    if memory.lives.may_drop:
        memory.drop(kernel, memory.ending(kernel, space.get(word), at), at)
    mode = memory.access(kernel, name, name, writing(name), at)
    if mode:
        memory.saw(kernel, mode, new, name)


def delete_global(name: str, word: str, space: dict[str, Any], at: str) -> None:
    now = accesses.active()
    if now is not None:
        now[1].write_rarely(now[0], word)  # else whoever finds it gone would not be seen to look
        if now[1].lives.may_drop:
            now[1].drop(now[0], now[1].ending(now[0], space.get(word), at), at)
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
    if memory.has_cells:
        memory.access(kernel, CELLS, CELLS, reading(CELLS), at)
    if _is_empty(cell):
        memory.emptied.add(id(cell))
    mode = memory.access(kernel, name, name, reading(name), at, id(cell))
    if mode:
        memory.saw(kernel, mode, content(cell), name)


def _is_empty(cell: Any) -> bool:
    """Whether it has no value: so it is when its function begins."""
    try:
        cell.cell_contents  # noqa: B018 - to ask is all
    except ValueError:
        return True
    return False


def content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has no value yet
        return None


def touch_cells(writes: bool, at: str) -> None:
    """A cell is read or written by its attribute: which variable that is, is not told."""
    now = accesses.active()
    if now is not None and not now[0].alone and not now[0].quiet:
        now[1].write_rarely(now[0], CELLS)
        now[1].access(now[0], CELLS, CELLS, touching(CELLS, writes), at)


def write_cell(name: str, cell: Any, new: Any, at: str) -> None:
    now = accesses.active()
    if now is None:
        return
    call_it(new, name, now, at, True)
    if now[1].lives.may_drop:
        now[1].drop(now[0], now[1].ending(now[0], content(cell), at), at)
    if now[1].has_cells:
        now[1].access(now[0], CELLS, CELLS, writing(CELLS), at)
    if _is_empty(cell):
        now[1].begin_anew(id(cell), name)
    mode = now[1].access(now[0], name, name, writing(name), at, id(cell))
    if mode:
        now[1].saw(now[0], mode, new, name)


def delete_cell(name: str, cell: Any, at: str) -> None:
    now = accesses.active()
    if now is not None:
        if now[1].lives.may_drop:
            now[1].drop(now[0], now[1].ending(now[0], content(cell), at), at)
        if now[1].has_cells:
            now[1].access(now[0], CELLS, CELLS, writing(CELLS), at)
        now[1].emptied.add(id(cell))
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


def _call_items(value: Any, name: str, kernel: Kernel) -> None:
    """Primitives in a list are called after it: `forks[0]`."""
    if type(value) is list or type(value) is tuple:
        for number, item in enumerate(value[:ITEMS]):
            if is_a(item, Quiet) and kernel.labels.get(item.name, "the ").startswith("the "):
                kernel.labels[item.name] = f"{name}[{number}]"


def call_it(value: Any, name: str, now: tuple[Kernel, Memory], at: str, is_global: bool = False) -> None:
    """A primitive or a container that gets into a variable is called after it."""
    kernel, memory = now
    kind = type(value)
    if is_a(value, Quiet):
        if kernel.labels.get(value.name, "the ").startswith("the "):
            kernel.labels[value.name] = name
        return
    task_thing = (dictionary_of(value) or {}).get("_possibly_name")
    if type(task_thing) is str:  # a primitive of an event loop
        if kernel.labels.get(task_thing, "the ").startswith("the "):
            kernel.labels[task_thing] = name
        return
    state = (dictionary_of(value) or {}).get("_state") if issubclass(kind, Queue) else None
    if state is not None:
        kernel.labels[state.name] = name
        return
    _call_items(value, name, kernel)
    of = memory.things.kind(value)
    if of == CONTAINER or (of in (INSTANCE, OPAQUE) and is_global):
        known = memory.things.made(value, kernel, at)
        kernel.labels.setdefault(known.name, name)
