"""Items of containers, and containers as a whole, as rewritten source reads and writes them (see `hooks`).

An item of a list or a dictionary is a thing of its own; so is the structure of a container (its length, its
keys), which every access to an item reads and every change of shape writes. Reading a whole container reads
all its items. The dictionary of an object's attributes, or of a module's variables, has these as its items.
"""

from __future__ import annotations

import gc
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from operator import length_hint
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import files
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import (
    Found,
    Part,
    attribute_part,
    object_part,
    touch,
    touch_all,
    touch_attribute,
)
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import WIDEST, Memory
from possibly.control.runtime.things import CONTAINER, INSTANCE, OPAQUE, SIMPLE_TYPES, Named
from possibly.recorder.snapshot import snapshot

PLAIN_KEYS = frozenset({int, str, bool, float, bytes, type(None)})
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
LOOKING_THROUGH = frozenset({*VIEWS, types.MappingProxyType, memoryview})
"""Types whose values only show others."""
HOLDING = LOOKING_THROUGH | {tuple}
"""Simple types whose values may hold others that are not."""
DEEPEST = 8
"""So many levels are looked through."""
MOST = 5_000
"""So many objects are looked through at once."""

_dicts: dict[int, tuple[dict[str, Any], Any]] = {}
"""Dictionaries that are the attributes of an object or the variables of a module, by identity, and whose."""


def dict_of(value: Any) -> Any:
    """`value.__dict__`, `vars(value)`: its items are attributes by another name."""
    found = value.__dict__
    if type(found) is dict and accesses.active() is not None:
        _dicts[id(found)] = (found, value)
    return found


def dict_of_globals(found: dict[str, Any]) -> dict[str, Any]:
    """`globals()`"""
    module = sys.modules.get(found.get("__name__", ""))
    if module is not None and accesses.active() is not None:
        _dicts[id(found)] = (found, module)
    return found


def container(value: Any, at: str) -> Found | None:
    now = accesses.active()
    if now is None or now[1].things.kind(value) != CONTAINER:
        return None
    if id(value) in _dicts:  # whatever is done to all attributes at once counts as a change of each
        for name in list(value):
            touch_attribute(_dicts[id(value)][1], name, True, at)
        return None
    kernel, memory = now
    named = memory.things.named(value, kernel, at)
    return None if kernel.alone or kernel.quiet else (kernel, memory, named)


def _key(value: Any, key: Any) -> str | None:
    """How an item is called, or None for one that has no stable name."""
    if type(key) in PLAIN_KEYS:
        if type(key) is int and key < 0 and not isinstance(value, dict):
            key += len(value)
        return repr(key)
    if type(key) is tuple and all(type(part) in PLAIN_KEYS for part in key):
        return repr(key)
    return None


def tell_whole(value: Any, found: Found) -> None:
    """A container that is watched as a variable: what it holds now."""
    kernel, memory, named = found
    label = kernel.labels.get(named.name, "")
    if label in memory.watched:
        memory.whole(kernel, named.name, snapshot(value))


def _shape(named: Named, writes: bool) -> tuple[Access, ...]:
    return touching(f"{named.name}[]", writes)


def _all(value: Any, named: Named) -> tuple[Access, ...]:
    """Everything in a container is read. A very large one counts as changed, which meets every access."""
    if isinstance(value, set):
        return _shape(named, False)
    if len(value) > WIDEST:
        return _shape(named, True)
    keys = value if isinstance(value, dict) else range(len(value))
    items = [Access(f"{named.name}[{key}]", False) for key in (_key(value, key) for key in keys) if key]
    return (*_shape(named, False), *items)


def item_of(value: Any, named: Named, key: Any, writes: bool) -> tuple[str, tuple[Access, ...]]:
    text = _key(value, key) if not isinstance(value, set) else None
    if text is None:
        return f"{named.name}[]", _shape(named, True) if writes else _all(value, named)
    thing = f"{named.name}[{text}]"
    grows = writes and isinstance(value, dict) and not dict.__contains__(value, key)
    return thing, touching(thing, writes) + _shape(named, grows)


def touch_item(found: Found, value: Any, key: Any, writes: bool, at: str) -> int:
    thing, footprint = item_of(value, found[2], key, writes)
    return touch(found, thing, footprint, at)


def getitem(value: Any, key: Any, at: str) -> Any:
    if id(value) in _dicts and type(key) is str:
        touch_attribute(_dicts[id(value)][1], key, False, at)
        return value[key]
    found = container(value, at)
    if found is None:
        _touch_behind(value, False, at)
        return value[key]
    if isinstance(value, defaultdict) and value.default_factory is not None:
        return _defaulted(value, key, found, at)
    mode = touch_item(found, value, key, False, at)
    result = value[key]
    if mode:
        found[1].saw(found[0], mode, result)
    return result


