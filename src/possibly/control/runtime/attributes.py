"""Attributes of objects, classes and modules, resolved as Python resolves them.

Law: reading an attribute touches the place where the look-up ends and every place where it looked before: the
object itself, and the classes of its order up to the one that has it. So a store into a class meets the read
through an instance. A slot is a place of the object; a property is no place, its code tells of itself.

What holds behaviour (a function, a class, a module, a descriptor) is read all the time and hardly ever
written: such reads are told only of names that somebody was seen to write while several tasks ran
(`Memory.rare`); a first such write lets the search begin anew.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable
from functools import partial
from queue import Queue
from threading import local
from typing import Any, NamedTuple

from possibly.control.execution import Access
from possibly.control.loading import packages
from possibly.control.models.primitives import Quiet
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.contents import everything, item_of, shape
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import FOREIGN, FUNCTION_PARTS, LIVES, RAISING, VISIBLE, Memory
from possibly.control.runtime.things import (
    CLASS,
    CONTAINER,
    IGNORED,
    INSTANCE,
    LIBRARY,
    MODULE,
    OPAQUE,
    Named,
    class_has,
    dictionary_of,
    in_c,
    is_a,
    is_own,
    keeper,
    linked,
    may_hold,
    module_of,
)
from possibly.control.runtime.variables import BEHAVIOUR, call_it, is_behaviour

__all__ = ["BEHAVIOUR", "Part", "attribute_part", "object_part", "touch_all", "touch_object"]


class Part(NamedTuple):
    """One of several things that are touched at once."""

    family: str
    thing: str
    footprint: tuple[Access, ...]
    key: int | None = None


Now = tuple[Kernel, Memory]


def touch_all(now: Now, parts: list[Part], at: str, again: Again | None = None) -> int:
    """Touches several things in one step: what happens to them happens at one moment.

    `again` says what is touched when that moment has come: others may have changed it meanwhile.
    """
    kernel, memory = now
    if kernel.alone or kernel.quiet or not parts:
        return 0
    if len(parts) == 1:
        family, thing, footprint, key = parts[0]
        mode = memory.access(kernel, family, thing, footprint, at, key)
        if mode == VISIBLE and again is not None:
            _touch_more(now, again())
        return mode
    seen = [part for part in parts if memory._is_visible(kernel, part.family, part.thing)]
    mode = 0
    if seen:
        union = tuple(dict.fromkeys(access for part in seen for access in part.footprint))
        mode = memory.access(kernel, seen[0].family, seen[0].thing, union, at)
        if mode == VISIBLE and again is not None:
            _touch_more(now, again())
    hidden = [part for part in parts if part not in seen]
    if not seen and hidden:
        family, thing, footprint, key = hidden[0]
        mode = memory.access(kernel, family, thing, footprint, at, key)
        hidden = hidden[1:]
        memory.overflowed.update(part.family for part in hidden)
    for part in hidden:
        memory.hide(kernel, part.family, part.footprint, part.key)
    return mode


Again = Callable[[], list[Part]]


def _touch_more(now: Now, parts: list[Part]) -> None:
    kernel, memory = now
    for family, thing, footprint, _ in parts:
        if memory._is_visible(kernel, family, thing):
            for each in footprint:
                kernel.add(each)


MOVING = frozenset("f_back f_lasti f_lineno f_locals f_trace".split())
"""What changes of a frame as its code runs."""
ENTERED_AGAIN = 0x20 | 0x80 | 0x200
"""Flags of code that can be left and entered again."""


def _is_mine(frame: types.FrameType) -> bool:
    """Whether it is the running task that is in the frame, or nobody will be any more."""
    if not frame.f_code.co_flags & ENTERED_AGAIN:
        return True
    found: Any = sys._getframe()
    while found is not None and found is not frame:
        found = found.f_back
    return found is frame


RAISED = frozenset({"__traceback__", "__context__"})
"""What an exception gets as it is raised."""


def raise_again(value: Any, at: str) -> None:
    """An exception is about to be raised, which others may have too: told of where somebody looks at that."""
    now = accesses.active()
    if now is None or RAISING not in now[1].rare or now[0].alone or not is_a(value, BaseException):
        return
    touch_all(now, [member_part(value, name, now, True, at) for name in sorted(RAISED)], at)


LOOKING_AT_LIVES = Part(LIVES, LIVES, (Access(LIVES, False),))
"""Whoever asks a weak reference, or uses a proxy that is one."""


def touch_object(value: Any, writes: bool, at: str) -> None:
    """An object of a library is used: it is one thing."""
    now = accesses.active()
    if now is not None:
        part = object_part(value, now, writes, at)
        touch_all(now, [part], at)
        if not writes:
            now[0].running().trail.effect()  # whoever changes it may not be seen to do so


def object_part(value: Any, now: Now, writes: bool, at: str) -> Part:
    named = now[1].things.named(value, now[0], at)
    footprint = touching(named.name, writes)
    return Part(named.family, named.name, footprint, None if named.exact else id(value))


def opaque_parts(value: Any, now: Now, writes: bool, at: str) -> list[Part]:
    """An object of a library with all that it holds in C, which is used whenever it is."""
    parts, pending, seen = [], [value], {id(value)}
    while pending and len(seen) < MOST_LINKED:
        each = pending.pop()
        if now[1].things.kind(each) == CONTAINER:
            parts.append(_container_part(each, writes, now, at))
            continue
        parts += [object_part(each, now, writes, at), *kept_parts(type(each), writes)]
        more = [held for held in linked(each) if id(held) not in seen]
        seen.update(map(id, more))
        pending += more
    return parts


MOST_LINKED = 200
"""So many objects that one in C holds are looked at when an attribute of it is."""


def kept_parts(cls: type, writes: bool) -> list[Part]:
    """What objects of a package may share in C."""
    root = keeper(cls)
    thing = f"what {root} keeps in C"
    return [Part(thing, thing, touching(thing, writes))] if root else []


# ---- places -------------------------------------------------------------------------------------


def member_part(value: Any, name: str, now: Now, writes: bool, at: str) -> Part:
    """The place `name` of an object, a class or a module."""
    kernel, memory = now
    if memory.borrowed and id(value) in memory.borrowed:
        return _borrowed_part(memory.borrowed[id(value)], name, now, writes, at)
    if is_a(value, types.ModuleType):
        thing = global_name(value.__name__, name)
        return Part(thing, thing, touching(thing, writes))
    named = memory.things.named(value, kernel, at)
    thing = f"{named.name}.{name}"
    holder = kernel.labels.get(named.name)
    if thing not in kernel.labels or (holder and not kernel.labels[thing].startswith(f"{holder}.")):
        kernel.labels[thing] = f"{holder or _shown(named)}.{name}"  # an object may be named after its parts
    return Part(f"{named.family}.{name}", thing, touching(thing, writes), None if named.exact else id(value))


def _borrowed_part(given: dict[str, Any], name: str, now: Now, writes: bool, at: str) -> Part:
    """An attribute of an object that was given the dictionary of its attributes: an item of that."""
    kernel, memory = now
    owner = memory.namespaces.get(id(given))
    if owner is not None:
        return member_part(owner[1](), name, now, writes, at)
    named = memory.things.named(given, kernel, at)
    thing, footprint = item_of(given, named, name, writes)
    return Part(named.family, thing, footprint, None if named.exact else id(given))


def _shown(named: Named) -> str:
    return named.shown or named.family


def global_name(module: str, name: str) -> str:
    return name if module == "__main__" else f"{module}.{name}"


_ABSENT = object()


class Resolved(NamedTuple):
    """What the classes of an object say of a name."""

    is_place: bool
    """The object itself may hold it."""
    owners: tuple[Any, ...]
    """The classes where it is looked for, the last of which has it if any."""
    value: Any
    """What that class has, or `_ABSENT`."""
    is_data: bool = False
    """The object's own dictionary is not looked at: it is a slot, or a descriptor that stores."""


