"""Names of the program's own objects, which do not depend on the schedule.

An object is named by the task that made it and a counter of that task, when instrumented code makes it or
first stores into it, or while only one task runs. An object that several tasks may have been the first to
touch (a library made it) is named by its type alone: all such objects of a type are then one thing. That is
coarse, but it never takes two names for one thing or misses that two tasks meet.

Naming an object does not keep it: it lives as long as it does without us. What can be referred to weakly is;
of built-in containers the end is heard of where the kernel `_lifetimes` is there, else they are kept.

An object of a library (a file, an iterator, a parser) is opaque: what its methods do to it is not seen, so it
is one thing, and whatever is done with it changes it, except where it is known only to be looked at.

A family is what a thing is in the source: an attribute of a class, the items of containers made at one line,
a global variable, a variable of an enclosing function. Whether accesses are choice points is decided for
families.
"""

from __future__ import annotations

import gc
import io
import re
import sys
import threading
import types
import weakref
from abc import ABCMeta
from array import array
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from possibly.compiled import built
from possibly.control.execution import new_tuple
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import is_instrumented
from possibly.probes import port

_lifetimes: Any = built("possibly.control.runtime._lifetimes")
METHOD_IN_C: type = type(re.compile("").match)
"""What is a `types.BuiltinFunctionType` too, for methods that know the class they are of."""
CONTAINERS = (list, dict, set, deque, bytearray, array)
IGNORED, CONTAINER, INSTANCE, CLASS, MODULE, OPAQUE, LIBRARY = range(7)
"""What a value is to us; LIBRARY is a module that is not the user's."""
SIMPLE_TYPES = frozenset(
    {
        bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, type(None), type(...), object,
        property, classmethod, staticmethod, super, type(NotImplemented), types.BuiltinFunctionType,
        METHOD_IN_C, types.MethodType, types.MethodWrapperType, types.WrapperDescriptorType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
        types.CodeType, types.FrameType, types.TracebackType, types.CellType, types.CoroutineType,
        types.AsyncGeneratorType, types.GenericAlias, types.UnionType, type({}.keys()), type({}.values()),
        type({}.items()), types.MappingProxyType, memoryview, *weakref.ProxyTypes, weakref.ReferenceType,
    }
)  # fmt: skip
"""Values that do not change, or through which only others are seen."""
PLAIN_CLASSES = frozenset({type, ABCMeta})
"""Classes of classes that have no say in what these hold."""
SIMPLE_MODULES = frozenset(
    "_asyncio _queue _thread asyncio concurrent datetime enum fractions ipaddress logging numbers operator "
    "pathlib possibly queue re threading typing uuid".split()
)
"""Modules whose objects do not change, or are modelled, or belong to one task each."""
SIMPLE_CLASSES = frozenset(
    {
        ("_contextvars", "ContextVar"), ("_contextvars", "Token"), ("decimal", "Decimal"),
        ("decimal", "DecimalTuple"), ("inspect", "Signature"), ("inspect", "Parameter"),
        ("functools", "cached_property"), ("functools", "partialmethod"),
        ("functools", "singledispatchmethod"), ("functools", "_lru_cache_wrapper"), ("string", "Template"),
        ("string", "Formatter"),
    }
)  # fmt: skip
"""Of other modules, the classes of which that is true: (module, name)."""


class Named(NamedTuple):
    """An object's name and family."""

    name: str
    family: str
    which: int | None = None
    """Of objects that share one name, which one it is in this execution. Not its address, which another
    object gets that a task makes when this one has ended: these two do not meet."""
    shown: str = ""
    """What users call it unless a global variable holds it: `Account#2`."""


