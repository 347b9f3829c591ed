"""Primitives that were made before there were models: a lock in a global variable, in a class, in an object.

Law: whatever the program, or a package that is watched, finds under a name of its own is a model, however
many names lead there; and so are the locks of `logging`, whose handlers write while they hold them. Else a
task would wait for such a lock outside control, and for ever, since whoever holds it is not let on.
"""

from __future__ import annotations

import _queue
import _thread
import inspect
import queue
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

from possibly.control.models import locks, pools, primitives, queues
from possibly.control.runtime.things import dictionary_of, is_a, is_user_class

DEEPEST = 4
"""How far from a global variable objects are named."""


_PLAIN_LOCK = type(_thread.allocate_lock())
_PLAIN_RLOCK: Any = _thread.RLock
_PLAIN = {name: getattr(threading, name) for name in ("Condition", "Semaphore", "BoundedSemaphore", "Event")}
_PLAIN_BARRIER = threading.Barrier
_PLAIN_SIMPLE_QUEUE: Any = _queue.SimpleQueue


def model(place: Any) -> None:
    """Puts models in place of primitives, in a dictionary of variables and what can be reached from there."""
    seen: dict[int, Any] = {}
    ahead = [place]
    while ahead:
        place = ahead.pop()
        for name, value in list(place.items()):
            made = _modelled(value)
            if made is not None:
                place[name] = made
            elif id(value) not in seen:
                seen[id(value)] = value
                ahead += _places_in(value)


def _places_in(value: Any) -> Iterator[Any]:
    """Where a value holds others: each has items, and takes another value for a name."""
    if is_a(value, dict):
        yield value
    elif is_a(value, list | deque):
        yield Indexed(value)
    elif is_a(value, tuple | set | frozenset):
        yield dict(enumerate(value))  # its items stay what they are, but what they hold may change
    elif is_a(value, FunctionType):
        yield Cells(value)
    elif is_a(value, MethodType | partial):
        yield dict(enumerate(_parts_of(value)))
    elif is_a(value, type) and is_user_class(value):
        yield _Members(value)
    if is_instance(value):
        yield from (place for place in (dictionary_of(value), _Slots(value)) if place)


def _parts_of(call: Any) -> tuple[Any, ...]:
    """What a bound method or a partial call brings to the function."""
    if is_a(call, MethodType):
        return (call.__self__, call.__func__)
    return (call.func, *call.args, call.keywords)


def model_logging() -> None:
    """The locks of `logging` and of its handlers: quiet, as they are where the models come first."""
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return
    logging._lock = _quiet(logging._lock, "logging")
    for reference in list(logging._handlerList):
        handler = reference()
        if handler is not None:
            handler.lock = _quiet(handler.lock, f"handler of {type(handler).__qualname__}")


def _quiet(lock: Any, owner: str) -> Any:
    made = _modelled(lock)
    if made is None:
        return lock
    made.family = f"{locks.LOCKS}{owner}"
    made.quiet = made.is_hidden = made.family not in locks.loud
    return made


class _Members:
    """A class whose attributes are gone through as a dictionary is."""

    def __init__(self, cls: type) -> None:
        self._class = cls

    def items(self) -> list[tuple[str, Any]]:
        return list(vars(self._class).items())

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._class, name, value)


class Indexed:
    """A list or deque that is gone through as a dictionary is."""

    def __init__(self, values: list[Any] | deque[Any]) -> None:
        self._values = values

    def items(self) -> list[tuple[int, Any]]:
        return list(enumerate(self._values))

    def __setitem__(self, index: int, value: Any) -> None:
        self._values[index] = value


class _Slots(dict[str, Any]):
    """What an object holds in slots."""

    def __init__(self, owner: Any) -> None:
        self._members = {
            name: member
            for cls in type(owner).__mro__
            for name, member in vars(cls).items()
            if type(member) is MemberDescriptorType and is_user_class(cls)
        }
        self._owner = owner
        super().__init__({name: value for name in self._members for value in self._value(name)})

    def _value(self, name: str) -> list[Any]:
        try:
            return [self._members[name].__get__(self._owner)]
        except AttributeError:
            return []

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._members[name].__set__(self._owner, value)


def is_instance(value: Any) -> bool:
    """Whether a value is an object of a class of the user's: no code of the program runs."""
    return not is_a(value, type) and is_user_class(type(value))


_models: dict[int, tuple[Any, Any]] = {}
"""Primitives and their models: one however many names lead there, also from a condition to its lock."""


def _modelled(value: Any) -> Any:
    known = _models.get(id(value))
    if known is None:
        made = _model_of(value)
        if made is None:
            return None
        known = _models[id(value)] = value, made
    return known[1]


def _model_of(value: Any) -> Any:
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
    if kind is _PLAIN_SIMPLE_QUEUE:
        return _refilled(value)
    if kind is _PLAIN_BARRIER and not isinstance(value._cond, primitives.Condition):
        value._cond = _loud(primitives.Condition(primitives.Lock()))
    if is_a(value, queue.Queue) and not isinstance(value.mutex, primitives.Lock):
        queues.adopt(value)
    if _is_pool(value) and not any(each is value for each in pools.EARLIER):
        pools.EARLIER.append(value)
    return None


def _refilled(plain: Any) -> Any:
    """A queue in C cannot be given anything: another one takes its items."""
    made = queues.SimpleQueue()
    with suppress(queue.Empty):
        while True:
            made.queue.append(plain.get_nowait())
    return made


def _is_pool(value: Any) -> bool:
    library = sys.modules.get("concurrent.futures.thread")
    return library is not None and is_a(value, library.ThreadPoolExecutor)


def _loud(primitive: Any) -> Any:
    primitive.quiet = primitive.is_hidden = False
    if isinstance(primitive, primitives.Condition):
        primitive._lock.quiet = primitive._lock.is_hidden = False
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