def resolved(memory: Memory, cls: type, name: str) -> Resolved:
    found = memory.members.get((cls, name))
    if found is None:
        found = memory.members[cls, name] = _resolved(cls, name)
    return found


def _resolved(cls: type, name: str) -> Resolved:
    looked: list[Any] = []
    for base in cls.__mro__:
        if name in _space(base):
            if not _is_fixed(base):
                looked.append(base)
            held = _space(base)[name]
            is_data = class_has(type(held), "__set__") or class_has(type(held), "__delete__")
            is_place = not is_data or (name not in _NO_PLACES and not _tells(held))
            return Resolved(is_place, tuple(looked), held, is_data)
        if not _is_fixed(base):
            looked.append(base)
    return Resolved(True, tuple(looked), _ABSENT)


_NO_PLACES = frozenset({"__class__", "__dict__", "__weakref__"})


def _tells(descriptor: Any) -> bool:
    """Whether a descriptor that stores does so by code of the program, which tells of itself."""
    if type(descriptor) is property:
        return any(is_own(each) for each in (descriptor.fget, descriptor.fset, descriptor.fdel))
    mro = type(descriptor).__mro__
    found = [base.__dict__[name] for base in mro for name in _STORING if name in base.__dict__]
    return any(is_own(each) for each in found)