class Things:
    """The objects of one execution."""

    def __init__(self) -> None:
        self._known: dict[int, Named] = {}
        self.holds = False
        """Containers are kept, so that what they hold can be told by their names."""
        self.held: dict[str, Any] = {}
        self._ends: dict[int, Any] = {}
        """Weak references that forget a name with its object, or the object where there can be none."""
        self._kinds: dict[type, int] = {}
        self._counts: dict[str, int] = {}
        self._inexact = 0
        self.sources: dict[int, list[Any]] = {}
        """What a library's object was made from: it may look at that whenever it is used."""
        self._borrowers: dict[int, Any] = {}
        self.watched: set[int] = set()
        """Objects, by their addresses, whose end matters to others."""
        self.ended: Callable[[int], None] | None = None
        """Told when one of these ends."""
        self.meets: Callable[[type], object] | None = None
        """Told of each class of objects that are touched."""
        if _lifetimes is not None:
            _lifetimes.tell(self.forget)

    def kind(self, value: Any) -> int:
        cls = type(value)
        found = self._kinds.get(cls)
        if found is None:
            found = self._kinds[cls] = _kind(cls)
            if self.meets is not None:
                self.meets(cls)
        if found == OPAQUE and (value is sys.stdout or value is sys.stderr) and not _is_kept(value):
            return IGNORED  # nobody reads what goes there
        if found == MODULE:
            return MODULE if is_user_module(value) else LIBRARY
        if found == CLASS:
            return CLASS if is_user_class(value) else IGNORED
        return found

    def made(self, value: Any, kernel: Kernel, at: str) -> Named:
        """Names an object that the running task has just made."""
        found = self._known.get(id(value))
        if found is None:
            task = kernel.running()
            task.objects += 1
            family = f"{type(value).__name__}@{at}" if self.kind(value) == CONTAINER else class_name(value)
            kind = type(value).__name__
            count = self._counts[kind] = self._counts.get(kind, 0) + 1
            name = f"{task.name}:{task.objects}"
            found = self._keep(value, new_tuple(Named, (name, family, None, f"{kind}#{count}")))
        return found

    def named(self, value: Any, kernel: Kernel, at: str) -> Named:
        """The name of an object that is touched."""
        found = self._known.get(id(value))
        if found is not None:
            return found
        if kernel.alone:
            return self.made(value, kernel, at)
        if is_a(value, type):
            name = f"{module_of(value)}.{value.__qualname__}"
            found = Named(name, name)
        elif is_a(value, types.ModuleType):
            found = Named(value.__name__, value.__name__)
        else:
            kind = f"~{type(value).__name__}"
            self._inexact += 1
            found = Named(kind, kind, self._inexact)
        return self._keep(value, found)

    def call(self, value: Any, named: Named) -> None:
        """The object has this name from now on."""
        self._keep(value, named)

    def _keep(self, value: Any, named: Named) -> Named:
        number = id(value)
        self._known[number] = named
        if self.holds and is_a(value, CONTAINERS):
            self.held[named.name] = value
        try:
            self._ends[number] = weakref.ref(value, _Forget(self, number))
        except TypeError:
            if _lifetimes is None or not _lifetimes.track(value):
                self._ends[number] = value
        return named

    def forget(self, number: int) -> None:
        """The object has ended; its number may become another one's."""
        self._known.pop(number, None)
        self._ends.pop(number, None)
        self.sources.pop(number, None)
        if number in self.watched:
            self.watched.discard(number)
            if self.ended is not None:
                self.ended(number)

    def let_go(self) -> None:
        """Nobody asks any more: what knows of objects ends without a collector."""
        self.ended = None
        for each in (self._ends, self._known, self._borrowers, self.sources, self.held):
            each.clear()

    def watch_end(self, value: Any, first: bool = False) -> bool:
        """Tells of the end of this object, before others who hear of it; False if that cannot be heard of."""
        number = id(value)
        if number in self.watched and not first:
            return True
        try:
            self._ends[number] = weakref.ref(value, _Forget(self, number))
        except TypeError:
            if _lifetimes is None or not _lifetimes.track(value):
                return False
        self.watched.add(number)
        return True

    def borrow(self, value: Any, borrowed: dict[int, Any]) -> None:
        """The object has a dictionary from elsewhere; that is forgotten with it."""
        number = id(value)
        try:
            self._borrowers[number] = weakref.ref(value, lambda _: borrowed.pop(number, None))
        except TypeError:
            self._borrowers[number] = value

    def known(self, value: Any) -> Named | None:
        return self._known.get(id(value))

    def at(self, address: int) -> Named | None:
        """The name of the object there, if it has one."""
        return self._known.get(address)


