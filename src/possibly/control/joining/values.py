"""Values by their content: the same words for what a program cannot tell apart, other words for all else.

Law: two states whose values are told in the same words go on alike. Whatever may change is told once, by its
content, and is a number from then on: so who shares it with whom is in the words too, and where it lies in
memory is not. The order in which a container is gone through is part of its content. Numbers, strings and
other values that never change are told by what they are; whether two equal ones are one object is not told
(the language does not say it either). What hides its state is `Unreadable`, and the state that holds it is
then not told at all.

Things that the search has a name for are told with it: equal states give their things the same names.
"""

from __future__ import annotations

import dataclasses
import enum
import queue
import threading
import weakref
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from re import Pattern
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any
from uuid import UUID

from possibly.control.execution import Access, Operation
from possibly.control.joining.codes import identity
from possibly.control.joining.compared import NEVER, Numbers, is_of_numbers
from possibly.control.joining.frames import EMPTY, Held, Unreadable, places, variables
from possibly.control.joining.unseen import Unseen, shape_of
from possibly.control.models.conditions import _PlainBarrier as _Barrier
from possibly.control.models.locks import Lock, RLock
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.sites import Site
from possibly.control.runtime.spin import Container, Kept
from possibly.control.runtime.task import Task
from possibly.control.runtime.things import Things, is_user_class, module_of
from possibly.probes.instructions.table import Kind

SCALARS = frozenset({int, bool, str, bytes, type(None), type(...), type(NotImplemented)})
BY_TEXT = frozenset(
    {float, complex, range, Decimal, Fraction, UUID, date, datetime, time, timedelta, timezone}
)
_ITERABLES: tuple[Any, ...] = ([], (), range(0), range(1 << 70), "")
ITERATORS: tuple[type, ...] = (*(type(iter(each)) for each in _ITERABLES), enumerate)
"""They tell where they are without being moved."""
DICTIONARIES = frozenset({dict, OrderedDict, Counter, defaultdict})
TUPLES = frozenset({tuple, Access, Operation})
LISTS = frozenset({list, deque})
SETS = frozenset({set, frozenset})
THREAD = frozenset(
    {*vars(threading.Thread(name="any")), "_possibly_task", "_tstate_lock", "_native_id", "_handle"}
)
"""What every thread has; subclasses may have more. (One without a name would take `Thread-1`.)"""
DESCRIBED = frozenset(
    {
        "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__slots__",
        "__match_args__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__dataclass_params__",
        "__parameters__", "__orig_bases__",
    }
)  # fmt: skip
"""Of a class: what says how it was written and not what it does."""
COSMETIC = frozenset({"taken_at", "last_notify", "last_set", "holders", "family", "known"})
"""Attributes of models that only reports show."""
LOGGERS = ("Logger", "RootLogger")
NOTHING_UNSEEN = Unseen()
NOTHING_COMPARED = Numbers()
_KEPT: dict[int, tuple[int, ...]] = {
    Kind.WRITE_GLOBAL: (-3, -1), Kind.WRITE_CELL: (-4, -3), Kind.WRITE_ATTRIBUTE: (-5, -3),
    Kind.WRITE_ITEM: (-5, -1),
}  # fmt: skip
"""Where a number that is about to be kept lies on the stack, from its end (`probes.instructions`)."""
MOST = 20_000
"""Words of a state that is still told."""