_STORING = ("__get__", "__set__", "__delete__")


def _space(value: Any) -> Any:
    """What a class or a module holds."""
    return value.__dict__


def _is_fixed(cls: type) -> bool:
    """A class in C, whose attributes nobody can set."""
    return not cls.__flags__ & 512


def _has_own(value: Any, name: str) -> bool:
    """Whether the object itself holds the attribute now."""
    found = dictionary_of(value)
    return found is not None and name in found


def reading_parts(value: Any, name: str, now: Now, at: str) -> list[Part]:
    """All places that reading the attribute touches."""
    memory = now[1]
    cls = type(value)
    if issubclass(cls, types.ModuleType):
        return _of_module(value, name, now, at)
    if issubclass(cls, type):
        return _of_class(value, name, now, at)
    if cls is super:
        return _of_super(value, name, now, at)
    is_place, owners, held, is_data = resolved(memory, cls, name)
    rare = name in memory.rare
    parts = _of_bases(cls, now, at)
    if "__class__" in memory.rare and may_hold(cls):
        parts.append(member_part(value, "__class__", now, False, at))
    if is_place and may_hold(cls):
        has_own = is_data or _has_own(value, name)
        if has_own or rare or not is_behaviour(held):
            parts.append(member_part(value, name, now, False, at))
        if has_own and not (is_data and rare):
            return parts
    if held is _ABSENT and not rare:
        return parts
    if rare or not is_behaviour(held):
        parts += [member_part(owner, name, now, False, at) for owner in owners]
    return parts


def _of_bases(cls: type, now: Now, at: str) -> list[Part]:
    """Which classes are looked at, if somebody changes that."""
    if "__bases__" not in now[1].rare:
        return []
    return [member_part(base, "__bases__", now, False, at) for base in cls.__mro__ if not _is_fixed(base)]


def special_parts(value: Any, now: Now, at: str) -> list[Part]:
    """What an instruction reads of the classes of a value, if somebody writes such methods."""
    cls = value if is_a(value, type) else type(value)
    if not now[1].specials or now[1].things.kind(value) not in (INSTANCE, CLASS, CONTAINER):
        return []
    bases = [base for base in cls.__mro__ if not _is_fixed(base)]
    return [member_part(base, name, now, False, at) for base in bases for name in now[1].specials]


def _of_module(value: Any, name: str, now: Now, at: str) -> list[Part]:
    held = _space(value).get(name, _ABSENT)
    if held is not _ABSENT and is_behaviour(held) and name not in now[1].rare:
        return []
    if held is _ABSENT and name not in now[1].rare:
        return []
    if now[1].things.kind(value) == LIBRARY and name not in now[1].rare:
        return []
    return [member_part(value, name, now, False, at)]


def _of_class(value: Any, name: str, now: Now, at: str) -> list[Part]:
    return _of_bases(value, now, at) + _looked_up((*value.__mro__, *type(value).__mro__), name, now, at)


def _of_super(value: Any, name: str, now: Now, at: str) -> list[Part]:
    """`super().name`: it is looked for in the classes after one."""
    mro: Any = object.__getattribute__(value, "__self_class__")
    after = object.__getattribute__(value, "__thisclass__")
    mro = mro.__mro__ if mro is not None else ()
    rest = mro[mro.index(after) + 1 :] if after in mro else ()
    return _looked_up(rest, name, now, at)


