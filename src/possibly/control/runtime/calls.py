"""Calls: what code that is not instrumented does to what it is given.

Instrumented code tells of itself. Of a function in C, or of a library, a table says what it reads and writes
(`known_calls`); what the table does not know touches all that it was given. It may call back into the
program: as long as it has not returned, it is among the `calls` of its task, and whatever the task does
meanwhile happens in the middle of it (`Kernel.visible`).
"""

from __future__ import annotations

import builtins
import operator
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import partial
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import files
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import (
    BEHAVIOUR,
    Now,
    Part,
    object_part,
    read_attribute,
    touch_all,
    touch_attribute,
    write_attribute,
)
from possibly.control.runtime.items import (
    DEEPEST,
    HOLDING,
    advance,
    appended,
    container,
    contains,
    delete_item,
    inside_lazy,
    is_followed,
    is_namespace,
    item_of,
    iterate,
    key_parts,
    parts_of,
    read_item,
    removed,
    set_parts,
    shape,
    tell_whole,
    write_item,
)
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.known_calls import (
    BY_KEY,
    COMPARING,
    FIRST_CHANGED,
    HARMLESS,
    IN_PLACE,
    KEEPING,
    LEVELS,
    LOOKING,
    OF_ONE,
    ONLY_READING,
    OUTSIDE,
    READERS,
    SHALLOW,
    SIZES,
    STORING,
)
from possibly.control.runtime.primitives import (
    Barrier,
    BoundedSemaphore,
    Condition,
    Event,
    Lock,
    RLock,
    Semaphore,
)
from possibly.control.runtime.things import (
    CONTAINER,
    INSTANCE,
    OPAQUE,
    SIMPLE_TYPES,
    Named,
    is_user_class,
    is_user_module,
    module_of,
)
from possibly.control.runtime.variables import turn
from possibly.probes import port

Parts = list[Part]
Given = tuple[Any, ...]

MODELS: frozenset[type] = frozenset(
    {threading.Thread, Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event, Barrier}
)
BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)
UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
ATTRIBUTES = {"__setattr__": True, "__delattr__": True, "__getattribute__": False}
DEPTH = 6
"""So many functions around a function (`partial`) are taken away."""


