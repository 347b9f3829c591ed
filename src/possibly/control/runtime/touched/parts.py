"""Several things that are touched in one step, and objects of libraries as such things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from possibly.control.execution import Access, new_tuple
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.contents import all_of, everything, shape
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import VISIBLE, Memory
from possibly.control.runtime.things import CONTAINER, keeper, linked


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
            _touch_more(now, again(), parts)
        return mode
    seen = [part for part in parts if memory._is_visible(kernel, part.family, part.thing)]
    mode = 0
    if seen:
        union = tuple(dict.fromkeys(access for part in seen for access in part.footprint))
        mode = memory.access(kernel, seen[0].family, seen[0].thing, union, at)
        if mode == VISIBLE and again is not None:
            _touch_more(now, again(), parts)
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


def _touch_more(now: Now, parts: list[Part], before: list[Part]) -> None:
    kernel, memory = now
    for part in parts:
        if memory._is_visible(kernel, part.family, part.thing):
            for each in part.footprint:
                kernel.add(each)
        elif part not in before:
            memory.hide(kernel, part.family, part.footprint, part.key)


def asking_parts(value: Any, now: Now, at: str) -> list[Part]:
    """What it means to ask a weak reference, to use a proxy that is one, or a container of such."""
    lives = now[1].lives.asked(now, value, at)
    return [
        new_tuple(Part, (each.family, each.thing, touching(each.thing, False), each.key)) for each in lives
    ]


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
    return new_tuple(Part, (named.family, named.name, footprint, named.which))


def opaque_parts(value: Any, now: Now, writes: bool, at: str) -> list[Part]:
    """An object of a library with all that it holds in C, which is used whenever it is."""
    parts, pending, seen = [], [value], {id(value)}
    while pending and len(seen) < MOST_LINKED:
        each = pending.pop()
        if now[1].things.kind(each) == CONTAINER:
            parts.append(container_part(each, writes, now, at))
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


def whole_part(value: Any, writes: bool, now: Now, at: str) -> Part:
    """All of an object, or of a container with what it holds."""
    if now[1].things.kind(value) != CONTAINER:
        return object_part(value, now, writes, at)
    named = now[1].things.named(value, now[0], at)
    footprint = everything(named) if writes else all_of(value, named)
    return new_tuple(Part, (named.family, f"{named.name}[]", footprint, named.which))


def container_part(value: Any, writes: bool, now: Now, at: str) -> Part:
    named = now[1].things.named(value, now[0], at)
    footprint = everything(named) if writes else shape(named, False)
    return new_tuple(Part, (named.family, f"{named.name}[]", footprint, named.which))