def _looked_up(classes: tuple[type, ...], name: str, now: Now, at: str) -> list[Part]:
    """The classes of these that are looked at for a name, up to the one that has it."""
    looked: list[Any] = []
    held: Any = _ABSENT
    for base in classes:
        if not _is_fixed(base):
            looked.append(base)
        if name in _space(base):
            held = _space(base)[name]
            break
    if name not in now[1].rare and (held is _ABSENT or is_behaviour(held)):
        return []
    return [member_part(owner, name, now, False, at) for owner in looked]


def attribute_part(value: Any, name: str, writes: bool, at: str) -> Part | None:
    """The attribute of an object as one place, if it is one."""
    now = accesses.active()
    if now is None:
        return None
    if not is_a(value, (type, types.ModuleType)):
        if not may_hold(type(value)) or not resolved(now[1], type(value), name).is_place:
            return None
        known = resolved(now[1], type(value), name)
        if not writes and not known.is_data and is_behaviour(known.value):
            return None
    return member_part(value, name, now, writes, at)


# ---- what instructions do -----------------------------------------------------------------------


def behind(proxy: Any) -> Any:
    """What a weak proxy stands for; the proxy itself, if that is gone."""
    try:
        return proxy.__sizeof__.__self__
    except (ReferenceError, AttributeError):
        return proxy


def _meant(value: Any, name: str, method: str) -> Any:
    """The object whose attribute this is: another one, if the value is a proxy."""
    cls = type(value)
    if cls in weakref.ProxyTypes:
        return behind(value)
    if _wraps(cls):
        is_own_part = name.startswith("_self_") or _member(cls, name) is not None
        return value if is_own_part else _wrapped(value)
    found = _proxies.get((cls, method))
    if found is None:
        held = _member(cls, method)
        found = _proxies[cls, method] = held if held is not None and _is_made_by_code(held) else False
    if found is False or (method == "__getattr__" and _member(cls, name) is not None):
        return value
    try:
        kind: Any = type(found)
        handed = kind.__get__(found, value, cls)
    except Exception:  # noqa: BLE001 - there is nothing behind it, as the program is told in a moment
        return value
    return handed.args[0] if type(handed) is partial and handed.func in _HANDING and handed.args else value


def _wraps(cls: type) -> bool:
    """Whether objects of the class hand attributes on, in C, to what they wrap (wrapt); none that makes that
    only then."""
    found = _wrapping.get(cls)
    if found is None:
        stores, holds = _member(cls, "__setattr__"), _member(cls, "__wrapped__")
        in_c = type(stores) is types.WrapperDescriptorType and stores.__objclass__ is not object
        is_there = type(holds) is types.GetSetDescriptorType and not class_has(cls, "__factory__")
        found = _wrapping[cls] = in_c and is_there
    return found


_wrapping: dict[type, bool] = {}


def _wrapped(value: Any) -> Any:
    try:
        return _member(type(value), "__wrapped__").__get__(value)
    except ValueError:  # nothing yet
        return value


_HANDING = (getattr, setattr, delattr)
_proxies: dict[tuple[type, str], Any] = {}
"""Of classes, the descriptor that makes such a method, or False."""


