"""Values as they are now, in the few kinds that a trace has.

Whatever is not JSON becomes a text that names its type: no method of the program is called to look at it.
Deep
and long values are cut off, with a mark.
"""

from __future__ import annotations

from collections import deque
from math import isfinite
from typing import Any

PLAIN = frozenset({int, str, bool, type(None)})
DEEPEST = 5
LONGEST = 1_000


def snapshot(value: Any, depth: int = 0) -> Any:
    """The value, independent of what the program does to it later."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is float:
        return value if isfinite(value) else str(value)
    if depth < DEEPEST:
        if kind in (list, tuple, deque):
            return _items(list(value), depth)
        if kind is dict:
            return _pairs(value, depth)
        if kind in (set, frozenset):
            return _items(sorted(value, key=_rank), depth)
    return _other(value)


def _items(values: list[Any], depth: int) -> list[Any]:
    found = [snapshot(value, depth + 1) for value in values[:LONGEST]]
    return found if len(values) <= LONGEST else [*found, "..."]


def _pairs(values: dict[Any, Any], depth: int) -> dict[str, Any]:
    pairs = list(values.items())[:LONGEST]
    return {
        key if type(key) is str else str(snapshot(key)): snapshot(value, depth + 1) for key, value in pairs
    }


def _rank(value: Any) -> tuple[str, Any]:
    kind = type(value)
    return (kind.__name__, value if kind in (int, str, bool) else 0)


def _plainly(kind: Any, value: Any) -> Any:
    """The value of a subclass as one of the class itself, without calling a method of the subclass."""
    if kind is str:
        return str.__str__(value)
    return bool(value) if kind is bool else int.__int__(value)


def _other(value: Any) -> Any:
    for kind in (bool, int, str):
        if isinstance(value, kind):  # an enumeration or another subclass
            return _plainly(kind, value)
    return f"<{type(value).__name__}>"
