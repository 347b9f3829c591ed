"""What an instruction of the program is about to touch: sites that `probes.instructions` puts before it.

Law: an access is told right before it happens, without a call of the program's own code in between, and what
cannot be shared is not told: methods, properties, data of a thread. An item of a list or dict is a variable
of its own; beside its items a container has its extent, which iteration, `len`, `in` and comparisons read
and which methods that change it write.

This is the plain twin of the sites in `_shadow.c`.
"""

from __future__ import annotations

import builtins
import sys
from _thread import _local
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from operator import index
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType, NoneType, WrapperDescriptorType
from typing import Any

from possibly.probes import port
from possibly.probes.instructions.table import Kind
from possibly.recorder.sharing.shadow import CHANGES, COPIES, EXTENT, READS, WHOLE, WRITES, Shadow, Touch

CONTAINERS = (list, dict, deque, set, bytearray, array)
BY_KEY = (dict, set)
"""Containers whose methods are given a key."""
KEYED_CHANGES = frozenset({"setdefault", "pop", "add", "discard", "remove"})
KEYED_READS = frozenset({"get", "__getitem__", "__contains__"})
CHANGING = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate update "
    "setdefault add discard difference_update intersection_update symmetric_difference_update move_to_end "
    "__setitem__ __delitem__ __iadd__ __imul__ __ior__ fill put itemset resize byteswap frombytes "
    "fromlist".split()
)
"""Methods of containers that change them."""
KEEPING = frozenset("append appendleft insert setdefault get pop __setitem__".split())
"""Methods that keep what they are given, or give it back, and do not look into it."""
READING = frozenset(
    "sum min max sorted any all iter next repr list tuple set dict frozenset enumerate zip map filter "
    "reversed str print deque accumulate array ascii batched bytearray bytes chain combinations cycle "
    "defaultdict format fromkeys fsum groupby islice join pairwise permutations prod product reduce starmap "
    "tee zip_longest OrderedDict".split()
)
"""Functions and classes that look at all items of the containers they are given; `len` counts them."""
LOOKING = frozenset("keys values items copy index count".split())
"""Methods of a container that is written in Python which look at all of it; others do something else."""
COPYING = frozenset({"list", "tuple", "dict"})
"""Those of them that copy the items of one container in a single operation of the interpreter."""
COPIED = (list, dict, set, frozenset, bytearray)
"""Classes whose copies run no code of the program; of their subclasses nobody knows."""
FIRST_CHANGED = frozenset(
    "heapify heappop heappush heappushpop heapreplace insort insort_left insort_right".split()
)
"""Functions that change the container they are given first."""
BY_NAME = {"getattr": READS, "hasattr": READS, "setattr": WRITES, "delattr": WRITES}
"""Built-in functions that touch an attribute whose name they are given."""
IN_PLACE = 13
"""Binary operators from this one on change their left operand, if it can be changed."""
MADE_IN_PYTHON = 1 << 9
"""The flag of classes whose methods may be code of the program."""
_METHODS = (FunctionType, type(len), type(list.append), classmethod, staticmethod, type)

Access = tuple[Any, Any, int]
"""(object, key, how it is touched)"""