class Words:
    """Says a state word by word."""

    def __init__(
        self,
        kernel: Kernel,
        things: Things,
        unseen: Unseen = NOTHING_UNSEEN,
        compared: Numbers = NOTHING_COMPARED,
        files: frozenset[str] = frozenset(),
    ) -> None:
        """`files`: of the program, which say what is unseen and compared."""
        self.said: list[Any] = []
        self._unseen, self._cuts, self._files = unseen, compared.cuts, files
        self._kernel, self._things = kernel, things
        self._cut_of: dict[int, int] = {}
        """Of containers of numbers, by their addresses."""
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        """What has a number lives: its address is nobody else's meanwhile."""

    def say(self, value: Any) -> None:
        cls = type(value)
        if cls in SCALARS:
            self._say_scalar(value, cls)
            return
        if len(self.said) > MOST:
            raise Unreadable("too much to read")
        if cls in TUPLES:
            self.all("tuple", value)
            return
        number = self._numbers.get(id(value))
        if number is not None:
            self.said += ("again", number)
            return
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        how = _WAYS.get(cls)
        if how is not None:
            how(self, value)
        else:
            self._say_other(value, cls)

    def variable(self, name: str, value: Any) -> None:
        """What a variable or an attribute of that name holds, as far as the program can see it."""
        cut = self._cuts.get(name)
        if cut is not None and self._is_said_up_to(cut, value):
            return
        is_unread, is_unordered = name in self._unseen.unread, name in self._unseen.unordered
        is_first = type(value) is list and id(value) not in self._numbers
        if (is_unread or is_unordered) and is_first and self._is_said_unseen(value, is_unread):
            return
        self.say(value)

    def _is_said_up_to(self, cut: int, value: Any) -> bool:
        """Says numbers that are larger than what they are compared with as if they were one."""
        if type(value) is int and value > cut:
            self.said.append("more")
            return True
        if id(value) in self._numbers or not is_of_numbers(value):
            return False
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self._named(value)
        self._cut_of[id(value)] = cut
        self.said += ("numbers", len(value))
        for key, each in value.items() if type(value) is dict else enumerate(value):
            self.say(key)
            self.said.append(min(each, cut + 1))
        return True

    def _is_said_unseen(self, value: list[Any], is_unread: bool) -> bool:
        """Says a list without its items or their order, if these are such that this cannot be seen."""
        shapes = {shape_of(each) for each in value}
        if None in shapes or (len(shapes) > 1 and not is_unread):
            return False
        self._numbers[id(value)] = len(self._numbers)
        self._kept.append(value)
        self._named(value)
        self.said.append("unread" if is_unread else "unordered")
        if not is_unread:
            self.all(repr(shapes), sorted(value, key=repr))
        return True

    def name_of(self, thing: Any) -> str | None:
        """A name for what `memory` may know by its address; None if it was not said: nobody can reach it."""
        if isinstance(thing, str):
            return thing
        number = self._numbers.get(thing[0])
        return None if number is None else f"{number} {thing[1]}"

    def _say_scalar(self, value: Any, cls: type) -> None:
        if value is None or cls is int:
            self.said.append(value)
        elif cls is str:  # so that none is taken for a word of ours
            self.said += ("str", value)
        else:
            self.said += (cls.__name__, value if cls in (bool, bytes) else 0)

    def all(self, what: str, values: Iterable[Any]) -> None:
        values = tuple(values)
        self.said += (what, len(values))
        for each in values:
            self.say(each)

    def mark(self, value: Any) -> None:
        """What a task remembers of a value without keeping it (`runtime.spin`)."""
        if isinstance(value, Container):
            self.said += ("container", self._numbers.get(value.number, -1), len(value.held))
            for each in value.held:
                self.mark(each)
        elif isinstance(value, Kept):
            self.say(value.value)
        elif type(value) is weakref.ref:
            held = value()
            self.said.append("ended" if held is None else "alive")
            self.say(held)
        else:
            self.say(value)

    def frame(self, held: Held) -> None:
        code = held.code
        self.said += ("frame", code.co_filename, code.co_firstlineno, code.co_name, identity(code))
        self.said += (held.at, len(held.values))
        names = variables(code)
        is_own = code.co_filename in self._files
        for name, each in zip(names, held.values, strict=False):
            if is_own:
                self.variable(name, each)
            else:
                self.say(each)
        stack = held.values[len(names) :]
        kept, cut = self._about_to_be_kept(stack) if is_own else ((), NEVER)
        for number, each in enumerate(stack):
            if number - len(stack) not in kept:
                self.say(each)
            elif type(each) is tuple:  # (new value, container, key)
                self.said += ("keeps", min(each[0], cut + 1))
                self.all("in", each[1:])
            elif not self._is_said_up_to(cut, each):
                self.say(each)

    def _about_to_be_kept(self, stack: tuple[Any, ...]) -> tuple[tuple[int, ...], int]:
        """Where on its stack a frame that is about to keep a number holds it, and its cut."""
        site = stack[-2] if len(stack) > 2 else None
        if type(site) is not Site:
            return (), NEVER
        places = _KEPT.get(site.kind, ())
        if site.kind == Kind.WRITE_ITEM:
            cut = self._cut_of.get(id(stack[-4])) if type(stack[-5]) is int else None
        else:
            cut = self._cuts.get(site.word)
        return ((), NEVER) if cut is None else (places, cut)

    # ---- kinds of values --------------------------------------------------------------------------

    def _named(self, value: Any) -> None:
        named = self._things.known(value)
        if named is not None:
            self.said += ("named", named.name)

    def _text(self, value: Any) -> None:
        self.said += (type(value).__name__, repr(value))

    def _pattern(self, value: Any) -> None:
        self.said += ("pattern", repr(value.pattern), value.flags)

    def _list(self, value: Any) -> None:
        self._named(value)
        self.all(type(value).__name__, value)
        if type(value) is deque:
            self.said.append(value.maxlen)

    def _dict(self, value: Any) -> None:
        self._named(value)
        self.said += (type(value).__name__, len(value))
        if type(value) is defaultdict:
            self.say(value.default_factory)
        for key, each in type(value).items(value):  # an ordered one has an order of its own
            self.say(key)
            self.say(each)

    def _set(self, value: Any) -> None:
        """In the order in which it is gone through."""
        self._named(value)
        self._places(value)
        self.all(type(value).__name__, value)

    def _places(self, value: Any) -> None:
        """Of a set: where its items lie decides in which order it is gone through when others come."""
        if not all(type(each) in SCALARS for each in value):
            raise Unreadable("a set of objects")
        if places is None:
            raise Unreadable("a set")
        self.said += places(value)

    def _bytes(self, value: Any) -> None:
        self._named(value)
        self.said += (type(value).__name__, bytes(value), getattr(value, "typecode", ""))

    def _slice(self, value: Any) -> None:
        self.all("slice", (value.start, value.stop, value.step))

    def _iterator(self, value: Any) -> None:
        self.said.append(type(value).__name__)
        told = value.__reduce__()
        self.all("iterator", (*told[1], *told[2:]))

    def _function(self, value: Any) -> None:
        code = value.__code__
        self.said += ("function", value.__module__, value.__qualname__, code.co_firstlineno, identity(code))
        parts = (value.__defaults__, value.__kwdefaults__, value.__closure__, value.__dict__ or None)
        if parts != (None, None, None, None):
            self.all("with", parts)

    def _builtin(self, value: Any) -> None:
        owner = value.__self__
        self.said += ("builtin", value.__module__, value.__qualname__)
        if not isinstance(owner, ModuleType):
            self.say(owner)

    def _descriptor(self, value: Any) -> None:
        self.said += ("descriptor", module_of(value.__objclass__), value.__qualname__)

    def _wrapper(self, value: Any) -> None:
        self.said += ("wrapper", value.__name__)
        self.say(value.__self__)

    def _partial(self, value: Any) -> None:
        self.all("partial", (value.func, value.args, value.keywords, vars(value) or None))

    def _getter(self, value: Any) -> None:
        """Of a field of a named tuple."""
        self.all("getter", value.__reduce__()[1])

    def _method(self, value: Any) -> None:
        self.all("method", (value.__func__, value.__self__))

    def _cell(self, value: Any) -> None:
        self.said.append("cell")
        try:
            self.say(value.cell_contents)
        except ValueError:
            self.said.append("empty")

    def _module(self, value: Any) -> None:
        self.said += ("module", value.__name__)

    def _object(self, value: Any) -> None:
        self.said.append("nothing" if value is EMPTY else "object")

    def _task(self, value: Any) -> None:
        self.said += ("task", value.name)

    def _own(self, value: Any) -> None:
        self.said.append("kernel")

    def _namespace(self, value: Any) -> None:
        self._named(value)
        self.say(vars(value))

    def _say_other(self, value: Any, cls: type) -> None:
        if isinstance(value, type):
            self._class(value)
        elif isinstance(value, enum.Enum):
            self._member(value, cls)
        elif isinstance(value, threading.Thread):
            self._thread(value, cls)
        elif cls.__module__ == "logging" and cls.__name__ in LOGGERS:
            self.said += ("logger", value.name)  # all of them are told (`surroundings`)
        elif cls is property:
            self.all("property", (value.fget, value.fset, value.fdel))
        elif cls is staticmethod or cls is classmethod:
            self.all(cls.__name__, (value.__func__,))
        elif cls in BASES or is_user_class(cls) or _is_model(cls):
            self._instance(value, cls)
        else:
            raise Unreadable(f"{module_of(cls)}.{cls.__qualname__}")

    def _class(self, value: Any) -> None:
        self.said += ("class", module_of(value), value.__qualname__)
        if not is_user_class(value):
            return
        self.all("bases", (type(value), *value.__bases__))
        told = [(name, each) for name, each in vars(value).items() if name not in DESCRIBED]
        self.attributes([(name, each) for name, each in told if not _is_slot(each)])

    def _member(self, value: Any, cls: Any) -> None:
        """Of an enumeration; like any object it may have attributes that change."""
        self.said += ("member", module_of(cls), cls.__qualname__, value._name_)
        if is_user_class(cls):
            self.say(cls)
            told = vars(value).items()
            self.attributes([(name, each) for name, each in told if name != "__objclass__"])

    def attributes(self, told: list[tuple[str, Any]], is_own: bool = False) -> None:
        """`is_own`: nobody looks at them but the program, whose source says what it can see."""
        self.said.append(len(told))
        for name, each in told:
            self.said.append(name)
            if is_own:
                self.variable(name, each)
            else:
                self.say(each)

    def _thread(self, value: Any, cls: type) -> None:
        told = vars(value)
        self.said += ("thread", module_of(cls), cls.__qualname__, value._name, value._daemonic)
        self._named(value)
        self.say(told.get("_possibly_task"))
        self.all("runs", (told.get("_target"), told.get("_args"), told.get("_kwargs")))
        if is_user_class(cls):
            self.say(cls)
        self.attributes([(name, each) for name, each in told.items() if name not in THREAD])

    def _instance(self, value: Any, cls: type) -> None:
        self._named(value)
        self.said += ("instance", module_of(cls), cls.__qualname__)
        if is_user_class(cls):
            self.say(cls)
        for base in cls.__mro__[:-1]:
            if not (is_user_class(base) or _is_model(base)):
                self._base(value, base)
            for name, slot in _slots_of(base):
                self.said.append(name)
                self.say(_in_slot(slot, value))
        told = getattr(value, "__dict__", {}).items()
        self.attributes([(name, each) for name, each in told if name not in COSMETIC], _is_own(cls))

    def _base(self, value: Any, base: type) -> None:
        """What an object has from a class that is not the user's."""
        if base is BaseException:
            causes = (value.__cause__, value.__context__, value.__suppress_context__)
            self.all("exception", (value.args, *causes))
        if base in BASES:
            return
        if base not in (list, dict, set, deque, tuple):
            raise Unreadable(f"a kind of {base.__qualname__}")
        if base is set:
            self._places(value)
        self.all("items", base.__iter__(value))
        if base is deque:
            self.say(value.maxlen)
        if base is dict:
            self.all("values", dict.values(value))


