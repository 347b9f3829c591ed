"""What an execution has changed of all that was there before it: noticed, put back, or the end of its life.

Theory of operation. Before the first fork all objects are listed that the interpreter knows, and to what
each refers (`_shapes.c`). After an execution those that refer to something else are found, whoever changed
them and by whatever way: a counter in a module, a method of a class, a registry, a cache, a handler. What
is a plain container, or the attributes of a class, gets back what it held; results that functions remember
stay. Anything else that differs ends the life of the process.

Law: where `put_back` says that nothing is left, each of these objects refers to what it referred to before
the program began. Not looked at is what is ours, if no code of the program can come to it; which classes
are derived from a class; and what cannot change. What an object keeps in C is not seen: `unseen` says which
modules may be used all the same, and looks at the state of the process.
"""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import gc
import sys
import threading
import types
import warnings
import weakref
from collections import OrderedDict, deque
from functools import _lru_cache_wrapper
from itertools import chain, count
from typing import Any

from possibly.compiled import built

_shapes: Any = built("possibly.control.forking._shapes")
OURS = "possibly"
UNCHANGING = frozenset(
    {
        tuple,
        frozenset,
        weakref.ReferenceType,
        types.CodeType,
        types.FrameType,
        types.TracebackType,
        types.BuiltinFunctionType,
        types.MethodType,
        types.MethodWrapperType,
        types.WrapperDescriptorType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        types.MappingProxyType,
        types.GenericAlias,
    }
)
"""Types whose objects refer to the same as long as they live, or stand for what runs now."""
_REFERRED = gc.get_referents


def can_be_seen() -> bool:
    """Whether what looks at objects was built."""
    return _shapes is not None


class Heap:
    """Objects that are there now."""

    def __init__(self, everything: list[Any], apart: set[int], is_whole: bool) -> None:
        self.is_whole = is_whole
        """Whatever an execution has changed of objects is among them."""
        self._classes = {id(_space_of(each)): each for each in everything if _is_a(each, type)}
        self._abstract = {id(each): cls for cls in self._classes.values() if (each := _registry(cls))}
        self._registered = {each: _registered(cls) for each, cls in self._abstract.items()}
        for cls in self._abstract.values():  # else answers would come back that were out of date already
            _abc._reset_caches(cls)
        self._objects = [
            each
            for each in everything
            if type(each) not in UNCHANGING and id(each) not in apart and not _is_of_derived(each)
        ]
        self._copies = {
            number: copied for number, each in enumerate(self._objects) if (copied := _copy(each)) is not None
        }
        threads = threading._counter.__self__  # type: ignore[attr-defined]  # put back by `lasting`
        counters = (each for each in everything if type(each) is count and each is not threads)
        self._counters: list[tuple[Any, str]] = [(each, repr(each)) for each in counters]
        arrays = (each for each in everything if type(each) is bytearray)
        self._counters += [(each, repr(each)) for each in arrays]
        self._mirrors = {id(each) for each in _mirrors()}
        self._shapes = _shapes.Shapes(self._objects)

    def put_back(self) -> str:
        """Puts back what can be; what is left, as one would tell somebody, empty if nothing is."""
        for number in self._shapes.changed():
            try:
                if _is_only_looked_at(self._objects[number], self._shapes.held(number)):
                    continue  # what it has now is no object of before: it is asked each time
                is_back = self._put_back(number)
            except Exception:  # noqa: BLE001 - code of the program or of a library has its say there
                is_back = False
            if not is_back:
                return _told(self._objects[number])
            self._shapes.again(number)
        return next((_told(each) for each, before in self._counters if repr(each) != before), "")

    def _put_back(self, number: int) -> bool:
        found, copied = self._objects[number], self._copies.get(number)
        address = id(found)
        if address in self._mirrors:
            return False
        if address in self._classes:
            return _put_back_class(self._classes[address], found, copied)
        if address in self._abstract:
            return _put_back_abstract(self._abstract[address], found, self._registered[address])
        if copied is not None:
            return _fill(found, copied)
        return type(found) is _lru_cache_wrapper  # what it remembers it would compute again


def _told(changed: Any) -> str:
    name = changed.get("__name__") if type(changed) is dict else getattr(changed, "__qualname__", None)
    return f"{type(changed).__name__} {name if isinstance(name, str) else ''}".rstrip()


# ---- what is looked at ------------------------------------------------------------------------------


def _everything() -> list[Any]:
    """All that refers to anything, or could: also dictionaries that the collector need not know."""
    gc.unfreeze()
    for each in gc.get_objects():
        if not _is_ours(each):
            _shapes.attributes(each)
    known = gc.get_objects()
    numbers = set(map(id, known))
    untold = {
        id(each): each
        for each in chain.from_iterable(map(_REFERRED, known))
        if (_is_a(each, dict) or type(each) is bytearray) and id(each) not in numbers
    }
    return [*known, *untold.values()]


def _is_a(value: Any, kinds: Any) -> bool:
    """As `isinstance`, which asks an object for its `__class__`: a proxy says that it is what it leads to."""
    return issubclass(type(value), kinds)


