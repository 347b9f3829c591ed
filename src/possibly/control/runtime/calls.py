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
import weakref
from abc import ABCMeta
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import _lru_cache_wrapper, partial
from importlib import import_module
from typing import Any

from possibly.control.execution import Access
from possibly.control.models import files
from possibly.control.models.primitives import (
    Barrier,
    BoundedSemaphore,
    Condition,
    Event,
    Lock,
    RLock,
    Semaphore,
)
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import (
    delete_attribute,
    entry_parts,
    read_attribute,
    touch_attribute,
    write_attribute,
)
from possibly.control.runtime.contents import appended, item_of, removed, shape
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.items import (
    BOUND,
    DEEPEST,
    HOLDING,
    advance,
    bound_parts,
    container,
    contains,
    delete_item,
    hold_weakly,
    inside_lazy,
    is_followed,
    is_made,
    is_namespace,
    is_weak,
    iterate,
    key_parts,
    may_make,
    method_of,
    method_parts,
    namespace_of,
    parts_of,
    read_item,
    set_parts,
    shown_by,
    tell_of_dictionary,
    write_item,
)
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.known_calls import (
    ADDRESSED,
    ASKING,
    BY_KEY,
    COMPARING,
    CONFIGURING,
    DIGITS,
    DIRECTORY,
    FILLING,
    FIRST_CHANGED,
    HARMLESS,
    IN_PLACE,
    KEEPING,
    LEVELS,
    LOOKING,
    LOOKING_OPERATORS,
    OF_ONE,
    ONLY_LOOKING,
    ONLY_READING,
    OUTSIDE,
    PROCESS_STATE,
    READERS,
    SHALLOW,
    SHOWING_FAILURES,
    SIZES,
    STORING,
    SUBCLASSES,
    WHOLE,
    WITHOUT_STATE,
)
from possibly.control.runtime.memory import FUNCTION_PARTS, LIMITS, REFERENCES
from possibly.control.runtime.places import caller
from possibly.control.runtime.things import (
    CONTAINER,
    INSTANCE,
    METHOD_IN_C,
    OPAQUE,
    SIMPLE_TYPES,
    Named,
    in_c,
    is_a,
    is_own,
    is_user_class,
    may_hold,
    module_of,
    order_of,
)
from possibly.control.runtime.touched.hashed import note_call
from possibly.control.runtime.touched.inspected import LOOKING_INTO, inside, inspected_parts
from possibly.control.runtime.touched.members import (
    attribute_part,
    base_parts,
    is_fixed,
    kind_parts,
    member_part,
    naming_parts,
    reading_parts,
    resolved,
    shape_part,
    subclasses_parts,
)
from possibly.control.runtime.touched.parts import Now, Part, asking_parts, object_part, touch_all
from possibly.control.runtime.touched.proxies import wrapped, wraps
from possibly.control.runtime.touched.suspended import RESUMING, entering_parts
from possibly.control.runtime.touched.unwatched import checking_parts, unwatched_parts
from possibly.control.runtime.variables import turn
from possibly.probes.stated import stated, stated_text

Parts = list[Part]
Given = tuple[Any, ...]

MODELS: frozenset[type] = frozenset(
    {threading.Thread, Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event, Barrier}
)
UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
ATTRIBUTES = {"__setattr__": True, "__delattr__": True, "__getattribute__": False}
REMEMBERING = _lru_cache_wrapper
"""A function in C that remembers its results."""
DEPTH = 6
"""So many functions around a function (`partial`) are taken away."""


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
    if issubclass(kind, type):
        return is_user_class(function) and not is_weak(function) and not _is_made_elsewhere(kind)
    call = getattr(kind, "__call__", None)  # noqa: B004 - what is called, not whether
    return type(call) is types.FunctionType and is_own(call)


def _is_made_elsewhere(kind: type) -> bool:
    """Whether a call of such a class is code of a library, as that of an enumeration."""
    call = method_of(kind, "__call__")
    return type(call) is types.FunctionType and not is_own(call)