class Site:
    """Stands before one instruction."""

    __slots__ = ("_kind", "_memory", "_more", "_name", "_number")

    def __init__(self, memory: Memory, kind: int, name: str, number: int, more: Any) -> None:
        self._memory = memory
        self._kind = kind
        self._name = name
        self._number = number
        self._more = more

    def __delitem__(self, value: Any) -> None:
        told = value if self._kind == Kind.WRITE_GLOBAL else None
        for access in self._alone(value) if self._number else ():
            self._memory.access(access, self._number, told)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is self or not self._number:
            return  # what a call has returned
        told = value if self._kind in (Kind.WRITE_ATTRIBUTE, Kind.WRITE_CELL) else None
        for access in self._both(key, value):
            self._memory.access(access, self._number, told)

    def __reduce__(self) -> tuple[Any, ...]:
        return Quiet, ()

    def _alone(self, value: Any) -> Iterator[Access]:
        kind = self._kind
        how = WRITES if kind in _WRITING else READS
        if kind in (Kind.READ_GLOBAL, Kind.WRITE_GLOBAL, Kind.DELETE_GLOBAL):
            yield sys._getframe(2).f_globals, self._name, how
        elif kind in (Kind.READ_CELL, Kind.DELETE_CELL):
            yield value, self._name, how
        elif kind in (Kind.READ_ATTRIBUTE, Kind.DELETE_ATTRIBUTE):
            yield from _attribute(value, self._name, how)
        elif kind == Kind.CALL:
            yield from _called(value[0], value[1:])
        elif kind == Kind.CALL_SPREAD:
            for each in value[1:]:
                yield from _all_of(each, READS)
        elif kind == Kind.WRITE_ITEM and type(value) is tuple:
            yield from _stored(value[1], value[2])
        elif kind == Kind.READ_SLICE:
            yield from _all_of(value[0], _copying(value[0]))
        elif kind == Kind.WRITE_SLICE:
            yield from _all_of(value[1], CHANGES)
        elif kind == Kind.TRUTH:
            yield from _extent(value, READS)
        elif kind == Kind.MATCH_CLASS:
            yield from _matched(value[0], value[1], value[2], self._more)
        elif kind in _WHOLLY:
            yield from _all_of(value, READS)

    def _both(self, key: Any, value: Any) -> Iterator[Access]:
        kind = self._kind
        if kind == Kind.WRITE_ATTRIBUTE:
            yield from _attribute(key, self._name, WRITES)
        elif kind == Kind.WRITE_CELL:
            yield key, self._name, WRITES
        elif kind == Kind.READ_ITEM:
            yield from _item(value, key)
        elif kind == Kind.DELETE_ITEM:
            yield from _keyed_change(value, key)
        elif kind == Kind.CONTAINS:
            yield from _looked_up(key, value)
        elif kind == Kind.MATCH_KEYS:
            for each in key:
                yield from _item(value, each)
        elif kind in (Kind.BINARY, Kind.COMPARE):
            yield from _all_of(value, CHANGES if kind == Kind.BINARY and self._more >= IN_PLACE else READS)
            yield from _all_of(key, READS)


_WRITING = frozenset({Kind.WRITE_GLOBAL, Kind.DELETE_GLOBAL, Kind.DELETE_CELL, Kind.DELETE_ATTRIBUTE})
_WHOLLY = frozenset({Kind.ITERATE, Kind.UNPACK, Kind.FORMAT})


class Quiet:
    """A site that came into another process with the code that it stands in: it tells nobody."""

    def __delitem__(self, value: Any) -> None:
        pass

    def __setitem__(self, key: Any, value: Any) -> None:
        pass


def _is_container(thing: Any) -> bool:
    return isinstance(thing, CONTAINERS) or _is_array(type(thing)) or _is_written(type(thing))


def _is_written(kind: type) -> bool:
    """Whether it is a container that the standard library has written in Python, where no sites are."""
    if not kind.__flags__ & MADE_IN_PYTHON or issubclass(kind, dict):
        return False
    found = _of_class(kind, "__setitem__")
    return isinstance(found, FunctionType) and found.__module__.partition(".")[0] in sys.stdlib_module_names


def _is_by_key(thing: Any) -> bool:
    """Whether its items are known by keys; those of a list that is written in Python are not told apart."""
    return isinstance(thing, BY_KEY) or (
        _is_written(type(thing)) and _of_class(type(thing), "keys") is not None
    )


def _is_array(kind: type) -> bool:
    """Of numbers that can be stored one by one, with the interface of numpy's arrays."""
    return _of_class(kind, "__array_interface__") is not None and _of_class(kind, "__setitem__") is not None


def _extent(thing: Any, how: int) -> Iterator[Access]:
    if _is_container(thing):
        yield thing, EXTENT, how