def read_attribute(value: Any, name: str, at: str) -> None:
    """`value.name` is about to be read."""
    now = accesses.active()
    if now is None:
        return
    if type(value) in weakref.ProxyTypes:
        touch_all(now, [LOOKING_AT_LIVES], at)
    value = _meant(value, name, "__getattr__")
    if type(value) is types.MethodType and not class_has(types.MethodType, name):
        value = value.__func__  # whose attributes a method shows
    kernel, memory = now
    kind = memory.things.kind(value)
    if memory.workers and is_a(value, local):
        memory.ask_for_worker(kernel)
    if name in ("queue", "unfinished_tasks"):
        _read_inside(value, name, kernel, at)
    if memory.look is not None and not kernel.alone and not kernel.quiet and memory.look(value, name, False):
        return
    if name in memory.rare and _is_untold(value, kind):
        touch_object(value, False, at)
        return
    if type(value) is memoryview and not callable(getattr(memoryview, name, None)):
        touch_object(value, False, at)
        return
    if type(value) is types.FrameType and name in MOVING and not _is_mine(value):
        kernel.uncontrolled["a frame of code that another task may run, which is looked at"] = None
    if name in RAISED and is_a(value, BaseException):
        memory.write_rarely(kernel, RAISING)
    if kind == OPAQUE and not may_hold(type(value)):
        _read_of_opaque(value, name, at)
        return
    if (kernel.alone or kernel.quiet) and not memory.watched:
        return
    parts = reading_parts(value, name, now, at)
    if kind == CONTAINER and not kernel.alone and _is_field(value, name, memory):
        parts.append(_container_part(value, False, now, at))
    if not parts:
        _read_of_opaque(value, name, at) if kind == OPAQUE else None
        return
    if not kernel.alone and (kind == OPAQUE or _may_be_stored(value, name, memory)):
        parts += opaque_parts(value, now, False, at)
    mode = touch_all(now, parts, at) if not kernel.alone else _initial(now, parts)
    if mode:
        memory.saw(kernel, mode, _held(value, name), parts[0].thing)


def _is_untold(value: Any, kind: int) -> bool:
    """Whether it is no thing, and holds in C what it holds; not what each thread has of its own."""
    return kind == IGNORED and not may_hold(type(value)) and not is_a(value, local)


def _is_in_c(value: Any, name: str, memory: Memory) -> bool:
    """Whether the attribute is not held by the object's dictionary or slots but by what it keeps in C."""
    cls = type(value)
    if in_c(cls) is None or issubclass(cls, (type, types.ModuleType, types.FunctionType)):
        return False
    _, _, held, is_data = resolved(memory, cls, name)
    is_member = is_data and in_c(getattr(held, "__objclass__", None) or type(held)) is not None
    return is_member or _handles_attributes(cls)


def _may_be_stored(value: Any, name: str, memory: Memory) -> bool:
    """Whether methods in C of the object may store there: also what no class of it speaks of."""
    is_absent = resolved(memory, type(value), name).value is _ABSENT
    return _is_in_c(value, name, memory) or (is_absent and in_c(type(value)) is not None)


def _is_atomic(cls: type) -> bool:
    """Whether the methods of such an object are code of a library whose calls are one step each."""
    return module_of(cls).partition(".")[0] in packages.NEVER


def _handles_attributes(cls: type) -> bool:
    """Whether a package finds the attributes of its objects by code in C."""
    found = _handling.get(cls)
    if found is None:
        base: Any = getattr(_member(cls, "__getattribute__"), "__objclass__", object)
        is_standard = module_of(base).partition(".")[0] in sys.stdlib_module_names
        found = _handling[cls] = not is_standard
    return found


_handling: dict[type, bool] = {}


def _is_field(value: Any, name: str, memory: Memory) -> bool:
    """Whether it is a part of a container in C that can be replaced, as the factory of a `defaultdict`."""
    held = resolved(memory, type(value), name).value
    return type(held) in (types.MemberDescriptorType, types.GetSetDescriptorType) and not may_hold(
        type(value)
    )


def _container_part(value: Any, writes: bool, now: Now, at: str) -> Part:
    named = now[1].things.named(value, now[0], at)
    footprint = everything(named) if writes else shape(named, False)
    return Part(named.family, f"{named.name}[]", footprint, None if named.exact else id(value))


def _initial(now: Now, parts: list[Part]) -> int:
    family, thing, footprint, key = parts[0]
    return now[1].access(now[0], family, thing, footprint, "", key)


def _held(value: Any, name: str) -> Any:
    """What an attribute holds that is a place: no code of the program runs."""
    try:
        if is_a(value, type):
            return next((_space(base)[name] for base in value.__mro__ if name in _space(base)), None)
        own = object.__getattribute__(value, "__dict__")
        if name in own:
            return own[name]
    except (AttributeError, TypeError):
        pass
    held = next((_space(base)[name] for base in type(value).__mro__ if name in _space(base)), None)
    if type(held) is types.MemberDescriptorType:
        try:
            return held.__get__(value, type(value))
        except AttributeError:
            return None
    return None if is_behaviour(held) else held


