"""What the items of a container are called, and what it means to read or change them.

An item of a list or a dictionary is a thing of its own; so is the structure of a container (its length, its
keys), which every access to an item reads and every change of shape writes. Reading a whole container reads
all its items. Keys that are equal in Python (`1`, `True`, `1.0`) are one item.

Items that have no name of their own (their keys are objects), or that are too many to be named one by one,
are read as a whole: that is a reading of `[*]`. It meets who changes one of them if that writes `[*]` too,
as it does in all containers of a family which several tasks read so (`Memory.wide`). Before a family is known
to be one, such a reading counts as a change, which meets everybody; the next execution knows.
"""

from __future__ import annotations

import threading
from collections import deque
from enum import Enum
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.things import CONTAINERS, Named, is_a, module_of

_threads: dict[int, Any] = threading._active  # type: ignore[attr-defined]
IDENTITIES, ADDRESSES, BEYOND = 1 << 32, 1 << 44, 1 << 47
"""Numbers from the first on may be those of threads; those between the others may be addresses."""
PLAIN_KEYS = frozenset({int, str, bool, float, bytes, type(None)})
PLAIN_TYPES: frozenset[Any] = frozenset(CONTAINERS)
WIDEST = 64
"""Items of a container that are named one by one when all of them are read."""


def key_of(value: Any, key: Any) -> str | None:
    """How an item is called; None: it has no stable name. Keys that are equal are called alike."""
    kind = type(key)
    if kind is str:
        return repr(key)
    if kind is int:
        if key < 0 and not is_a(value, dict):
            key += size_of(value)
        return repr(key) if key < IDENTITIES else _large_key(key)
    return _other_key(key)


def _large_key(key: int) -> str | None:
    """A number that may be the identity of a thread or the address of an object.

    These are other ones in other executions, so the item is called after what has that number.
    """
    thread: Any = _threads.get(key)
    if thread is not None:
        return f"thread {thread._name!r}"
    if not ADDRESSES <= key < BEYOND:
        return repr(key)
    memory = accesses.memory
    named = memory.things.at(key) if memory is not None else None
    return f"@{named.name}" if named is not None and named.which is None else None


def _other_key(key: Any) -> str | None:
    kind = type(key)
    if kind in PLAIN_KEYS:
        if is_a(key, (float, bool)) and key == (whole := _whole(key)):
            return repr(whole)
        return repr(key)
    if kind is tuple:
        parts = [key_of({}, part) for part in key]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if getattr(kind, "__eq__", None) != _PLAIN_EQUALITY:
        return None
    if is_a(key, type):  # two of one name are one item, which costs executions and misses none
        return f"{module_of(key)}.{key.__qualname__}"
    return f"{kind.__module__}.{kind.__qualname__}.{key.name}" if is_a(key, Enum) else None


def size_of(value: Any) -> int:
    """How many items a container holds: no code of the program runs."""
    kind = type(value)
    if kind in PLAIN_TYPES:
        return len(value)
    base: Any = next((each for each in CONTAINERS if issubclass(kind, each)), kind)
    found: int = base.__len__(value)
    return found


def keys_of(value: Any) -> list[Any]:
    """What is looked for by equality: the keys of a dictionary, the members of a set."""
    if is_a(value, dict):
        return list(dict.__iter__(value))
    return list(set.__iter__(value)) if is_a(value, set) else []


_PLAIN_EQUALITY: Any = object.__eq__


def _whole(key: float) -> int | None:
    try:
        return int(key)
    except (OverflowError, ValueError):
        return None


def shape(named: Named, writes: bool) -> tuple[Access, ...]:
    """Which keys there are, and how many: who adds or removes one changes that."""
    return touching(f"{named.name}[]", writes)


def bulk(named: Named, writes: bool) -> tuple[Access, ...]:
    """All items at once: every access to one reads this, and who changes them all writes it."""
    return touching(f"{named.name}[*]", writes)


def everything(named: Named) -> tuple[Access, ...]:
    """Any item may be changed, added or removed."""
    return shape(named, True) + bulk(named, True)


def _is_wide(named: Named) -> bool:
    memory = accesses.memory
    return memory is not None and named.family in memory.wide


def _as_a_whole(named: Named) -> tuple[Access, ...]:
    """Items are read that cannot be named one by one."""
    if _is_wide(named):
        return shape(named, False) + bulk(named, False)
    now = accesses.active()
    if now is not None:
        now[1].widen(now[0], named.family)
    return everything(named)


def all_of(value: Any, named: Named) -> tuple[Access, ...]:
    """Everything in a container is read."""
    size = size_of(value)
    if size > WIDEST or _is_wide(named):
        return _as_a_whole(named)
    names = [key_of(value, key) for key in keys_of(value) or range(size)]
    if None in names and not is_a(value, (list, deque)):
        return _as_a_whole(named)
    return _read_all(named, names)


def _read_all(named: Named, names: list[str | None]) -> tuple[Access, ...]:
    items = [Access(f"{named.name}[{key}]", False) for key in names if key is not None]
    return (*shape(named, False), *bulk(named, False), *items)


def item_of(value: Any, named: Named, key: Any, writes: bool) -> tuple[str, tuple[Access, ...]]:
    """The thing that an item is, and what it means to read it, or to store into it."""
    text = key_of(value, key)
    if text is None:
        return f"{named.name}[]", everything(named) if writes else all_of(value, named)
    thing = f"{named.name}[{text}]"
    footprint = touching(thing, writes) + bulk(named, writes and _is_wide(named))
    if is_a(value, dict):
        grows = writes and not _has_key(value, key)
        return thing, footprint + shape(named, True) if grows else footprint
    if is_a(value, set):
        return thing, footprint + shape(named, True) if writes else footprint
    is_there = type(key) is int and 0 <= key < size_of(value)
    return thing, footprint if is_there else footprint + shape(named, False)


def _has_key(value: Any, key: Any) -> bool:
    try:
        return dict.__contains__(value, key)
    except TypeError:  # it cannot be a key: the program is told so in a moment
        return True


def appended(value: Any, named: Named) -> tuple[Access, ...]:
    """A list grows at its end: what it holds already stays where it is."""
    return (
        touching(f"{named.name}[{size_of(value)}]", True) + shape(named, True) + bulk(named, _is_wide(named))
    )


def removed(value: Any, named: Named, key: Any) -> tuple[Access, ...]:
    """An item of a dictionary or a set goes away."""
    text = key_of(value, key)
    if text is None or not is_a(value, (dict, set)):
        return everything(named)
    return _moved(named, text)


def _moved(named: Named, key: str) -> tuple[Access, ...]:
    """An item comes or goes, and all others stay."""
    item = touching(f"{named.name}[{key}]", True)
    return item + shape(named, True) + bulk(named, _is_wide(named))