def _all_of(thing: Any, how: int) -> Iterator[Access]:
    if _is_container(thing):
        yield thing, WHOLE, how
        yield thing, EXTENT, how


def _attribute(thing: Any, name: str, how: int) -> Iterator[Access]:
    if isinstance(thing, ModuleType):
        yield vars(thing), name, how
    elif isinstance(thing, type):
        yield thing, name, how
    elif not isinstance(thing, _local) and not _is_proxy(type(thing)):
        found = _of_class(type(thing), name)
        if found is None or isinstance(found, MemberDescriptorType):
            yield thing, name, how
        elif not isinstance(found, _METHODS) and not hasattr(type(found), "__set__"):
            yield thing, name, how
            if how == READS:
                yield type(thing), name, how


def _is_proxy(kind: type) -> bool:
    """Whether attributes are stored by a descriptor, as in proxies: then they are those of another object."""
    return not isinstance(_of_class(kind, "__setattr__"), (WrapperDescriptorType, *_METHODS))


def _of_class(kind: type, name: str) -> Any:
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def _key(thing: Any, key: Any) -> Any:
    """What an item is known by; all of them where code of the program would be run to compare keys."""
    if _is_by_key(thing):
        return (key,) if type(key) in (int, str, bytes, NoneType) else WHOLE
    if _is_written(type(thing)):
        return WHOLE
    has_rows = isinstance(thing, array) or _is_array(type(thing))
    number = _number(key[0] if type(key) is tuple and key and has_rows else key)
    if number is not None:
        return (number + len(thing) if number < 0 else number,)
    return (key,) if type(key) in (str, bytes, NoneType) and not has_rows else WHOLE


def _number(key: Any) -> int | None:
    """The number of an item, or of the row of an array that has it: two rows have no item in common."""
    kind = type(key)
    if kind is int:
        return int(key)
    if kind is bool or kind.__flags__ & MADE_IN_PYTHON or not hasattr(kind, "__index__"):
        return None
    try:
        return index(key)
    except TypeError:
        return None


def _is_variable(thing: Any, key: Any) -> bool:
    """Whether the item is a variable of the module whose code runs: `globals()["x"]`."""
    return type(key) is str and thing is _variables()


def _variables() -> Any:
    frame: Any = sys._getframe(1)
    while frame.f_globals is globals():
        frame = frame.f_back
    return frame.f_globals


def _item(thing: Any, key: Any) -> Iterator[Access]:
    if _is_variable(thing, key):
        yield thing, key, READS
    elif _is_container(thing):
        if type(key) is int and key < 0 and not _is_by_key(thing):
            yield thing, EXTENT, READS
        if _makes_missing(thing, key):
            yield from _stored(thing, key)
        else:
            yield thing, _key(thing, key), _copying(thing) if type(key) is slice else READS


def _makes_missing(thing: Any, key: Any) -> bool:
    """Whether code of the program is called to make the item, in the middle of which others may come."""
    if type(thing) is not defaultdict or type(key) not in (int, str, bytes, NoneType) or key in thing:
        return False
    make = thing.default_factory
    return isinstance(make, FunctionType | MethodType)


def _stored(thing: Any, key: Any) -> Iterator[Access]:
    if _is_variable(thing, key):
        yield thing, key, WRITES
    elif _is_container(thing):
        found = _key(thing, key)
        yield thing, found, WRITES
        is_new = isinstance(thing, dict) and (found == WHOLE or not dict.__contains__(thing, key))
        if is_new or _is_written(type(thing)):
            yield thing, EXTENT, CHANGES


def _keyed_change(thing: Any, key: Any) -> Iterator[Access]:
    if _is_variable(thing, key):
        yield thing, key, WRITES
    elif _is_container(thing):
        how = WRITES if _is_written(type(thing)) else CHANGES
        yield thing, _key(thing, key) if _is_by_key(thing) else WHOLE, how
        yield thing, EXTENT, CHANGES


