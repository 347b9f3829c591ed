"""Items of containers, containers as a whole, and iterators over them.

An item of a list or a dictionary is a thing of its own; so is the structure of a container (its length, its
keys), which every access to an item reads and every change of shape writes. Reading a whole container reads
all its items. The dictionary of an object's attributes, or of a module's variables, has these as its items.
Keys that are equal in Python (`1`, `True`, `1.0`) are one item.
"""

from __future__ import annotations

import gc
import itertools
import sys
import types
import weakref
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import Enum
from operator import length_hint, methodcaller
from typing import Any

from possibly.control.execution import Access
from possibly.control.loading import packages
from possibly.control.models import files
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import touch_entry
from possibly.control.runtime.contents import (
    PLAIN_KEYS,
    all_of,
    everything,
    item_of,
    removed,
    shape,
)
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.known_calls import ONLY_LOOKING
from possibly.control.runtime.memory import DECIMALS, FLAGS, SPACES, VISIBLE, Memory
from possibly.control.runtime.things import (
    CLASS,
    CODE,
    CONTAINER,
    CONTAINERS,
    INSTANCE,
    METHOD_IN_C,
    OPAQUE,
    PLAIN_CLASSES,
    SIMPLE_TYPES,
    Named,
    class_has,
    dictionary_of,
    in_c,
    is_a,
    is_own,
    is_user_class,
    linked,
    may_hold,
    module_of,
    order_of,
)
from possibly.control.runtime.touched.hashed import SETS, note_order
from possibly.control.runtime.touched.members import (
    IN_TEXTS,
    attribute_part,
    kind_parts,
    member_part,
    naming_parts,
    reading_parts,
    shape_part,
    special_parts,
)
from possibly.control.runtime.touched.parts import Part, asking_parts, kept_parts, object_part, touch_all
from possibly.control.runtime.touched.suspended import resuming_parts
from possibly.control.runtime.touched.unwatched import is_setting
from possibly.control.runtime.variables import is_behaviour

Found = tuple[Kernel, Memory, Named, Any]
"""A container: the execution, its accesses, its name, and itself."""
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
LOOKING_THROUGH = frozenset({*VIEWS, types.MappingProxyType, memoryview})
"""Types whose values only show others."""
BOUND = (types.BuiltinFunctionType, METHOD_IN_C, types.MethodWrapperType)
HOLDING = LOOKING_THROUGH | {tuple}
"""Simple types whose values may hold others that are not."""
DEEPEST = 8
"""So many levels are looked through."""
MOST = 5_000
"""So many objects are looked through at once."""


def is_namespace(found: Any, owner: Any) -> None:
    """`owner.__dict__`, `vars(owner)`, `globals()`: its items are attributes by another name."""
    memory = accesses.memory
    if type(found) is dict and memory is not None and id(owner) not in memory.borrowed:
        memory.keep_namespace(found, owner)


def tell_of_dictionary(owner: Any, found: Any) -> None:
    """`owner.__dict__` or `vars(owner)`; that of a class is behind a view."""
    if is_a(owner, type):
        view = type.__dict__["__dict__"].__get__(owner)
        found = shown_by(view)[0]
    is_namespace(found, owner)


def namespace_of(value: Any) -> Any:
    """Whose attributes a dictionary is, or None."""
    memory = accesses.memory
    if memory is None or not memory.namespaces:
        return None
    found = memory.namespaces.get(id(value))
    return None if found is None else found[1]()


def container(value: Any, at: str, writes: bool = True) -> Found | None:
    """The container, if it is one of which something can be told; `writes` matters to a dictionary of
    attributes alone, which is told of as a whole here."""
    now = accesses.active()
    if now is None or now[1].things.kind(value) != CONTAINER or id(value) in now[1].unread:
        return None
    owner = namespace_of(value)
    if owner is not None:
        touch_all(now, _all_attributes(value, owner, now, at, writes), at)
        return None
    kernel, memory = now
    named = memory.things.named(value, kernel, at)
    return None if (kernel.alone and not memory.watched) or kernel.quiet else (kernel, memory, named, value)