def _read_of_opaque(value: Any, name: str, at: str) -> None:
    """A part of a library's object."""
    now = accesses.active()
    if now is None or callable(getattr(type(value), name, None)):
        return
    touch_all(now, opaque_parts(value, now, False, at), at)
    now[0].running().trail.effect()  # whoever changes it may not be seen to do so


def _read_inside(value: Any, name: str, kernel: Kernel, at: str) -> None:
    if is_a(value, Queue) and name == "unfinished_tasks":
        state: Any = (dictionary_of(value) or {}).get("_state")
        if state is not None and not kernel.alone and not kernel.quiet:
            kernel.visible("unfinished", state.name, state.unfinished(), at or None)
    elif is_a(value, Queue):
        kernel.uncontrolled["the inside of a queue (Queue.queue), which is not under control"] = None


def write_attribute(value: Any, name: str, new: Any, at: str) -> None:
    """`value.name = new` is about to be done."""
    now = accesses.active()
    if now is None:
        return
    if type(value) in weakref.ProxyTypes:
        touch_all(now, [LOOKING_AT_LIVES], at)
    value = _meant(value, name, "__setattr__")
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN or is_a(value, types.FunctionType):
        memory.reach_out(value)
    _name_both(value, name, new, now, kind, at)
    if memory.has_ends:
        memory.drop(kernel, _held(value, name), at)
    if name == "__dict__":
        _replace_all(value, new, now, at)
        return
    if memory.look is not None and not kernel.alone and not kernel.quiet and memory.look(value, name, True):
        return
    if not is_a(value, type) and _is_untold(value, kind):
        memory.write_rarely(kernel, name)
        touch_object(value, True, at)
        return
    if kind == OPAQUE and not may_hold(type(value)):
        touch_all(now, opaque_parts(value, now, True, at), at)
        return
    if kind == CONTAINER and _is_field(value, name, memory):
        touch_all(now, [_container_part(value, True, now, at)], at)
        return
    part = _written(value, name, new, now, at, True)
    if part is None:
        touch_object(value, True, at) if kind == OPAQUE else None
        return
    _change_shape(value, name, True, now, at)
    if not kernel.alone and (_is_in_c(value, name, memory) or (kind == OPAQUE and _is_atomic(type(value)))):
        mode = touch_all(now, [part, *opaque_parts(value, now, True, at)], at)  # its methods look at it
    else:
        mode = memory.access(kernel, part.family, part.thing, part.footprint, at, part.key)
    if mode:
        memory.saw(kernel, mode, new, part.thing)


def _change_shape(value: Any, name: str, stores: bool, now: Now, at: str) -> None:
    """An attribute that comes or goes changes which there are."""
    kernel, memory = now
    if kernel.alone or kernel.quiet or _has_own(value, name) == stores or not may_hold(type(value)):
        return
    part = shape_part(value, now, True, at)
    if memory._is_visible(kernel, part.family, part.thing):
        memory.access(kernel, part.family, part.thing, part.footprint, at, part.key)
    else:
        memory.hide(kernel, part.family, part.footprint, part.key)


def shape_part(value: Any, now: Now, writes: bool, at: str) -> Part:
    """Which attributes an object has."""
    return member_part(value, "__dict__", now, writes, at)


def _name_both(value: Any, name: str, new: Any, now: Now, kind: int, at: str) -> None:
    """A new object gets its name with its first attribute, what it holds is called after it."""
    kernel, memory = now
    is_new = kind == INSTANCE and memory.things.known(value) is None
    if is_new and dictionary_of(value) == {}:
        memory.things.made(value, kernel, at)
    known = memory.things.known(value)
    owner = known.shown if known is not None and known.shown else type(value).__name__
    call_it(new, f"{owner}.{name}", now, at)
    if known is not None and is_a(new, Quiet):
        kernel.owners[new.name] = (known.name, name)


def _replace_all(value: Any, new: Any, now: Now, at: str) -> None:
    """`value.__dict__ = new`: all attributes change, and are items of another dictionary from now on."""
    if type(new) is not dict or dictionary_of(value) is new:
        return
    names = {*(dictionary_of(value) or ()), *new}
    parts = [member_part(value, name, now, True, at) for name in sorted(names, key=str)]
    now[1].borrowed[id(value)] = new
    now[1].things.borrow(value, now[1].borrowed)
    parts += [member_part(value, name, now, True, at) for name in sorted(names, key=str)]
    touch_all(now, parts, at)


