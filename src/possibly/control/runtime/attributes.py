"""Attributes that instructions read, store and delete, of objects, classes and modules.

Where an attribute is looked for is said in `touched.members`: what instructions do beside that is told here.
"""

from __future__ import annotations

import sys
import types
import weakref
from enum import Enum
from queue import Queue
from threading import local
from typing import Any

from possibly.control.loading import packages
from possibly.control.models.primitives import Quiet
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.memory import DECIMALS, FLAGS, FOREIGN, FUNCTION_PARTS, RAISING, Memory
from possibly.control.runtime.things import (
    CLASS,
    CONTAINER,
    IGNORED,
    INSTANCE,
    MODULE,
    OPAQUE,
    PLAIN_CLASSES,
    SIMPLE_MODULES,
    class_has,
    dictionary_of,
    in_c,
    is_a,
    is_own,
    is_user_class,
    may_hold,
    module_of,
)
from possibly.control.runtime.touched.members import (
    ABSENT,
    IN_TEXTS,
    has_own,
    held_by,
    member_part,
    reading_parts,
    resolved,
    shape_part,
    space_of,
    subclasses_parts,
)
from possibly.control.runtime.touched.parts import (
    Now,
    Part,
    asking_parts,
    container_part,
    opaque_parts,
    touch_all,
    touch_object,
    whole_part,
)
from possibly.control.runtime.touched.proxies import is_made_by_code, meant, member
from possibly.control.runtime.touched.suspended import look_at_code
from possibly.control.runtime.touched.unwatched import is_setting, replaced_parts
from possibly.control.runtime.variables import call_it, is_behaviour

INSIDE = frozenset("queue mutex not_empty not_full all_tasks_done _init _put _get _qsize".split())
"""What a queue is made of: who uses that needs the queue itself, not a model of it."""
RAISED = frozenset({"__traceback__", "__context__"})
"""What an exception gets as it is raised."""


def raise_again(value: Any, at: str) -> None:
    """An exception is about to be raised, which others may have too: told of where somebody looks at that."""
    now = accesses.active()
    if now is None or RAISING not in now[1].rare or now[0].alone or not is_a(value, BaseException):
        return
    touch_all(now, [member_part(value, name, now, True, at) for name in sorted(RAISED)], at)


def read_attribute(value: Any, name: str, at: str) -> None:
    """`value.name` is about to be read."""
    now = accesses.active()
    if now is None:
        return
    if _is_plain(type(value), name, now) and _read_plainly(value, name, now, at):
        return
    if type(value) in weakref.ProxyTypes:
        touch_all(now, asking_parts(value, now, at), at)
    value = meant(value, name, "__getattr__")
    if type(value) is types.MethodType and not class_has(types.MethodType, name):
        value = value.__func__  # whose attributes a method shows
    kernel, memory = now
    kind = memory.things.kind(value)
    if memory.workers and is_a(value, local):
        memory.ask_for_worker(kernel)
    if name in INSIDE and is_a(value, Queue) and not kernel.quiet:
        memory.open_up(kernel, "queue")
    if memory.look is not None and not kernel.alone and not kernel.quiet and memory.look(value, name, False):
        return
    if name in memory.rare and _is_untold(value, kind):
        touch_object(value, False, at)
        return
    if type(value) is memoryview and not callable(getattr(memoryview, name, None)):
        touch_object(value, False, at)
        return
    if kind == IGNORED:
        look_at_code(value, name, now, at)
    if name in RAISED and is_a(value, BaseException):
        memory.write_rarely(kernel, RAISING)
    if kind == OPAQUE and not may_hold(type(value)):
        _read_of_opaque(value, name, at)
        return
    if (kernel.alone or kernel.quiet) and not memory.watched:
        return
    parts = reading_parts(value, name, now, at)
    if kind == CONTAINER and not kernel.alone and _is_field(value, name, memory):
        parts.append(container_part(value, False, now, at))
    if not kernel.alone and _is_found_in_c(type(value), "__getattr__"):
        parts.append(whole_part(value, False, now, at))
    if not parts:
        _read_of_opaque(value, name, at) if kind == OPAQUE else None
        return
    if not kernel.alone and (kind == OPAQUE or _may_be_stored(value, name, memory)):
        parts += opaque_parts(value, now, False, at)
    mode = touch_all(now, parts, at) if not kernel.alone else _initial(now, parts)
    if mode:
        memory.saw(kernel, mode, held_by(value, name), parts[0].thing)