class _Forget:
    """What a weak reference calls when its object has ended."""

    def __init__(self, things: Things, number: int) -> None:
        self._things, self._number = things, number

    def __call__(self, _: Any) -> None:
        self._things.forget(self._number)


def _is_kept(stream: Any) -> bool:
    """Whether a program has put a stream there that keeps what is written, so that it can read that."""
    if type(stream) is io.TextIOWrapper:
        return type(stream.buffer) is io.BytesIO
    return type(stream) is io.StringIO


def _kind(cls: type) -> int:
    if issubclass(cls, CONTAINERS):
        return CONTAINER
    if issubclass(cls, types.ModuleType):
        return MODULE
    if issubclass(cls, type):
        return CLASS
    if issubclass(cls, threading.Thread):
        return INSTANCE
    if issubclass(cls, threading.local):
        return IGNORED  # every thread has its own
    if cls is types.SimpleNamespace or cls is types.FunctionType or (is_user_class(cls) and may_hold(cls)):
        return INSTANCE
    return IGNORED if _is_simple(cls) else OPAQUE


def may_hold(cls: type) -> bool:
    """Whether objects of the class have attributes of their own: a dictionary or slots.

    The dictionary of a `threading.local` is each thread's own, its slots are not.
    """
    has_dictionary = cls.__dictoffset__ != 0 and not issubclass(cls, threading.local)
    return has_dictionary or any("__slots__" in base.__dict__ for base in cls.__mro__[:-1])


def _is_simple(cls: type) -> bool:
    if getattr(cls, "possibly_changes", False):  # a class of ours whose objects the program changes
        return False
    module = module_of(cls)
    if (module, cls.__name__) in SIMPLE_CLASSES:
        return True
    if issubclass(cls, Enum):  # a member of one of a library: whoever stores into it tells of that
        return True
    return cls in SIMPLE_TYPES or module.partition(".")[0] in SIMPLE_MODULES


def in_c(cls: type) -> type | None:
    """The class in C by which objects of this one keep what no attribute shows; None: there is none."""
    if cls not in _in_c:
        _in_c[cls] = next((base for base in cls.__mro__ if base not in _BARE and _is_in_c(base)), None)
    return _in_c[cls]


_in_c: dict[type, type | None] = {}
_BARE = frozenset({object, types.SimpleNamespace, types.FunctionType, threading.local})
"""Classes in C all of whose state is in attributes, or each task's own."""


def _is_in_c(cls: type) -> bool:
    """Whether no class statement has made it: it has methods, or a maker, in C."""
    if not cls.__flags__ & _MADE_LATER:
        return True
    return any(
        type(held) in _METHODS or (name == "__new__" and type(held) in _FUNCTIONS)
        for name, held in vars(cls).items()
    )


_MADE_LATER = 1 << 9
_METHODS = (types.MethodDescriptorType, types.ClassMethodDescriptorType, types.WrapperDescriptorType)
_FUNCTIONS = (types.BuiltinFunctionType, METHOD_IN_C)


def linked(value: Any) -> list[Any]:
    """The objects that one in C holds and that change: whatever it does may look at them, or change them."""
    cls = type(value)
    if in_c(cls) is None or cls in CODE:
        return []
    if cls.__flags__ & _COLLECTED:
        held: list[Any] = gc.get_referents(value)
    else:  # it may show the memory of another, as views of arrays do, and does not say so to the collector
        held = [value.base] if class_has(cls, "base") else []
    own = dictionary_of(value)
    if own is not None:  # what is stored there tells of itself
        mine = set(map(id, own.values()))
        held = [each for each in held if each is not own and id(each) not in mine]
    return [each for each in map(_behind_view, _opened(held)) if _kind(type(each)) in (CONTAINER, OPAQUE)]