def function_parts(function: Any, now: Now, at: str) -> Parts:
    """What a call reads of a function, if somebody gives functions other parts."""
    if not now[1].has_remade:
        return []
    if is_a(function, type):
        made = [method_of(function, name) for name in ("__new__", "__init__")]
        return [part for each in made for part in function_parts(each, now, at)]
    plain = function.__func__ if type(function) in (types.MethodType, staticmethod) else function
    if type(plain) is not types.FunctionType:
        return []
    parts = [member_part(plain, name, now, False, at) for name in sorted(FUNCTION_PARTS & now[1].rare)]
    defaults = plain.__kwdefaults__
    return parts + parts_of(defaults, now, at, DEEPEST) if defaults else parts


Announced = tuple[Parts, Parts | None]
"""What is touched as a function is called; and what it touches for as long as it is in the middle of that,
None if nobody sees it in the middle."""
NOTHING: Announced = ([], None)


def called(function: Any, given: Given, names: tuple[str, ...], at: str) -> Announced:
    now = accesses.active()
    if now is None or now[0].quiet:
        return NOTHING
    kept: Parts = []
    for _ in range(DEPTH):
        if type(function) is types.MethodWrapperType and function.__name__ == "__call__":
            if is_weak(type(function.__self__)):  # whose class may have one of its own, which is not called
                break
            function = function.__self__
            continue
        if type(function) is not partial:
            break
        kept.append(object_part(function, now, False, at))
        if "keywords" in now[1].rare:  # somebody has the dictionary in which they are
            kept += parts_of(function.keywords, now, at, DEEPEST)
        given, function = (*function.args, *given, *function.keywords.values()), function.func
    if getattr(type(function), "possibly_tells", False):
        return NOTHING
    if tells_of_itself(function):
        parts = kept + function_parts(function, now, at)
        return (parts, None) if parts else NOTHING
    parts, lasting = _foreign(function, given, names, now, at)
    if now[1].rare:
        more = unwatched_parts(function, given, stated(function, "__self__"), now, at)
        parts, lasting = parts + more, (lasting + more if lasting is not None else None)
    return kept + parts, lasting


def _foreign(function: Any, given: Given, names: tuple[str, ...], now: Now, at: str) -> Announced:
    kind = type(function)
    note_call(function, given, now[0])
    if kind in UNBOUND and given:
        return _unbound(function, given, now, at)
    owner: Any = getattr(function, "__self__", None) if kind in BOUND or kind is types.MethodType else None
    if owner is not None and type(owner) is not types.ModuleType:
        found = _of_owner(function, owner, given, names, now, at)
        if found is not None:
            return found
    if is_weak(kind) or function is weakref.proxy or (issubclass(kind, type) and is_weak(function)):
        return _of_weak(function, given, now, at)
    if id(function) in COUNTING:
        return _counted(given, False, now, at), None
    if kind in GETTERS:
        return _lasting(_got(function, given, now, at))
    if kind is types.MethodWrapperType and type(owner) in DESCRIPTORS and given:
        touch_attribute(given[0], getattr(owner, "__name__", ""), function.__name__ != "__get__", at)
        return NOTHING
    special = _SPECIAL.get(id(function))
    if special is not None:
        return [], (special(*given, at) or []) if len(given) in _COUNTS[id(function)] else []
    options = dict(zip(names, given[len(given) - len(names) :], strict=True))
    return _lasting(_of_library(function, given, options, owner, now, at))


def _of_owner(
    function: Any, owner: Any, given: Given, names: tuple[str, ...], now: Now, at: str
) -> Announced | None:
    """A method of something that changes, or that shows what does."""
    kind, name = type(function), function.__name__
    if is_a(owner, type):
        if kind is not types.BuiltinFunctionType or not is_weak(owner):
            return None
        _hold(given[1:], now)  # `__new__` of a weak reference
        return _counted(given[1:], True, now, at), []
    if kind is types.MethodWrapperType and is_weak(type(owner)) and name == "__call__":
        return asking_parts(owner, now, at), None
    if name in RESUMING and (resumed := entering_parts(owner, now, at)):
        return _lasting(resumed)
    if type(owner) is Context and name == "run" and given:
        entered = object_part(owner, now, True, at)
        parts, lasting = called(given[0], given[1:], names, at)
        return [entered, *parts], [entered, *(lasting or ())]
    if type(owner) in HOLDING or type(owner) is frozenset:
        return _lasting(_of_view(owner, name, given, now, at))
    if is_a(owner, types.ModuleType):
        return None
    if type(owner) is REMEMBERING:
        return _lasting([object_part(owner, now, name.startswith("cache_"), at)])
    hold_weakly(owner, given)
    of = now[1].things.kind(owner)
    if of == CONTAINER:
        return _lasting(_of_container(owner, name, given, now, at))
    return _lasting(_of_object(owner, function, given, now, at)) if of in (OPAQUE, INSTANCE) else None


