"""What may come next: a deterministic predecessor automaton, made as it is used.

Here belongs the meaning of an expression, one event at a time (Modeling Concurrency in Parallel Debugging,
section 4). An event arrives with its *predecessors*: the latest events of the run before it. It fits if
some way to read the run so far expects an event of that symbol with exactly these predecessors. Since all
earlier events fitted, equal predecessors mean equal order.

Theory of operation. A *reading* is a tree that says which parts are done and, where something may still
follow, after which events: these are numbered *slots*, not events, so that runs that look alike share
a state. A *state* is the set of all readings, with the order among their slots. `move` computes a step once
and keeps it; the caller holds the events that the slots stand for and follows the instructions of the move.
For safe expressions there are finitely many states (up to bindings and counts): this is the subset
construction of the paper's automaton, already stabilised and free of ambiguity, because a slot is one
event. For `@` the readings grow with the number of copies under way, as the marking of a net does; that
all copies be finished before something follows is the net's zero test.

Departures: the attribute grammar of figure 4-8 computes all of this beforehand (PRED is here the set in
TODO, LAST the result of `ends`); here only what a run needs is computed, which spares the product of
states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from possibly.logic.paths.alike import (
    Classes,
    canonical,
    change,
    choices,
    joined,
    places,
    renumbered,
    shapes,
    slots_of,
    split,
)
from possibly.logic.paths.alternatives import MERGED_FROM, Slots, merged, renamed
from possibly.logic.paths.compiled import Compiled, Kind
from possibly.logic.paths.completion import Completion
from possibly.logic.paths.forms import Form, Reading, add_slots
from possibly.logic.paths.fragments import told_apart
from possibly.logic.paths.readings import Taker, maximal

MOVES_KEPT = 200_000
"""Moves of one machine that are remembered; beyond that it starts to remember afresh. A state counts as one
for every four events that it speaks of."""
LOOK_EVERY = 64
"""Readings between two looks at the clock."""
MOST_READINGS = 100_000
"""Ways to read a run that are kept at once."""
MOST_SLOTS = 20_000
"""Events that are remembered at once."""


class TooMuchError(Exception):
    """The run has too many readings, or too much of it must be remembered; the message says which."""


ALL, SOME, ONLY_NEW = range(3)


class Move(NamedTuple):
    """A step of the machine, as instructions for whoever holds the events of the slots."""

    state: State | None
    """None: the event does not fit."""
    kept: Slots = ()
    """For each slot of the new state its old number; the number after the last is the new event."""
    kept_values: Slots = ()
    origins: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """For each reading of the new state a reading it comes from, and the atoms that the event played."""
    keeps: int = 0
    """ALL, SOME or ONLY_NEW: what `kept` amounts to."""


class State:
    """All readings of the run so far."""

    __slots__ = ("alike", "all_slots", "ends", "moves", "past", "readings", "values")

    def __init__(
        self, readings: tuple[Reading, ...], past: Slots, values: int, ends: bool, alike: Classes
    ) -> None:
        self.readings = readings
        self.past = past
        """For each slot a bit for each slot before it."""
        self.values = values
        """How many values are bound."""
        self.ends = ends
        """Whether the run so far is complete."""
        self.alike = alike
        """Slots that may change places: then so may those of each reading."""
        self.all_slots = tuple(range(len(past)))
        self.moves: dict[tuple[Any, ...], Move] = {}


FAILED = Move(None)


class Machine:
    """The automaton of one expression.

    `tells`: whether somebody asks which atom an event played, in which reading; then no two are made one.
    """

    def __init__(self, expression: Compiled, tells: bool = False) -> None:
        self.expression = expression
        self.parts = expression.parts
        self.tells = tells
        self._states: dict[tuple[Any, ...], State] = {}
        self._kept = 0
        self._may_block = expression.synchronises
        self._apart = frozenset() if tells else told_apart(expression)
        self._has_alike = not tells and self._leaves_open(expression)
        self._completion = Completion(expression, self._blind)
        self.initial = self._state(((Form.TODO, expression.root, ()),), (), 0)

    def _leaves_open(self, expression: Compiled) -> bool:
        """Whether there are copies that the order does not tell apart, or other places for their events."""
        copies = {number for number, part in enumerate(expression.parts) if part.kind == Kind.MANY}
        names = [atom.text.rstrip("^") for atom in expression.expression.atoms]
        return bool(copies - self._apart) or (bool(copies) and len(set(names)) < len(names))

    @property
    def look(self) -> Callable[[], None] | None:
        """Called now and then while a move is computed; it may raise what ends the work."""
        return self._completion.look

    @look.setter
    def look(self, look: Callable[[], None] | None) -> None:
        self._completion.look = look

    # ---- moves ----------------------------------------------------------------------------------

    def move(self, state: State, symbols: tuple[int, ...], predecessors: Slots, values: Slots = ()) -> Move:
        """The step on an event that may play any of the symbols, with its predecessors ascending."""
        key = (symbols, predecessors, values)
        move = state.moves.get(key)
        if move is None:
            if self._kept >= MOVES_KEPT:
                self._forget()
            move = state.moves[key] = self._move(state, symbols, predecessors, values)
            self._kept += 1 + len(state.past) // 4
        return move

    def _forget(self) -> None:
        for state in self._states.values():
            state.moves.clear()
        self._states.clear()
        self._completion.forget()
        self._kept = 0

    def _move(self, state: State, symbols: tuple[int, ...], predecessors: Slots, values: Slots) -> Move:
        before = _before(predecessors, state.past)
        past = [*state.past, before]
        taker = self._taker(past, values, None if self._may_block else predecessors)
        is_fixed = not self._tells_apart(state, predecessors)
        if is_fixed and state.alike and not self._may_block:
            taker.shape = shapes(state.alike)
        wanted = frozenset(predecessors)
        found: dict[Reading, tuple[int, tuple[int, ...]]] = {}
        for number, reading in enumerate(state.readings):
            if self.look is not None and not number % LOOK_EVERY:
                self.look()
            for symbol in symbols:
                changes = (reading,) if is_fixed else self._changed(state, reading, symbol, predecessors)
                for changed in changes:
                    for step in taker.steps(changed, symbol, {}):
                        if maximal(step.expected, past) == wanted and step.reading not in found:
                            found[step.reading] = (number, step.atoms)
            if len(found) > MOST_READINGS:
                raise TooMuchError(f"the run so far can be read in more than {MOST_READINGS:,} ways")
        alike = split(state.alike, before)
        if self._has_alike:
            alike = joined(alike, len(state.past), (symbols, predecessors, values))
        return self._followed(found, past, alike)

    def _taker(self, past: list[int], values: Slots | None, wanted: Slots | None = None) -> Taker:
        return Taker(self.parts, past, values, wanted, self._apart)

    def _tells_apart(self, state: State, predecessors: Slots) -> bool:
        """Whether an event after these has something to do with events that are alike."""
        wanted = sum(1 << slot for slot in predecessors)
        return any(each.is_several and each.members & wanted for each in state.alike)

    def _changed(self, state: State, reading: Reading, symbol: int, predecessors: Slots) -> Iterable[Reading]:
        """The reading with events that are alike in other places, where that may let it take the event."""
        past = [*state.past, (1 << len(state.past)) - 1]
        found: dict[Reading, None] = {}
        taker = self._taker(past, None, predecessors)
        taker.fragment_shape, taker.place = shapes(state.alike), places(state.alike)
        for expected in {step.expected for step in taker.steps(reading, symbol, {})}:
            changed = change(state.alike, tuple(maximal(expected, past)), predecessors)
            if changed is not None:
                everyone = dict.fromkeys(range(len(state.past)))
                found[self.renamed(reading, {slot: changed.get(slot, slot) for slot in everyone})] = None
        return found

    def _followed(
        self, found: dict[Reading, tuple[int, tuple[int, ...]]], past: list[int], alike: Classes
    ) -> Move:
        if self._may_block:
            found = {
                reading: origin for reading, origin in found.items() if self._completion.is_possible(reading)
            }
        if any(each.is_several for each in alike):
            found = {canonical(reading, alike): origin for reading, origin in found.items()}
        if not found:
            return FAILED
        if len(found) >= MERGED_FROM and not self.tells:
            found = merged(found)
        return self._renumbered(found, past, alike)

    def _renumbered(
        self, found: dict[Reading, tuple[int, tuple[int, ...]]], past: list[int], alike: Classes
    ) -> Move:
        """Slots and values that no reading mentions are dropped, the others numbered again."""
        slots: set[int] = set()
        values: set[int] = set()
        for reading in found:
            add_slots(reading, slots)
            if self.expression.variables:
                self._add_values(reading, values)
        for each in alike:
            if each.is_several and not slots.isdisjoint(members := slots_of(each.members)):
                slots.update(members)
        kept, kept_values = tuple(sorted(slots)), tuple(sorted(values))
        if len(kept) > MOST_SLOTS:
            raise TooMuchError(f"more than {MOST_SLOTS:,} events have to be remembered at once")
        if len(kept) < len(past) or kept_values != tuple(range(len(kept_values))):
            slot_number = {old: new for new, old in enumerate(kept)}
            value_number = {old: new for new, old in enumerate(kept_values)}
            found = {
                self._renamed(reading, slot_number, value_number): origin for reading, origin in found.items()
            }
            alike = renumbered(alike, slot_number, value_number)
        readings = tuple(sorted(found))
        state = self._state(readings, _restricted(past, kept), len(kept_values), alike)
        keeps = ALL if len(kept) == len(past) else ONLY_NEW if kept == (len(past) - 1,) else SOME
        return Move(state, kept, kept_values, tuple([found[reading] for reading in readings]), keeps)

    def _state(self, readings: tuple[Reading, ...], past: Slots, values: int, alike: Classes = ()) -> State:
        key = (readings, past, values, alike)
        state = self._states.get(key)
        if state is None:
            taker = self._taker(list(past), ())
            ends = any(taker.ends(reading, {}) for reading in readings)
            state = self._states[key] = State(readings, past, values, ends, alike)
        return state

    def choices(self, state: State) -> Iterator[tuple[int, Slots]]:
        """Every symbol with every set of predecessors that some reading expects next, each once."""
        count = len(state.past)
        seen: set[tuple[int, Slots]] = set()
        for symbol in range(len(self.expression.symbols)):
            taker = self._taker([*state.past, (1 << count) - 1], None)
            taker.fragment_shape = shapes(state.alike)
            for reading in state.readings:
                for step in taker.steps(reading, symbol, {}):
                    before = tuple(sorted(maximal(step.expected, list(state.past))))
                    for choice in ((symbol, each) for each in choices(state.alike, before)):
                        if choice not in seen:
                            seen.add(choice)
                            yield choice

    # ---- renaming -------------------------------------------------------------------------------

    def _blind(self, reading: Reading) -> Reading:
        """The reading without slots and values; counts stay."""
        return self._renamed(reading, {}, {})

    def _add_values(self, reading: Reading, found: set[int]) -> None:
        """Adds every value that the reading has bound; in fragments there is none."""
        match reading[0]:
            case Form.AFTER | Form.ROUND | Form.COUNTED:
                self._add_values(reading[1], found)
            case Form.BOTH:
                self._add_values(reading[2], found)
                self._add_values(reading[3], found)
            case Form.COPIES:
                for copy in reading[3]:
                    self._add_values(copy, found)
            case Form.BOUND:
                counters = self.expression.counters
                found.update(value for variable, value in reading[1] if variable not in counters)
                self._add_values(reading[2], found)

    def renamed(self, reading: Reading, slots: dict[int, int]) -> Reading:
        """The reading with its slots called otherwise; values stay."""
        return self._renamed(reading, slots, _Same())

    def _renamed(self, reading: Reading, slots: dict[int, int], values: dict[int, int]) -> Reading:
        def names(old: Slots) -> Slots:
            return renamed(old, slots)

        match reading:
            case (Form.TODO, part, old):
                return (Form.TODO, part, names(old))
            case (Form.DONE, old):
                return (Form.DONE, names(old))
            case (Form.AFTER | Form.ROUND as kind, inner, part):
                return (kind, self._renamed(inner, slots, values), part)
            case (Form.COUNTED, inner, part, rounds):
                return (Form.COUNTED, self._renamed(inner, slots, values), part, rounds)
            case (Form.BOTH, part, left, right):
                return (
                    Form.BOTH,
                    part,
                    self._renamed(left, slots, values),
                    self._renamed(right, slots, values),
                )
            case (Form.COPIES, part, old, copies):
                others = tuple(sorted([self._renamed(copy, slots, values) for copy in copies]))
                return (Form.COPIES, part, names(old), others)
            case (Form.FRAGMENTS, part, old, fragments):
                changed = sorted(
                    tuple(sorted([self._renamed(each, slots, values) for each in fragment]))
                    for fragment in fragments
                )
                return (Form.FRAGMENTS, part, names(old), tuple(changed))
            case (_, bindings, inner, part):
                counters = self.expression.counters
                bound = tuple([
                    (variable, value if variable in counters else values.get(value, 0))
                    for variable, value in bindings
                ])  # fmt: skip
                return (Form.BOUND, bound, self._renamed(inner, slots, values), part)
        raise AssertionError("a reading has one of nine forms")


class _Same(dict[int, int]):
    """Every value is called as before."""

    def get(self, key: int, default: object = None) -> int:
        return key


def _before(predecessors: Slots, past: Slots) -> int:
    found = 0
    for slot in predecessors:
        found |= past[slot] | 1 << slot
    return found


def _restricted(past: list[int], kept: Slots) -> Slots:
    """The past of the kept slots, numbered again."""
    if len(kept) == len(past):
        return tuple(past)
    wanted = set(kept)
    # From the highest: the numbers of those below stay what they are.
    dropped = [slot for slot in range(len(past) - 1, -1, -1) if slot not in wanted]
    found = []
    for old in kept:
        bits = past[old]
        for slot in dropped:
            bits = bits >> slot + 1 << slot | bits & (1 << slot) - 1
        found.append(bits)
    return tuple(found)