def _opened(held: list[Any]) -> list[Any]:
    """With what tuples and dictionaries among these hold."""
    found = list(held)
    for each in held:
        if type(each) is tuple:
            found += each
        elif type(each) is dict and len(each) < MOST_OPENED:
            found += each.values()
    return found


MOST_OPENED = 100


def _behind_view(value: Any) -> Any:
    try:
        return value.obj if type(value) is memoryview else value
    except ValueError:  # it is released
        return None


_COLLECTED = 1 << 14
"""The flag of types whose objects tell the collector what they hold."""
CODE = frozenset({types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType})
"""What holds code of the program, which tells of itself."""


def keeper(cls: type) -> str:
    """The package whose objects of this class may hold others without saying so; empty for all others.

    Objects in C that the collector does not ask may still lead to each other: all of a package are one thing.
    """
    found = _keepers.get(cls)
    if found is None:
        base = in_c(cls)
        found = _keepers[cls] = "" if base is None else _keeper(base)
    return found


def _keeper(base: type) -> str:
    root = module_of(base).partition(".")[0]
    is_silent = not base.__flags__ & _COLLECTED and not class_has(base, "__array_interface__")
    if is_silent and root not in sys.stdlib_module_names:
        return root
    return next((_IN_PIECES[each.__name__] for each in base.__mro__ if each.__name__ in _IN_PIECES), "")


_keepers: dict[type, str] = {}
_IN_PIECES = {"SignalDictMixin": "decimal", "Context": "decimal"}
"""Classes of the standard library of which one shows what belongs to the other."""


def is_a(value: Any, kinds: Any) -> bool:
    """As `isinstance`, which asks an object for its `__class__`: no code of the program runs."""
    return issubclass(type(value), kinds)


def class_has(cls: type, name: str) -> bool:
    """Whether objects of the class have a method of that name: no code of a metaclass runs."""
    return any(name in base.__dict__ for base in order_of(cls))


def dictionary_of(value: Any) -> Any:
    """The attributes of an object as a dictionary, or None: no code of the program runs."""
    try:
        return object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return None


def order_of(cls: Any) -> tuple[type, ...]:
    """The classes that are looked at for an attribute of a class: none while these are being found."""
    found: Any = cls.__mro__
    return found if found is not None else ()


def module_of(cls: type) -> str:
    """The name of the module of a class, which may have put anything in its place."""
    found: Any = getattr(cls, "__module__", None)
    return found if isinstance(found, str) else ""


followed_classes: set[type] = set()
"""Classes of the standard library whose code is instrumented (`library`)."""


def is_own(function: Any) -> bool:
    """Whether a function tells of itself: it is the program's, or instrumented."""
    if type(function) is types.MethodType:
        function = function.__func__
    if type(function) is not types.FunctionType:  # what compilers make shows code that is never executed
        return False
    code = function.__code__
    found = _own.get(code)
    if found is None:
        file = code.co_filename
        is_made = file.startswith("<")  # by a library perhaps, as the methods of a dataclass are
        found = _own[code] = (port.is_user_file(file) and not is_made) or is_instrumented(code)
    return found


_own: dict[types.CodeType, bool] = {}


def is_user_class(cls: type) -> bool:
    if cls in followed_classes:
        return True
    module = sys.modules.get(module_of(cls))
    return module is not None and is_user_module(module)


def is_user_module(module: Any) -> bool:
    file = (dictionary_of(module) or {}).get("__file__")  # it may find attributes by code of the program
    return type(file) is str and port.is_user_file(file)


def class_name(value: Any) -> str:
    cls = type(value)
    if is_a(value, type):
        return f"{module_of(value)}.{value.__qualname__}"
    module = module_of(cls)
    return cls.__qualname__ if module == "__main__" else f"{module}.{cls.__qualname__}"


def label_of(thing: str, labels: dict[str, str]) -> str:
    """What users call a thing; an item by its container."""
    if thing in labels:
        return labels[thing]
    base, bracket, rest = thing.partition("[")
    if not bracket or base not in labels:
        return ""
    return labels[base] if rest in ("]", "*]") else f"{labels[base]}[{rest}"