def _lasting(parts: Parts) -> Announced:
    return parts, parts


def tell_of_callback(function: Any, given: Given) -> None:
    """An event loop is about to call this: a function in C does not tell of itself."""
    now = accesses.active()
    if now is not None and (type(function) in BOUND or type(function) is partial):
        touch_all(now, called(function, given, (), "")[0], "")


def _of_weak(function: Any, given: Given, now: Now, at: str) -> Announced:
    """A weak reference is asked, or one is made, or a container of them."""
    if not issubclass(type(function), type) and function is not weakref.proxy:
        return asking_parts(function, now, at), None
    _hold(given, now)
    return _counted(given, True, now, at), []


def _counted(given: Given, writes: bool, now: Now, at: str) -> Parts:
    """Which weak references there are to an object: told of where somebody asks."""
    if not writes:
        now[1].write_rarely(now[0], REFERENCES)
    if REFERENCES not in now[1].rare or not given or now[0].alone:
        return []
    return [member_part(given[0], REFERENCES, now, writes, at)]


COUNTING = frozenset({id(weakref.getweakrefcount), id(weakref.getweakrefs)})


def _hold(given: Given, now: Now) -> None:
    """A weak reference to the first of these is made; the others are called at its end."""
    for each in given[:1]:
        held = each.__self__ if type(each) is types.MethodType else each
        if is_weak(type(held)) and caller().f_code.co_filename == weakref.__file__:
            continue  # a weak container leads to itself, and nobody else asks that reference
        now[1].hold_weakly(now[0], held, given[1:])
    now[1].find_changed = _changed_by


def _changed_by(function: Any) -> Parts:
    """What a function in C changes that is called at the end of an object."""
    now = accesses.active()
    return bound_parts(function, now, "") if now is not None else []


GETTERS = frozenset({operator.attrgetter, operator.itemgetter})


def _got(getter: Any, given: Given, now: Now, at: str) -> Parts:
    """What `attrgetter` and `itemgetter` read of what they are given."""
    parts: Parts = []
    if now[0].alone:
        return parts
    _, names = getter.__reduce__()
    for value in given:
        for name in names:
            parts += _got_one(getter, value, name, now, at)
    return parts


def _got_one(getter: Any, value: Any, name: Any, now: Now, at: str) -> Parts:
    if type(getter) is operator.itemgetter:
        if now[1].things.kind(value) == CONTAINER:
            return _by_key(value, name, now, at, False)
        return parts_of(value, now, at) if is_followed(value) else []
    parts: Parts = []
    for word in name.split("."):
        if type(value) not in SIMPLE_TYPES:
            parts += reading_parts(value, word, now, at)
        value = getattr(value, "__dict__", {}).get(word) if is_user_class(type(value)) else None
        if value is None:
            break
    return parts


# ---- methods ------------------------------------------------------------------------------------


def _of_container(value: Any, name: str, given: Given, now: Now, at: str) -> Parts:
    """A method of a container that is in C."""
    owner = namespace_of(value)
    if owner is not None and name in OF_ONE_ATTRIBUTE and given and type(given[0]) is str:
        return _of_attribute(owner, given[0], name in BY_KEY, now, at)
    if name in BY_KEY and given:
        return _by_key(value, given[0], now, at, name == "__getitem__" and is_made(value, given[0]))
    if name in KEEPING and given and is_a(value, dict):
        return _kept(value, name, given, now, at)
    if name in SIZES:
        return _of_whole(value, at, lambda named: shape(named, False))
    if name == "append" and is_a(value, (list, deque)) and not _is_bounded(value):
        return _of_whole(value, at, lambda named: appended(value, named))
    if name in OF_ONE and given and is_a(value, set):
        return _of_whole(value, at, lambda named: removed(value, named, given[0]))
    if name in READERS or name in COMPARING:
        depth, writes = (DEEPEST if name in READERS else 0), False
    else:
        depth, writes = DEEPEST, True
    parts = parts_of(value, now, at, depth, writes)
    if writes and now[1].lives.may_drop:
        now[1].drop(now[0], now[1].ending(now[0], value, at), at)
    if name not in STORING:
        for each in given:
            if is_followed(each):
                parts += parts_of(each, now, at, depth)
        parts += _called_back(given, now, at)
    return parts


