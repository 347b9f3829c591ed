"""Values as they are now, in the few kinds that a trace has.

Whatever is not JSON becomes a short text: a member of an enumeration by its name, a dataclass with its
fields, a date, a path or another plain value as it is written, all else by its type. No method of the
program is called to look at it.
Deep and long values are cut off, with a mark (`logic.values.cut_off`): a formula that reads more of them than
their length is undecided.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from math import isfinite
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from possibly.logic.predicates.values import cut_off

PLAIN = frozenset({int, str, bool, type(None)})
DEEPEST = 5
NESTED = 2
"""Objects within objects that are told by their fields."""
WIDEST = 60
"""Letters of what stands for an object."""
LONGEST = 1_000


def snapshot(value: Any, depth: int = 0) -> Any:
    """The value, independent of what the program does to it later."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is float:
        return value if isfinite(value) else str(value)
    for base in _SEQUENCES:
        if issubclass(kind, base):
            return _items(list(base.__iter__(value)), depth, base.__name__)
    if issubclass(kind, dict):
        return _pairs(list(dict.items(value)), depth)
    for base in _SETS:
        if issubclass(kind, base):
            return _items(sorted(base.__iter__(value), key=_rank), depth, base.__name__)
    return _other(value, depth)


def key_text(key: Any, number_of: Callable[[Any], int]) -> str:
    """An item's key as it is written between brackets: two keys have one text if Python takes them for one.

    So numbers of any type are told by their value, texts in quotes, and objects that are only equal to
    themselves by the number that `number_of` gives. Of objects with an equality of their own, which is not
    asked, those that look alike are one.
    """
    kind: Any = type(key)
    if kind is bool or (kind is float and key.is_integer()):
        key = int(key)
    if kind in PLAIN or kind in (float, bytes):
        return repr(key)
    if kind is tuple:
        return f"({', '.join([key_text(each, number_of) for each in key])})"
    if kind.__hash__ is object.__hash__:
        return f"{kind.__name__}#{number_of(key)}"
    return str(snapshot(key))


_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)
_SETS: tuple[Any, ...] = (set, frozenset)


def _items(values: list[Any], depth: int, kind: str) -> Any:
    if depth >= DEEPEST:
        return cut_off(kind, len(values))
    found = [snapshot(value, depth + 1) for value in values[:LONGEST]]
    return found if len(values) <= LONGEST else cut_off(kind, len(values), found)


def _pairs(values: list[tuple[Any, Any]], depth: int) -> Any:
    if depth >= DEEPEST:
        return cut_off("dict", len(values))
    found = {
        key if type(key) is str else str(snapshot(key)): snapshot(value, depth + 1)
        for key, value in values[:LONGEST]
    }
    return found if len(values) <= LONGEST else cut_off("dict", len(values), found)


def _rank(value: Any) -> tuple[str, Any]:
    """Where a value stands in its set, whatever order the set has it in."""
    kind = type(value)
    return (kind.__name__, value if kind in (int, str, bool) else str(snapshot(value)))


def _plainly(kind: Any, value: Any) -> Any:
    """The value of a subclass as one of the class itself, without calling a method of the subclass."""
    if kind is str:
        return str.__str__(value)
    return bool(value) if kind is bool else int.__int__(value)


def _other(value: Any, depth: int) -> Any:
    kind: Any = type(value)
    if issubclass(kind, Enum) and not issubclass(kind, int | str):
        return f"{kind.__name__}.{object.__getattribute__(value, '_name_')}"
    for base in (bool, int, str):
        if issubclass(kind, base):  # an enumeration of numbers or texts, or another subclass
            return _plainly(base, value)
    if _is_telling(kind):
        return kind.__str__(value)
    if kind in _REPRESENTED:
        return elided(kind.__repr__(value))
    if issubclass(kind, BaseException):
        return _called(kind, [snapshot(each, depth + 1) for each in _arguments(value)])
    if "__dataclass_fields__" in kind.__dict__:
        return _dataclass(value, kind, depth)
    return f"<{kind.__name__}>"


_TELLING = {
    "date": "datetime", "datetime": "datetime", "time": "datetime", "timedelta": "datetime",
    "Decimal": "decimal", "Fraction": "fractions", "UUID": "uuid", "PosixPath": "pathlib",
    "WindowsPath": "pathlib", "PurePosixPath": "pathlib", "PureWindowsPath": "pathlib",
}  # fmt: skip
"""Plain values whose text says all, and their modules, which need not be there."""


def _is_telling(kind: type) -> bool:
    """Whether it is such a class itself: one of the program may have the same name, or be derived from it."""
    module = sys.modules.get(_TELLING.get(kind.__name__, ""))
    return module is not None and module.__dict__.get(kind.__name__) is kind


_REPRESENTED: frozenset[type] = frozenset({bytes, complex, range, bytearray, slice})


def _dataclass(value: Any, kind: type, depth: int) -> str:
    """The fields as the object holds them: no method and no property of the program is called."""
    if depth >= NESTED:
        return f"<{kind.__name__}>"
    fields = kind.__dict__["__dataclass_fields__"]
    held = [f"{name}={_short(each, depth)}" for name in fields for each in _held(value, kind, name)]
    return elided(f"{kind.__name__}({', '.join(held)})")


def held_in(value: Any, name: str) -> list[Any]:
    """What an object, a class or a module holds under a name itself: at most one value."""
    if isinstance(value, type):
        return [type.__dict__["__dict__"].__get__(value)[name]] if name in value.__dict__ else []
    return _held(value, type(value), name)


def _held(value: Any, kind: type, name: str) -> list[Any]:
    """What an object holds under a name, in its dictionary or a slot: at most one value."""
    for base in kind.__mro__:
        slot = base.__dict__.get(name)
        if type(slot) is MemberDescriptorType:
            with suppress(AttributeError):
                return [slot.__get__(value)]
        dictionary = base.__dict__.get("__dict__")
        if type(dictionary) is GetSetDescriptorType and name in (held := dictionary.__get__(value)):
            return [held[name]]
    return []


def _arguments(error: BaseException) -> tuple[Any, ...]:
    descriptor: Any = BaseException.__dict__["args"]
    found: tuple[Any, ...] = descriptor.__get__(error)
    return found


def _called(kind: type, arguments: list[Any]) -> str:
    return elided(f"{kind.__name__}({', '.join(repr(each) for each in arguments)})")


def _short(value: Any, depth: int) -> str:
    """A field as it is written inside another value: names are names, texts are quoted."""
    found = snapshot(value, depth + 1)
    return found if type(found) is str and type(value) is not str else repr(found)


def elided(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
