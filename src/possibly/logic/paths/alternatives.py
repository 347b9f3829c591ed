"""Any one of several: readings that differ only in what one part of them comes after, kept as one.

Here belongs the symbolic form of slots. In `(a* & b*)*` and its like a run leaves open where a part began:
after `a a a`, the b may come after each of the three, or after none. The readings are the same but for the
slots of one part that has not begun. Such a family is one reading whose part has *options* instead of
slots: `(ANY, slots, slots, ...)`. An option is decided when the first event of the part comes, by its
predecessors. So what must be remembered grows with the run (each of the events may still be asked for), and
the number of readings does not.

Law: a reading with options stands for all readings with one of them put in; options stand only in parts
that have not begun, and no part has two occurrences of the same options that would have to agree. Copies of
an `@` are left alone: what they have in common is another matter (`alike`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

Slots = tuple[Any, ...]
"""Numbers of slots, ascending; or ANY and then such tuples, ascending."""
Reading = tuple[Any, ...]
Origin = TypeVar("Origin")

ANY = -1
MERGED_FROM = 8
"""Readings of a state from which on families are looked for: small automata stay as they are."""
_HOLE = (-2,)
TODO, BOTH, BOUND = 0, 5, 7
"""The forms of readings that matter here, as `readings.Form` numbers them."""


def is_any(slots: Slots) -> bool:
    return bool(slots) and slots[0] == ANY


def options(slots: Slots) -> tuple[Slots, ...]:
    """What the slots may be."""
    return slots[1:] if is_any(slots) else (slots,)


def one_of(found: Iterable[Slots]) -> Slots:
    """Slots that are any of these, which may be options themselves."""
    flat = sorted({option for slots in found for option in options(slots)})
    return flat[0] if len(flat) == 1 else (ANY, *flat)


def numbers(slots: Slots) -> Iterator[int]:
    """Every slot that is spoken of."""
    for option in options(slots):
        yield from option


def renamed(slots: Slots, names: Mapping[int, int]) -> Slots:
    """The slots called otherwise; those without a name are left out."""
    if not is_any(slots):
        return tuple(sorted([names[slot] for slot in slots if slot in names]))
    return one_of([renamed(option, names) for option in slots[1:]])


def merged(found: Mapping[Reading, Origin]) -> dict[Reading, Origin]:
    """The same readings with families made one; each with an origin of one of its members."""
    now = dict(found)
    position = 0
    while len(now) > 1:
        groups: dict[Reading, list[tuple[Reading, Slots]]] = {}
        for reading in now:
            leaf = _leaf(reading, position)
            if leaf is not None:
                groups.setdefault(leaf[0], []).append((reading, leaf[1]))
        if not groups:
            break
        for template, members in groups.items():
            if len(members) > 1:
                origin = now[members[0][0]]
                for reading, _ in members:
                    del now[reading]
                now[_filled(template, one_of([slots for _, slots in members]))] = origin
        position += 1
    return now


def _leaf(reading: Reading, position: int) -> tuple[Reading, Slots] | None:
    """The reading with a hole instead of the slots of its n-th part that has not begun, and these slots."""
    taken: list[Slots] = []
    left = [position]

    def walk(node: Reading) -> Reading:
        if taken:
            return node
        match node[0]:
            case 0:
                if left[0]:
                    left[0] -= 1
                    return node
                taken.append(node[2])
                return (TODO, node[1], _HOLE)
            case 2 | 3 | 4:
                return (node[0], walk(node[1]), *node[2:])
            case 5:
                return (BOTH, node[1], walk(node[2]), walk(node[3]))
            case 7:
                return (BOUND, node[1], walk(node[2]), node[3])
        return node

    template = walk(reading)
    return (template, taken[0]) if taken else None


def _filled(node: Reading, slots: Slots) -> Reading:
    """The template with its hole filled."""
    match node[0]:
        case 0:
            return (TODO, node[1], slots) if node[2] == _HOLE else node
        case 2 | 3 | 4:
            return (node[0], _filled(node[1], slots), *node[2:])
        case 5:
            return (BOTH, node[1], _filled(node[2], slots), _filled(node[3], slots))
        case 7:
            return (BOUND, node[1], _filled(node[2], slots), node[3])
    return node