def _is_bounded(value: Any) -> bool:
    """Whether what is put in at one end may push something out at the other."""
    return is_a(value, deque) and value.maxlen is not None


def _of_view(value: Any, name: str, given: Given, now: Now, at: str) -> Parts:
    """A method of what only shows something else, or of a tuple."""
    if type(value) is types.MappingProxyType:
        behind = shown_by(value)
        if behind and now[1].things.kind(behind[0]) == CONTAINER:
            return _of_container(behind[0], name, given, now, at)
    changes = name in CHANGING_VIEWS
    parts = parts_of(value, now, at, 0, changes)
    if type(value) is memoryview:
        parts.append(object_part(value, now, changes, at))
    return parts + _arguments(given, now, at, attributes=False)


CHANGING_VIEWS = frozenset("release __exit__ __setitem__ __delitem__".split())
OF_ONE_ATTRIBUTE = BY_KEY | KEEPING | {"__setitem__", "__delitem__"}


def _of_attribute(owner: Any, name: str, reads: bool, now: Now, at: str) -> Parts:
    """A method of the dictionary of an object's attributes, or of a module's variables."""
    if now[0].alone or now[0].quiet:
        return []
    if is_a(owner, (type, types.ModuleType)) or resolved(now[1], type(owner), name).is_place:
        if reads:
            return reading_parts(owner, name, now, at)
        touch_attribute(owner, name, True, at)
        return []
    return entry_parts(owner, name, now, not reads, at)


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
    item = Part(named.family, thing, footprint, named.which)
    return [item, *key_parts(key, now, at)]


def _of_whole(value: Any, at: str, footprint: Callable[[Named], tuple[Access, ...]]) -> Parts:
    """One access to a container as a whole."""
    found = container(value, at)
    if found is None:
        return []
    named = found[2]
    return [Part(named.family, f"{named.name}[]", footprint(named), named.which)]


def _of_object(owner: Any, function: Any, given: Given, now: Now, at: str) -> Parts:
    """A method in C of a user's object (of its base class) or of a library's, or a library's own method."""
    name = stated_text(function, "__name__")
    if name in ATTRIBUTES and given:
        touch_attribute(owner, given[0], ATTRIBUTES[name], at)
        return []
    if type(function) is types.MethodWrapperType:
        if name == "__init__" and is_a(owner, types.SimpleNamespace):  # which stores its arguments
            return parts_of(owner, now, at, DEEPEST, True, True)
        return _of_wrapper(owner, name, given, now, at)
    if name in WHOLE and may_hold(type(owner)):
        return parts_of(owner, now, at, DEEPEST, False, True)
    if now[1].things.kind(owner) == INSTANCE and type(function) is types.MethodType:
        return _of_library(function, given, {}, owner, now, at)
    changes = not (name in LOOKING and is_a(owner, Mapping))
    state = _of_process(module_of(type(owner)), name)
    only_owner = name not in FILLING and not may_make(type(owner))
    return [*state, *_arguments(given, now, at, owner, changes, only_owner)]


def _of_wrapper(owner: Any, name: str, given: Given, now: Now, at: str) -> Parts:
    """What an operator does, by its name: `o.__setitem__(0, 1)`, of an object that keeps something in C."""
    if now[0].alone or in_c(type(owner)) is None:
        return []
    return parts_of(owner, now, at, 0, name not in ONLY_LOOKING | LOOKING_OPERATORS) + _arguments(
        given, now, at
    )


