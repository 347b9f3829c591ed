"""Every order that synchronisation allows, walked state by state and not order by order.

Where accesses race, what a variable holds is no matter of the cut alone. But two orders that have come to
the same cut, left the same in the variables that are asked for, and leave the formula the same to be shown,
are one from there on. So orders without number are a graph whose nodes are cuts with values, and a linear
formula is decided on all of them, exactly, by one walk of its product with the automaton. The same walk, let
go on only where every read sees what it saw, finds whatever nobody notices: those nodes have the values of
all variables that are read and race.

Of a formula without next, a step that changes nothing it reads, and touches no value that a node has, is
taken at once and alone: it commutes with all others. Beyond `most` nodes the walk ends, and "not found" is no
answer (`is_complete`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.detection.limits import Budget
from possibly.detection.prediction.facts import Facts, Interned, racing, says_next
from possibly.detection.prediction.graphs import Graph
from possibly.detection.prediction.orders import Deciding, Sights
from possibly.logic.ltl.progression import Progression, State, TooLargeError
from possibly.logic.predicates.functions import compile_predicate, leaves
from possibly.logic.syntax import Leaf, Node, Shared, Transit
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, Move
from possibly.order.state import Readings, Sum
from possibly.trace.model import Trace

MOST_NODES = 100_000
"""Cuts with values and demands that one walk enters."""

Held = tuple[int, ...]
"""What the variables of a node hold, by number."""
Place = tuple[int, Held, State]
"""A packed cut, what is held there, and what the formula still demands."""


class Walks:
    """Looks for an order of one run on which a linear formula is true."""

    def __init__(
        self, trace: Trace, formula: Node, budget: Budget, *, unnoticed: bool, most: int | None = None
    ) -> None:
        self._trace = trace
        self._graph: Graph[Place] = Graph(budget, most or MOST_NODES)
        computation = Computation(trace, "sync")
        self._lattice = Lattice(computation)
        self._automaton = Progression(formula, budget.look)
        self._says_next = says_next(formula)
        asked = leaves(formula)
        self._facts = Facts(trace, asked)
        readings = Readings(computation)
        sums = [(leaf, readings(leaf)) for leaf in asked if isinstance(leaf, Transit)]
        self._transit = {leaf: reading for leaf, reading in sums if isinstance(reading, Sum)}
        self._values = Values(trace, computation, asked, unnoticed)
        self._atoms = [compile_predicate(atom) for atom in self._automaton.atoms]
        self._valuations: dict[tuple[Held, tuple[int, ...], Held], int] = {}
        self._silent: dict[int, bool] = {}

    def found(self) -> Deciding | None:
        """An order on which it is true, the deciding part of which goes unnoticed if that is asked for."""
        try:
            place = self._graph.found(self._starts(), self._following, self._decides)
        except TooLargeError:
            self._graph.is_complete = False
            return None
        return self._order(place) if place is not None else None

    @property
    def is_complete(self) -> bool:
        """Whether a formula that is not found true is so on no order (that goes unnoticed)."""
        return self._graph.is_complete

    def _starts(self) -> list[Place]:
        start = self._lattice.initial, self._values.start
        first = self._automaton.advance(self._automaton.initial, self._valuation(*start))
        return [(*start, demand) for demand in first]

    def _decides(self, place: Place) -> bool:
        return place[2].accepts_all or (place[0] == self._lattice.final and place[2].may_end)

    def _following(self, place: Place) -> list[tuple[int, Place]]:
        """The nodes one step on; the step that was recorded first stands last, where it is taken first."""
        cut, held, demand = place
        found: list[tuple[int, Place]] = []
        for move in self._moves(cut):
            after = self._values.after(held, self._lattice.computation.events(move.step))
            if after is None:
                continue
            there = cut + move.delta
            states = self._automaton.advance(demand, self._valuation(there, after))
            found += [(move.step, (there, after, state)) for state in states]
        return found

    def _moves(self, cut: int) -> Sequence[Move]:
        moves = list(self._lattice.moves(cut))
        if not self._says_next:
            for move in moves:
                if self._is_silent(move):
                    return (move,)
        return sorted(moves, key=lambda move: -move.step)

    def _is_silent(self, move: Move) -> bool:
        if move.step not in self._silent:
            events = self._lattice.computation.events(move.step)
            self._silent[move.step] = not any(
                self._values.tells(event) or self._facts.tells(event) or self._carries(event)
                for event in events
            )
        return self._silent[move.step]

    def _carries(self, event: int) -> bool:
        """Whether it changes what is in transit, if that is asked for."""
        place = self._trace.process[event], self._trace.position[event]
        parts = [part for reading in self._transit.values() for part in reading.parts]
        return any(net[place[1]] != net[place[1] - 1] for process, net in parts if process == place[0])

    def _valuation(self, cut: int, held: Held) -> int:
        counts = self._lattice.unpack(cut)
        facts = self._facts.at(counts)
        carried = tuple([reading.value(counts) for reading in self._transit.values()])
        key = facts, carried, self._values.asked(held)
        if key not in self._valuations:
            values = self._values.told(held) | dict(zip(self._transit, carried, strict=True))
            for leaf, place in self._facts.place.items():
                values[leaf] = self._facts.value(place, facts[place])
            self._valuations[key] = sum(
                bool(atom.evaluate([values[leaf] for leaf in atom.leaves])) << bit
                for bit, atom in enumerate(self._atoms)
            )
        return self._valuations[key]

    def _order(self, place: Place) -> Deciding:
        """The steps up to the place, and then the rest as it was recorded."""
        events = self._lattice.computation.events
        first = [event for step in self._graph.steps_to(place) for event in events(step)]
        return Deciding((*first, *self._rest(place[0])), len(first))

    def _rest(self, cut: int) -> Iterator[int]:
        """Joint events stay together, as they do in a walk."""
        while moves := list(self._lattice.moves(cut)):
            move = min(moves, key=lambda each: each.step)
            cut += move.delta
            yield from self._lattice.computation.events(move.step)


class Values:
    """What the variables hold that make a difference, and what a step leaves in them."""

    def __init__(
        self, trace: Trace, computation: Computation, asked: Sequence[Leaf], unnoticed: bool
    ) -> None:
        self._trace = trace
        self._unnoticed = unnoticed
        self._sights, self._interned = Sights(trace), Interned()
        self._leaves = [leaf for leaf in asked if isinstance(leaf, Shared)]
        names = [leaf.variable for leaf in self._leaves]
        read = {name for event in range(len(trace)) for name in trace.reads(event)} if unnoticed else set()
        names += sorted(racing(trace, computation) & read - set(names))
        self._number = {name: number for number, name in enumerate(names)}
        self.start: Held = tuple(self._interned.of(name, self._sights.before(name)) for name in names)
        self._seen = {
            place: self._interned.of(place[1], sight)
            for place, sight in self._sights.seen(range(len(trace) if unnoticed else 0)).items()
        }
        self._steps: dict[tuple[Held, tuple[int, ...]], Held | None] = {}

    def tells(self, event: int) -> bool:
        """Whether it touches one of them in a way that makes a difference."""
        touched = [name for name, _ in self._trace.writes(event)]
        touched += self._trace.reads(event) if self._unnoticed else ()
        return any(name in self._number for name in touched)

    def after(self, held: Held, events: tuple[int, ...]) -> Held | None:
        """What they hold after these; None if one of them reads what it did not read."""
        key = held, events
        if key not in self._steps:
            self._steps[key] = self._after(held, events)
        return self._steps[key]

    def _after(self, held: Held, events: tuple[int, ...]) -> Held | None:
        now = list(held)
        for event in events:
            for name in self._trace.reads(event) if self._unnoticed else ():
                if name in self._number and now[self._number[name]] != self._seen[event, name]:
                    return None
            for name, sight in self._sights.written(event).items():
                if name in self._number:
                    now[self._number[name]] = self._interned.of(name, sight)
        return tuple(now)

    def asked(self, held: Held) -> Held:
        return held[: len(self._leaves)]

    def told(self, held: Held) -> dict[Leaf, object]:
        """The values that the formula reads."""
        return {leaf: self._interned.value(number) for leaf, number in zip(self._leaves, held, strict=False)}
