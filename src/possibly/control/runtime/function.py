"""A function of a program that runs already, as something to be executed under control again and again.

The process is forked as it is. In the fork the models take the place of what they model, wherever a module of
the user holds it under a name of its own; the user's functions get instrumented code; and
primitives that were made before (a lock in a global variable) become models. The caller's process is not
touched.
"""

from __future__ import annotations

import _thread
import gc
import inspect
import queue
import sys
import threading
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from possibly.control.runtime import loading, primitives
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.install import install_all
from possibly.control.runtime.places import shown
from possibly.control.runtime.queues import State
from possibly.control.runtime.things import CONTAINER, INSTANCE, is_user_module
from possibly.control.runtime.zygote import ControlledProgram
from possibly.probes.patching import Patches

DEEPEST = 4
"""How far from a global variable objects are looked for."""


def function_program(function: Callable[..., Any], *given: Any, **options: Any) -> ControlledProgram:
    """The call `function(*given)`; a coroutine function is run by `asyncio.run`."""
    return ControlledProgram(lambda: _prepared(function, given), **options)


def _prepared(function: Callable[..., Any], given: tuple[Any, ...]) -> Callable[[], Any]:
    patches = Patches()
    install_all(patches)
    sys.meta_path.insert(0, loading.Finder(patches))
    roots = [module for module in list(sys.modules.values()) if is_user_module(module)]
    if inspect.iscoroutinefunction(function):
        import asyncio  # noqa: F401 - its models are put in by the import
    _rename(roots, patches)
    _instrument()
    places = [vars(module) for module in roots if isinstance(module, ModuleType)]
    places += [_Cells(function), {"given": given}]
    for place in places:
        _model(place, DEEPEST, set())

    def program() -> None:
        for place in places:
            _name(place, DEEPEST, set())
        result = function(*given)
        if inspect.iscoroutine(result):
            import asyncio

            asyncio.run(result)

    return program


class _Cells(dict[str, Any]):
    """The variables that a function has from the functions around it."""

    def __init__(self, function: Any) -> None:
        inner = inspect.unwrap(function)
        inner = getattr(inner, "__func__", inner)
        self._cells = dict(
            zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True)
            if isinstance(inner, FunctionType)
            else ()
        )
        super().__init__({name: cell.cell_contents for name, cell in self._cells.items() if _is_filled(cell)})

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._cells[name].cell_contents = value


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not _PLAIN
    except ValueError:
        return False


def _rename(roots: list[Any], patches: Patches) -> None:
    """`from threading import Lock` has put the plain class into a module of the user."""
    new = {}
    for owner, name, old in patches.replaced():
        if isinstance(owner, ModuleType) and old is not None:
            new[id(old)] = (old, getattr(owner, name))
    for module in roots:
        for name, value in list(vars(module).items()):
            found = new.get(id(value))
            if found is not None and found[0] is value:
                setattr(module, name, found[1])


# ---- code ---------------------------------------------------------------------------------------


def _instrument() -> None:
    """Gives the user's functions instrumented code: their own, so that no source is needed."""
    codes: dict[tuple[CodeType, str], CodeType] = {}
    for function in [each for each in gc.get_objects() if type(each) is FunctionType]:
        plain = function.__code__
        file = plain.co_filename
        if not shown(file) or plain.co_name == "<module>":
            continue
        module = str(function.__globals__.get("__name__", "__main__"))
        if (plain, module) not in codes:
            codes[plain, module] = loading.with_sites(plain, shown(file), module, False)
        function.__code__ = codes[plain, module]


# ---- objects that were made before --------------------------------------------------------------

_PLAIN_LOCK = type(_thread.allocate_lock())
_PLAIN_RLOCK: Any = _thread.RLock
_PLAIN = {name: getattr(threading, name) for name in ("Condition", "Semaphore", "BoundedSemaphore", "Event")}


def _model(place: Any, depth: int, seen: set[int]) -> None:
    """Puts models in place of primitives, in a dictionary of variables and what can be reached from there."""
    if id(place) in seen or not depth:
        return
    seen.add(id(place))
    for name, value in list(place.items()):
        made = _modelled(value)
        if made is not None:
            place[name] = made
        elif isinstance(value, dict):
            _model(value, depth - 1, seen)
        elif isinstance(value, list):
            _model(_Indexed(value), depth - 1, seen)
        elif isinstance(value, FunctionType):
            _model(_Cells(value), depth - 1, seen)
        elif _is_instance(value):
            _model(value.__dict__, depth - 1, seen)


class _Indexed:
    """A list that is gone through as a dictionary is."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def items(self) -> list[tuple[int, Any]]:
        return list(enumerate(self._values))

    def __setitem__(self, index: int, value: Any) -> None:
        self._values[index] = value


def _is_instance(value: Any) -> bool:
    return hasattr(value, "__dict__") and is_user_module(sys.modules.get(type(value).__module__))


def _modelled(value: Any) -> Any:
    kind = type(value)
    if kind is _PLAIN_LOCK:
        return _loud(primitives.Lock())
    if kind is _PLAIN_RLOCK:
        return _loud(primitives.RLock())
    if kind is _PLAIN["Condition"]:
        lock = _modelled(value._lock)
        return _loud(primitives.Condition(lock))
    if kind is _PLAIN["Semaphore"] or kind is _PLAIN["BoundedSemaphore"]:
        return _loud(getattr(primitives, kind.__name__)(value._value))
    if kind is _PLAIN["Event"]:
        event = _loud(primitives.Event())
        event._flag = value._flag
        return event
    if isinstance(value, queue.Queue) and "_state" not in value.__dict__:
        value.__dict__["_state"] = State(kind._get is queue.Queue._get)
    return None


def _loud(primitive: Any) -> Any:
    primitive.quiet = False
    if isinstance(primitive, primitives.Condition):
        primitive._lock.quiet = False
    return primitive


def name_values(values: dict[str, Any]) -> None:
    """Names what an execution made before its program begins, as it is called there."""
    _name(values, DEEPEST, set())


def _name(place: Any, depth: int, seen: set[int]) -> None:
    """Names what exists before the function is called, in the same order in every execution."""
    now = accesses.active()
    if now is None or id(place) in seen or not depth:
        return
    seen.add(id(place))
    kernel, memory = now
    for name, value in list(place.items()):
        kind = memory.things.kind(value)
        if kind in (CONTAINER, INSTANCE) and not str(name).startswith("__"):
            named = memory.things.made(value, kernel, str(name))
            kernel.labels.setdefault(named.name, str(name))
        elif isinstance(value, primitives.Quiet):
            kernel.labels[value.name] = str(name)
        if isinstance(value, dict):
            _name(value, depth - 1, seen)
        elif isinstance(value, list):
            _name(_Indexed(value), depth - 1, seen)
        elif isinstance(value, FunctionType):
            _name(_Cells(value), depth - 1, seen)
        elif _is_instance(value):
            _name(value.__dict__, depth - 1, seen)
