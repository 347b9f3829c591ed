"""What code that is not watched reads of what somebody replaces while others run.

Instrumented code tells which names it reads. Code of modules whose calls are one step each, and code in C,
tells nothing: once a name of such a module or of one of its classes gets another value, every call of such
code is taken to read it. And what such code is given, it may ask for any name that somebody replaces
(`Memory.rare`), as an enumeration asks its class for `_missing_`.
"""

from __future__ import annotations

import sys
import types
from contextvars import copy_context
from typing import Any

from possibly.control.loading import packages
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.known_calls import DIGITS, SUBCLASSES
from possibly.control.runtime.memory import DECIMALS, FLAGS, LIMITS
from possibly.control.runtime.things import CLASS, MODULE, is_a, is_own, module_of, order_of
from possibly.control.runtime.touched.members import is_fixed, member_part, reading_parts, space_of
from possibly.control.runtime.touched.parts import Now, Part, object_part
from possibly.control.runtime.touched.proxies import member
from possibly.probes.stated import stated, stated_text

REPLACED = "replaced in code that is not watched: "
"""Begins the thing that stands for all places of a name outside of the program and of what is watched."""
PLAIN = frozenset(
    "builtins collections _collections itertools math cmath operator _operator _heapq _bisect _functools "
    "functools time _thread threading _queue queue array _random random _struct gc atexit _weakref weakref "
    "sys _abc abc posix possibly".split()
)
"""Modules in C whose functions look for no name in other modules."""
ASKING = frozenset({"open", "input", "print", "__import__"})
"""Functions of these that do."""


def replaced_parts(value: Any, name: str, now: Now) -> list[Part]:
    """What is changed besides its place when this attribute of a class or a module gets another value."""
    if now[0].alone or now[0].quiet or not is_a(value, (type, types.ModuleType)):
        return []
    if now[1].things.kind(value) in (CLASS, MODULE):
        return []
    return [_replaced(name, True)]


def _replaced(name: str, writes: bool) -> Part:
    thing = REPLACED + name
    return Part(thing, thing, touching(thing, writes))


def unwatched_parts(function: Any, given: tuple[Any, ...], owner: Any, now: Now, at: str) -> list[Part]:
    """What a call of code that is not watched reads of names that somebody replaces."""
    rare = now[1].rare
    if not rare or now[0].alone or now[0].quiet:
        return []
    shown = _shown_parts(function, (function, owner, *given), now, at)
    in_python = _is_unwatched(function)
    if not in_python and not _may_ask(function, owner):
        return shown
    names = sorted(each for each in rare if each.isidentifier())
    parts = shown + [_replaced(name, False) for name in names]
    if stated_text(function, "__name__") in LOADING:
        parts += [part for name in names for part in _found_anywhere(name, now, at)]
    if in_python:
        for value in (function, owner, *given):
            parts += _asked(value, names, now, at)
    return parts


def _is_unwatched(function: Any) -> bool:
    """Whether it is Python code whose calls are one step each, or a class that such code makes objects of."""
    if is_a(function, type):
        makers = (
            member(type(function), "__call__"),
            member(function, "__new__"),
            member(function, "__init__"),
        )
        return any(_is_unwatched_code(each) for each in makers)
    return _is_unwatched_code(function)


def _is_unwatched_code(function: Any) -> bool:
    code = stated(function, "__code__")
    if type(code) is not types.CodeType or is_own(function):
        return False
    return packages.is_atomic(code.co_filename) or packages.is_dull(
        code, packages.root_of_file(code.co_filename)
    )


def _may_ask(function: Any, owner: Any) -> bool:
    """Whether it is a function in C that may look for names in modules."""
    if type(stated(function, "__code__")) is types.CodeType:
        return False
    module = stated_text(function, "__module__") or module_of(type(owner))
    return module.partition(".")[0] not in PLAIN or stated_text(function, "__name__") in ASKING