def _unbound(function: Any, given: Given, now: Now, at: str) -> Announced:
    """`list.append(l, x)`, `object.__setattr__(o, "x", 1)`"""
    first, name = given[0], function.__name__
    kind = now[1].things.kind(first)
    if kind == CONTAINER:
        return _lasting(_of_container(first, name, given[1:], now, at))
    if name in ATTRIBUTES and len(given) > 1:
        touch_attribute(first, given[1], ATTRIBUTES[name], at)
        return NOTHING
    if kind == INSTANCE and name in WHOLE:
        return _lasting(parts_of(first, now, at, DEEPEST, False, True))
    if kind == OPAQUE or (kind == INSTANCE and in_c(type(first)) is not None):
        if type(function) is types.WrapperDescriptorType:
            return _lasting(_of_wrapper(first, name, given[1:], now, at))
        return _lasting(_arguments(given[1:], now, at, first, True, True))
    return (
        _lasting(kind_parts(first, now, at) + naming_parts(first, now, at)) if kind == INSTANCE else NOTHING
    )


# ---- functions of libraries ---------------------------------------------------------------------


def show(value: Any, now: Now) -> None:
    """The text of something modelled is made, which shows its state."""
    kernel, look = now[0], now[1].look
    if look is not None and not kernel.alone and not kernel.quiet and type(value) not in SIMPLE_TYPES:
        look(value, "__repr__", False)


def _of_library(function: Any, given: Given, options: dict[str, Any], owner: Any, now: Now, at: str) -> Parts:
    kernel = now[0]
    if id(function) in SHOWING:
        for each in given:
            show(each, now)
    if wraps(type(function)) and type(wrapped(function)) in (types.FunctionType, types.MethodType):
        return parts_of(function, now, at)  # what it calls is Python, and tells of itself
    plain = function.__func__ if type(function) is types.MethodType else function
    whole_name = stated_text(plain, "__module__") or module_of(type(owner))
    module = whole_name.partition(".")[0]
    name = stated_text(function, "__name__")
    _tell_of_outside(function, module, name, kernel)
    if type(function) is REMEMBERING and _is_standard(function):
        return [object_part(function, now, False, at), *_arguments(given, now, at)]
    if module in ("threading", "_thread") and name in TELLING_THREADS:
        now[1].ask_for_worker(kernel)
    state = _of_process(module, name)
    if state:
        if state[0].thing == DIGITS and state[0].footprint[0].writes:
            now[1].write_rarely(kernel, LIMITS)
        return [*state, *_of_registries(module, now, at), *_arguments(given, now, at)]
    if module == "builtins" and given and (name in CODING or (len(given) > 1 and id(function) in TEXTS)):
        return [_of_module("_codecs", False), *_arguments(given, now, at)]
    if name == "__subclasses__":
        return subclasses_parts(False, now)
    makes_class = function is BUILD_CLASS or (function is type and len(given) > 1)
    if makes_class and "__subclasses__" in now[1].rare:
        return subclasses_parts(True, now)
    if function is isinstance or function is issubclass:
        registered = [Part(SUBCLASSES.thing, SUBCLASSES.thing, (SUBCLASSES,))] if _is_abstract(given) else []
        checked = checking_parts(given[0], given[1], now, at) if len(given) > 1 and not kernel.alone else []
        return registered + checked + _of_kind(given[0], now, at) if given else []
    if module == "logging":
        return _logged(function, name, now, at)
    path = files.touched(function, module)
    if path is not None:
        touched = path(given[: len(given) - len(options)], options)
        parts = [Part(files.FAMILY, thing, (access,)) for thing, access in touched]
        is_relative = any(files.is_relative(each) for each in (owner, *given))
        return [*parts, Part(DIRECTORY, DIRECTORY, touching(DIRECTORY, False))] if is_relative else parts
    if function is builtins.print:
        return _printed(given, now, at)
    if module == "typing" and name == "get_type_hints":
        return [*inspected_parts(given, now, at), *_arguments((*given, *inside(given)), now, at)]
    if (module in MAKING_CLASSES and name not in NOT_MAKING) or (function is type and len(given) > 1):
        return _arguments((*given, *options.values()), now, at)
    is_asking = module == "inspect" and name.startswith("is")
    if (module in HARMLESS and name not in FIRST_CHANGED) or is_asking or id(function) in _QUIET:
        return _looked_through(function, given, now, at)
    if (module == "itertools" and name not in COPYING) or id(function) in LAZY:
        for each in given:
            iterate(each, at, function is reversed)
        return []
    if module in LOOKING_INTO:
        looked = inspected_parts(given, now, at)
        return [*looked, *_arguments((*given, *inside(given)), now, at)]
    if is_a(function, type):
        if is_user_class(function):
            return parts_of(function, now, at) if _is_made_elsewhere(type(function)) else []
        shallow = function.__name__ in SHALLOW
        return _arguments(given, now, at, shallow=shallow, attributes=module not in PLAIN_MODULES)
    attributes = module not in PLAIN_MODULES or name in FORMATTING
    if name in FIRST_CHANGED and given:
        changed_parts = parts_of(given[0], now, at, DEEPEST, True)
        return changed_parts + _arguments(given, now, at, attributes=attributes)
    reads = module in ONLY_READING and type(function) is not operator.methodcaller and name not in FILLING
    reads = reads or whole_name.startswith(SHOWING_FAILURES)
    reads = reads and not (module in ("operator", "_operator") and name in IN_PLACE)
    of_instance = type(function) is types.MethodType and type(function.__self__) is not type
    of = function.__self__ if of_instance else None
    parts = _arguments(given, now, at, of, not reads, False, name in SHALLOW, attributes)
    parts += _of_registries(module, now, at)
    if type(function) is operator.methodcaller and given and not kernel.alone:
        parts += reading_parts(given[0], function.__reduce__()[1][0], now, at)
    if type(plain) is types.FunctionType:
        return parts + _enclosed(plain, now, at) + _named_in(plain, of, now, at)
    if owner is None or is_a(owner, types.ModuleType):
        return parts + _state(function, module, name, now, at)
    return parts