def is_own(function: Any) -> bool:
    """Whether a function tells of itself."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    found = _own.get(code)
    if found is None:
        found = _own[code] = code.co_flags & INSTRUMENTED != 0 or port.is_user_file(code.co_filename)
    return found


INSTRUMENTED = 0
_own: dict[types.CodeType, bool] = {}


def tells_of_itself(function: Any) -> bool:
    """What need not be told of: functions of the program, its classes, models."""
    kind = type(function)
    if kind is types.FunctionType:
        return is_own(function)
    if kind is types.MethodType:
        if type(function.__self__) in MODELS:
            return True
        inner = function.__func__
        return type(inner) is types.FunctionType and is_own(inner)
    return kind is type and is_user_class(function)


Announced = tuple[Parts, Parts | None]
"""What is touched as a function is called; and what it touches for as long as it is in the middle of that,
None if nobody sees it in the middle."""
NOTHING: Announced = ([], None)


def called(function: Any, given: Given, names: tuple[str, ...], at: str) -> Announced:
    now = accesses.active()
    if now is None or now[0].quiet:
        return NOTHING
    for _ in range(DEPTH):
        if type(function) is not partial:
            break
        given, function = (*function.args, *given, *function.keywords.values()), function.func
    if tells_of_itself(function) or getattr(type(function), "possibly_tells", False):
        return NOTHING
    return _foreign(function, given, names, now, at)


def _foreign(function: Any, given: Given, names: tuple[str, ...], now: Now, at: str) -> Announced:
    kind = type(function)
    if kind in UNBOUND and given:
        return _unbound(function, given, now, at)
    owner = getattr(function, "__self__", None) if kind in BOUND or kind is types.MethodType else None
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        of = now[1].things.kind(owner)
        if of == CONTAINER:
            return _lasting(_of_container(owner, function.__name__, given, now, at))
        if of in (OPAQUE, INSTANCE):
            return _lasting(_of_object(owner, function, given, now, at))
    if type(owner) is Context and function.__name__ == "run" and given:
        parts, lasting = called(given[0], given[1:], names, at)
        return [object_part(owner, now, True, at), *parts], lasting
    special = _SPECIAL.get(id(function))
    if special is not None:
        return [], (special(*given, at) or []) if len(given) in _COUNTS[id(function)] else []
    options = dict(zip(names, given[len(given) - len(names) :], strict=True))
    return _lasting(_of_library(function, given, options, owner, now, at))


def _lasting(parts: Parts) -> Announced:
    return parts, parts


def touch_call(parts: Parts, at: str) -> None:
    now = accesses.active()
    if now is not None:
        touch_all(now, parts, at)


# ---- methods ------------------------------------------------------------------------------------


def _of_container(value: Any, name: str, given: Given, now: Now, at: str) -> Parts:
    """A method of a container that is in C."""
    if name in BY_KEY and given:
        return _by_key(value, given[0], now, at, False)
    if name in KEEPING and given and isinstance(value, dict):
        return _kept(value, name, given, now, at)
    if name in SIZES:
        return _of_whole(value, at, lambda named: shape(named, False))
    if name == "append" and isinstance(value, list | deque):
        return _of_whole(value, at, lambda named: appended(value, named))
    if name in OF_ONE and given and isinstance(value, set):
        return _of_whole(value, at, lambda named: removed(value, named, given[0]))
    if name in READERS or name in COMPARING:
        depth, writes = (DEEPEST if name in READERS else 0), False
    else:
        depth, writes = DEEPEST, True
    parts = parts_of(value, now, at, depth, writes)
    if name not in STORING:
        for each in given:
            if is_followed(each):
                parts += parts_of(each, now, at, depth)
        parts += _called_back(given, now, at)
    return parts


def _kept(value: Any, name: str, given: Given, now: Now, at: str) -> Parts:
    """`setdefault` and `pop` of a dictionary: they change one item, if any."""
    try:
        is_there = dict.__contains__(value, given[0])
    except TypeError:
        return []
    if name == "pop" and is_there:
        return _of_whole(value, at, lambda named: removed(value, named, given[0]))
    return _by_key(value, given[0], now, at, name == "setdefault" and not is_there)


def _by_key(value: Any, key: Any, now: Now, at: str, writes: bool) -> Parts:
    found = container(value, at)
    if found is None:
        return []
    named = found[2]
    thing, footprint = item_of(value, named, key, writes)
    item = Part(named.family, thing, footprint, None if named.exact else id(value))
    return [item, *key_parts(key, now, at)]


def _of_whole(value: Any, at: str, footprint: Callable[[Named], tuple[Access, ...]]) -> Parts:
    """One access to a container as a whole."""
    found = container(value, at)
    if found is None:
        return []
    named = found[2]
    return [Part(named.family, f"{named.name}[]", footprint(named), None if named.exact else id(value))]


def _of_object(owner: Any, function: Any, given: Given, now: Now, at: str) -> Parts:
    """A method in C of a user's object (of its base class) or of a library's, or a library's own method."""
    name = getattr(function, "__name__", "")
    if name in ATTRIBUTES and given:
        touch_attribute(owner, given[0], ATTRIBUTES[name], at)
        return []
    if type(function) is types.MethodWrapperType:
        return []
    if now[1].things.kind(owner) == INSTANCE and type(function) is types.MethodType:
        return _of_library(function, given, {}, owner, now, at)
    changes = not (name in LOOKING and isinstance(owner, Mapping))
    return _arguments(given, now, at, owner, changes, True)


def _unbound(function: Any, given: Given, now: Now, at: str) -> Announced:
    """`list.append(l, x)`, `object.__setattr__(o, "x", 1)`"""
    first, name = given[0], function.__name__
    kind = now[1].things.kind(first)
    if kind == CONTAINER:
        return _lasting(_of_container(first, name, given[1:], now, at))
    if name in ATTRIBUTES and len(given) > 1:
        touch_attribute(first, given[1], ATTRIBUTES[name], at)
        return NOTHING
    if kind == OPAQUE:
        return _lasting(_arguments(given[1:], now, at, first, True, True))
    return NOTHING


# ---- functions of libraries ---------------------------------------------------------------------


