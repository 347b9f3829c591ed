"""Items of containers, containers as a whole, and iterators over them.

An item of a list or a dictionary is a thing of its own; so is the structure of a container (its length, its
keys), which every access to an item reads and every change of shape writes. Reading a whole container reads
all its items. The dictionary of an object's attributes, or of a module's variables, has these as its items.
Keys that are equal in Python (`1`, `True`, `1.0`) are one item.
"""

from __future__ import annotations

import gc
import itertools
import types
from collections import defaultdict, deque
from collections.abc import Callable
from enum import Enum
from operator import length_hint
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import files, packages
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import (
    Part,
    attribute_part,
    object_part,
    touch_all,
    touch_attribute,
)
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import VISIBLE, WIDEST, Memory
from possibly.control.runtime.things import CONTAINER, CONTAINERS, INSTANCE, OPAQUE, SIMPLE_TYPES, Named
from possibly.probes import port
from possibly.recorder.snapshot import snapshot

Found = tuple[Kernel, Memory, Named, Any]
"""A container: the execution, its accesses, its name, and itself."""
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


def is_namespace(found: Any, owner: Any) -> None:
    """`owner.__dict__`, `vars(owner)`, `globals()`: its items are attributes by another name."""
    memory = accesses.memory
    if type(found) is dict and memory is not None:
        memory.namespaces[id(found)] = (found, owner)


def namespace_of(value: Any) -> Any:
    """Whose attributes a dictionary is, or None."""
    memory = accesses.memory
    if memory is None or not memory.namespaces:
        return None
    found = memory.namespaces.get(id(value))
    return None if found is None else found[1]


def container(value: Any, at: str) -> Found | None:
    now = accesses.active()
    if now is None or now[1].things.kind(value) != CONTAINER:
        return None
    owner = namespace_of(value)
    if owner is not None:  # whatever is done to all attributes at once counts as a change of each
        for name in list(value):
            touch_attribute(owner, name, True, at)
        return None
    kernel, memory = now
    named = memory.things.named(value, kernel, at)
    return None if (kernel.alone and not memory.watched) or kernel.quiet else (kernel, memory, named, value)


def _key(value: Any, key: Any) -> str | None:
    """How an item is called; None: it has no stable name. Keys that are equal are called alike."""
    kind = type(key)
    if kind is str:
        return repr(key)
    if kind is int:
        if key < 0 and not isinstance(value, dict):
            key += len(value)
        return repr(key)
    return _other_key(key)


def _other_key(key: Any) -> str | None:
    kind = type(key)
    if kind in PLAIN_KEYS:
        if isinstance(key, float | bool) and key == (whole := _whole(key)):
            return repr(whole)
        return repr(key)
    if kind is tuple:
        parts = [_key({}, part) for part in key]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if isinstance(key, Enum) and getattr(kind, "__eq__", None) == _PLAIN_EQUALITY:
        return f"{kind.__module__}.{kind.__qualname__}.{key.name}"
    return None


_PLAIN_EQUALITY: Any = object.__eq__


def _whole(key: float) -> int | None:
    try:
        return int(key)
    except (OverflowError, ValueError):
        return None


def touch(found: Found, thing: str, footprint: tuple[Access, ...], at: str) -> int:
    kernel, memory, named, value = found
    return memory.access(kernel, named.family, thing, footprint, at, None if named.exact else id(value))


def tell_whole(value: Any, found: Found) -> None:
    """A container that is watched as a variable: what it holds now."""
    kernel, memory, named, _ = found
    label = kernel.labels.get(named.name, "")
    if label in memory.watched:
        memory.whole(kernel, named.name, snapshot(value))


def shape(named: Named, writes: bool) -> tuple[Access, ...]:
    """Which keys there are, and how many: who adds or removes one changes that."""
    return touching(f"{named.name}[]", writes)


def _bulk(named: Named, writes: bool) -> tuple[Access, ...]:
    """All items at once: every access to one reads this, and who changes them all writes it."""
    return touching(f"{named.name}[*]", writes)


def everything(named: Named) -> tuple[Access, ...]:
    """Any item may be changed, added or removed."""
    return shape(named, True) + _bulk(named, True)


def _all(value: Any, named: Named) -> tuple[Access, ...]:
    """Everything in a container is read. A very large one counts as changed, which meets every access."""
    if len(value) > WIDEST:
        return everything(named)
    has_keys = isinstance(value, dict | set)
    names = [_key(value, key) for key in (list(value) if has_keys else range(len(value)))]
    if None in names:
        return everything(named) if not isinstance(value, list | deque) else _read_all(named, names)
    return _read_all(named, names)


def _read_all(named: Named, names: list[str | None]) -> tuple[Access, ...]:
    items = [Access(f"{named.name}[{key}]", False) for key in names if key is not None]
    return (*shape(named, False), *_bulk(named, False), *items)


