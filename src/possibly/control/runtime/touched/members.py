"""The places where an attribute is looked for, as Python does it.

Law: reading an attribute touches the place where the look-up ends and every place where it looked before: the
object itself, and the classes of its order up to the one that has it. So a store into a class meets the read
through an instance. A slot is a place of the object; a property is no place, its code tells of itself.

What holds behaviour (a function, a class, a module, a descriptor) is read all the time and hardly ever
written: such reads are told only of names that somebody was seen to write while several tasks ran
(`Memory.rare`); a first such write lets the search begin anew.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from possibly.control.execution import new_tuple
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.contents import item_of
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.memory import SPACES, Memory
from possibly.control.runtime.things import (
    CLASS,
    CONTAINER,
    INSTANCE,
    LIBRARY,
    Named,
    class_has,
    dictionary_of,
    is_a,
    is_own,
    may_hold,
    order_of,
)
from possibly.control.runtime.touched.parts import Now, Part
from possibly.control.runtime.variables import is_behaviour


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
    return new_tuple(Part, (f"{named.family}.{name}", thing, touching(thing, writes), named.which))


def _borrowed_part(given: dict[str, Any], name: str, now: Now, writes: bool, at: str) -> Part:
    """An attribute of an object that was given the dictionary of its attributes: an item of that."""
    kernel, memory = now
    owner = memory.namespaces.get(id(given))
    if owner is not None:
        return member_part(owner[1](), name, now, writes, at)
    named = memory.things.named(given, kernel, at)
    thing, footprint = item_of(given, named, name, writes)
    return Part(named.family, thing, footprint, named.which)


def _shown(named: Named) -> str:
    return named.shown or named.family


def global_name(module: str, name: str) -> str:
    return name if module == "__main__" else f"{module}.{name}"


ABSENT = object()


class Resolved(NamedTuple):
    """What the classes of an object say of a name."""

    is_place: bool
    """The object itself may hold it."""
    owners: tuple[Any, ...]
    """The classes where it is looked for, the last of which has it if any."""
    value: Any
    """What that class has, or `ABSENT`."""
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
        if name in space_of(base):
            if not is_fixed(base):
                looked.append(base)
            held = space_of(base)[name]
            is_data = class_has(type(held), "__set__") or class_has(type(held), "__delete__")
            is_place = not is_data or (name not in _NO_PLACES and not _tells(held))
            return Resolved(is_place, tuple(looked), held, is_data)
        if not is_fixed(base):
            looked.append(base)
    return Resolved(True, tuple(looked), ABSENT)


_NO_PLACES = frozenset({"__class__", "__dict__", "__weakref__"})


def _tells(descriptor: Any) -> bool:
    """Whether a descriptor that stores does so by code of the program, which tells of itself."""
    if type(descriptor) is property:
        return any(is_own(each) for each in (descriptor.fget, descriptor.fset, descriptor.fdel))
    mro = type(descriptor).__mro__
    found = [base.__dict__[name] for base in mro for name in _STORING if name in base.__dict__]
    return any(is_own(each) for each in found)


_STORING = ("__get__", "__set__", "__delete__")


def space_of(value: Any) -> Any:
    """What a class or a module holds."""
    return value.__dict__


def is_fixed(cls: type) -> bool:
    """A class in C, whose attributes nobody can set."""
    return not cls.__flags__ & 512


def has_own(value: Any, name: str) -> bool:
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
    parts = base_parts(cls, now, at) + kind_parts(value, now, at)
    if SPACES in memory.rare and may_hold(cls):
        parts.append(shape_part(value, now, False, at))
    if memory.rare and _is_found_elsewhere(held):
        own = [each for each in dictionary_of(value) or () if each in memory.rare]
        parts += [member_part(value, each, now, False, at) for each in own]
    if memory.specials and is_behaviour(held):
        parts += _specials_of(type(held), now, at)
    if is_place and may_hold(cls):
        is_its_own = is_data or has_own(value, name)
        if is_its_own or rare or not is_behaviour(held):
            parts.append(member_part(value, name, now, False, at))
        if is_its_own and not (is_data and rare):
            return parts
    if held is ABSENT and not rare:
        return parts
    if rare or not is_behaviour(held):
        parts += [member_part(owner, name, now, False, at) for owner in owners]
    return parts


def _is_found_elsewhere(held: Any) -> bool:
    """Whether code of a library, which tells nothing, finds the value, as `Enum.value` does."""
    if not is_behaviour(held) or type(held) is types.FunctionType:
        return False
    spaces = [space_of(base) for base in type(held).__mro__]
    found = next((space["__get__"] for space in spaces if "__get__" in space), None)
    return type(found) is types.FunctionType and not is_own(found)


def base_parts(cls: type, now: Now, at: str) -> list[Part]:
    """Which classes are looked at, if somebody changes that."""
    if "__bases__" not in now[1].rare:
        return []
    return [member_part(base, "__bases__", now, False, at) for base in order_of(cls) if not is_fixed(base)]


def subclasses_parts(writes: bool, now: Now) -> list[Part]:
    """Which subclasses there are: told of where somebody asks."""
    now[1].write_rarely(now[0], "__subclasses__")
    return [Part(_SUBCLASSES, _SUBCLASSES, touching(_SUBCLASSES, writes))]


_SUBCLASSES = "the subclasses of classes"


def naming_parts(value: Any, now: Now, at: str) -> list[Part]:
    """What the text of a class, or of an object that has none of its own, is made of."""
    cls = value if is_a(value, type) else type(value)
    names = IN_TEXTS & now[1].rare
    return [member_part(cls, name, now, False, at) for name in sorted(names)] if not is_fixed(cls) else []


IN_TEXTS = frozenset({"__module__", "__qualname__", "__name__"})


def special_parts(value: Any, now: Now, at: str) -> list[Part]:
    """What an instruction reads of the classes of a value, if somebody writes such methods."""
    if not now[1].specials or now[1].things.kind(value) not in (INSTANCE, CLASS, CONTAINER):
        return []
    if is_a(value, type):
        return _specials_of(value, now, at) + _specials_of(type(value), now, at)
    return _specials_of(type(value), now, at)


def _specials_of(cls: type, now: Now, at: str) -> list[Part]:
    bases = [base for base in order_of(cls) if not is_fixed(base)]
    return [member_part(base, name, now, False, at) for base in bases for name in now[1].specials]


def _of_module(value: Any, name: str, now: Now, at: str) -> list[Part]:
    if SPACES in now[1].rare:
        return [member_part(value, name, now, False, at), shape_part(value, now, False, at)]
    held = space_of(value).get(name, ABSENT)
    if held is not ABSENT and is_behaviour(held) and name not in now[1].rare:
        return []
    if held is ABSENT and name not in now[1].rare:
        return [member_part(value, FINDER, now, False, at)] if FINDER in now[1].rare else []
    if now[1].things.kind(value) == LIBRARY and name not in now[1].rare:
        return []
    return [member_part(value, name, now, False, at)]


FINDER = "__getattr__"
"""Of a module: it finds names that the module does not have."""


def _of_class(value: Any, name: str, now: Now, at: str) -> list[Part]:
    looked = _looked_up((*order_of(value), *type(value).__mro__), name, now, at)
    return kind_parts(value, now, at) + base_parts(value, now, at) + looked


def kind_parts(value: Any, now: Now, at: str) -> list[Part]:
    """Which class an object, or a class, is of, if somebody changes that of one."""
    cls = type(value)
    is_changeable = may_hold(cls) and not (issubclass(cls, type) and is_fixed(value))
    if "__class__" not in now[1].rare or not is_changeable:
        return []
    return [member_part(value, "__class__", now, False, at)]


def _of_super(value: Any, name: str, now: Now, at: str) -> list[Part]:
    """`super().name`: it is looked for in the classes after one."""
    mro: Any = object.__getattribute__(value, "__self_class__")
    after = object.__getattribute__(value, "__thisclass__")
    mro = order_of(mro) if mro is not None else ()
    rest = mro[mro.index(after) + 1 :] if after in mro else ()
    return base_parts(mro[0], now, at) + _looked_up(rest, name, now, at) if mro else []


def _looked_up(classes: tuple[type, ...], name: str, now: Now, at: str) -> list[Part]:
    """The classes of these that are looked at for a name, up to the one that has it."""
    looked: list[Any] = []
    held: Any = ABSENT
    for base in classes:
        if not is_fixed(base):
            looked.append(base)
        if name in space_of(base):
            held = space_of(base)[name]
            break
    if name not in now[1].rare and (held is ABSENT or is_behaviour(held)):
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


def shape_part(value: Any, now: Now, writes: bool, at: str) -> Part:
    """Which attributes an object has."""
    return member_part(value, "__dict__", now, writes, at)


def held_by(value: Any, name: str) -> Any:
    """What an attribute holds that is a place: no code of the program runs."""
    try:
        if is_a(value, type):
            return next((space_of(base)[name] for base in order_of(value) if name in space_of(base)), None)
        own = object.__getattribute__(value, "__dict__")
        if name in own:
            return own[name]
    except (AttributeError, TypeError):
        pass
    held = next((space_of(base)[name] for base in type(value).__mro__ if name in space_of(base)), None)
    if type(held) is types.MemberDescriptorType:
        try:
            return held.__get__(value, type(value))
        except AttributeError:
            return None
    return None if is_behaviour(held) else held