def _is_plain(cls: type, name: str, now: Now) -> bool:
    """Whether objects of the class are nothing but their attributes, and nobody does anything unusual.

    That somebody writes another name which usually holds behaviour does not matter here.
    """
    kernel, memory = now
    if kernel.alone or kernel.quiet or memory.watched or memory.borrowed:
        return False
    if memory.rare and (memory.has_unusual or name in memory.rare):
        return False
    found = memory.plain.get(cls)
    if found is None:
        found = memory.plain[cls] = _is_made_plainly(cls)
    return found


def _is_made_plainly(cls: type) -> bool:
    """Whether class statements of the program alone have made it, with no say in how attributes are found."""
    if type(cls) not in PLAIN_CLASSES or not cls.__dictoffset__ or in_c(cls) is not None:
        return False
    return all(
        is_user_class(base)
        and module_of(base).partition(".")[0] not in MODELLED
        and FINDING.isdisjoint(space_of(base))
        for base in cls.__mro__[:-1]
    )


FINDING = frozenset({"__getattr__", "__getattribute__", "possibly_name"})
MODELLED = SIMPLE_MODULES | frozenset(
    "anyio mpi4py multiprocessing selectors socket socketserver subprocess trio".split()
)
"""Modules parts of which have a model, whose attributes are told of otherwise."""


def _read_plainly(value: Any, name: str, now: Now, at: str) -> bool:
    """Tells of an attribute that the object itself has, as most are; of a method there is nothing to tell.

    False: it is found in another way. What is told is what `reading_parts` finds, in a fraction of its time.
    """
    kernel, memory = now
    known = resolved(memory, type(value), name)
    if known.is_data:
        return False
    if not has_own(value, name):
        is_told = type(known.value) is types.FunctionType or not memory.rare
        return is_told and known.value is not ABSENT and is_behaviour(known.value)
    family, thing, footprint, key = member_part(value, name, now, False, at)
    mode = memory.access(kernel, family, thing, footprint, at, key)
    if mode:
        memory.saw(kernel, mode, held_by(value, name), thing)
    return True


def _is_untold(value: Any, kind: int) -> bool:
    """Whether it is no thing, and holds in C what it holds; not what each thread has of its own."""
    return kind == IGNORED and not may_hold(type(value)) and not is_a(value, (local, super))


def _is_in_c(value: Any, name: str, memory: Memory) -> bool:
    """Whether the attribute is not held by the object's dictionary or slots but by what it keeps in C."""
    cls = type(value)
    if in_c(cls) is None or issubclass(cls, TOLD_WHOLLY):
        return False
    _, _, held, is_data = resolved(memory, cls, name)
    is_member = is_data and in_c(getattr(held, "__objclass__", None) or type(held)) is not None
    return is_member or _handles_attributes(cls)


def _may_be_stored(value: Any, name: str, memory: Memory) -> bool:
    """Whether methods in C of the object may store there: also what no class of it speaks of."""
    cls = type(value)
    if in_c(cls) is None or issubclass(cls, TOLD_WHOLLY):
        return False
    return resolved(memory, cls, name).value is ABSENT or _is_in_c(value, name, memory)


TOLD_WHOLLY = (type, types.ModuleType, types.FunctionType)
"""What has a base in C that keeps nothing of which is not told by name."""


def _is_found_in_c(cls: type, method: str) -> bool:
    """Whether a method that a compiler made, which tells nothing, finds or stores attributes."""
    found = _made_in_c.get((cls, method))
    if found is None:
        held = member(cls, method)
        is_python = type(held) in (types.FunctionType, types.WrapperDescriptorType)
        is_bound_in_c = type(member(type(held), "__get__")) is types.WrapperDescriptorType
        found = _made_in_c[cls, method] = callable(held) and is_bound_in_c and not is_python
    return found


_made_in_c: dict[tuple[type, str], bool] = {}


def _change_in_c(value: Any, method: str, part: Part | None, now: Now, at: str) -> bool:
    """Tells that all of an object changes, if such a method stores or deletes its attributes."""
    if now[0].alone or not _is_found_in_c(type(value), method):
        return False
    touch_all(now, [*([part] if part else []), whole_part(value, True, now, at)], at)
    return True


def _is_atomic(cls: type) -> bool:
    """Whether the methods of such an object are code of a library whose calls are one step each."""
    return module_of(cls).partition(".")[0] in packages.NEVER


def _handles_attributes(cls: type) -> bool:
    """Whether a package finds the attributes of its objects by code in C."""
    found = _handling.get(cls)
    if found is None:
        base: Any = getattr(member(cls, "__getattribute__"), "__objclass__", object)
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


def _initial(now: Now, parts: list[Part]) -> int:
    family, thing, footprint, key = parts[0]
    return now[1].access(now[0], family, thing, footprint, "", key)


