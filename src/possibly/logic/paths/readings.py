"""Readings: what has been done of an expression, and how a reading takes an event or ends.

Here belongs the one rule for each operator (Modeling Concurrency in Parallel Debugging, table 3-1): which
events a reading may take next and after which events they are expected, and with which last events it may
end. The set of all readings, what is remembered of them and how they are numbered is the machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

from possibly.logic.paths.alternatives import Slots, is_any, one_of
from possibly.logic.paths.compiled import Kind, Part
from possibly.logic.paths.forms import Bindings, Form, Fragment, Reading, add_slots, after, around
from possibly.logic.paths.fragments import Joining, combinations, gathered, is_finished

MOST_COMBINED = 500
"""Ways to put fragments together that are looked at to say what may come."""


class Step(NamedTuple):
    """One way to take an event."""

    expected: frozenset[int]
    reading: Reading
    atoms: tuple[int, ...]
    bound: dict[int, int]
    """Variables of scopes further out that this step binds."""


class Taker:
    """Takes one event: `past` has an entry for each slot, the last for the event itself.

    `values` None leaves order and values open: every step that some event could make is yielded. `wanted`
    are the predecessors of the event; where nothing synchronises, they alone decide between options.
    """

    def __init__(
        self,
        parts: list[Part],
        past: list[int],
        values: Slots | None,
        wanted: Slots | None = None,
        apart: frozenset[int] = frozenset(),
    ) -> None:
        self.parts = parts
        self.wanted = wanted
        self.apart = apart
        """The parts `A@` whose copies are fragments."""
        self.shape: Callable[[Reading], Any] | None = None
        """What two copies have in common if it makes no difference which of them takes the event."""
        self.fragment_shape: Callable[[Reading], Any] = _itself
        """The same of readings of fragments, which have no events in common."""
        self.place: Callable[[int], int] = _itself
        """What slots have in common that may change places."""
        self.past = past
        self.values = values
        self.event = len(past) - 1

    # Steps.

    def steps(self, reading: Reading, symbol: int, known: dict[int, int]) -> Iterable[Step]:
        """Every way in which the reading takes an event of that symbol; `known` are outer bindings."""
        match reading:
            case (Form.TODO, part, slots):
                return self.first(part, slots, symbol, known)
            case (Form.AFTER, inner, part):
                return self._after(inner, part, symbol, known)
            case (Form.ROUND, inner, part):
                return self._round(inner, part, symbol, known)
            case (Form.COUNTED, inner, part, rounds):
                return self._counted(inner, part, rounds, symbol, known)
            case (Form.BOTH, part, left, right):
                return self._both(part, left, right, symbol, known)
            case (Form.COPIES, part, slots, copies):
                return self._copies(part, slots, copies, symbol, known)
            case (Form.FRAGMENTS, part, slots, fragments):
                return self._fragments(part, slots, fragments, symbol)
            case (Form.BOUND, bindings, inner, part):
                return self._bound(bindings, inner, part, symbol, known)
        return ()

    def first(self, number: int, slots: Slots, symbol: int, known: dict[int, int]) -> Iterable[Step]:
        """The steps of a part that has not begun, after the events in these slots."""
        part = self.parts[number]
        if not part.symbols >> symbol & 1:
            return ()
        if is_any(slots):
            viable = self._viable(slots)
            return [step for option in viable for step in self.first(number, option, symbol, known)]
        match part.kind:
            case Kind.EVENT:
                return self._event(part, slots, known)
            case Kind.SEQUENCE:
                return self._after((Form.TODO, part.left, slots), part.right, symbol, known)
            case Kind.CHOICE:
                left = self.first(part.left, slots, symbol, known)
                return [*left, *self.first(part.right, slots, symbol, known)]
            case Kind.TOGETHER:
                return self._both(
                    number, (Form.TODO, part.left, slots), (Form.TODO, part.right, slots), symbol, known
                )
            case Kind.REPEAT:
                return [
                    step._replace(reading=around(step.reading, number))
                    for step in self.first(part.left, slots, symbol, known)
                ]
            case Kind.COUNT:
                return self._counted((Form.DONE, slots), number, 0, symbol, known)
            case Kind.MANY if number in self.apart:
                return self._fragments(number, slots, (), symbol)
            case Kind.MANY:
                return self._copies(number, slots, (), symbol, known)
            case _:
                return self._bound((), (Form.TODO, part.left, slots), number, symbol, known)

    def _viable(self, slots: Slots) -> Iterable[Slots]:
        """The options that the event may come after."""
        if self.values is None:
            return slots[1:]
        if self.wanted is not None:
            return (self.wanted,) if self.wanted in slots else ()
        before = self.past[self.event]
        return [option for option in slots[1:] if all(before >> slot & 1 for slot in option)]

    def _event(self, part: Part, slots: Slots, known: dict[int, int]) -> Iterable[Step]:
        bound: dict[int, int] = {}
        if self.values is not None:
            before = self.past[self.event]
            if not all(before >> slot & 1 for slot in slots):
                return ()
            if part.has_arguments:
                if len(part.variables) != len(self.values):
                    return ()
                for variable, value in zip(part.variables, self.values, strict=True):
                    if variable >= 0 and known.get(variable, bound.get(variable, value)) != value:
                        return ()
                    if variable >= 0 and variable not in known:
                        bound[variable] = value
        last = (self.event,) if part.remembers else ()
        return [Step(frozenset(slots), (Form.DONE, last), (part.atom,), bound)]

    def _after(self, inner: Reading, part: int, symbol: int, known: dict[int, int]) -> Iterable[Step]:
        found = [
            step._replace(reading=after(step.reading, part)) for step in self.steps(inner, symbol, known)
        ]
        if self.parts[part].symbols >> symbol & 1:
            found += [
                step._replace(bound={**bound, **step.bound})
                for slots, bound in self.ends(inner, known)
                for step in self.first(part, slots, symbol, {**known, **bound})
            ]
        return found

    def _round(self, inner: Reading, number: int, symbol: int, known: dict[int, int]) -> Iterable[Step]:
        found = [
            step._replace(reading=around(step.reading, number)) for step in self.steps(inner, symbol, known)
        ]
        found += [
            step._replace(reading=around(step.reading, number), bound={**bound, **step.bound})
            for slots, bound in self.ends(inner, known)
            for step in self.first(self.parts[number].left, slots, symbol, {**known, **bound})
        ]
        return found

    def _counted(
        self, inner: Reading, number: int, rounds: int, symbol: int, known: dict[int, int]
    ) -> Iterable[Step]:
        part = self.parts[number]
        found = [] if inner[0] == Form.DONE else [
            step._replace(reading=_counted(step.reading, number, rounds))
            for step in self.steps(inner, symbol, known)
        ]  # fmt: skip
        full = rounds if inner[0] == Form.DONE else rounds + 1
        if full < known.get(part.variable, full + 1):
            for slots, bound in self.ends(inner, known):
                for step in self.first(part.left, slots, symbol, {**known, **bound}):
                    reading = _counted(step.reading, number, full)
                    found.append(step._replace(reading=reading, bound={**bound, **step.bound}))
        return found

    def _both(
        self, number: int, left: Reading, right: Reading, symbol: int, known: dict[int, int]
    ) -> Iterable[Step]:
        part = self.parts[number]
        if part.shared >> symbol & 1:
            return [
                Step(
                    one.expected | two.expected,
                    self._joined(number, one.reading, two.reading),
                    (*one.atoms, *two.atoms),
                    {**one.bound, **two.bound},
                )
                for one in self.steps(left, symbol, known)
                for two in self.steps(right, symbol, {**known, **one.bound})
            ]
        if self.parts[part.left].symbols >> symbol & 1:
            return [
                step._replace(reading=self._joined(number, step.reading, right))
                for step in self.steps(left, symbol, known)
            ]
        return [
            step._replace(reading=self._joined(number, left, step.reading))
            for step in self.steps(right, symbol, known)
        ]

    def _joined(self, number: int, left: Reading, right: Reading) -> Reading:
        if left[0] == Form.DONE and right[0] == Form.DONE:
            return (Form.DONE, self._latest((*left[1], *right[1])))
        return (Form.BOTH, number, left, right)

    def _copies(
        self, number: int, slots: Slots, copies: tuple[Reading, ...], symbol: int, known: dict[int, int]
    ) -> Iterable[Step]:
        found = [
            step._replace(reading=self._with_copy(number, slots, copies, step.reading))
            for step in self.first(self.parts[number].left, slots, symbol, known)
        ]
        tried = set()
        for at, copy in enumerate(copies):
            shape = copy if self.shape is None else self.shape(copy)
            if shape in tried or copy[0] == Form.DONE:
                continue
            tried.add(shape)
            rest = (*copies[:at], *copies[at + 1 :])
            found += [
                step._replace(reading=self._with_copy(number, slots, rest, step.reading))
                for step in self.steps(copy, symbol, known)
            ]
        return found

    def _with_copy(self, number: int, slots: Slots, copies: tuple[Reading, ...], copy: Reading) -> Reading:
        """One more copy; finished ones are kept as one, and only if something asks for their last events."""
        if copy[0] != Form.DONE:
            return (Form.COPIES, number, slots, tuple(sorted((*copies, copy))))
        if not self.parts[number].remembers:
            return (Form.COPIES, number, slots, copies)
        last = {slot for other in (*copies, copy) if other[0] == Form.DONE for slot in other[1]}
        active = [other for other in copies if other[0] != Form.DONE]
        return (Form.COPIES, number, slots, tuple(sorted([*active, (Form.DONE, tuple(sorted(last)))])))

    def _fragments(
        self, number: int, slots: Slots, fragments: tuple[Fragment, ...], symbol: int
    ) -> Iterable[Step]:
        """An event that comes after none of them begins a new one; else it joins those it comes after."""
        body = self.parts[number].left
        if self.values is None:
            return [
                *self.first(body, slots, symbol, {}),
                *self._any_fragments(number, slots, fragments, symbol),
            ]
        assert self.wanted is not None
        wanted, beginning = frozenset(self.wanted), frozenset(slots)
        if wanted == beginning:
            steps = self.first(body, slots, symbol, {})
            return self._with_fragment(number, slots, fragments, steps)
        met = [each for each in fragments if not wanted.isdisjoint(_own(each, beginning))]
        rest = [each for each in fragments if each not in met]
        steps = [
            step
            for reading in Joining(self.parts, slots, self._latest).fragment(body, met)
            for step in self.steps(reading, symbol, {})
            if maximal(step.expected, self.past) == wanted
        ]
        return self._with_fragment(number, slots, rest, steps)

    def _with_fragment(
        self, number: int, slots: Slots, fragments: Iterable[Fragment], steps: Iterable[Step]
    ) -> Iterable[Step]:
        """One more fragment, of all that these steps lead to; finished ones are kept if somebody asks."""
        found = {step.reading: step for step in steps}
        if not found:
            return ()
        fragment = tuple(sorted(found))
        one = found[fragment[0]]
        if not is_finished(fragment) or self.parts[number].remembers:
            fragments = gathered((*fragments, fragment))
        return [one._replace(reading=(Form.FRAGMENTS, number, slots, tuple(fragments)))]

    def _any_fragments(
        self, number: int, slots: Slots, fragments: tuple[Fragment, ...], symbol: int
    ) -> Iterable[Step]:
        """What may come after some of the fragments; if somebody wants places, after such as these."""
        beginning = frozenset(slots)
        most = len(fragments)
        if self.wanted is not None:
            places = {self.place(slot) for slot in self.wanted}
            own = [(each, {self.place(slot) for slot in _own(each, beginning)}) for each in fragments]
            fragments = tuple([each for each, its_places in own if not places.isdisjoint(its_places)])
            most = len(self.wanted)
        chosen = combinations(fragments, self.fragment_shape, most)
        for met in chosen if self.wanted is not None else islice(chosen, MOST_COMBINED):
            for reading in Joining(self.parts, slots, self._latest).fragment(self.parts[number].left, met):
                yield from self.steps(reading, symbol, {})

    def _bound(
        self, bindings: Bindings, inner: Reading, number: int, symbol: int, known: dict[int, int]
    ) -> Iterable[Step]:
        own = self.parts[number].variables
        return [
            step._replace(
                reading=_bound(bindings, step, own, number),
                bound={name: value for name, value in step.bound.items() if name not in own},
            )
            for step in self.steps(inner, symbol, {**known, **dict(bindings)})
        ]

    # Ends.

    def ends(self, reading: Reading, known: dict[int, int]) -> list[tuple[Slots, dict[int, int]]]:
        """The last events if the reading may end here, with the counts that this fixes; empty if not."""
        match reading:
            case (Form.TODO, part, slots):
                return self._empty(part, slots, known)
            case (Form.DONE, slots):
                return [(slots, {})]
            case (Form.AFTER, inner, part):
                return [
                    (slots, {**bound, **more})
                    for last, bound in self.ends(inner, known)
                    for slots, more in self._empty(part, last, {**known, **bound})
                ]
            case (Form.ROUND, inner, _):
                return self.ends(inner, known)
            case (Form.COUNTED, inner, number, rounds):
                return self._count_ends(inner, number, rounds, known)
            case (Form.BOTH, _, left, right):
                return [
                    (self._last_of_both(one, two), {**bound, **more})
                    for one, bound in self.ends(left, known)
                    for two, more in self.ends(right, {**known, **bound})
                ]
            case (Form.COPIES, _, slots, copies):
                return self._copies_end(slots, copies, known)
            case (Form.FRAGMENTS, _, slots, fragments):
                return self._fragments_end(slots, fragments)
            case (_, bindings, inner, number):
                own = self.parts[number].variables
                return [
                    (slots, {name: value for name, value in bound.items() if name not in own})
                    for slots, bound in self.ends(inner, {**known, **dict(bindings)})
                ]
        raise AssertionError("a reading has one of nine forms")

    def _empty(self, number: int, slots: Slots, known: dict[int, int]) -> list[tuple[Slots, dict[int, int]]]:
        part = self.parts[number]
        if not part.can_be_empty:
            return []
        match part.kind:
            case Kind.SEQUENCE | Kind.TOGETHER:
                # What is empty ends where it begins, on both sides.
                return [
                    (slots, {**bound, **more})
                    for _, bound in self._empty(part.left, slots, known)
                    for _, more in self._empty(part.right, slots, {**known, **bound})
                ]
            case Kind.CHOICE:
                return [*self._empty(part.left, slots, known), *self._empty(part.right, slots, known)]
            case Kind.COUNT:
                return [(slots, {part.variable: 0})] if known.get(part.variable, 0) == 0 else []
            case Kind.SCOPE:
                return [
                    (last, {name: value for name, value in bound.items() if name not in part.variables})
                    for last, bound in self._empty(part.left, slots, known)
                ]
            case _:
                return [(slots, {})]

    def _count_ends(
        self, inner: Reading, number: int, rounds: int, known: dict[int, int]
    ) -> list[tuple[Slots, dict[int, int]]]:
        variable = self.parts[number].variable
        full = rounds if inner[0] == Form.DONE else rounds + 1
        return [
            (slots, {**bound, variable: full})
            for slots, bound in self.ends(inner, known)
            if {**known, **bound}.get(variable, full) == full
        ]

    def _copies_end(
        self, slots: Slots, copies: tuple[Reading, ...], known: dict[int, int]
    ) -> list[tuple[Slots, dict[int, int]]]:
        found: list[tuple[Slots, dict[int, int]]] = [(slots, {})]
        for copy in copies:
            found = [
                (self._last_of_both(one, two), {**bound, **more})
                for one, bound in found
                for two, more in self.ends(copy, {**known, **bound})
            ]
        return found

    def _fragments_end(
        self, slots: Slots, fragments: tuple[Fragment, ...]
    ) -> list[tuple[Slots, dict[int, int]]]:
        """However a fragment is read, it ends with the latest of its events."""
        last = list(slots)
        for fragment in fragments:
            ends = next((ends for reading in fragment if (ends := self.ends(reading, {}))), None)
            if ends is None:
                return []
            last += ends[0][0]
        return [(self._latest(tuple(last)), {})]

    def _last_of_both(self, one: Slots, two: Slots) -> Slots:
        """The latest events of two parts that end together."""
        if is_any(two):
            one, two = two, one
        if not is_any(one):
            return self._latest((*one, *two))
        if is_any(two):
            return one_of([self._last_of_both(one, option) for option in two[1:]])
        covered = 0
        for slot in two:
            covered |= self.past[slot]
        rest = [option for option in one[1:] if not all(covered >> slot & 1 for slot in option)]
        found = [self._latest((*option, *two)) for option in rest]
        return one_of([*found, self._latest(two)] if len(rest) < len(one) - 1 else found)

    def _latest(self, slots: Slots) -> Slots:
        if self.values is None and not self.event:
            return ()
        return tuple(sorted(maximal(frozenset(slots), self.past)))


def _counted(inner: Reading, number: int, rounds: int) -> Reading:
    """`rounds` full ones, and one under way unless `inner` is done."""
    return (Form.COUNTED, inner, number, rounds + (inner[0] == Form.DONE))


def _bound(bindings: Bindings, step: Step, own: tuple[int, ...], number: int) -> Reading:
    if step.reading[0] == Form.DONE:
        return step.reading
    fresh = {name: value for name, value in step.bound.items() if name in own}
    return (Form.BOUND, tuple(sorted({**dict(bindings), **fresh}.items())), step.reading, number)


def _own(fragment: Fragment, beginning: frozenset[int]) -> set[int]:
    """The events of a fragment that somebody may ask for."""
    found: set[int] = set()
    for reading in fragment:
        add_slots(reading, found)
    return found - beginning


def _itself(thing: Any) -> Any:
    return thing


def maximal(slots: frozenset[int], past: list[int]) -> frozenset[int]:
    """Those that come before no other of them."""
    if len(slots) < 2:
        return slots
    covered = 0
    for slot in slots:
        covered |= past[slot]
    return frozenset(slot for slot in slots if not covered >> slot & 1)
