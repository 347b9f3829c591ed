"""Calls, as rewritten source makes them: of methods of containers, and of functions of libraries.

The user's own code tells of itself. What other code does to the containers it is handed is told beforehand
(see `hooks`).
"""

from __future__ import annotations

import operator
import sys
import threading
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from possibly.control.runtime import files
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import (
    BEHAVIOUR,
    Part,
    delattribute,
    getattribute,
    object_part,
    setattribute,
    touch_all,
    touch_attribute,
)
from possibly.control.runtime.items import (
    DEEPEST,
    HOLDING,
    backwards,
    changed,
    container,
    contains,
    deep,
    delitem,
    getitem,
    is_followed,
    iterate,
    iterator,
    parts_of,
    setitem,
    size,
    tell_whole,
    touch_item,
    whole,
)
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.known_calls import (
    BY_KEY,
    COMPARING,
    HARMLESS,
    IN_PLACE,
    LEVELS,
    LOOKING,
    LOOKING_AT_ITS_CALLER,
    ONLY_READING,
    OUTSIDE,
    READERS,
    SIZES,
    STORING,
)
from possibly.control.runtime.memory import Memory
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
    is_user_class,
    is_user_module,
    module_of,
)
from possibly.control.runtime.variables import turn
from possibly.probes import port


def attribute(value: Any, name: str, at: str) -> Any:
    """`value.name`; a method of a container or a library's object tells, whoever calls it in the end."""
    now = accesses.active()
    if now is not None and now[1].things.kind(value) in (CONTAINER, OPAQUE):
        found = getattr(type(value), name, None)
        if callable(found) and not (type(found) is types.FunctionType and _is_own(found)):
            return Bound(value, name, at)
    return getattribute(value, name, at)


class Bound:
    """A bound method of a container or of a library's object, as a value."""

    possibly_tells = True
    __slots__ = ("__name__", "__self__", "__wrapped__", "_at")

    def __init__(self, value: Any, name: str, at: str) -> None:
        self.__self__, self.__name__, self._at = value, name, at
        self.__wrapped__ = getattr(value, name)

    def __call__(self, *given: Any, **options: Any) -> Any:
        return method(self.__self__, self.__name__, self._at)(*given, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == getattr(other, "__wrapped__", other))

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


MODELS: frozenset[type] = frozenset(
    {threading.Thread, Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event, Barrier}
)


def method(value: Any, name: str, at: str) -> Any:
    """`value.name` that is about to be called; what changes or reads a container is told at the call."""
    if type(value) in MODELS:
        bound = getattr(value, name)
        if type(bound) is types.MethodType and bound.__self__ is value:
            return bound  # it tells of itself
        return callee(getattribute(value, name, at), at)
    if type(value) is types.ModuleType and not is_user_module(value):
        found = vars(value).get(name)
        if found is not None and _harmless.get(id(found)) is found:
            return found
    now = accesses.active()
    kind = now[1].things.kind(value) if now is not None else -1
    if kind == CONTAINER:
        return _of_container(value, name, getattr(value, name), at)
    if kind == OPAQUE:
        bound = getattr(value, name)
        if type(bound) is not types.MethodType or not _is_own(bound.__func__):
            changes = not (name in LOOKING and isinstance(value, Mapping))
            return _with_arguments(bound, at, value, changes, True)
    return callee(getattribute(value, name, at), at)


def _of_container(value: Any, name: str, bound: Any, at: str) -> Any:
    if type(bound) is types.MethodType and _is_own(bound.__func__):
        return bound
    if name in BY_KEY:
        return _by_key(value, bound, at)
    if name in READERS:
        return _after(whole, value, bound, at)
    if name in COMPARING:
        return _after(deep, value, bound, at, True)
    if name in SIZES:
        return _after(size, value, bound, at)
    return _after(changed, value, bound, at, name not in STORING)


def _after(
    tell: Callable[[Any, str], Any], value: Any, bound: Any, at: str, with_arguments: bool = False
) -> Any:
    """A method of a container; `with_arguments`: it reads these at the same moment."""

    def call(*given: Any, **options: Any) -> Any:
        read = [each for each in given if is_followed(each)] if with_arguments else []
        now = accesses.active()
        if read and now is not None:
            parts = parts_of(value, now, at, 0 if tell is deep else DEEPEST, tell is changed)
            for each in read:
                parts += parts_of(each, now, at, 0 if tell is deep else DEEPEST)
            touch_all(now, parts, at)
        else:
            tell(value, at)
        result = bound(*given, **options)
        found = container(value, at) if tell is changed else None
        if found is not None and found[1].watched:
            tell_whole(value, found)
        return result

    return call


def _by_key(value: Any, bound: Any, at: str) -> Any:
    def call(key: Any, *rest: Any) -> Any:
        found = container(value, at)
        if found is not None:
            touch_item(found, value, key, False, at)
        return bound(key, *rest)

    return call