REGISTRIES = {
    "_pickle": (("copyreg", "dispatch_table"), ("copyreg", "_extension_registry")),
    "_warnings": (("warnings", "filters"),),
    "importlib": (("sys", "meta_path"), ("sys", "path_hooks"), ("sys", "path")),
}
"""Modules that are not watched, and containers elsewhere that their functions look at."""


def _of_registries(module: str, now: Now, at: str) -> Parts:
    if now[0].alone or module not in REGISTRIES:
        return []
    held = [getattr(sys.modules.get(name), word, None) for name, word in REGISTRIES[module]]
    return [part for each in held for part in parts_of(each, now, at, DEEPEST)]


def _named_in(function: Any, owner: Any, now: Now, at: str) -> Parts:
    """What a library's method, as one of a named tuple, reads of the program's own class by name."""
    if now[0].alone or owner is None or not is_user_class(type(owner)):
        return []
    spaces = [base.__dict__ for base in type(owner).__mro__ if is_user_class(base)]
    names = [name for name in function.__code__.co_names if any(name in space for space in spaces)]
    return [part for name in names for part in reading_parts(owner, name, now, at)]


def _state(function: Any, module: str, name: str, now: Now, at: str) -> Parts:
    """What a function in C may keep: the state of its module; its own, if it is an object that is called."""
    if now[0].alone or module in WITHOUT_STATE:
        return []
    asks = name.startswith(ASKING) and module in sys.stdlib_module_names
    parts = [_of_module(module, not asks)] if module else []
    if now[1].things.kind(function) == OPAQUE:
        parts += parts_of(function, now, at, DEEPEST, True)
    return parts


def _of_module(module: str, writes: bool) -> Part:
    thing = f"the state of {module}"
    return Part(thing, thing, touching(thing, writes))


SHOWING = frozenset(map(id, (repr, str, print, format, ascii)))
TELLING_THREADS = frozenset("current_thread get_ident get_native_id currentThread enumerate".split())
"""Functions that tell which thread this is."""
BUILD_CLASS: Any = builtins.__build_class__


MAKING_CLASSES = frozenset({"enum", "typing"})
"""Modules whose functions make classes of lists and dictionaries, and others that only hand on."""
NOT_MAKING = frozenset("cast overload final no_type_check assert_type get_origin get_args".split())
CODING = frozenset({"encode", "decode"})
TEXTS = frozenset(map(id, (str, bytes, bytearray)))
"""What is coded by names that a program may give a meaning."""


def _of_process(module: str, name: str) -> Parts:
    """A state of the whole process."""
    state = PROCESS_STATE.get((module, name))
    return [Part(state[0], state[0], (Access(*state),))] if state is not None else []


FORMATTING = frozenset({"format", "format_map", "print", "dir"})
"""Built-in functions that may look at any attribute."""