def _of_library(function: Any, given: Given, options: dict[str, Any], owner: Any, now: Now, at: str) -> Parts:
    kernel = now[0]
    plain = function.__func__ if type(function) is types.MethodType else function
    named: Any = getattr(plain, "__module__", None) or module_of(type(owner))
    module = named.partition(".")[0] if isinstance(named, str) else ""
    name = getattr(function, "__name__", "")
    _tell_of_outside(function, module, name, kernel)
    if module == "logging":
        return _logged(function, now, at)
    path = files.touched(function, module)
    if path is not None:
        touched = path(given[: len(given) - len(options)], options)
        return [Part(files.FAMILY, thing, (access,)) for thing, access in touched]
    if function is builtins.print:
        return _printed(given, now, at)
    if module in HARMLESS or id(function) in _QUIET:
        return []
    if module == "itertools" or function in LAZY:
        for each in given:
            iterate(each, at)
        return []
    if isinstance(function, type):
        if is_user_class(function):
            return []
        shallow = function.__name__ in SHALLOW
        return _arguments(given, now, at, shallow=shallow, attributes=module not in PLAIN_MODULES)
    if name in FIRST_CHANGED and given:
        return [*parts_of(given[0], now, at, DEEPEST, True), *_arguments(given, now, at)]
    reads = module in ONLY_READING and not isinstance(function, operator.methodcaller)
    reads = reads and not (module in ("operator", "_operator") and name in IN_PLACE)
    of_instance = type(function) is types.MethodType and type(function.__self__) is not type
    of = function.__self__ if of_instance else None
    return _arguments(given, now, at, of, not reads, False, name in SHALLOW, module not in PLAIN_MODULES)


PLAIN_MODULES = frozenset({"builtins", "collections", "_collections", "math", "_heapq", "_bisect"})
"""Modules whose functions look into containers and not at the attributes of what these hold."""


def _tell_of_outside(function: Any, module: str, name: str, kernel: Kernel) -> None:
    if name in OUTSIDE.get(module, ()):
        kernel.uncontrolled[f"{module.lstrip('_')}.{name}, which is not under control"] = None
    if type(function).__name__ == "_lru_cache_wrapper" and not kernel.alone:
        kernel.uncontrolled["a cache (lru_cache) that was made before the program was under control"] = None
    if name in ("exec", "eval") and module == "builtins" and not kernel.alone:
        kernel.uncontrolled["code that exec or eval executes, whose accesses are not seen"] = None


LAZY = (zip, map, filter, enumerate, reversed, iter)
"""What they go over is read when they are used."""
_QUIET = {
    id(each)
    for each in (
        isinstance, issubclass, type, id, range, callable, super, property, staticmethod, classmethod, object,
        slice, globals, locals, vars, dir, exec, eval, breakpoint, __build_class__, partial, hasattr, getattr,
    )
}  # fmt: skip
"""Functions that touch nothing, or are told of otherwise."""


def _logged(function: Any, now: Now, at: str) -> Parts:
    """What a logger writes to belongs to the program, unless it is the terminal."""
    logger: Any = getattr(function, "__self__", None)
    if logger is None and getattr(function, "__name__", "") in LEVELS:
        logger = sys.modules["logging"].getLogger()
    streams: list[Any] = []
    while logger is not None:
        streams += [getattr(each, "stream", None) for each in getattr(logger, "handlers", ())]
        logger = getattr(logger, "parent", None) if getattr(logger, "propagate", False) else None
    return [part for each in streams if each for part in parts_of(each, now, at, DEEPEST, True)]


def _printed(given: Given, now: Now, at: str) -> Parts:
    """What is printed is looked through; where it goes to, if not the terminal, is changed."""
    parts: Parts = []
    for each in given:
        is_stream = hasattr(type(each), "write") and now[1].things.kind(each) == OPAQUE
        if is_stream or is_followed(each):
            parts += parts_of(each, now, at, 0, is_stream, True)
    return parts


def _arguments(
    given: Given,
    now: Now,
    at: str,
    owner: Any = None,
    changes: bool = False,
    only_owner: bool = False,
    shallow: bool = False,
    attributes: bool = True,
) -> Parts:
    """A call of a library: its arguments are looked through, or changed, in the step in which it begins.

    `only_owner`: it is the object's method which changes that object, and reads the arguments. `shallow`:
    it reads what containers hold and does not look into that. `attributes`: it may look at those.
    """
    if now[0].alone or now[0].quiet:
        return []
    parts: Parts = []
    if owner is not None:
        parts += _owner_parts(owner, now, changes, at)
    depth = DEEPEST if shallow else 0
    for value in given:
        if type(value) not in SIMPLE_TYPES or type(value) in HOLDING:
            parts += parts_of(value, now, at, depth, changes and not only_owner, attributes)
    if not only_owner:
        parts += _called_back(given, now, at)
    if changes:
        turn()  # it may keep state that we do not see
    return parts


