"""Attributes of objects, classes and modules, resolved as Python resolves them.

Law: reading an attribute touches the place where the look-up ends and every place where it looked before: the
object itself, and the classes of its order up to the one that has it. So a store into a class meets the read
through an instance. A slot is a place of the object; a property is no place, its code tells of itself.

What holds behaviour (a function, a class, a module, a descriptor) is read all the time and hardly ever
written: such reads are told only of names that somebody was seen to write while several tasks ran
(`Memory.rare`); a first such write lets the search begin anew.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cached_property
from queue import Queue
from typing import Any, NamedTuple

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import FOREIGN, VISIBLE, Memory
from possibly.control.runtime.primitives import Quiet
from possibly.control.runtime.things import CLASS, IGNORED, INSTANCE, LIBRARY, MODULE, OPAQUE, Named
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


# ---- places -------------------------------------------------------------------------------------


def member_part(value: Any, name: str, now: Now, writes: bool, at: str) -> Part:
    """The place `name` of an object, a class or a module."""
    kernel, memory = now
    if isinstance(value, types.ModuleType):
        thing = global_name(value.__name__, name)
        return Part(thing, thing, touching(thing, writes))
    named = memory.things.named(value, kernel, at)
    thing = f"{named.name}.{name}"
    holder = kernel.labels.get(named.name)
    if thing not in kernel.labels or (holder and not kernel.labels[thing].startswith(f"{holder}.")):
        kernel.labels[thing] = f"{holder or _shown(named)}.{name}"  # an object may be named after its parts
    return Part(f"{named.family}.{name}", thing, touching(thing, writes), None if named.exact else id(value))


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
            is_slot = isinstance(held, types.MemberDescriptorType)
            is_data = hasattr(type(held), "__set__") or hasattr(type(held), "__delete__")
            return Resolved(is_slot or not is_data, tuple(looked), held)
        if not _is_fixed(base):
            looked.append(base)
    return Resolved(True, tuple(looked), _ABSENT)


def _space(value: Any) -> Any:
    """What a class or a module holds."""
    return value.__dict__


def _is_fixed(cls: type) -> bool:
    """A class in C, whose attributes nobody can set."""
    return not cls.__flags__ & 512


def _has_own(value: Any, name: str) -> bool:
    """Whether the object itself holds the attribute now."""
    try:
        return name in object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):  # a class in C has none, or one that is not to be had this way
        return False


def reading_parts(value: Any, name: str, now: Now, at: str) -> list[Part]:
    """All places that reading the attribute touches."""
    memory = now[1]
    cls = type(value)
    if isinstance(value, types.ModuleType):
        return _of_module(value, name, now, at)
    if isinstance(value, type):
        return _of_class(value, name, now, at)
    is_place, owners, held = resolved(memory, cls, name)
    rare = name in memory.rare
    parts = []
    if "__class__" in memory.rare and _may_hold(cls):
        parts.append(member_part(value, "__class__", now, False, at))
    if is_place and _may_hold(cls):
        is_slot = type(held) is types.MemberDescriptorType
        is_own = is_slot or _has_own(value, name)
        if is_own or rare or not is_behaviour(held):
            parts.append(member_part(value, name, now, False, at))
        if is_own:
            return parts
    if held is _ABSENT and not rare:
        return parts
    if rare or not (is_behaviour(held) or type(held) is types.MemberDescriptorType):
        parts += [member_part(owner, name, now, False, at) for owner in owners]
    return parts


def _may_hold(cls: type) -> bool:
    """Whether objects of the class have attributes of their own: a dictionary or slots."""
    return cls.__dictoffset__ != 0 or any("__slots__" in _space(base) for base in cls.__mro__[:-1])


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
    memory = now[1]
    looked: list[Any] = []
    held: Any = _ABSENT
    for base in [*value.__mro__, *type(value).__mro__]:
        if not _is_fixed(base):
            looked.append(base)
        if name in _space(base):
            held = _space(base)[name]
            break
    if name not in memory.rare and (held is _ABSENT or is_behaviour(held)):
        return []
    return [member_part(owner, name, now, False, at) for owner in looked]


def attribute_part(value: Any, name: str, writes: bool, at: str) -> Part | None:
    """The attribute of an object as one place, if it is one."""
    now = accesses.active()
    if now is None:
        return None
    if not isinstance(value, type | types.ModuleType):
        if not _may_hold(type(value)) or not resolved(now[1], type(value), name).is_place:
            return None
        if not writes and is_behaviour(resolved(now[1], type(value), name).value):
            return None
    return member_part(value, name, now, writes, at)


# ---- what instructions do -----------------------------------------------------------------------


def read_attribute(value: Any, name: str, at: str) -> None:
    """`value.name` is about to be read."""
    now = accesses.active()
    if now is None:
        return
    kernel, memory = now
    kind = memory.things.kind(value)
    if name == "queue":
        _read_inside(value, kernel)
    if kind == OPAQUE and not _may_hold(type(value)):
        _read_of_opaque(value, name, at)
        return
    if (kernel.alone or kernel.quiet) and not memory.watched:
        return
    parts = reading_parts(value, name, now, at)
    if not parts:
        _read_of_opaque(value, name, at) if kind == OPAQUE else None
        return
    mode = touch_all(now, parts, at) if not kernel.alone else _initial(now, parts)
    if mode:
        memory.saw(kernel, mode, _held(value, name))


def _initial(now: Now, parts: list[Part]) -> int:
    family, thing, footprint, key = parts[0]
    return now[1].access(now[0], family, thing, footprint, "", key)


def _held(value: Any, name: str) -> Any:
    """What an attribute holds that is a place: no code of the program runs."""
    try:
        if isinstance(value, type):
            return next((_space(base)[name] for base in value.__mro__ if name in _space(base)), None)
        own = object.__getattribute__(value, "__dict__")
        if name in own:
            return own[name]
    except (AttributeError, TypeError):
        pass
    held = next((_space(base)[name] for base in type(value).__mro__ if name in _space(base)), None)
    if isinstance(held, types.MemberDescriptorType):
        try:
            return held.__get__(value, type(value))
        except AttributeError:
            return None
    return None if is_behaviour(held) else held


def _read_of_opaque(value: Any, name: str, at: str) -> None:
    """A part of a library's object."""
    if not callable(getattr(type(value), name, None)):
        touch_object(value, False, at)


