"""Attributes of objects, classes and modules, as rewritten source reads and writes them (see `hooks`)."""

from __future__ import annotations

import types
from functools import cached_property
from queue import Queue
from typing import Any, NamedTuple

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import FOREIGN, Memory
from possibly.control.runtime.primitives import Quiet
from possibly.control.runtime.things import (
    CLASS,
    CONTAINER,
    IGNORED,
    INSTANCE,
    LIBRARY,
    MODULE,
    OPAQUE,
    Named,
    is_user_class,
)
from possibly.control.runtime.variables import call_it

Found = tuple[Kernel, Memory, Named]
"""What is touched is memory: the execution, its accesses, and the name of the object."""


def touch(found: Found, thing: str, footprint: tuple[Access, ...], at: str) -> int:
    kernel, memory, named = found
    key = None if named.exact else id(named.value)
    return memory.access(kernel, named.family, thing, footprint, at, key)


def touch_attribute(owner: Any, name: str, writes: bool, at: str) -> None:
    found = holder(owner, name, at)
    if found is not None:
        inner, thing, footprint = member(found, name, writes)
        touch(inner, thing, footprint, at)


def holder(value: Any, name: str, at: str) -> Found | None:
    """Whose attribute it is, if that is memory rather than a method or a property."""
    now = accesses.active()
    if now is None:
        return None
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind == INSTANCE or (kind == CONTAINER and is_user_class(type(value))):
        if not _is_memory(type(value), name):
            return None
    elif kind == LIBRARY:
        if isinstance(vars(value).get(name), BEHAVIOUR):
            return None
    elif kind not in (CLASS, MODULE) or isinstance(
        getattr(value, name, None), types.FunctionType | types.ModuleType | type
    ):
        return None
    named = memory.things.named(value, kernel, at)
    return None if kernel.alone or kernel.quiet else (kernel, memory, named)


BEHAVIOUR = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
"""What the variables of a library usually hold, and keep."""
_members: dict[tuple[type, str], bool] = {}


def _is_memory(cls: type, name: str) -> bool:
    found = _members.get((cls, name))
    if found is None:
        inherited = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        slot = isinstance(inherited, types.MemberDescriptorType)
        found = _members[cls, name] = slot or not hasattr(type(inherited), "__get__")
    return found


def member(found: Found, name: str, writes: bool) -> tuple[Found, str, tuple[Access, ...]]:
    kernel, memory, named = found
    if isinstance(named.value, types.ModuleType):
        thing = family = global_name(named.name, name)
        exact = Named(thing, family, named.value, True)
        return (kernel, memory, exact), thing, touching(thing, writes)
    thing = f"{named.name}.{name}"
    family = f"{named.family}.{name}"
    if thing not in kernel.labels:
        kernel.labels[thing] = f"{kernel.labels.get(named.name) or named.shown or named.family}.{name}"
    return (kernel, memory, named._replace(family=family)), thing, touching(thing, writes)


class Part(NamedTuple):
    """One of several things that are touched at once."""

    family: str
    thing: str
    footprint: tuple[Access, ...]
    key: int | None = None


def touch_all(now: tuple[Kernel, Memory], parts: list[Part], at: str) -> None:
    """Touches several things in one step: what happens to them happens at one moment."""
    kernel, memory = now
    if kernel.alone or kernel.quiet or not parts:
        return
    if len(parts) == 1:
        family, thing, footprint, key = parts[0]
        memory.access(kernel, family, thing, footprint, at, key)
        return
    seen = [part for part in parts if memory._is_visible(kernel, part.family, part.thing)]
    if seen:
        union = tuple(dict.fromkeys(access for part in seen for access in part.footprint))
        memory.access(kernel, seen[0].family, seen[0].thing, union, at)
    hidden = [part for part in parts if part not in seen]
    for part in hidden:
        memory.hide(kernel, part.family, part.footprint, part.key)


def touch_object(value: Any, writes: bool, at: str) -> None:
    """An object of a library is used: it is one thing."""
    now = accesses.active()
    if now is not None:
        part = object_part(value, now, writes, at)
        touch_all(now, [part], at)
        if not writes:
            now[0].running().trail.effect()  # whoever changes it may not be seen to do so