def _defaulted(value: Any, key: Any, found: Found, at: str) -> Any:
    """An item that is made if it is missing: a type makes it at once, a function of the program may wait."""
    is_missing = not dict.__contains__(value, key)
    at_once = isinstance(value.default_factory, type)
    touch_item(found, value, key, is_missing and at_once, at)
    if at_once or dict.__contains__(value, key):
        return value[key]
    made = value.default_factory()
    touch_item(found, value, key, True, at)
    value[key] = made
    return made


def setitem(value: Any, key: Any, new: Any, at: str) -> None:
    if id(value) in _dicts and type(key) is str:
        touch_attribute(_dicts[id(value)][1], key, True, at)
        value[key] = new
        return
    found = container(value, at)
    if found is None:
        _touch_behind(value, True, at)
        value[key] = new
        return
    mode = touch_item(found, value, key, True, at)
    value[key] = new
    if mode:
        found[1].saw(found[0], mode, new)
    if found[1].watched:
        tell_whole(value, found)


def delitem(value: Any, key: Any, at: str) -> None:
    found = container(value, at)
    if found is not None:
        touch(found, f"{found[2].name}[]", _shape(found[2], True), at)
    else:
        _touch_behind(value, True, at)
    del value[key]


def _touch_behind(value: Any, writes: bool, at: str) -> None:
    """An item of something that is no container itself: of a library's object, or behind a view."""
    if type(value) not in SIMPLE_TYPES or type(value) in LOOKING_THROUGH:
        now = accesses.active()
        if now is not None and (type(value) in LOOKING_THROUGH or now[1].things.kind(value) == OPAQUE):
            touch_all(now, parts_of(value, now, at, DEEPEST, writes), at)


def whole(value: Any, at: str) -> Any:
    """A container that is about to be read as a whole, an iterator that is about to be used."""
    if type(value) not in SIMPLE_TYPES or type(value) in LOOKING_THROUGH:
        now = accesses.active()
        if now is not None and not now[0].alone:
            touch_all(now, parts_of(value, now, at, DEEPEST), at)
        elif now is not None:
            container(value, at)
    return value


def deep(value: Any, at: str, attributes: bool = False, writes: bool = False) -> Any:
    """A value that is about to be looked through: whatever it holds is read, or changed, at one moment."""
    if type(value) not in SIMPLE_TYPES or type(value) in HOLDING:
        now = accesses.active()
        if now is not None and not now[0].alone:
            touch_all(now, parts_of(value, now, at, 0, writes, attributes), at)
        elif now is not None:
            container(value, at)
    return value


def parts_of(
    value: Any,
    now: tuple[Kernel, Memory],
    at: str,
    depth: int = 0,
    writes: bool = False,
    attributes: bool = False,
) -> list[Part]:
    """What is touched when a value is used as a whole; from `depth` on, not what it holds.

    `attributes`: also those of the user's objects; else only those that generated methods read.
    """
    found: list[Part] = []
    start = depth
    pending, seen = [(value, depth)], {id(value)}
    while pending:
        value, depth = pending.pop()
        inner, shows = _held(value, now, at, writes, attributes, found)
        inner = [each for each in inner if is_followed(each) and id(each) not in seen]
        if shows or depth < DEEPEST:
            seen.update(map(id, inner))
            pending += [(each, depth if shows else depth + 1) for each in inner]
        elif inner and start < DEEPEST:
            seen.update(range(MOST + 1))
        if len(seen) > MOST:
            now[0].uncontrolled["a structure too large to be followed, which is used at once"] = None
            break
    return found


def is_followed(value: Any) -> bool:
    kind = type(value)
    return kind not in SIMPLE_TYPES or kind in LOOKING_THROUGH or kind in (tuple, frozenset)