def _all_attributes(value: Any, owner: Any, now: tuple[Kernel, Memory], at: str, writes: bool) -> list[Part]:
    """What is done to all attributes at once is done to each, and to which there are."""
    if now[0].alone or now[0].quiet:
        return []
    if writes:
        now[1].write_rarely(now[0], SPACES)
    parts = [part for name in list(value) if (part := _entry(owner, name, now, writes, at))]
    if in_c(type(owner)) is not None and not is_a(owner, (type, types.ModuleType)):
        parts.append(object_part(owner, now, writes, at))  # its methods may store there
    return [*parts, shape_part(owner, now, writes, at)]


def _entry(owner: Any, name: Any, now: tuple[Kernel, Memory], writes: bool, at: str) -> Part | None:
    if is_a(owner, (type, types.ModuleType)) or type(name) is not str:
        return attribute_part(owner, name, writes, at)
    return member_part(owner, name, now, writes, at)


def touch(found: Found, thing: str, footprint: tuple[Access, ...], at: str) -> int:
    kernel, memory, named, _ = found
    return memory.access(kernel, named.family, thing, footprint, at, named.which)


def touch_item(found: Found, value: Any, key: Any, writes: bool, at: str) -> int:
    thing, footprint = item_of(value, found[2], key, writes)
    mode = touch(found, thing, footprint, at)
    if mode == VISIBLE:  # others may have changed what it means
        for each in item_of(value, found[2], key, writes)[1]:
            found[0].add(each)
    return mode


def read_item(value: Any, key: Any, at: str) -> list[Part]:
    """`value[key]` is about to be read; returns what it is in the middle of if that makes the item."""
    if type(value) is types.MappingProxyType:
        value = shown_by(value)[0]
    owner = namespace_of(value)
    if owner is not None and type(key) is str:
        touch_entry(owner, key, False, at)
        return []
    if type(key) not in PLAIN_KEYS:
        deep(key, at)
    found = container(value, at)
    if found is None:
        _touch_behind(value, False, at)
        return []
    makes = is_made(value, key)
    mode = touch_item(found, value, key, makes, at)
    if mode and _is_missing(value, key):
        found[1].asked(found[0], mode, False)
    elif mode:
        found[1].saw(found[0], mode, item(value, key))
    if not makes:
        return []
    named = found[2]
    thing, footprint = item_of(value, named, key, True)
    return [Part(named.family, thing, footprint, named.which)]