def callee(function: Any, at: str) -> Any:
    """What is about to be called. The user's own code tells of itself; for other code we tell beforehand.

    What is handed to a function of a library counts as looked through, and as changed unless the function is
    known to read only.
    """
    kind = type(function)
    plain = function.__func__ if kind is types.MethodType else function
    if type(plain) is types.FunctionType and _is_own(plain):
        return function
    now = accesses.active()
    if now is None or getattr(kind, "possibly_tells", False):
        return function
    if kind in UNBOUND:
        return partial(_unbound, function, at)
    owner = getattr(function, "__self__", None) if kind in BOUND else None
    if owner is not None and type(owner) is not types.ModuleType:
        of = now[1].things.kind(owner)
        if of == CONTAINER:
            return _of_container(owner, function.__name__, function, at)
        if of in (OPAQUE, INSTANCE):
            return _of_object(owner, function, at)
    if getattr(function, "__name__", "") in LOOKING_AT_ITS_CALLER:
        return function
    special = _SPECIAL.get(id(function))
    if special is not None:
        return partial(_specially, special, at)
    return _of_library(function, plain, owner, now[0], at)


BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)
UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType)
ATTRIBUTES = {"__setattr__": True, "__delattr__": True, "__getattribute__": False}


def _of_object(owner: Any, function: Any, at: str) -> Any:
    """A method in C of a user's object (of its base class) or of a library's."""
    if function.__name__ in ATTRIBUTES:

        def call(name: str, *given: Any) -> Any:
            touch_attribute(owner, name, ATTRIBUTES[function.__name__], at)
            return function(name, *given)

        return call
    if type(function) is types.MethodWrapperType:
        return function
    return _with_arguments(function, at, owner, True, True)


def _unbound(function: Any, at: str, *given: Any, **options: Any) -> Any:
    """`list.append(l, x)`, `object.__setattr__(o, "x", 1)`"""
    now = accesses.active()
    if now is None or not given:
        return function(*given, **options)
    first, name = given[0], function.__name__
    kind = now[1].things.kind(first)
    if kind == CONTAINER:
        return _of_container(first, name, partial(function, first), at)(*given[1:], **options)
    if name in ATTRIBUTES and len(given) > 1:
        touch_attribute(first, given[1], ATTRIBUTES[name], at)
    return function(*given, **options)


def _of_library(function: Any, plain: Any, owner: Any, kernel: Kernel, at: str) -> Any:
    named: Any = getattr(plain, "__module__", None) or module_of(type(owner))
    module = named.partition(".")[0] if isinstance(named, str) else ""
    name = getattr(function, "__name__", "")
    is_outside = name in OUTSIDE.get(module, ())
    if is_outside:
        kernel.uncontrolled[f"{module.lstrip('_')}.{name}, which is not under control"] = None
    if type(function).__name__ == "_lru_cache_wrapper" and not kernel.alone:
        kernel.uncontrolled["a cache (lru_cache) that was made before the program was under control"] = None
    if module == "logging":
        return _logged(function, at)
    path = files.touched(function, module)
    if path is not None:
        return partial(_with_files, function, path, at)
    if module in HARMLESS or function is partial:
        if isinstance(function, BEHAVIOUR) and not is_outside:
            _harmless[id(function)] = function
        return function
    if module == "itertools" and name != "repeat":
        return partial(lazily, function, at)
    if isinstance(function, type):
        return function if is_user_class(function) else _with_arguments(function, at)
    reads = module in ONLY_READING and not isinstance(function, operator.methodcaller)
    reads = reads and not (module in ("operator", "_operator") and name in IN_PLACE)
    of_instance = type(function) is types.MethodType and type(function.__self__) is not type
    return _with_arguments(function, at, function.__self__ if of_instance else None, not reads)


_harmless: dict[int, Any] = {}
"""Functions and classes of libraries that need not be told of, by identity."""


def _logged(function: Any, at: str) -> Any:
    """What a logger writes to belongs to the program, unless it is the terminal."""
    logger: Any = getattr(function, "__self__", None)
    if logger is None and function.__name__ in LEVELS:
        logger = sys.modules["logging"].getLogger()
    streams = []
    while logger is not None:
        streams += [getattr(each, "stream", None) for each in getattr(logger, "handlers", ())]
        logger = logger.parent if getattr(logger, "propagate", False) else None
    now = accesses.active()
    if now is not None:
        parts = [part for each in streams if each for part in parts_of(each, now, at, DEEPEST, True)]
        touch_all(now, parts, at)
    return function