def _asked(value: Any, names: list[str], now: Now, at: str) -> list[Part]:
    """The names that somebody replaces, in the classes of what is given to such code."""
    kind = now[1].things.kind(value)
    cls = value if is_a(value, type) else type(value)
    if kind == MODULE or is_fixed(cls):
        return []
    bases = [base for base in order_of(cls) if not is_fixed(base)]
    return [member_part(base, name, now, False, at) for base in bases for name in names]


def _shown_parts(function: Any, values: tuple[Any, ...], now: Now, at: str) -> list[Part]:
    """What a function reads of the settings of numbers."""
    parts = number_parts(values, now, at)
    if id(function) in WRITING_NUMBERS:
        parts += digits_parts(now)
    return parts


LOADING = frozenset({"load", "loads"})
"""They find classes and functions by the names that stand in what they read."""


def _found_anywhere(name: str, now: Now, at: str) -> list[Part]:
    """A name that somebody replaces, in the modules of the program that have it."""
    modules = [each for each in list(sys.modules.values()) if is_a(each, types.ModuleType)]
    own = [each for each in modules if now[1].things.kind(each) == MODULE and name in space_of(each)]
    return [member_part(each, name, now, False, at) for each in own]


WRITING_NUMBERS = frozenset(map(id, (str, int, repr, ascii, format, print, sum)))


def digits_parts(now: Now) -> list[Part]:
    """How many digits a number may have whose text is made or read, where somebody changes that."""
    return [Part(DIGITS, DIGITS, touching(DIGITS, False))] if LIMITS in now[1].rare else []


def number_parts(values: tuple[Any, ...], now: Now, at: str) -> list[Part]:
    """What arithmetic with decimal numbers reads, where somebody changes a context of these.

    A thread that has no context yet gets a copy of the module's default one. Where somebody looks at flags,
    it changes those of its context.
    """
    kinds = [each if is_a(each, type) else type(each) for each in values]
    is_looked_at = FLAGS in now[1].rare
    if not (is_looked_at or DECIMALS in now[1].rare) or not any(
        module_of(each) == "decimal" for each in kinds
    ):
        return []
    known = {each.name: held for each, held in copy_context().items() if each.name == CONTEXT}
    own: Any = known.get(CONTEXT)
    context = own or sys.modules["decimal"].DefaultContext
    flags = [object_part(own.flags, now, True, at)] if own is not None and is_looked_at else []
    return [object_part(context, now, False, at), *flags]


CONTEXT = "decimal_context"
"""By this name a thread has its context."""


def is_setting(value: Any) -> bool:
    """Whether it is a context of decimal numbers, or a part of one."""
    return any(module_of(base) == "decimal" and base.__name__ in SETTINGS for base in type(value).__mro__)


SETTINGS = frozenset({"Context", "SignalDictMixin", "SignalDict", "_SignalDict"})


def checking_parts(value: Any, kinds: Any, now: Now, at: str) -> list[Part]:
    """What says whether something counts as of these: `isinstance`, `issubclass`, a pattern."""
    classes = [each for each in (kinds if type(kinds) is tuple else (kinds,)) if is_a(each, type)]
    parts: list[Part] = []
    for each in classes:
        for name in sorted(CHECKING & now[1].rare):
            parts += reading_parts(each, name, now, at)
        if type(each) is not type:
            parts += _checked_by_name(value, each, now, at)
    return parts


def _checked_by_name(value: Any, cls: Any, now: Now, at: str) -> list[Part]:
    """Whether something has the methods that a class asks for, as an abstract one or a protocol may."""
    parts = _asked(value, sorted(each for each in now[1].rare if each.isidentifier()), now, at)
    if stated(cls, "_is_protocol") or space_of(cls).get("_is_protocol"):
        for name in [each for each in space_of(cls) if not each.startswith("_")]:
            parts += reading_parts(value, name, now, at)
    return parts


CHECKING = frozenset({"__instancecheck__", "__subclasscheck__", "__subclasshook__"})


def counting_parts(value: Any) -> list[Part]:
    """Whether a value counts as a sequence or as a mapping: its class may be registered as one."""
    if is_fixed(type(value)):
        return []
    return [Part(SUBCLASSES.thing, SUBCLASSES.thing, (SUBCLASSES,))]
