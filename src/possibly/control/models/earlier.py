"""Primitives that were made before there were models: a lock in a global variable, in a class, in an object.

Law: whatever the program, or a package that is watched, finds under a name of its own is a model. Else a task
would wait for such a lock outside control, and for ever, since whoever holds it is not let on.
"""

from __future__ import annotations

import _thread
import inspect
import queue
import sys
import threading
from types import FunctionType
from typing import Any

from possibly.control.models import primitives
from possibly.control.models.queues import State
from possibly.control.runtime.things import is_user_class, is_user_module

DEEPEST = 4
"""How far from a global variable objects are looked for."""


_PLAIN_LOCK = type(_thread.allocate_lock())
_PLAIN_RLOCK: Any = _thread.RLock
_PLAIN = {name: getattr(threading, name) for name in ("Condition", "Semaphore", "BoundedSemaphore", "Event")}


def model(place: Any) -> None:
    """Puts models in place of primitives, in a dictionary of variables and what can be reached from there."""
    _model(place, DEEPEST, set())


def _model(place: Any, depth: int, seen: set[int]) -> None:
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
            _model(Indexed(value), depth - 1, seen)
        elif isinstance(value, FunctionType):
            _model(Cells(value), depth - 1, seen)
        elif isinstance(value, type) and is_user_class(value):
            _model(_Members(value), depth - 1, seen)
        elif is_instance(value):
            _model(value.__dict__, depth - 1, seen)


class _Members:
    """A class whose attributes are gone through as a dictionary is."""

    def __init__(self, cls: type) -> None:
        self._class = cls

    def items(self) -> list[tuple[str, Any]]:
        return list(vars(self._class).items())

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._class, name, value)


class Indexed:
    """A list that is gone through as a dictionary is."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def items(self) -> list[tuple[int, Any]]:
        return list(enumerate(self._values))

    def __setitem__(self, index: int, value: Any) -> None:
        self._values[index] = value


def is_instance(value: Any) -> bool:
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


class Cells(dict[str, Any]):
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