def _is_abstract(given: Given) -> bool:
    """Whether a class is among these of which others may count as subclasses."""
    kinds = given[1] if len(given) > 1 else None
    return any(type(each) is ABCMeta for each in (kinds if type(kinds) is tuple else (kinds,)))


def _looked_through(function: Any, given: Given, now: Now, at: str) -> Parts:
    """`dir(o)` sees all attributes, whoever adds one, of its classes too; `type(o)` which class it is of."""
    if now[0].alone or not given:
        return []
    if function is dir:
        classes = order_of(given[0] if is_a(given[0], type) else type(given[0]))
        parts = [shape_part(each, now, False, at) for each in classes if not is_fixed(each)]
        parts += _of_kind(given[0], now, at)
        return parts + parts_of(given[0], now, at, DEEPEST, False, True)
    return _of_kind(given[0], now, at) if function is type and len(given) == 1 else []


def _of_kind(value: Any, now: Now, at: str) -> Parts:
    """Of which classes an object is, or a class a subclass: told of where somebody changes that."""
    cls = value if is_a(value, type) else type(value)
    return [] if now[0].alone else kind_parts(value, now, at) + base_parts(cls, now, at)


def _enclosed(function: Any, now: Now, at: str, depth: int = 3) -> Parts:
    """What a library's function keeps in variables of an enclosing one: its state."""
    parts: Parts = []
    if now[0].alone:
        return parts
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:  # nothing yet
            continue
        if now[1].things.kind(held) in (CONTAINER, OPAQUE):
            parts += parts_of(held, now, at, DEEPEST, True)
        elif type(held) is types.FunctionType and not is_own(held) and depth:
            parts += _enclosed(held, now, at, depth - 1)
    return parts


PLAIN_MODULES = frozenset(
    {"builtins", "collections", "_collections", "itertools", "math", "_heapq", "_bisect"}
)
"""Modules whose functions look into containers and not at the attributes of what these hold."""


def _tell_of_outside(function: Any, module: str, name: str, kernel: Kernel) -> None:
    if (module, name) in ADDRESSED and not kernel.alone:
        kernel.uncontrolled[f"{module.lstrip('_')}.{name}, whose answer depends on all that tasks do"] = None
    if name in OUTSIDE.get(module, ()):
        kernel.uncontrolled[f"{module.lstrip('_')}.{name}, which is not under control"] = None
    if type(function) is REMEMBERING and not kernel.alone and not _is_standard(function):
        kernel.uncontrolled["a cache (lru_cache) that was made before the program was under control"] = None


def _is_standard(function: Any) -> bool:
    """A cache of the standard library: whoever comes second computes the same again.

    So its calls only read it; who asks for its counts or clears it calls a method, which writes it.
    """
    return stated_text(function, "__module__").partition(".")[0] in sys.stdlib_module_names


COPYING = frozenset("product permutations combinations combinations_with_replacement".split())
"""Iterators that copy what they go over when they are made."""
LAZY = frozenset(map(id, (zip, map, filter, enumerate, reversed, iter)))
"""What they go over is read when they are used."""
_QUIET = {
    id(each)
    for each in (
        type, id, range, callable, super, property, staticmethod, classmethod, object,
        slice, globals, locals, vars, dir, exec, eval, breakpoint, __build_class__, partial, hasattr, getattr,
        sys.audit,
    )
}  # fmt: skip
"""Functions that touch nothing, or are told of otherwise."""


def _logged(function: Any, name: str, now: Now, at: str) -> Parts:
    """What a logger writes to belongs to the program, unless it is the terminal."""
    logger: Any = stated(function, "__self__")
    if name in CONFIGURING:
        return [Part(LOGGING, LOGGING, (Access(LOGGING, True),))]
    if name not in LEVELS:
        return []
    if logger is None:
        logger = sys.modules["logging"].getLogger()
    return [Part(LOGGING, LOGGING, (Access(LOGGING, False),)), *_streams(logger, now, at)]


LOGGING = "the set-up of logging"