def _is_own(cls: type) -> bool:
    """Whether no code but the program's knows of the attributes of its instances."""
    return all(base is object or is_user_class(base) for base in cls.__mro__)


def _slots_of(cls: type) -> list[tuple[str, Any]]:
    """The slots that a class itself has, whatever they are called in its source."""
    if not cls.__dict__.get("__slots__"):
        return []
    return [(name, each) for name, each in vars(cls).items() if type(each) is MemberDescriptorType]


def _in_slot(slot: Any, value: Any) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:
        return EMPTY


def _is_slot(value: Any) -> bool:
    return type(value).__name__ in ("member_descriptor", "getset_descriptor")


def _is_model(cls: type) -> bool:
    """Also where a model says that it comes from where what it models does."""
    return cls in (Lock, RLock) or module_of(cls).startswith(_MODELS)


_MODELS = ("possibly.control.models.", "possibly.control.runtime.")
EXCEPTIONS = frozenset(
    {
        BaseException, Exception, ArithmeticError, AssertionError, IndexError, KeyError, LookupError,
        NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError, ZeroDivisionError,
        queue.Empty, queue.Full, threading.BrokenBarrierError,
    }
)  # fmt: skip
"""Those that know nothing but their arguments."""
_MARKS = (type(dataclasses.MISSING), type(vars(dataclasses)["_HAS_DEFAULT_FACTORY"]))
BASES = EXCEPTIONS | {object, _Barrier, queue.Queue, queue.LifoQueue, queue.PriorityQueue, *_MARKS}
"""Classes that keep all they know in attributes."""
_WAYS: dict[type, Callable[[Words, Any], None]] = {
    slice: Words._slice,
    Pattern: Words._pattern,
    FunctionType: Words._function,
    BuiltinFunctionType: Words._builtin,
    MethodType: Words._method,
    partial: Words._partial,
    type(vars(namedtuple("_", "field"))["field"]): Words._getter,
    MethodDescriptorType: Words._descriptor,
    WrapperDescriptorType: Words._descriptor,
    MethodWrapperType: Words._wrapper,
    CellType: Words._cell,
    ModuleType: Words._module,
    Task: Words._task,
    Kernel: Words._own,
    SimpleNamespace: Words._namespace,
    object: Words._object,
    bytearray: Words._bytes,
    array: Words._bytes,
    **dict.fromkeys(BY_TEXT, Words._text),
    **dict.fromkeys(LISTS, Words._list),
    **dict.fromkeys(DICTIONARIES, Words._dict),
    **dict.fromkeys(SETS, Words._set),
    **dict.fromkeys(ITERATORS, Words._iterator),
}