def item_of(value: Any, named: Named, key: Any, writes: bool) -> tuple[str, tuple[Access, ...]]:
    """The thing that an item is, and what it means to read it, or to store into it."""
    text = _key(value, key)
    if text is None:
        return f"{named.name}[]", everything(named) if writes else _all(value, named)
    thing = f"{named.name}[{text}]"
    footprint = touching(thing, writes) + _bulk(named, False)
    if isinstance(value, dict):
        grows = writes and not _has_key(value, key)
        return thing, footprint + shape(named, True) if grows else footprint
    if isinstance(value, set):
        return thing, footprint + shape(named, True) if writes else footprint
    is_there = type(key) is int and 0 <= key < len(value)
    return thing, footprint if is_there else footprint + shape(named, False)


def _has_key(value: Any, key: Any) -> bool:
    try:
        return dict.__contains__(value, key)
    except TypeError:  # it cannot be a key: the program is told so in a moment
        return True


def appended(value: Any, named: Named) -> tuple[Access, ...]:
    """A list grows at its end: what it holds already stays where it is."""
    return touching(f"{named.name}[{len(value)}]", True) + shape(named, True) + _bulk(named, False)


def removed(value: Any, named: Named, key: Any) -> tuple[Access, ...]:
    """An item of a dictionary or a set goes away."""
    text = _key(value, key)
    if text is None or not isinstance(value, dict | set):
        return everything(named)
    return touching(f"{named.name}[{text}]", True) + shape(named, True) + _bulk(named, False)


def touch_item(found: Found, value: Any, key: Any, writes: bool, at: str) -> int:
    thing, footprint = item_of(value, found[2], key, writes)
    mode = touch(found, thing, footprint, at)
    if mode == VISIBLE:  # others may have changed what it means
        for each in item_of(value, found[2], key, writes)[1]:
            found[0].add(each)
    return mode


def read_item(value: Any, key: Any, at: str) -> list[Part]:
    """`value[key]` is about to be read; returns what it is in the middle of if that makes the item."""
    owner = namespace_of(value)
    if owner is not None and type(key) is str:
        touch_attribute(owner, key, False, at)
        return []
    if type(key) not in PLAIN_KEYS:
        deep(key, at)
    found = container(value, at)
    if found is None:
        _touch_behind(value, False, at)
        return []
    is_made = isinstance(value, defaultdict) and _is_made(value, key)
    mode = touch_item(found, value, key, is_made, at)
    if mode:
        found[1].saw(found[0], mode, _item(value, key))
    if not is_made:
        return []
    named = found[2]
    thing, footprint = item_of(value, named, key, True)
    return [Part(named.family, thing, footprint, None if named.exact else id(value))]