def _held(
    value: Any, now: tuple[Kernel, Memory], at: str, writes: bool, attributes: bool, found: list[Part]
) -> tuple[list[Any], bool]:
    """Notes what it means to use a value; what it holds, and whether that is used whenever the value is."""
    kernel, memory = now
    kind = memory.things.kind(value)
    if type(value) in LOOKING_THROUGH:
        return _behind(value), True
    if kind == CONTAINER:
        if id(value) in _dicts:
            owner = _dicts[id(value)][1]
            found += [part for name in list(value) if (part := attribute_part(owner, name, True, at))]
            return list(value.values()), False
        named = memory.things.named(value, kernel, at)
        footprint = _shape(named, True) if writes else _all(value, named)
        found.append(Part(named.family, f"{named.name}[]", footprint, None if named.exact else id(value)))
        return (list(value.values()) if isinstance(value, dict) else list(value)), False
    if kind == OPAQUE:
        if type(value) is not Rounds:
            found.append(object_part(value, now, writes or hasattr(type(value), "__next__"), at))
            found += files.parts_of(value)
        return memory.things.sources.get(id(value), []), True
    if kind == INSTANCE:
        names = list(getattr(type(value), "__dataclass_fields__", ()))
        if attributes:
            names += [*getattr(value, "__dict__", ()), *_slots(type(value))]
        names = [name for name in dict.fromkeys(names) if _has(value, name)]
        found += [part for name in names if (part := attribute_part(value, name, False, at))]
        return [getattr(value, name) for name in names], False
    return (list(value) if type(value) in (tuple, frozenset) else []), False


def _behind(value: Any) -> list[Any]:
    """What a view shows."""
    return [value.obj] if type(value) is memoryview else gc.get_referents(value)


def _slots(cls: type) -> list[str]:
    return [name for base in cls.__mro__ for name in getattr(base, "__slots__", ()) if isinstance(name, str)]


def _has(value: Any, name: str) -> bool:
    try:
        object.__getattribute__(value, name)
    except AttributeError:
        return False
    return True


def changed(value: Any, at: str) -> Any:
    """A container, or an object of a library, that is about to be changed."""
    if type(value) not in SIMPLE_TYPES or type(value) is memoryview:
        now = accesses.active()
        if now is not None:
            touch_all(now, parts_of(value, now, at, DEEPEST, True), at)
    return value


def size(value: Any, at: str) -> Any:
    """A container whose length or emptiness is about to be asked for."""
    found = container(value, at)
    if found is not None:
        touch(found, f"{found[2].name}[]", _shape(found[2], False), at)
    else:
        _touch_behind(value, False, at)
    return value


def contains(item: Any, value: Any, at: str) -> bool:
    if isinstance(value, dict) and (found := container(value, at)) is not None:
        touch_item(found, value, item, False, at)
    else:
        deep(value, at)
    return item in value


def iterate(value: Any, at: str) -> Any:
    """What a `for` goes over: each round reads the container again, or moves the iterator on."""
    base = value
    if type(value) in VIEWS:
        base = _behind(value)[0]
    now = accesses.active()
    if now is None or type(value) is Rounds or now[1].things.kind(base) not in (CONTAINER, OPAQUE):
        return value
    now[1].things.named(base, now[0], at)
    return Rounds(iter(value), base, at)


def iterator(value: Any, at: str) -> Any:
    """`iter(value)`, which others may use too."""
    found = iter(iterate(value, at))
    now = accesses.active()
    if now is not None and type(found) is Rounds:
        now[1].things.made(found, now[0], at)
        found.is_shared = True
    return found


def backwards(value: Any, at: str) -> Any:
    """`reversed(value)`"""
    now = accesses.active()
    if now is None or now[1].things.kind(value) != CONTAINER:
        return reversed(value)
    return Rounds(reversed(value), value, at)


LIST_ITERATOR: type = type(iter([]))


class Rounds:
    """An iterator over a container that tells of each round."""

    possibly_changes = True
    __slots__ = ("_at", "_base", "_plain", "is_shared")

    def __init__(self, plain: Iterator[Any], base: Any, at: str) -> None:
        self._plain, self._base, self._at = plain, base, at
        self.is_shared = False
        """Others may move it on: then it is a thing itself."""

    def __iter__(self) -> Rounds:
        return self

    def __next__(self) -> Any:
        now = accesses.active()
        if now is not None:
            now[0].running().trail.turn()  # who calls this may be a loop in C, which nobody sees go on
        if now is None or now[0].alone:
            pass
        elif type(self._plain) is LIST_ITERATOR and not self.is_shared:
            self._next_of_list()
        else:
            parts = [object_part(self, now, True, self._at)] if self.is_shared else []
            touch_all(now, [*parts, *parts_of(self._base, now, self._at, DEEPEST)], self._at)
        return next(self._plain)

    def _next_of_list(self) -> None:
        """A round over a list reads its length and one item."""
        found = container(self._base, self._at)
        if found is not None:
            round_ = len(self._base) - length_hint(self._plain)
            if round_ < len(self._base):
                touch_item(found, self._base, round_, False, self._at)
            else:
                touch(found, f"{found[2].name}[]", _shape(found[2], False), self._at)

    def __length_hint__(self) -> int:
        return length_hint(self._plain)