def _stores_itself(cls: type) -> bool:
    """Whether an object of the class stores attributes by code of the program, which tells of itself."""
    found = _storing.get(cls)
    if found is None:
        held = _member(cls, "__setattr__")
        found = _storing[cls] = is_own(held) or _is_made_by_code(held)
    return found


_storing: dict[type, bool] = {}


def _member(cls: type, name: str) -> Any:
    return next((_space(base)[name] for base in cls.__mro__ if name in _space(base)), None)


def _is_made_by_code(held: Any) -> bool:
    """Whether it is code of the program that makes the method: a proxy hands it on to another object."""
    return type(held) not in BEHAVIOUR and is_own(_member(type(held), "__get__"))


def _written(value: Any, name: str, new: Any, now: Now, at: str, by_instruction: bool = False) -> Part | None:
    """The place that a store changes, if it is one; a rare one is told of everywhere from then on."""
    kernel, memory = now
    if is_a(value, (type, types.ModuleType)):
        memory.members.clear()
        held = _space(value).get(name, _ABSENT)
        is_rare = held is _ABSENT or is_behaviour(held) or is_behaviour(new) or _is_foreign(memory, value)
    else:
        is_place, _, held, is_data = resolved(memory, type(value), name)
        if not is_place and name != "__class__":
            return None  # a property, or something else whose code tells of itself
        if by_instruction and name != "__class__" and _stores_itself(type(value)):
            return None
        if not may_hold(type(value)):
            return None
        is_rare = name == "__class__" or (is_a(value, types.FunctionType) and name in FUNCTION_PARTS)
        is_rare = is_rare or (is_behaviour(held) and not is_data and held is not _ABSENT)
    if is_rare:
        memory.write_rarely(kernel, name)
    return member_part(value, name, now, True, at)


def _is_foreign(memory: Memory, value: Any) -> bool:
    return memory.things.kind(value) not in (CLASS, MODULE)


def delete_attribute(value: Any, name: str, at: str) -> None:
    """`del value.name` is about to be done."""
    now = accesses.active()
    if now is None:
        return
    if type(value) in weakref.ProxyTypes:
        touch_all(now, [LOOKING_AT_LIVES], at)
    value = _meant(value, name, "__delattr__")
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN:
        memory.reach_out(value)
    if memory.has_ends:
        memory.drop(kernel, _held(value, name), at)
    if kind == OPAQUE and not may_hold(type(value)):
        touch_object(value, True, at)
        return
    if is_a(value, (type, types.ModuleType)):
        memory.write_rarely(kernel, name)  # else whoever finds it gone would not be seen to look
    part = _written(value, name, None, now, at)
    if part is not None:
        _change_shape(value, name, False, now, at)
        memory.access(kernel, part.family, part.thing, part.footprint, at, part.key)
    elif kind == OPAQUE:
        touch_object(value, True, at)


def touch_attribute(owner: Any, name: str, writes: bool, at: str) -> None:
    """An attribute is touched by another way than by its name in the source."""
    now = accesses.active()
    if now is None or not is_a(name, str):
        return
    if writes:
        part = _written(owner, name, None, now, at)
        if part is not None:
            touch_all(now, [part, shape_part(owner, now, True, at)], at)
    else:
        touch_all(now, reading_parts(owner, name, now, at), at)


def touch_entry(owner: Any, name: str, writes: bool, at: str) -> None:
    """An entry of the dictionary of an object's attributes is touched, whatever its class says."""
    now = accesses.active()
    if now is None:
        return
    if is_a(owner, (type, types.ModuleType)) or resolved(now[1], type(owner), name).is_place:
        touch_attribute(owner, name, writes, at)
    else:
        touch_all(now, entry_parts(owner, name, now, writes, at), at)


def entry_parts(owner: Any, name: str, now: Now, writes: bool, at: str) -> list[Part]:
    """What an entry is that a property, or another descriptor that stores, stands before."""
    entry = member_part(owner, name, now, writes, at)
    return [entry, shape_part(owner, now, True, at)] if writes else [entry]