def _streams(logger: Any, now: Now, at: str) -> Parts:
    parts: Parts = []
    streams: list[Any] = []
    while logger is not None:
        names = ("level", "handlers", "propagate", "disabled", "filters")
        parts += [part for name in names if (part := attribute_part(logger, name, False, at))]
        streams += [getattr(each, "stream", None) for each in getattr(logger, "handlers", ())]
        logger = getattr(logger, "parent", None) if getattr(logger, "propagate", False) else None
    for each in streams:
        parts += parts_of(each, now, at, DEEPEST, True) if each else []
    return parts


def _printed(given: Given, now: Now, at: str) -> Parts:
    """What is printed is looked through; where it goes to, if not the terminal, is changed."""
    parts: Parts = []
    if "stdout" in now[1].rare:  # somebody puts another stream in its place
        parts.append(member_part(sys, "stdout", now, False, at))
    if type(sys.stdout) not in SIMPLE_TYPES:
        given = (*given, sys.stdout)
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
    parts: Parts = set_parts(list(given), now, at) + method_parts(list(given), now, at)
    for value in given:
        if type(value) not in CALLABLES and is_followed(value):
            parts += parts_of(value, now, at, 0, changes, True)
        parts += bound_parts(value, now, at)
    return parts


CALLABLES: frozenset[type] = frozenset(
    {
        types.BuiltinFunctionType, METHOD_IN_C, types.MethodDescriptorType, types.WrapperDescriptorType,
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
    if function is globals or function is vars or function is locals:  # it need not be comparable
        _tell_of_namespace(function, given, made)
        return
    if type(made) in SIMPLE_TYPES:
        if given and is_weak(type(made)):
            _refer(made, given, now)
        return
    if given and is_weak(type(made)):
        _refer(made, given, now)
    if now[1].things.kind(made) == OPAQUE and not is_weak(type(made)):
        _remember(made, given, now)


def _refer(made: Any, given: Given, now: Now) -> None:
    """A weak reference was made: it leads to one of these, which comes first unless `__new__` makes it."""
    for each in given[:2]:
        now[1].lives.refer(now, made, each)


def _tell_of_namespace(function: Any, given: Given, made: Any) -> None:
    if function is vars and given:
        tell_of_dictionary(given[0], made)
        return
    if type(made) is dict:
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
    if is_a(name, str):
        read_attribute(value, name, rest[-1])


def _set(value: Any, name: Any, new: Any, at: str) -> None:
    if is_a(name, str):
        write_attribute(value, name, new, at)


def _delete(value: Any, name: Any, at: str) -> None:
    if is_a(name, str):
        delete_attribute(value, name, at)


def _read_item(value: Any, key: Any, at: str) -> None:
    read_item(value, key, at)


def _in(value: Any, item: Any, at: str) -> None:
    contains(item, value, at)


def _input(*rest: Any) -> None:
    now = accesses.active()
    if now is not None:
        touch_all(now, parts_of(sys.stdin, now, rest[-1], DEEPEST, True), rest[-1])


def _import(name: Any, *rest: Any) -> Parts:
    return import_named(name, rest[-1]) if is_a(name, str) else []


def import_named(name: str, at: str) -> Parts:
    """A module is looked for by its name; returns what is looked at in the middle of its import."""
    now = accesses.active()
    read_item(sys.modules, name, at)
    if name in sys.modules or now is None or now[0].alone:
        return []
    parts = _of_registries("importlib", now, at)
    touch_all(now, parts, at)
    return parts


def _next(value: Any, *rest: Any) -> Parts:
    return advance(value, rest[-1])


_SPECIAL: dict[int, Any] = {
    id(getattr): _get, id(setattr): _set, id(delattr): _delete, id(hasattr): _get,
    id(operator.getitem): _read_item, id(operator.setitem): write_item, id(operator.delitem): delete_item,
    id(operator.contains): _in, id(input): _input, id(next): _next, id(__import__): _import,
    id(import_module): _import,
}  # fmt: skip
"""Functions that do what an instruction does, by their identity."""
_COUNTS: dict[int, tuple[int, ...]] = {
    id(getattr): (2, 3), id(setattr): (3,), id(delattr): (2,), id(hasattr): (2,), id(operator.getitem): (2,),
    id(operator.setitem): (3,), id(operator.delitem): (2,), id(operator.contains): (2,), id(input): (0, 1),
    id(next): (1, 2), id(__import__): (1, 2, 3, 4, 5), id(import_module): (1, 2),
}  # fmt: skip
"""With how many arguments each can be called."""