def key_parts(key: Any, now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What is looked at to find an item: the key itself, where that can change."""
    if type(key) in PLAIN_KEYS or now[0].alone or not is_followed(key):
        return []
    return parts_of(key, now, at)


def is_made(value: Any, key: Any) -> bool:
    """An item that is made if it is missing."""
    if not is_a(value, defaultdict):
        return False
    try:
        return value.default_factory is not None and not dict.__contains__(value, key)
    except TypeError:
        return False


def _is_missing(value: Any, key: Any) -> bool:
    """Of keys that compare without code of the user's."""
    return type(key) in PLAIN_KEYS and is_a(value, dict) and not dict.__contains__(value, key)


def item(value: Any, key: Any) -> Any:
    try:
        if is_a(value, dict):
            return dict.get(value, key)
        return value[key] if type(value) in CONTAINERS else None
    except (LookupError, TypeError):
        return None


def write_item(value: Any, key: Any, new: Any, at: str) -> None:
    """`value[key] = new` is about to be done."""
    owner = namespace_of(value)
    if owner is not None and type(key) is str:
        touch_entry(owner, key, True, at)
        return
    if type(key) not in PLAIN_KEYS:
        deep(key, at)
    found = container(value, at)
    if found is None:
        _touch_behind(value, True, at, key, new)
        return
    if found[1].lives.may_drop:
        found[1].drop(found[0], found[1].ending(found[0], item(value, key), at), at)
    mode = touch_item(found, value, key, True, at)
    if mode:
        found[1].saw(found[0], mode, new)


def delete_item(value: Any, key: Any, at: str) -> None:
    """`del value[key]` is about to be done."""
    owner = namespace_of(value)
    if owner is not None and type(key) is str:
        touch_entry(owner, key, True, at)
        return
    found = container(value, at)
    if found is not None:
        if found[1].lives.may_drop:
            found[1].drop(found[0], found[1].ending(found[0], value, at), at)
        touch(found, f"{found[2].name}[]", removed(value, found[2], key), at)
    else:
        _touch_behind(value, True, at)


def _touch_behind(value: Any, writes: bool, at: str, *stored: Any) -> None:
    """An item of something that is no container itself: of a library's object, or behind a view."""
    hold_weakly(value, stored)
    if type(value) not in SIMPLE_TYPES or type(value) in LOOKING_THROUGH:
        now = accesses.active()
        if now is None or now[0].alone:
            return
        kind = now[1].things.kind(value)
        name = "__setitem__" if writes else "__getitem__"
        if does_itself(value, name):
            return
        if is_setting(value):
            now[1].write_rarely(now[0], DECIMALS if writes else FLAGS)
        if kind in (INSTANCE, CLASS) and not _tells(value, name):
            _touch_parts(now, at, lambda: parts_of(value, now, at, 0, writes, True))
            _hand(method_of(type(value), name), value, now, at)
        elif type(value) in LOOKING_THROUGH or kind == OPAQUE:
            _hand(method_of(type(value), name), value, now, at)
            writes = writes or may_make(type(value))
            _touch_parts(now, at, lambda: parts_of(value, now, at, DEEPEST, writes))


def may_make(cls: type) -> bool:
    """Whether an object in C of a package may make an item that is asked for, or change what it is given.

    Of the standard library it is known which ones do, and what shows memory does not.
    """
    base = in_c(cls)
    root = module_of(base).partition(".")[0] if base is not None else ""
    return bool(root) and root not in sys.stdlib_module_names and not class_has(cls, "__array_interface__")


def _touch_parts(now: tuple[Kernel, Memory], at: str, parts: Callable[[], list[Part]]) -> None:
    touch_all(now, parts(), at, parts)


def _hand(function: Any, value: Any, now: tuple[Kernel, Memory], at: str) -> None:
    """An operator of an object is code of a package."""
    root = packages.root_of(function)
    if root:
        parts = parts_of(value, now, at, DEEPEST, True, True)
        now[1].hand(now[0], root, [(part.family, part.thing) for part in parts])


def does_itself(value: Any, name: str) -> bool:
    """Whether the method that stands behind an operator is code that tells of itself."""
    found = method_of(type(value), name)
    return found is not None and is_own(found)


def _tells(value: Any, name: str) -> bool:
    """Whether the method that stands behind an operator is the program's own, or there is none."""
    found = method_of(type(value), name)
    return found is None or is_own(found)


def method_of(cls: type, name: str) -> Any:
    return next((base.__dict__[name] for base in order_of(cls) if name in base.__dict__), None)


def hold_weakly(owner: Any, stored: tuple[Any, ...]) -> None:
    """What is put into a container of weak references may end there at any time."""
    now = accesses.active()
    if stored and now is not None and is_weak(type(owner)):
        for each in stored[1:] if issubclass(type(owner), weakref.WeakValueDictionary) else stored[:1]:
            now[1].hold_weakly(now[0], each)  # what else is given is called, or held as usual


def is_weak(cls: type) -> bool:
    """Whether objects of the class lead to others weakly."""
    found = _weak.get(cls)
    if found is None:
        names = ("weakref", "_weakrefset", "_weakref")
        is_proxy = cls in weakref.ProxyTypes
        order = order_of(cls)
        found = any(module_of(base) in names or base is weakref.ref or is_proxy for base in order)
        if order:
            _weak[cls] = found
    return found


_weak: dict[type, bool] = {}


def whole(value: Any, at: str) -> None:
    """A container that is about to be read as a whole, an iterator that is about to be used."""
    if type(value) not in SIMPLE_TYPES or type(value) in LOOKING_THROUGH:
        now = accesses.active()
        if now is not None and not now[0].alone:
            _touch_parts(now, at, lambda: using_parts(value, now, at))
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
    if memory.specials:
        found += special_parts(value, now, at)
    if type(value) in LOOKING_THROUGH:
        return shown_by(value), True
    if not memory.rare.isdisjoint(NAMING):
        found += kind_parts(value, now, at) + naming_parts(value, now, at)
    if kind == CONTAINER:
        owner = namespace_of(value)
        if owner is not None:
            found += _all_attributes(value, owner, now, at, writes)
            return list(dict.values(value)), False
        named = memory.things.named(value, kernel, at)
        footprint = everything(named) if writes else all_of(value, named)
        found.append(Part(named.family, f"{named.name}[]", footprint, named.which))
        return plainly(value), False
    if kind == OPAQUE:
        found.append(object_part(value, now, writes or class_has(type(value), "__next__"), at))
        if attributes and may_hold(type(value)):
            _attributes(value, now, at, writes, attributes, found)
        found += kept_parts(type(value), writes)
        found += files.parts_of(value)
        if is_weak(type(value)):
            found += asking_parts(value, now, at)
        return [*memory.things.sources.get(id(value), ()), *bases(value), *linked(value)], True
    if kind == INSTANCE:
        held = _attributes(value, now, at, writes, attributes, found)
        if in_c(type(value)) is None:
            return held, False
        found.append(object_part(value, now, writes, at))
        return held + linked(value), False
    if is_a(value, type):
        if attributes and kind == CLASS and not writes:
            found += _of_class_data(value, now, at)
        return _of_registry(value, now, at, writes, found), True
    return (list(value) if type(value) in (tuple, frozenset) else []), False


NAMING = IN_TEXTS | {"__class__"}


def _of_class_data(cls: Any, now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What a class holds that is no behaviour: code that is given the class may look at that."""
    names = [name for base in order_of(cls) if is_user_class(base) for name in base.__dict__]
    names = [name for name in dict.fromkeys(names) if not name.startswith("__")]
    return [part for name in names for part in reading_parts(cls, name, now, at)]


def _of_registry(cls: Any, now: tuple[Kernel, Memory], at: str, writes: bool, found: list[Part]) -> list[Any]:
    """Notes what a class keeps for the methods of its own class (the members of an enumeration)."""
    if type(cls) in PLAIN_CLASSES:
        return []
    kept = {name: held for name, held in cls.__dict__.items() if is_a(held, CONTAINERS)}
    found += [member_part(cls, name, now, writes, at) for name in kept]
    return list(kept.values())


def _attributes(
    value: Any, now: tuple[Kernel, Memory], at: str, writes: bool, attributes: bool, found: list[Part]
) -> list[Any]:
    """Notes the attributes of an object, those of its classes among them; returns what they hold."""
    names = [] if _tells(value, "__eq__") else list(getattr(type(value), "__dataclass_fields__", ()))
    if issubclass(type(value), BaseException):
        names += _of_exceptions(type(value))
    if type(value) is types.FunctionType:
        names.append("__qualname__")
    if attributes or (is_a(value, types.SimpleNamespace) and not _tells(value, "__eq__")):
        names += [*(dictionary_of(value) or ()), *_slots(type(value)), *_of_classes(type(value))]
        found.append(shape_part(value, now, writes, at))
    elif _is_shown_elsewhere(type(value)):
        held = [*(dictionary_of(value) or ()), *_slots(type(value))]
        names += [name for name in held if name in now[1].rare] if is_a(value, Enum) else held
    names = [name for name in dict.fromkeys(names) if type(name) is str and _has(value, name)]
    if writes:
        found += [part for name in names if (part := attribute_part(value, name, True, at))]
    else:
        found += [part for name in names for part in reading_parts(value, name, now, at)]
    return [object.__getattribute__(value, name) for name in names]


def _is_shown_elsewhere(cls: type) -> bool:
    """Whether code of a library, which tells nothing, compares such objects or makes their texts."""
    found = _shown_elsewhere.get(cls)
    if found is None:
        methods = [method_of(cls, name) for name in SHOWING]
        found = any(type(each) is types.FunctionType and not is_own(each) for each in methods)
        _shown_elsewhere[cls] = found
    return found


_shown_elsewhere: dict[type, bool] = {}
SHOWING = ("__repr__", "__str__", "__format__", "__eq__", "__hash__", "__lt__", "__gt__")


def _of_exceptions(cls: type) -> list[str]:
    """What exceptions keep for their texts."""
    return [
        name
        for base in order_of(cls)
        for name, held in base.__dict__.items()
        if type(held) in FIELDS and not name.startswith("__") and base is not object
    ]


FIELDS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _of_classes(cls: type) -> list[str]:
    """Attributes that the program's classes hold for their objects."""
    return [
        name
        for base in order_of(cls)
        if is_user_class(base)
        for name, held in list(base.__dict__.items())
        if not name.startswith("__") and not is_behaviour(held)
    ]


def plainly(value: Any) -> list[Any]:
    """What a container holds, without a look at what a class of the program makes of it."""
    if is_a(value, dict):
        keys = [key for key in dict.__iter__(value) if type(key) not in PLAIN_KEYS]
        return [*dict.values(value), *keys]
    for kind in CONTAINERS:
        if is_a(value, kind):
            plain: Any = kind
            return list(plain.__iter__(value))
    return list(value)


def shown_by(value: Any) -> list[Any]:
    """What a view shows; nothing, once it is released."""
    if type(value) is not memoryview:
        return gc.get_referents(value)
    try:
        return [value.obj]
    except ValueError:
        return []


def _slots(cls: type) -> list[str]:
    return [
        name for base in order_of(cls) for name in getattr(base, "__slots__", ()) if isinstance(name, str)
    ]


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
    found = container(value, at, False)
    if found is not None:
        touch(found, f"{found[2].name}[]", shape(found[2], False), at)
    else:
        _touch_behind(value, False, at)


def contains(item: Any, value: Any, at: str) -> None:
    """`item in value` is about to be asked."""
    if type(value) is types.MappingProxyType:
        value = shown_by(value)[0]
    owner = namespace_of(value)
    if owner is not None and type(item) is str:
        touch_entry(owner, item, False, at)
        return
    if is_a(value, (dict, set)) and (found := container(value, at)) is not None:
        if type(item) not in PLAIN_KEYS:
            deep(item, at)
        mode = touch_item(found, value, item, False, at)
        if mode and type(item) in PLAIN_KEYS:
            is_there = dict.__contains__(value, item) if is_a(value, dict) else set.__contains__(value, item)
            found[1].asked(found[0], mode, is_there)
    else:
        deep(value, at)


# ---- iterators ----------------------------------------------------------------------------------

TUPLE_ITERATOR: type = type(iter(()))
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
        type(reversed({}.items())), type(reversed({}.values())), type(reversed(deque())),
        type(iter(array("b"))), type(iter(OrderedDict())),
    }
)  # fmt: skip
"""Iterators over one container."""