def _called_back(given: Given, now: Now, at: str) -> Parts:
    """Functions in C among the arguments: they may be called with any of the others."""
    given = (*given, *(each for lazy in given for each in inside_lazy(lazy)))
    if not any(type(each) in CALLABLES for each in given):
        return []
    changes = any(type(each) is operator.methodcaller for each in given)
    parts: Parts = set_parts(list(given), now, at)
    for value in given:
        if type(value) not in CALLABLES and is_followed(value):
            parts += parts_of(value, now, at, 0, changes, True)
        owner = getattr(value, "__self__", None) if type(value) in BOUND else None
        if owner is not None and now[1].things.kind(owner) in (CONTAINER, OPAQUE):
            parts += parts_of(owner, now, at, DEEPEST, True)
    return parts


CALLABLES: frozenset[type] = frozenset(
    {
        types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
        types.MethodWrapperType, operator.attrgetter, operator.itemgetter, operator.methodcaller, partial,
    }
)  # fmt: skip


def _owner_parts(owner: Any, now: Now, changes: bool, at: str) -> Parts:
    if now[1].things.kind(owner) == OPAQUE:
        return parts_of(owner, now, at, DEEPEST, changes)
    return [object_part(owner, now, changes, at)] if now[1].things.kind(owner) == INSTANCE else []


# ---- afterwards ---------------------------------------------------------------------------------


def returned(function: Any, given: Given, made: Any, at: str) -> None:
    """A function in C or of a library has returned something."""
    now = accesses.active()
    if now is None:
        return
    if function is globals or function is vars or function is locals:
        _tell_of_namespace(function, given, made)
        return
    owner = getattr(function, "__self__", None) if type(function) in BOUND else None
    if owner is not None and now[1].watched and now[1].things.kind(owner) == CONTAINER:
        found = container(owner, at)
        if found is not None:
            tell_whole(owner, found)
    if type(made) in SIMPLE_TYPES:
        return
    if now[1].things.kind(made) == OPAQUE:
        _remember(made, given, now)


def _tell_of_namespace(function: Any, given: Given, made: Any) -> None:
    if function is vars and given:
        is_namespace(made, given[0])
        return
    if isinstance(made, dict):
        module = sys.modules.get(made.get("__name__", ""))
        if module is not None and module.__dict__ is made:
            is_namespace(made, module)


def _remember(made: Any, given: Given, now: Now) -> None:
    """What a library makes of containers may look at these later on."""
    sources = [value for value in given if now[1].things.kind(value) in (CONTAINER, INSTANCE, OPAQUE)]
    if sources:
        now[1].things.sources[id(made)] = sources


# ---- functions that do what an instruction does -------------------------------------------------


def _get(value: Any, name: Any, *rest: Any) -> None:
    if isinstance(name, str):
        read_attribute(value, name, rest[-1])


def _set(value: Any, name: Any, new: Any, at: str) -> None:
    if isinstance(name, str):
        write_attribute(value, name, new, at)


def _delete(value: Any, name: Any, at: str) -> None:
    if isinstance(name, str):
        touch_attribute(value, name, True, at)


def _read_item(value: Any, key: Any, at: str) -> None:
    read_item(value, key, at)


def _in(value: Any, item: Any, at: str) -> None:
    contains(item, value, at)


def _input(*rest: Any) -> None:
    now = accesses.active()
    if now is not None:
        touch_all(now, parts_of(sys.stdin, now, rest[-1], DEEPEST, True), rest[-1])


def _next(value: Any, *rest: Any) -> Parts:
    return advance(value, rest[-1])


_SPECIAL: dict[int, Any] = {
    id(getattr): _get, id(setattr): _set, id(delattr): _delete, id(hasattr): _get,
    id(operator.getitem): _read_item, id(operator.setitem): write_item, id(operator.delitem): delete_item,
    id(operator.contains): _in, id(input): _input, id(next): _next,
}  # fmt: skip
"""Functions that do what an instruction does, by their identity."""
_COUNTS: dict[int, tuple[int, ...]] = {
    id(getattr): (2, 3), id(setattr): (3,), id(delattr): (2,), id(hasattr): (2,), id(operator.getitem): (2,),
    id(operator.setitem): (3,), id(operator.delitem): (2,), id(operator.contains): (2,), id(input): (0, 1),
    id(next): (1, 2),
}  # fmt: skip
"""With how many arguments each can be called."""

__all__ = [
    "BEHAVIOUR", "called", "is_own", "is_user_module", "returned",
    "running", "tells_of_itself", "touch_call",
]  # fmt: skip
