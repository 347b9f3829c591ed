"""Values as they are now, in the few kinds that a trace has.

Whatever is not JSON becomes a text that names its type: no method of the program is called to look at it.
Deep and long values are cut off, with a mark (`logic.values.cut_off`): a formula that reads more of them than
their length is undecided.
"""

from __future__ import annotations

from collections import deque
from math import isfinite
from typing import Any

from possibly.logic.values import cut_off

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
    for base in _SEQUENCES:
        if isinstance(value, base):
            return _items(list(base.__iter__(value)), depth, base.__name__)
    if isinstance(value, dict):
        return _pairs(list(dict.items(value)), depth)
    for base in _SETS:
        if isinstance(value, base):
            return _items(sorted(base.__iter__(value), key=_rank), depth, base.__name__)
    return _other(value)


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
