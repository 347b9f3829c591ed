"""Fragments: the copies of an `@` as far as the order tells which events belong together.

Here belongs how the copies of `A@` are told apart where every run of A hangs together. Which copy does an
event begin or join that comes after nothing of the `@`? In `c; (a@; b)@` each of n concurrent a may be a copy
of its own or belong to any other: to try them all takes as many readings as n has partitions. It need not be
known: events that nothing connects yet are *fragments*, each with all its readings as a beginning of A. An
event that comes after events of several fragments makes them one. At the end each fragment is a copy, as
the events of one hang together and those of two do not.

Theory of operation. Two fragments are unordered, so what they become together follows from the readings of
each: both must have stopped inside the same parts of A, at first events only, and where one has done nothing
the other stands for both. Nothing is read again, and what is remembered is what the readings ask for.

The paper (Modeling Concurrency in Parallel Debugging, section 4.2) leaves such choices to the ambiguity of
its net.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

from possibly.logic.paths.alternatives import Slots
from possibly.logic.paths.compiled import Compiled, Kind, Part
from possibly.logic.paths.copies import hangs_together
from possibly.logic.paths.forms import Form, Fragment, Reading, after, around

KINDS = frozenset((Kind.EVENT, Kind.SEQUENCE, Kind.CHOICE, Kind.TOGETHER, Kind.REPEAT))


def told_apart(expression: Compiled) -> frozenset[int]:
    """The parts `A@` whose copies are told apart by the order alone."""
    if expression.synchronises:
        return frozenset()
    found: set[int] = set()
    for number, part in enumerate(expression.parts):  # from the leaves up
        if part.kind == Kind.MANY and _is_told_apart(expression.parts, part.left, found):
            found.add(number)
    return frozenset(found)


def _is_told_apart(parts: list[Part], body: int, found: set[int]) -> bool:
    return hangs_together(parts, body) and all(_is_plain(parts, each, found) for each in _below(parts, body))


def _below(parts: list[Part], number: int) -> Iterable[int]:
    yield number
    for each in (parts[number].left, parts[number].right):
        if each >= 0:
            yield from _below(parts, each)


def _is_plain(parts: list[Part], number: int, found: set[int]) -> bool:
    """Whether readings of the part can be put together: no values and counts that would have to agree."""
    part = parts[number]
    return number in found or (part.kind in KINDS and all(variable < 0 for variable in part.variables))


class Joining:
    """Puts readings of one part together that began after the same events, `start`."""

    def __init__(self, parts: list[Part], start: Slots, latest: Callable[[Slots], Slots]) -> None:
        self.parts = parts
        self.start = start
        self.latest = latest

    def fragment(self, number: int, fragments: Iterable[Fragment]) -> Fragment:
        """All readings of the part by the events of all fragments."""
        found: Fragment = ((Form.TODO, number, self.start),)
        for fragment in fragments:
            pairs = product(found, fragment)
            found = tuple(sorted({each for one, two in pairs for each in self.readings(number, one, two)}))
        return found

    def readings(self, number: int, one: Reading, two: Reading) -> list[Reading]:
        """What two readings of a part are together."""
        untouched = (Form.TODO, number, self.start)
        if one == untouched or two == untouched:
            return [two if one == untouched else one]
        part = self.parts[number]
        match part.kind:
            case Kind.SEQUENCE:
                return self._sequence(part, one, two)
            case Kind.CHOICE:
                return [*self.readings(part.left, one, two), *self.readings(part.right, one, two)]
            case Kind.TOGETHER:
                return self._together(number, one, two)
            case Kind.REPEAT if (one[0], two[0]) == (Form.ROUND, Form.ROUND):
                # Later rounds come after all of the first: both are in that one.
                if (one[2], two[2]) == (number, number):
                    inner = self.readings(part.left, one[1], two[1])
                    return [around(reading, number) for reading in inner]
            case Kind.MANY if (one[0], two[0]) == (Form.FRAGMENTS, Form.FRAGMENTS):
                if one[1:3] == two[1:3] == (number, self.start):
                    return [(Form.FRAGMENTS, number, self.start, gathered((*one[3], *two[3])))]
        return []

    def _sequence(self, part: Part, one: Reading, two: Reading) -> list[Reading]:
        are_left = [(each[0], each[-1]) == (Form.AFTER, part.right) for each in (one, two)]
        if all(are_left):
            return [after(reading, part.right) for reading in self.readings(part.left, one[1], two[1])]
        # Whatever is done of the right side comes after all of the left one: then that is empty.
        if any(are_left) or not self.parts[part.left].can_be_empty:
            return []
        return self.readings(part.right, one, two)

    def _together(self, number: int, one: Reading, two: Reading) -> list[Reading]:
        if one[:2] != two[:2] or one[:2] != (Form.BOTH, number):
            return []
        part = self.parts[number]
        lefts = self.readings(part.left, one[2], two[2])
        rights = self.readings(part.right, one[3], two[3])
        return [self._both(number, left, right) for left in lefts for right in rights]

    def _both(self, number: int, left: Reading, right: Reading) -> Reading:
        if left[0] == Form.DONE and right[0] == Form.DONE:
            return (Form.DONE, self.latest((*left[1], *right[1])))
        return (Form.BOTH, number, left, right)


def is_finished(fragment: Fragment) -> bool:
    """Whether nothing can come to it any more."""
    return all(reading[0] == Form.DONE for reading in fragment)


def gathered(fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
    """The fragments in order; of the finished ones the last events are kept together."""
    under_way: list[Fragment] = []
    last: set[int] = set()
    has_finished = False
    for fragment in fragments:
        if is_finished(fragment):
            has_finished = True
            last.update(slot for reading in fragment for slot in reading[1])
        else:
            under_way.append(fragment)
    finished: list[Fragment] = [((Form.DONE, tuple(sorted(last))),)] if has_finished else []
    return tuple(sorted([*under_way, *finished]))


def combinations(
    fragments: Iterable[Fragment], shape: Callable[[Reading], object], most: int
) -> Iterable[list[Fragment]]:
    """One of each kind of sets with so many fragments at most; those of one shape make no difference."""
    kinds: dict[object, list[Fragment]] = {}
    for fragment in fragments:
        kinds.setdefault(tuple(sorted([shape(reading) for reading in fragment])), []).append(fragment)  # type: ignore[type-var]
    groups = list(kinds.values())

    def chosen(place: int, left: int) -> Iterable[list[Fragment]]:
        if place == len(groups):
            yield []
            return
        for count in range(min(left, len(groups[place])) + 1):
            for rest in chosen(place + 1, left - count):
                yield [*groups[place][:count], *rest]

    return (found for found in chosen(0, most) if found)