def _looked_up(thing: Any, key: Any) -> Iterator[Access]:
    if _is_variable(thing, key):
        yield thing, key, READS
    elif _is_by_key(thing):
        yield thing, _key(thing, key), READS
    else:
        yield from _all_of(thing, READS)


def _matched(subject: Any, kind: Any, names: tuple[str, ...], count: int) -> Iterator[Access]:
    """`case kind(...)`: the attributes that are compared, so many of them by their place."""
    by_place = getattr(kind, "__match_args__", ()) if isinstance(kind, type) and count else ()
    for name in (*by_place[:count], *names):
        yield from _attribute(subject, name, READS)


def _called(function: Any, arguments: tuple[Any, ...]) -> Iterator[Access]:
    is_in_c = type(function) is type(len)
    owner = getattr(function, "__self__", None) if is_in_c or type(function) is MethodType else None
    if _is_container(owner) and (is_in_c or _is_written(type(owner))):
        yield from _method(owner, function.__name__, arguments)
        for each in () if function.__name__ in KEEPING else arguments:
            yield from _all_of(each, READS)
    elif is_in_c or isinstance(function, type):
        yield from _given(function.__name__, owner, arguments)


def _given(name: str, owner: Any, arguments: tuple[Any, ...]) -> Iterator[Access]:
    """What a function in C, or a class, does with what it is given."""
    if owner is builtins and name in BY_NAME and len(arguments) > 1 and type(arguments[1]) is str:
        yield from _attribute(arguments[0], arguments[1], BY_NAME[name])
    for each in arguments[:1] if name in FIRST_CHANGED else ():
        yield from _all_of(each, CHANGES)
    is_copy = name in COPYING and len(arguments) == 1
    for each in arguments if name in READING else ():
        yield from _all_of(each, _copying(each) if is_copy else READS)
    for each in arguments if name == "len" else ():
        yield from _extent(each, READS)


def _copying(thing: Any) -> int:
    """How a copy of all items reads them."""
    return COPIES if type(thing) in COPIED else READS


def _method(thing: Any, name: str, arguments: tuple[Any, ...]) -> Iterator[Access]:
    by_key = _is_by_key(thing) and arguments
    if by_key and name in KEYED_CHANGES:
        yield from _keyed_change(thing, arguments[0])
    elif by_key and name in KEYED_READS:
        yield thing, _key(thing, arguments[0]), READS
    elif _is_written(type(thing)):
        if name in CHANGING or name in LOOKING:
            yield from _all_of(thing, WRITES if name in CHANGING else READS)
    elif name == "append" or (name == "pop" and isinstance(thing, list) and not arguments):
        yield thing, (len(thing) - (name == "pop"),), CHANGES
        yield thing, EXTENT, CHANGES
    else:
        reads = _copying(thing) if name == "copy" else READS
        yield from _all_of(thing, CHANGES if name in CHANGING else reads)


class Memory:
    """Where sites tell their accesses, and where new sites come from."""

    def __init__(self, shadow: Shadow, sequence: Callable[[], int], own: list[Any]) -> None:
        self._shadow = shadow
        self._own = own
        """The log's list, which other sites append to."""
        self._sequence = sequence
        self._kept: dict[int, Any] = {}
        """Objects that were touched: they stay alive, so that an identity means one object for ever."""
        self.value: Any = None
        """What the present access writes."""

    def site(self, kind: int, name: str, number: int, more: Any) -> Site:
        """A site of that kind, told as the place of that number."""
        is_builtin = kind == Kind.READ_GLOBAL and hasattr(builtins, name)
        return Site(self, Kind.UNKNOWN if is_builtin else kind, name, number, more)

    def access(self, access: Access, number: int, value: Any) -> None:
        thing, key, how = access
        if thing is self._own:
            return
        self._kept.setdefault(id(thing), thing)
        self.value = value
        self._shadow.access(thing, key, Touch(port.me(), 0, number, self._sequence(), how))

    def forget_all(self) -> None:
        self._shadow.forget_all()
        self._kept.clear()