def object_part(value: Any, now: tuple[Kernel, Memory], writes: bool, at: str) -> Part:
    named = now[1].things.named(value, now[0], at)
    footprint = touching(named.name, writes)
    return Part(named.family, named.name, footprint, None if named.exact else id(value))


def attribute_part(value: Any, name: str, writes: bool, at: str) -> Part | None:
    found = holder(value, name, at)
    if found is None:
        return None
    inner, thing, footprint = member(found, name, writes)
    named = inner[2]
    return Part(named.family, thing, footprint, None if named.exact else id(named.value))


def global_name(module: str, name: str) -> str:
    return name if module == "__main__" else f"{module}.{name}"


def getattribute(value: Any, name: str, at: str) -> Any:
    found = holder(value, name, at)
    if found is None:
        return _foreign(value, name, at)
    inner, thing, footprint = member(found, name, False)
    mode = touch(inner, thing, footprint, at)
    result = getattr(value, name)
    if mode:
        found[1].saw(found[0], mode, result)
    return result


def _foreign(value: Any, name: str, at: str) -> Any:
    """An attribute that is no memory of its own: a method, a property, or part of a library's object."""
    memory = accesses.memory
    if memory is None or running.kernel is None:
        return getattr(value, name)
    kind = memory.things.kind(value)
    if kind == INSTANCE and isinstance(getattr(type(value), name, None), cached_property):
        return _cached(value, name, at)
    if kind == OPAQUE and not callable(getattr(type(value), name, None)):
        touch_object(value, False, at)
    if kind == IGNORED and name == "queue" and isinstance(value, Queue):
        running.kernel.uncontrolled["the inside of a queue (Queue.queue), which is not under control"] = None
    return getattr(value, name)


def _cached(value: Any, name: str, at: str) -> Any:
    """A `cached_property`: computed by whoever finds it missing, by several where nothing locks."""
    descriptor: Any = getattr(type(value), name)
    state = value.__dict__
    _touch_cached(value, name, name not in state and hasattr(descriptor, "lock"), at)
    if name in state or hasattr(descriptor, "lock"):
        return getattr(value, name)
    found = descriptor.func(value)
    _touch_cached(value, name, True, at)
    state[name] = found
    return found


def _touch_cached(value: Any, name: str, writes: bool, at: str) -> None:
    now = accesses.active()
    if now is not None and not (now[0].alone or now[0].quiet):
        named = now[1].things.named(value, now[0], at)
        inner, thing, footprint = member((*now, named), name, writes)
        touch(inner, thing, footprint, at)


def setattribute(value: Any, name: str, new: Any, at: str) -> None:
    now = accesses.active()
    if now is None:
        setattr(value, name, new)
        return
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN or isinstance(value, types.FunctionType):
        memory.reach_out(value)
    if kind == OPAQUE:
        touch_object(value, True, at)
    is_new = kind == INSTANCE and memory.things.known(value) is None
    if is_new and not getattr(value, "__dict__", True):
        memory.things.made(value, kernel, at)
    known = memory.things.known(value)
    owner = known.shown if known is not None and known.shown else type(value).__name__
    call_it(new, f"{owner}.{name}", now, at)
    if known is not None and isinstance(new, Quiet):
        kernel.owners[new.name] = (known.name, name)
    found = holder(value, name, at)
    if found is None:
        setattr(value, name, new)
        return
    inner, thing, footprint = member(found, name, True)
    mode = touch(inner, thing, footprint, at)
    setattr(value, name, new)
    if mode:
        memory.saw(kernel, mode, new)


def delattribute(value: Any, name: str, at: str) -> None:
    found = holder(value, name, at)
    if found is not None:
        inner, thing, footprint = member(found, name, True)
        touch(inner, thing, footprint, at)
    elif accesses.memory is not None:
        accesses.memory.reach_out(value)
        if accesses.memory.things.kind(value) == OPAQUE:
            touch_object(value, True, at)
    delattr(value, name)