def _read_of_opaque(value: Any, name: str, at: str) -> None:
    """A part of a library's object."""
    now = accesses.active()
    if now is not None and name == "flags" and is_setting(value):
        now[1].write_rarely(now[0], FLAGS)
    if now is None or callable(getattr(type(value), name, None)):
        return
    touch_all(now, opaque_parts(value, now, False, at), at)
    now[0].running().trail.effect()  # whoever changes it may not be seen to do so


def write_attribute(value: Any, name: str, new: Any, at: str) -> None:
    """`value.name = new` is about to be done."""
    now = accesses.active()
    if now is None:
        return
    if type(value) in weakref.ProxyTypes:
        touch_all(now, asking_parts(value, now, at), at)
    value = meant(value, name, "__setattr__")
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN or is_a(value, types.FunctionType):
        memory.reach_out(value)
    _name_both(value, name, new, now, kind, at)
    if memory.lives.may_drop:
        memory.drop(kernel, memory.ending(kernel, held_by(value, name), at), at)
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
        if is_setting(value):
            memory.write_rarely(kernel, DECIMALS)
        touch_all(now, opaque_parts(value, now, True, at), at)
        return
    if kind == CONTAINER and _is_field(value, name, memory):
        touch_all(now, [container_part(value, True, now, at)], at)
        return
    part = _written(value, name, new, now, at, True)
    if _change_in_c(value, "__setattr__", part, now, at):
        return
    if part is None:
        touch_object(value, True, at) if kind == OPAQUE else None
        return
    parts = [part, *_changed_shape(value, name, True, now, at), *replaced_parts(value, name, now)]
    if name == "__bases__" and "__subclasses__" in memory.rare:
        parts += subclasses_parts(True, now)
    if not kernel.alone and (_is_in_c(value, name, memory) or (kind == OPAQUE and _is_atomic(type(value)))):
        parts += opaque_parts(value, now, True, at)  # its methods look at it
    if len(parts) > 1:
        mode = touch_all(now, parts, at)
    else:
        mode = memory.access(kernel, part.family, part.thing, part.footprint, at, part.key)
    if mode:
        memory.saw(kernel, mode, new, part.thing)


def _changed_shape(value: Any, name: str, stores: bool, now: Now, at: str) -> list[Part]:
    """An attribute that comes or goes changes which there are."""
    kernel = now[0]
    if kernel.alone or kernel.quiet or has_own(value, name) == stores or not may_hold(type(value)):
        return []
    return [shape_part(value, now, True, at)]


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
        held = member(cls, "__setattr__")
        found = _storing[cls] = is_own(held) or is_made_by_code(held)
    return found


_storing: dict[type, bool] = {}


def _written(value: Any, name: str, new: Any, now: Now, at: str, by_instruction: bool = False) -> Part | None:
    """The place that a store changes, if it is one; a rare one is told of everywhere from then on."""
    kernel, memory = now
    if is_a(value, (type, types.ModuleType)):
        memory.members.clear()
        held = space_of(value).get(name, ABSENT)
        is_rare = (
            name in IN_TEXTS
            or name == "__abstractmethods__"  # which every making of an object reads
            or held is ABSENT
            or is_behaviour(held)
            or is_behaviour(new)
            or _is_foreign(memory, value)
        )
    else:
        is_place, _, held, is_data = resolved(memory, type(value), name)
        if not is_place and name != "__class__":
            return None  # a property, or something else whose code tells of itself
        if by_instruction and name != "__class__" and _stores_itself(type(value)):
            return None
        if not may_hold(type(value)):
            return None
        is_rare = name == "__class__" or is_a(value, Enum)
        is_rare = is_rare or (is_a(value, types.FunctionType) and name in FUNCTION_PARTS)
        is_rare = is_rare or (is_behaviour(held) and not is_data and held is not ABSENT)
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
        touch_all(now, asking_parts(value, now, at), at)
    value = meant(value, name, "__delattr__")
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind in FOREIGN:
        memory.reach_out(value)
    if memory.lives.may_drop:
        memory.drop(kernel, memory.ending(kernel, held_by(value, name), at), at)
    if kind == OPAQUE and not may_hold(type(value)):
        touch_object(value, True, at)
        return
    if is_a(value, (type, types.ModuleType)):
        memory.write_rarely(kernel, name)  # else whoever finds it gone would not be seen to look
    part = _written(value, name, None, now, at)
    if _change_in_c(value, "__delattr__", part, now, at):
        return
    if part is not None:
        shapes = _changed_shape(value, name, False, now, at) + replaced_parts(value, name, now)
        if shapes:
            touch_all(now, [part, *shapes], at)
        else:
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
            shape = shape_part(owner, now, True, at)
            touch_all(now, [part, shape, *replaced_parts(owner, name, now)], at)
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
