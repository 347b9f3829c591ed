"""Events that are alike: which copies of an `@` they belong to is decided when somebody tells them apart.

Here belongs the symmetry of a run. Two events of the same symbols and values with the same predecessors, and
nothing after either, can change places, and the set of all readings stays the same: it depends on the order
alone. So of the readings that such changes turn into each other one is kept. Eight concurrent a of
`((a@; b) & c)@` have 4,140 readings (in which copy is each?), of which 22 differ in more than names. Where
the order tells what belongs to one copy, as in `(a@; b)@`, there is nothing to choose (`fragments`).

Theory of operation. A *class* is a set of slots that may change places. An event that comes after some
members of a class and not after others splits it. Whether a kept reading can take the event is asked of the
reading with its slots changed so that what it expects becomes what the event comes after: which change does
not matter, as those that remain possible turn all of them into each other.

After the idea of counting equal tokens in the marking of a Petri net (Modeling Concurrency in Parallel
Debugging, section 3), with the order of the events kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from possibly.logic.paths.alternatives import Slots, is_any, one_of

Reading = tuple[Any, ...]
Key = tuple[tuple[int, ...], Slots, Slots]
"""Symbols, predecessors and values of an event."""
MOST_CHOICES = 200
"""Ways to choose among events that are alike which are spelt out in a message."""


class Class(NamedTuple):
    """Slots that may change places; with a key, new events of that key join them."""

    members: int
    """A bit for each slot."""
    key: Key | None

    @property
    def is_several(self) -> bool:
        return self.members & (self.members - 1) != 0


Classes = tuple[Class, ...]


def split(classes: Classes, past: int) -> Classes:
    """The classes as an event with that past leaves them."""
    found: list[Class] = []
    for each in classes:
        inside = each.members & past
        if inside:
            found.append(Class(inside, None))
        if inside != each.members:
            found.append(Class(each.members & ~past, each.key))
    return tuple(found)


def joined(classes: Classes, slot: int, key: Key) -> Classes:
    """The classes with one more event."""
    for number, each in enumerate(classes):
        if each.key == key:
            return (*classes[:number], Class(each.members | 1 << slot, key), *classes[number + 1 :])
    return (*classes, Class(1 << slot, key))


def renumbered(classes: Classes, names: Mapping[int, int], values: Mapping[int, int]) -> Classes:
    """The classes with slots and values called otherwise; one whose key is forgotten takes no new member."""
    found = []
    for each in classes:
        members = sum(1 << names[slot] for slot in slots_of(each.members) if slot in names)
        if members:
            found.append(Class(members, _renumbered_key(each.key, names, values)))
    return tuple(sorted(found, key=lambda each: each.members))


def _renumbered_key(key: Key | None, names: Mapping[int, int], values: Mapping[int, int]) -> Key | None:
    if key is None:
        return None
    symbols, before, given = key
    if any(slot not in names for slot in before) or any(value not in values for value in given):
        return None
    return symbols, tuple(sorted([names[slot] for slot in before])), tuple([values[v] for v in given])


def slots_of(members: int) -> list[int]:
    found = []
    while members:
        lowest = members & -members
        found.append(lowest.bit_length() - 1)
        members ^= lowest
    return found


def change(classes: Classes, expected: Slots, wanted: Slots) -> dict[int, int] | None:
    """A change of places that turns the expected slots into the wanted ones; None if there is none."""
    found: dict[int, int] = {}
    left_expected, left_wanted = set(expected), set(wanted)
    for each in classes:
        members = slots_of(each.members)
        one = [slot for slot in members if slot in left_expected]
        two = [slot for slot in members if slot in left_wanted]
        if len(one) != len(two):
            return None
        rest_one = [slot for slot in members if slot not in left_expected]
        rest_two = [slot for slot in members if slot not in left_wanted]
        found.update(zip([*one, *rest_one], [*two, *rest_two], strict=True))
        left_expected.difference_update(one)
        left_wanted.difference_update(two)
    return found if left_expected == left_wanted else None


def choices(classes: Classes, before: Slots) -> Iterator[Slots]:
    """All sets of slots that changes of places make of this one, up to a limit."""
    pools = [(slots_of(each.members), set(before).intersection(slots_of(each.members))) for each in classes]
    total = 1
    for members, chosen in pools:
        total *= comb(len(members), len(chosen))
    if total > MOST_CHOICES:
        yield before
        return
    free = set(before).difference(*(chosen for _, chosen in pools))
    found: list[set[int]] = [free]
    for members, chosen in pools:
        found = [one | set(two) for one in found for two in combinations(members, len(chosen))]
    yield from (tuple(sorted(each)) for each in found)


def places(classes: Classes) -> Callable[[int], int]:
    """For slots that may change places the same negative number, for any other slot itself."""
    owner: dict[int, int] = {}
    for number, each in enumerate(classes):
        owner.update(dict.fromkeys(slots_of(each.members), -1 - number) if each.is_several else {})
    return lambda slot: owner.get(slot, slot)


def shapes(classes: Classes) -> Callable[[Reading], Reading]:
    """A reading with its classes instead of their members."""
    owner: dict[int, int] = {}
    for number, each in enumerate(classes):
        owner.update(dict.fromkeys(slots_of(each.members), number) if each.is_several else {})
    return _Canonical(owner, []).anonymous


def canonical(reading: Reading, classes: Classes) -> Reading:
    """The one of all readings that changes of places make of this one, or nearly: names go by appearance.

    Where several would do, another one may be chosen for an equal reading: that costs time, nothing else.
    """
    owner: dict[int, int] = {}
    free: list[list[int]] = []
    for each in classes:
        if each.is_several:
            members = slots_of(each.members)
            owner.update(dict.fromkeys(members, len(free)))
            free.append(members[::-1])
    return _Canonical(owner, free).named(reading) if owner else reading


class _Canonical:
    def __init__(self, owner: dict[int, int], free: list[list[int]]) -> None:
        self.owner = owner
        self.free = free
        self.names: dict[int, int] = {}

    def named(self, node: Reading) -> Reading:
        match node[0]:
            case 0:
                return (0, node[1], self.slots(node[2]))
            case 1:
                return (1, self.slots(node[1]))
            case 2 | 3 | 4:
                return (node[0], self.named(node[1]), *node[2:])
            case 5:
                return (5, node[1], self.named(node[2]), self.named(node[3]))
            case 6:
                start = self.slots(node[2])
                copies = [self.named(copy) for copy in sorted(node[3], key=self.anonymous)]
                return (6, node[1], start, tuple(sorted(copies)))
            case 8:
                start = self.slots(node[2])
                by_shape = sorted(node[3], key=lambda each: tuple(sorted(map(self.anonymous, each))))
                parts = [tuple(sorted(map(self.named, each))) for each in by_shape]
                return (8, node[1], start, tuple(sorted(parts)))
        return (7, node[1], self.named(node[2]), node[3])

    def slots(self, slots: Slots) -> Slots:
        if is_any(slots):
            return one_of([self.slots(option) for option in slots[1:]])
        return tuple(sorted([self.name(slot) for slot in slots]))

    def name(self, slot: int) -> int:
        if slot not in self.owner:
            return slot
        if slot not in self.names:
            self.names[slot] = self.free[self.owner[slot]].pop()
        return self.names[slot]

    def anonymous(self, node: Reading) -> Reading:
        """The reading with its classes instead of their members, as far as these have no name yet."""
        match node[0]:
            case 0:
                return (0, node[1], self.shape(node[2]))
            case 1:
                return (1, self.shape(node[1]))
            case 2 | 3 | 4:
                return (node[0], self.anonymous(node[1]), *node[2:])
            case 5:
                return (5, node[1], self.anonymous(node[2]), self.anonymous(node[3]))
            case 6:
                copies = tuple(sorted([self.anonymous(copy) for copy in node[3]]))
                return (6, node[1], self.shape(node[2]), copies)
            case 8:
                parts = tuple(sorted([tuple(sorted(map(self.anonymous, each))) for each in node[3]]))
                return (8, node[1], self.shape(node[2]), parts)
        return (7, node[1], self.anonymous(node[2]), node[3])

    def shape(self, slots: Slots) -> Slots:
        if is_any(slots):
            return (-1, *sorted([self.shape(option) for option in slots[1:]]))
        found = [
            self.names.get(slot, -3 - self.owner[slot]) if slot in self.owner else slot for slot in slots
        ]
        return tuple(sorted(found))