def iterate(value: Any, at: str, is_reversed: bool = False) -> None:
    """A loop over the value is about to begin. What is an iterator itself may be others' too."""
    now = accesses.active()
    if now is None or type(value) in SIMPLE_ITERATORS:
        return
    if type(value) in SETS:
        note_order(value, now[0])
    if class_has(type(value), "__next__"):
        if now[1].things.kind(value) == OPAQUE:
            now[1].things.named(value, now[0], at)
        return
    base = shown_by(value)[0] if type(value) in VIEWS else value
    kind = now[1].things.kind(base)
    if kind in (CONTAINER, OPAQUE):
        now[1].things.named(base, now[0], at)
    if kind == CLASS:
        deep(base, at)
    if kind == CONTAINER and (is_reversed or not is_a(base, BY_NUMBER)):
        _begin_over(base, at)


BY_NUMBER = (list, bytearray, array)
"""An iterator over one of these begins with nothing but a number."""


def _begin_over(base: Any, at: str) -> None:
    """An iterator remembers how large the container was, or what stood at its end, when it was made."""
    found = container(base, at, False)
    if found is not None:
        touch(found, f"{found[2].name}[]", shape(found[2], False), at)


def advance(value: Any, at: str) -> list[Part]:
    """An iterator is about to go on to its next item: that is read, and the iterator changes."""
    now = accesses.active()
    if now is None or is_unshared(value, now[1]):
        return []
    if type(value) is not types.CoroutineType:  # the frames of what is awaited are looked at (`spin`)
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
    parts += _calling_parts(value, now, at) + resuming_parts(value, now)
    touch_all(now, parts, at)
    return parts