def _ours(everything: list[Any]) -> set[int]:
    """Addresses of what only we can come to, and of what is an object of a class of ours."""
    ours = [each for each in everything if _is_ours(each)]
    numbers = {id(each) for each in ours}
    modules = [each for each in list(sys.modules.values()) if _is_a(each, types.ModuleType)]
    theirs = [each for each in modules if not _is_ours(each)]
    reached: set[int] = _shapes.reached(theirs, numbers)
    behind = {id(each) for each in everything if _leads_elsewhere(each) and id(each) not in numbers}
    only_ours: set[int] = _shapes.reached([_shown(each) for each in ours], behind)
    return numbers | (only_ours - reached)


def _shown(ours: Any) -> Any:
    return vars(ours) if _is_a(ours, types.ModuleType) else ours


def _is_ours(value: Any) -> bool:
    kind = type(value)
    if kind is types.FunctionType:
        return _is_our_name(value.__globals__.get("__name__"))
    if kind is dict:
        return "__spec__" in value and _is_our_name(value.get("__name__"))
    if issubclass(kind, types.ModuleType):
        return _is_our_name(value.__dict__.get("__name__"))
    if issubclass(kind, type):
        return _is_our_name(type.__getattribute__(value, "__dict__").get("__module__"))
    return _is_our_name(getattr(kind, "__module__", None))


def _is_our_name(name: Any) -> bool:
    return type(name) is str and name.partition(".")[0] == OURS


def _leads_elsewhere(value: Any) -> bool:
    return _is_a(value, (types.ModuleType, types.FunctionType, type))


def _of_memories(everything: list[Any]) -> set[int]:
    """Addresses of the dictionaries in which functions remember results."""
    return {
        id(held)
        for each in everything
        if type(each) is _lru_cache_wrapper
        for held in _REFERRED(each)
        if type(held) is dict and held is not each.__dict__
    }


def _is_of_derived(value: Any) -> bool:
    """Whether this is where a class has the classes that are derived from it, which end by themselves."""
    if type(value) is not dict or not value:
        return False
    return all(type(key) is int and type(held) is weakref.ReferenceType for key, held in value.items())


def _space_of(cls: type) -> Any:
    return _REFERRED(type.__getattribute__(cls, "__dict__"))[0]


def _registry(cls: type) -> Any:
    return type.__getattribute__(cls, "__dict__").get("_abc_impl")


def _registered(cls: Any) -> frozenset[Any]:
    """The classes that were registered with an abstract one."""
    return frozenset(_abc._get_dump(cls)[0])


def _mirrors() -> list[Any]:
    """Containers that show what is kept in C as well, which does not change with them."""
    environment = getattr(sys.modules.get("os"), "environ", None)
    return [getattr(environment, "_data", None), warnings.filters]


# ---- how it is put back -----------------------------------------------------------------------------


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind is dict or kind is list or kind is set or kind is OrderedDict or kind is deque:
        return kind(value) if kind is not deque else deque(value, value.maxlen)
    return None


def _fill(value: Any, copied: Any) -> bool:
    """Whether a container holds what it held, in its order; no two of its changes leave it without that."""
    if type(value) is list:
        value[:] = copied
    elif _is_a(value, dict):
        _fill_dictionary(value, copied)
    else:
        clear, fill = value.clear, value.extend if type(value) is deque else value.update
        clear()
        fill(copied)
    return True


def _fill_dictionary(value: Any, copied: Any) -> None:
    for key in [key for key in value if key not in copied]:
        del value[key]
    for key, held in copied.items():
        if key not in value or value[key] is not held:
            value[key] = held
    if any(one is not other for one, other in zip(value, copied, strict=True)):
        clear, fill = value.clear, value.update  # it may be what names are looked for in
        clear()
        fill(copied)


def _put_back_class(cls: type, now: Any, before: Any) -> bool:
    """By its own way, so that the interpreter forgets what it has kept of the class."""
    for name in [name for name in now if name not in before]:
        type.__delattr__(cls, name)
    for name, value in before.items():
        if name not in now or now[name] is not value:
            type.__setattr__(cls, name, value)
    return list(now) == list(before)


def _put_back_abstract(cls: type, state: Any, before: frozenset[Any]) -> bool:
    """Who counts as derived from it, and what it remembers of that."""
    for held in _REFERRED(state):
        if type(held) is set:
            held.difference_update(_registered(cls) - before)
    _abc._reset_caches(cls)
    return _registered(cls) == before


def _is_only_looked_at(value: Any, before: tuple[Any, ...]) -> bool:
    """Whether a function has only got the dictionaries that it makes for whoever asks for them."""
    if type(value) is not types.FunctionType:
        return False
    now = _REFERRED(value)
    gone = [each for each in before if all(each is not other for other in now)]
    come = [each for each in now if all(each is not other for other in before)]
    texts = [dict(zip(each[::2], each[1::2], strict=False)) for each in gone if type(each) is tuple]
    made = [each for each in come if each]
    return len(gone) == len(texts) == len(made) and all(type(each) is dict for each in come) and texts == made


kept: Heap | None = None
"""What was there before the program, in the processes that are forked from here, if that is looked at."""


def keep_all() -> None:
    global kept
    if can_be_seen():
        everything = _everything()
        kept = Heap(everything, _ours(everything) | _of_memories(everything), True)


def keep_classes(classes: set[type]) -> None:
    """Of these alone the attributes are looked at."""
    global kept
    if can_be_seen():
        kept = Heap([*classes, *map(_space_of, classes)], set(map(id, classes)), False)