def _read_inside(value: Any, kernel: Kernel) -> None:
    if isinstance(value, Queue):
        kernel.uncontrolled["the inside of a queue (Queue.queue), which is not under control"] = None


def write_attribute(value: Any, name: str, new: Any, at: str) -> None:
    """`value.name = new` is about to be done."""
    now = accesses.active()
    if now is None:
        return
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN or isinstance(value, types.FunctionType):
        memory.reach_out(value)
    _name_both(value, name, new, now, kind, at)
    if kind == OPAQUE and not _may_hold(type(value)):
        touch_object(value, True, at)
        return
    part = _written(value, name, new, now, at)
    if part is None:
        touch_object(value, True, at) if kind == OPAQUE else None
        return
    mode = memory.access(kernel, part.family, part.thing, part.footprint, at, part.key)
    if mode:
        memory.saw(kernel, mode, new)


def _name_both(value: Any, name: str, new: Any, now: Now, kind: int, at: str) -> None:
    """A new object gets its name with its first attribute, what it holds is called after it."""
    kernel, memory = now
    is_new = kind == INSTANCE and memory.things.known(value) is None
    if is_new and not getattr(value, "__dict__", True):
        memory.things.made(value, kernel, at)
    known = memory.things.known(value)
    owner = known.shown if known is not None and known.shown else type(value).__name__
    call_it(new, f"{owner}.{name}", now, at)
    if known is not None and isinstance(new, Quiet):
        kernel.owners[new.name] = (known.name, name)


def _written(value: Any, name: str, new: Any, now: Now, at: str) -> Part | None:
    """The place that a store changes, if it is one; a rare one is told of everywhere from then on."""
    kernel, memory = now
    if isinstance(value, type | types.ModuleType):
        memory.members.clear()
        held = _space(value).get(name, _ABSENT)
        is_rare = held is _ABSENT or is_behaviour(held) or is_behaviour(new) or _is_foreign(memory, value)
    else:
        is_place, _, held = resolved(memory, type(value), name)
        if not is_place and name != "__class__":
            return None  # a property, or something else whose code tells of itself
        if not _may_hold(type(value)):
            return None
        is_rare = name == "__class__" or (
            is_behaviour(held) and type(held) is not types.MemberDescriptorType and held is not _ABSENT
        )
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
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN:
        memory.reach_out(value)
    if kind == OPAQUE and not _may_hold(type(value)):
        touch_object(value, True, at)
        return
    part = _written(value, name, None, now, at)
    if part is not None:
        memory.access(kernel, part.family, part.thing, part.footprint, at, part.key)
    elif kind == OPAQUE:
        touch_object(value, True, at)


def touch_attribute(owner: Any, name: str, writes: bool, at: str) -> None:
    """An attribute is touched by another way than by its name in the source."""
    now = accesses.active()
    if now is None or not isinstance(name, str):
        return
    if writes:
        part = _written(owner, name, None, now, at)
        if part is not None:
            touch_all(now, [part], at)
    else:
        touch_all(now, reading_parts(owner, name, now, at), at)


def is_cached(value: Any, name: str) -> bool:
    """A `cached_property`, whose value is stored by the library's code."""
    return isinstance(getattr(type(value), name, None), cached_property)


def is_ignored(value: Any) -> bool:
    memory = accesses.memory
    return memory is None or running.kernel is None or memory.things.kind(value) == IGNORED