def is_unshared(value: Any, memory: Memory) -> bool:
    """An iterator over what does not change, which nobody else has: it was not made by a call."""
    return type(value) in SIMPLE_ITERATORS and memory.things.known(value) is None


def _calling_parts(value: Any, now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What an iterator such as `map` touches by the functions in C that it calls."""
    inside = inside_lazy(value)
    parts = set_parts(inside, now, at) + method_parts(inside, now, at) if inside else []
    for each in inside:
        parts += parts_of(each, now, at, 0, False, True) if is_followed(each) else []
        parts += bound_parts(each, now, at)
    return parts


def bound_parts(function: Any, now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What a method in C does to the container or the library's object that it is bound to."""
    owner = getattr(function, "__self__", None) if type(function) in BOUND else None
    kind = now[1].things.kind(owner)
    if owner is None or kind not in (CONTAINER, OPAQUE):
        return []
    only_looks = kind == CONTAINER and function.__name__ in ONLY_LOOKING
    return parts_of(owner, now, at, DEEPEST, not only_looks)


def using_parts(value: Any, now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What is touched when a container is read as a whole, or an iterator used up."""
    return [*parts_of(value, now, at, DEEPEST), *_calling_parts(value, now, at)]


def is_iterator(value: Any, now: tuple[Kernel, Memory]) -> bool:
    """An iterator that is a thing itself."""
    return now[1].things.kind(value) == OPAQUE


def bases(value: Any, depth: int = 4) -> list[Any]:
    """What an iterator in C goes over: containers, and iterators that are not themselves in C."""
    kind = type(value)
    if kind in PLAIN_ITERATORS:
        return [each for each in gc.get_referents(value) if is_a(each, CONTAINERS)][:1]
    if not depth or kind not in LAZY_TYPES:
        return _held_by(value) if depth else []
    found: list[Any] = []
    for each in _flat(gc.get_referents(value)):
        if type(each) in PLAIN_ITERATORS or type(each) in LAZY_TYPES:
            found += [each] if _is_known(each) else []
            found += bases(each, depth - 1)
        elif _is_gone_over(each, kind):
            found.append(each)
    return found


def _is_known(value: Any) -> bool:
    """An iterator that others may have too."""
    return accesses.memory is not None and accesses.memory.things.known(value) is not None


def _held_by(value: Any) -> list[Any]:
    """The containers that an iterator in C holds of which nothing else is known."""
    kind = type(value)
    if kind in CODE or type(method_of(kind, "__next__")) is not types.WrapperDescriptorType:
        return []
    own = dictionary_of(value)  # what is stored there tells of itself
    held = [each for each in gc.get_referents(value) if each is not own]
    return [each for each in held if is_a(each, CONTAINERS) or type(each) is memoryview]


def _is_gone_over(value: Any, kind: type) -> bool:
    if is_a(value, CONTAINERS):
        return kind is reversed
    return class_has(type(value), "__next__") and type(value) not in SIMPLE_ITERATORS


def _flat(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for each in values:
        if type(each) is TUPLE_ITERATOR:  # over the arguments of `chain`
            found += _flat([held for held in gc.get_referents(each) if type(held) is tuple])
        else:
            found += each if type(each) is tuple else (each,)
    return found


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
    values = [part for each in given for part in (plainly(each) if is_a(each, CONTAINERS) else (each,))]
    names = [each for each in values if type(each) is str]
    objects = [each for each in values if now[1].things.kind(each) == INSTANCE]
    made = [attribute_part(each, name, True, at) for each in objects for name in names]
    return [each for each in made if each is not None]


def method_parts(given: list[Any], now: tuple[Kernel, Memory], at: str) -> list[Part]:
    """What `methodcaller` looks for that something in C calls: its method, in any object there."""
    names = [each.__reduce__()[1][0] for each in given if type(each) is methodcaller]
    if not names or now[0].alone:
        return []
    objects = [part for each in given for part in (plainly(each) if is_a(each, CONTAINERS) else (each,))]
    objects = [each for each in objects if now[1].things.kind(each) in (INSTANCE, CLASS)]
    return [part for each in objects for name in names for part in reading_parts(each, name, now, at)]


CALLABLE_ITERATOR: type = type(iter(int, 1))
LAZY_TYPES: frozenset[type] = frozenset(
    {enumerate, zip, map, filter, reversed, CALLABLE_ITERATOR}
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
                found[1].saw(found[0], mode, item(base, round_))
        else:
            touch(found, f"{found[2].name}[]", shape(found[2], False), at)