def key_parts(key: Any, now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What is looked at to find an item: the key itself, where that can change."""
    if type(key) in PLAIN_KEYS or now[0].alone or not is_followed(key):
        return []
    return parts_of(key, now, at)


def _is_made(value: Any, key: Any) -> bool:
    """An item that is made if it is missing."""
    try:
        return value.default_factory is not None and not dict.__contains__(value, key)
    except TypeError:
        return False


def _item(value: Any, key: Any) -> Any:
    try:
        if isinstance(value, dict):
            return dict.get(value, key)
        return value[key] if type(value) in CONTAINERS else None
    except (LookupError, TypeError):
        return None


def write_item(value: Any, key: Any, new: Any, at: str) -> None:
    """`value[key] = new` is about to be done."""
    owner = namespace_of(value)
    if owner is not None and type(key) is str:
        touch_attribute(owner, key, True, at)
        return
    if type(key) not in PLAIN_KEYS:
        deep(key, at)
    found = container(value, at)
    if found is None:
        _touch_behind(value, True, at)
        return
    mode = touch_item(found, value, key, True, at)
    if mode:
        found[1].saw(found[0], mode, new)
    if found[1].watched:
        _tell_after(value, key, new, found)


def _tell_after(value: Any, key: Any, new: Any, found: Found) -> None:
    """A container that is watched as a variable: what it will hold."""
    if type(value) in (dict, list):
        later = value.copy()
        try:
            later[key] = new
        except (LookupError, TypeError, ValueError):
            return
        tell_whole(later, found)


def delete_item(value: Any, key: Any, at: str) -> None:
    """`del value[key]` is about to be done."""
    owner = namespace_of(value)
    if owner is not None and type(key) is str:
        touch_attribute(owner, key, True, at)
        return
    found = container(value, at)
    if found is not None:
        touch(found, f"{found[2].name}[]", removed(value, found[2], key), at)
    else:
        _touch_behind(value, True, at)


def _touch_behind(value: Any, writes: bool, at: str) -> None:
    """An item of something that is no container itself: of a library's object, or behind a view."""
    if type(value) not in SIMPLE_TYPES or type(value) in LOOKING_THROUGH:
        now = accesses.active()
        if now is None or now[0].alone:
            return
        kind = now[1].things.kind(value)
        name = "__setitem__" if writes else "__getitem__"
        if kind == INSTANCE and not _tells(value, name):
            _touch_parts(now, at, lambda: parts_of(value, now, at, 0, writes, True))
            _enter(getattr(type(value), name, None), value, now, at)
        elif type(value) in LOOKING_THROUGH or kind == OPAQUE:
            _enter(getattr(type(value), name, None), value, now, at)
            _touch_parts(now, at, lambda: parts_of(value, now, at, DEEPEST, writes))


def _touch_parts(now: tuple[Kernel, Memory], at: str, parts: Callable[[], list[Part]]) -> None:
    touch_all(now, parts(), at, parts)


def _enter(function: Any, value: Any, now: tuple[Kernel, Memory], at: str) -> None:
    """An operator of an object is code of a package."""
    root = packages.root_of(function)
    if root:
        parts = parts_of(value, now, at, DEEPEST, True, True)
        now[1].enter(now[0], root, [(part.family, part.thing) for part in parts])


def _tells(value: Any, name: str) -> bool:
    """Whether the method that stands behind an operator is the program's own, or there is none."""
    found = getattr(type(value), name, None)
    code = getattr(found, "__code__", None)
    return found is None or (code is not None and port.is_user_file(code.co_filename))


def whole(value: Any, at: str) -> None:
    """A container that is about to be read as a whole, an iterator that is about to be used."""
    if type(value) not in SIMPLE_TYPES or type(value) in LOOKING_THROUGH:
        now = accesses.active()
        if now is not None and not now[0].alone:
            _touch_parts(now, at, lambda: parts_of(value, now, at, DEEPEST))
        elif now is not None:
            container(value, at)


def deep(value: Any, at: str, attributes: bool = False, writes: bool = False) -> None:
    """A value that is about to be looked through: whatever it holds is read, or changed, at one moment."""
    if type(value) not in SIMPLE_TYPES or type(value) in HOLDING:
        now = accesses.active()
        if now is not None and not now[0].alone:
            _touch_parts(now, at, lambda: parts_of(value, now, at, 0, writes, attributes))
        elif now is not None:
            container(value, at)


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
        owner = namespace_of(value)
        if owner is not None:
            found += [part for name in list(value) if (part := attribute_part(owner, name, True, at))]
            return list(dict.values(value)), False
        named = memory.things.named(value, kernel, at)
        footprint = everything(named) if writes else _all(value, named)
        found.append(Part(named.family, f"{named.name}[]", footprint, None if named.exact else id(value)))
        return plainly(value), False
    if kind == OPAQUE:
        found.append(object_part(value, now, writes or hasattr(type(value), "__next__"), at))
        found += files.parts_of(value)
        return [*memory.things.sources.get(id(value), ()), *bases(value)], True
    if kind == INSTANCE:
        names = list(getattr(type(value), "__dataclass_fields__", ()))
        if attributes:
            names += [*getattr(value, "__dict__", ()), *_slots(type(value))]
        names = [name for name in dict.fromkeys(names) if _has(value, name)]
        found += [part for name in names if (part := attribute_part(value, name, writes, at))]
        return [getattr(value, name) for name in names], False
    return (list(value) if type(value) in (tuple, frozenset) else []), False


def plainly(value: Any) -> list[Any]:
    """What a container holds, without a look at what a class of the program makes of it."""
    if isinstance(value, dict):
        return list(dict.values(value))
    for kind in CONTAINERS:
        if isinstance(value, kind):
            plain: Any = kind
            return list(plain.__iter__(value))
    return list(value)


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


def changed(value: Any, at: str) -> None:
    """A container, or an object of a library, that is about to be changed."""
    if type(value) not in SIMPLE_TYPES or type(value) is memoryview:
        now = accesses.active()
        if now is not None:
            _touch_parts(now, at, lambda: parts_of(value, now, at, DEEPEST, True))


def size(value: Any, at: str) -> None:
    """A container whose length or emptiness is about to be asked for."""
    found = container(value, at)
    if found is not None:
        touch(found, f"{found[2].name}[]", shape(found[2], False), at)
    else:
        _touch_behind(value, False, at)


def contains(item: Any, value: Any, at: str) -> None:
    """`item in value` is about to be asked."""
    if isinstance(value, dict | set) and (found := container(value, at)) is not None:
        if type(item) not in PLAIN_KEYS:
            deep(item, at)
        touch_item(found, value, item, False, at)
    else:
        deep(value, at)


# ---- iterators ----------------------------------------------------------------------------------

LIST_ITERATOR: type = type(iter([]))
SIMPLE_ITERATORS: frozenset[type] = frozenset(
    {
        type(iter(())), type(iter(range(0))), type(iter(range(2**70))), type(iter("")), type(iter("é")),
        type(iter(b"")),
    }
)  # fmt: skip
"""Iterators over what does not change."""
PLAIN_ITERATORS: frozenset[type] = frozenset(
    {
        LIST_ITERATOR, type(reversed([])), type(iter({})), type(iter({}.items())), type(iter({}.values())),
        type(iter(set())), type(iter(deque())), type(iter(bytearray())), type(reversed({})),
    }
)  # fmt: skip
"""Iterators over one container."""


def iterate(value: Any, at: str) -> None:
    """A loop over the value is about to begin. What is an iterator itself may be others' too."""
    now = accesses.active()
    if now is None or type(value) in SIMPLE_ITERATORS:
        return
    if hasattr(type(value), "__next__"):
        if now[1].things.kind(value) == OPAQUE:
            now[1].things.named(value, now[0], at)
        return
    base = _behind(value)[0] if type(value) in VIEWS else value
    if now[1].things.kind(base) in (CONTAINER, OPAQUE):
        now[1].things.named(base, now[0], at)


def advance(value: Any, at: str) -> list[Part]:
    """An iterator is about to go on to its next item: that is read, and the iterator changes."""
    now = accesses.active()
    if now is None or type(value) in SIMPLE_ITERATORS:
        return []
    now[0].running().trail.turn()
    if now[0].alone:
        return []
    is_private = now[1].things.known(value) is None
    if type(value) is LIST_ITERATOR and is_private:
        _next_of_list(value, at)
        return []
    parts = [] if is_private or not is_iterator(value, now) else [object_part(value, now, True, at)]
    for base in bases(value):
        parts += parts_of(base, now, at, DEEPEST)
    if inside := inside_lazy(value):
        parts += set_parts(inside, now, at)
        for each in inside:
            parts += parts_of(each, now, at, 0, False, True) if is_followed(each) else []
    touch_all(now, parts, at)
    return parts


def is_iterator(value: Any, now: tuple[Kernel, Memory]) -> bool:
    """An iterator that is a thing itself."""
    return now[1].things.kind(value) == OPAQUE


def bases(value: Any, depth: int = 4) -> list[Any]:
    """What an iterator in C goes over: containers, and iterators that are not themselves in C."""
    kind = type(value)
    if kind in PLAIN_ITERATORS:
        return [each for each in gc.get_referents(value) if isinstance(each, CONTAINERS)][:1]
    if not depth or kind not in LAZY_TYPES:
        return []
    found: list[Any] = []
    for each in _flat(gc.get_referents(value)):
        if type(each) in PLAIN_ITERATORS or type(each) in LAZY_TYPES:
            found += bases(each, depth - 1)
        elif _is_gone_over(each, kind):
            found.append(each)
    return found


def _is_gone_over(value: Any, kind: type) -> bool:
    if isinstance(value, CONTAINERS):
        return kind is reversed
    return hasattr(type(value), "__next__") and type(value) not in SIMPLE_ITERATORS


def _flat(values: list[Any]) -> list[Any]:
    return [part for each in values for part in (each if type(each) is tuple else (each,))]


def inside_lazy(value: Any) -> list[Any]:
    """The functions and containers that an iterator such as `map` uses as it goes on."""
    if type(value) not in LAZY_TYPES:
        return []
    held = _flat(gc.get_referents(value))
    functions = [each for each in held if callable(each)]
    return [*functions, *bases(value)] if functions else []


def set_parts(given: list[Any], now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What `setattr` and `delattr` change that something in C calls: any name of any object there."""
    if setattr not in given and delattr not in given:
        return []
    values = [part for each in given for part in (plainly(each) if isinstance(each, CONTAINERS) else (each,))]
    names = [each for each in values if type(each) is str]
    objects = [each for each in values if now[1].things.kind(each) == INSTANCE]
    made = [attribute_part(each, name, True, at) for each in objects for name in names]
    return [each for each in made if each is not None]


LAZY_TYPES: frozenset[type] = frozenset(
    {enumerate, zip, map, filter, reversed}
    | {each for each in vars(itertools).values() if isinstance(each, type)}
)
"""Iterators in C that go over others."""


def _next_of_list(value: Any, at: str) -> None:
    """A round over a list reads its length and one item."""
    referents = gc.get_referents(value)
    base: Any = referents[0] if referents else None
    found = container(base, at) if type(base) is list else None
    if found is not None:
        round_ = len(base) - length_hint(value)
        if round_ < len(base):
            mode = touch_item(found, base, round_, False, at)
            if mode:
                found[1].saw(found[0], mode, _item(base, round_))
        else:
            touch(found, f"{found[2].name}[]", shape(found[2], False), at)