def _with_files(function: Any, path: files.Touched, at: str, *given: Any, **options: Any) -> Any:
    now = accesses.active()
    if now is not None:
        touch_all(now, [Part(files.FAMILY, thing, (access,)) for thing, access in path(given, options)], at)
    return function(*given, **options)


_own: dict[types.CodeType, bool] = {}


def _is_own(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    found = _own.get(code)
    if found is None:
        found = _own[code] = port.is_user_file(code.co_filename)
    return found


def _with_arguments(
    function: Any, at: str, owner: Any = None, changes: bool = False, only_owner: bool = False
) -> Any:
    """A call of a library: its arguments are looked through, or changed, in the step in which it begins.

    `only_owner`: it is the object's method which changes that object, and reads the arguments.
    """

    def call(*given: Any, **options: Any) -> Any:
        now = accesses.active()
        if now is not None and not (now[0].alone or now[0].quiet):
            values = (*given, *options.values())
            parts: list[Part] = []
            if owner is not None:
                parts += _owner_parts(owner, now, changes, at)
            for value in values:
                if type(value) not in SIMPLE_TYPES or type(value) in HOLDING:
                    parts += parts_of(value, now, at, 0, changes and not only_owner, True)
            touch_all(now, parts, at)
            if changes:
                turn()  # it may keep state that we do not see
        return _remembered(function(*given, **options), (*given, *options.values()))

    return call


def _owner_parts(owner: Any, now: tuple[Kernel, Memory], changes: bool, at: str) -> list[Part]:
    if now[1].things.kind(owner) == OPAQUE:
        return parts_of(owner, now, at, DEEPEST, changes)
    return [object_part(owner, now, changes, at)] if now[1].things.kind(owner) == INSTANCE else []


def _remembered(made: Any, given: tuple[Any, ...]) -> Any:
    """What a library makes of containers may look at these later on."""
    now = accesses.active()
    if now is not None and type(made) not in SIMPLE_TYPES and now[1].things.kind(made) == OPAQUE:
        sources = [value for value in given if now[1].things.kind(value) in (CONTAINER, INSTANCE, OPAQUE)]
        if sources:
            now[1].things.sources[id(made)] = [*sources, made]
    return made


def code(text: Any) -> Any:
    """What `exec` or `eval` are about to execute: its accesses are not seen."""
    kernel = running.kernel
    if kernel is not None and not kernel.alone:
        kernel.uncontrolled["code that exec or eval executes, whose accesses are not seen"] = None
    return text


def managed(value: Any, at: str) -> Any:
    """What a `with` is about to enter; leaving a library's object changes it too."""
    now = accesses.active()
    if now is None or now[1].things.kind(value) != OPAQUE or not hasattr(type(value), "__exit__"):
        return value
    return _Managed(value, at)


class _Managed:
    __slots__ = ("_at", "_value")

    def __init__(self, value: Any, at: str) -> None:
        self._value, self._at = value, at

    def __enter__(self) -> Any:
        return self._value.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return _with_arguments(self._value.__exit__, self._at, self._value, True, True)(*error)


def _specially(what: Callable[..., Any], at: str, *given: Any) -> Any:
    return what(*given, at)


def _getattr(value: Any, name: str, *rest: Any) -> Any:
    *default, at = rest
    try:
        return attribute(value, name, at)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(value: Any, name: str, at: str) -> bool:
    try:
        getattribute(value, name, at)
    except AttributeError:
        return False
    return True


def _in(value: Any, item: Any, at: str) -> bool:
    return contains(item, value, at)


def _iter(value: Any, *rest: Any) -> Any:
    *sentinel, at = rest
    return iter(value, *sentinel) if sentinel else iterator(value, at)


def _input(*rest: Any) -> Any:
    *prompt, at = rest
    changed(sys.stdin, at)
    return input(*prompt)


def keyed(function: Any) -> Any:
    """The key of a sort: each call of it is a round of a loop in C."""
    if function is None or running.kernel is None:
        return function

    def key(value: Any) -> Any:
        turn()
        return function(value)

    return key


def lazily(function: Any, at: str, *given: Any, **options: Any) -> Any:
    """`zip`, `map` and their like: what they go over is read when they are used."""
    first = 1 if function in (map, filter) else 0
    sources = [iterate(value, at) for value in given[first:]]
    found = function(*given[:first], *sources, **options)
    now = accesses.active()
    if now is not None:
        now[1].things.made(found, now[0], at)
    return found


_SPECIAL: dict[int, Callable[..., Any]] = {
    id(getattr): _getattr, id(setattr): setattribute, id(delattr): delattribute, id(hasattr): _hasattr,
    id(operator.getitem): getitem, id(operator.setitem): setitem, id(operator.delitem): delitem,
    id(operator.contains): _in, id(iter): _iter, id(reversed): backwards,
    id(input): _input,
}  # fmt: skip
"""Functions that do what an expression does, by their identity."""
