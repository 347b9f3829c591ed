"""Path expressions in every order of racing accesses, walked place by place and not order by order.

An order of the racing accesses is a partial order of the events, so another run of the same expression. Two
orders that have come to the same cut are one from there on if they leave the expression read alike, and
if whatever may still come has the same before it: for each process, each variable that races, and each event
that others wait for, which of the events that matter lie in its past, and which of these are latest. Events
that matter are those that the readings still ask for. So orders without number are a graph of places,
and an expression is decided on all of them by one walk.

An event that touches nothing that races has the same before it whatever comes first: it is taken at once and
alone. A walk that goes on only where every read sees what it saw finds whatever nobody notices. Beyond `most`
places the walk ends, and "not found" is no answer (`is_complete`).

`Unfitting` looks for an order that does not fit an `expect`, `Occurring` for one in which the expression of a
`never` occurs. For the latter a walk also chooses the events of the occurrence: an event that comes after one
of them and is not chosen spoils whatever comes after it, as it would lie between.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from possibly.detection.limits import Budget
from possibly.detection.paths.meaning import Meaning
from possibly.detection.prediction.facts import racing
from possibly.detection.prediction.graphs import Graph
from possibly.detection.prediction.orders import Deciding
from possibly.detection.prediction.walks import MOST_NODES, Held, Values
from possibly.logic.paths.machine import Machine, State, TooMuchError
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, Move
from possibly.trace.model import Trace


class Past(NamedTuple):
    """What lies before something: sets of events, a bit each."""

    events: int = 0
    latest: int = 0
    is_spoilt: bool = False

    def joined(self, other: Past) -> Past:
        """What is latest here lies before an event of the other past if that has it, and not as latest."""
        if self.is_spoilt or other.is_spoilt:
            return SPOILT
        latest = self.latest & ~(other.events & ~other.latest) | other.latest & ~(self.events & ~self.latest)
        return Past(self.events | other.events, latest)


NOTHING = Past()
SPOILT = Past(is_spoilt=True)
"""Nothing after it can be chosen, whatever else lies before."""
Key = tuple[str, int | str]
"""Whose past: `process`, `event`, `write` or `read`, and which."""
Pasts = Mapping[Key, Past]
"""Those that are not empty."""


class Fed(NamedTuple):
    """How far the expression is read."""

    state: State
    slots: tuple[int, ...] = ()
    """The events that the slots of the state stand for."""
    values: tuple[Hashable, ...] = ()


class Place(NamedTuple):
    cut: int
    held: Held
    pasts: frozenset[tuple[Key, Past]]
    fed: Fed | None
    """None: the last event does not fit."""
    has_begun: bool


class PathWalk:
    """Looks for an order of one run that shows what the subclass is after."""

    def __init__(
        self, meaning: Meaning, machine: Machine, budget: Budget, *, unnoticed: bool, most: int = MOST_NODES
    ) -> None:
        self._trace: Trace = meaning.trace
        self._machine = machine
        self._graph: Graph[Place] = Graph(budget, most)
        computation = Computation(self._trace, "sync")
        self._meaning = meaning
        self._symbols = meaning.all_symbols
        self._lattice = Lattice(computation)
        self._values = Values(self._trace, computation, (), unnoticed)
        self._order = _Order(computation)

    def found(self) -> Deciding | None:
        """An order that shows it; what decides goes unnoticed if that is asked for."""
        start = Place(
            self._lattice.initial, self._values.start, frozenset(), Fed(self._machine.initial), False
        )
        try:
            place = self._graph.found([start], self._following, self._is_shown)
        except TooMuchError:
            self._graph.is_complete = False
            return None
        return self._decided(place) if place is not None else None

    @property
    def is_complete(self) -> bool:
        """Whether what is not found is so in no order (that goes unnoticed)."""
        return self._graph.is_complete

    def _is_shown(self, place: Place) -> bool:
        return self.shows(place, place.cut == self._lattice.final)

    def shows(self, place: Place, is_end: bool) -> bool:
        raise NotImplementedError

    def ways(self, event: int, past: Past, place: Place) -> Iterator[tuple[Past, Fed | None, bool]]:
        """What an event of the expression may be: the past of what comes after it, and the reading then."""
        raise NotImplementedError

    # ---- steps ----------------------------------------------------------------------------------

    def _following(self, place: Place) -> Iterator[tuple[int, Place]]:
        """The places one event on; the event that was recorded first comes last, where it is taken first."""
        pasts = dict(place.pasts)
        for move in self._moves(place.cut):
            held = self._values.after(place.held, (move.step,))
            if held is None:
                continue
            cut, past = place.cut + move.delta, self._order.past(move.step, pasts)
            ways: Iterable[tuple[Past, Fed | None, bool]] = ((past, place.fed, place.has_begun),)
            if self._symbols[move.step]:
                ways = self.ways(move.step, past, place)
            for after, fed, has_begun in ways:
                following = self._order.after(move.step, after, pasts, self._lattice.unpack(cut))
                yield move.step, Place(cut, held, _mattering(following, fed), fed, has_begun)

    def _moves(self, cut: int) -> Sequence[Move]:
        moves = list(self._lattice.moves(cut))
        for move in moves:
            if not self._order.races(move.step):
                return (move,)
        return sorted(moves, key=lambda move: -move.step)

    def _read_on(self, event: int, past: Past, fed: Fed) -> Fed | None:
        """The reading with one more event after the latest of its past."""
        before = _bits(past.latest)
        if any(other not in fed.slots for other in before):
            return None  # what nobody remembers precedes nothing any more
        values = fed.values
        numbers: tuple[int, ...] = ()
        if self._meaning.has_arguments:
            given = self._meaning.values(event)
            values = (*values, *(value for value in dict.fromkeys(given) if value not in values))
            numbers = tuple([values.index(value) for value in given])
        at = tuple(sorted([fed.slots.index(other) for other in before]))
        move = self._machine.move(fed.state, self._symbols[event], at, numbers)
        if move.state is None:
            return None
        slots = (*fed.slots, event)
        return Fed(
            move.state,
            tuple([slots[old] for old in move.kept]),
            tuple([values[old] for old in move.kept_values]) if values else (),
        )

    def _decided(self, place: Place) -> Deciding:
        """The events up to the place, and then the rest as it was recorded."""
        first = self._graph.steps_to(place)
        done = set(first)
        rest = [event for event in range(len(self._trace)) if event not in done]
        return Deciding((*first, *rest), len(first))


class Unfitting(PathWalk):
    """An order that an `expect` does not allow."""

    def shows(self, place: Place, is_end: bool) -> bool:
        return place.fed is None or (is_end and not place.fed.state.ends)

    def ways(self, event: int, past: Past, place: Place) -> Iterator[tuple[Past, Fed | None, bool]]:
        assert place.fed is not None
        bit = 1 << event
        yield Past(past.events | bit, bit), self._read_on(event, past, place.fed), True


class Occurring(PathWalk):
    """An order in which the expression of a `never` occurs."""

    def shows(self, place: Place, is_end: bool) -> bool:
        return place.has_begun and place.fed is not None and place.fed.state.ends

    def ways(self, event: int, past: Past, place: Place) -> Iterator[tuple[Past, Fed | None, bool]]:
        yield SPOILT if past != NOTHING else past, place.fed, place.has_begun
        if past == SPOILT:
            return
        assert place.fed is not None
        fed, bit = self._read_on(event, past, place.fed), 1 << event
        if fed is not None:
            yield Past(past.events | bit, bit), fed, True


class _Order:
    """What comes before an event, given what raced before it."""

    def __init__(self, computation: Computation) -> None:
        self._trace = computation.trace
        self._racing = racing(self._trace, computation)
        self._before = [computation.predecessors(event) for event in range(len(self._trace))]
        self._waiting: dict[int, list[int]] = {}
        for event, earlier in enumerate(self._before):
            for each in earlier:
                self._waiting.setdefault(each, []).append(event)

    def races(self, event: int) -> bool:
        return any(name in self._racing for name in (*self._trace.reads(event), *self._written(event)))

    def _written(self, event: int) -> list[str]:
        return [name for name, _ in self._trace.writes(event)]

    def past(self, event: int, pasts: Pasts) -> Past:
        keys: list[Key] = [("process", self._trace.process[event])]
        keys += [("event", earlier) for earlier in self._before[event]]
        keys += [("write", name) for name in self._trace.reads(event)]
        for name in self._written(event):
            keys += [("write", name), ("read", name)]
        found = NOTHING
        for key in keys:
            if key in pasts:
                found = found.joined(pasts[key])
        return found

    def after(self, event: int, past: Past, pasts: Pasts, cut: Sequence[int]) -> dict[Key, Past]:
        """The pasts when the event has happened; those that nobody waits for any more are left out."""
        trace, found = self._trace, dict(pasts)
        found["process", trace.process[event]] = past
        if event in self._waiting:
            found["event", event] = past
        for earlier in self._before[event]:
            later = self._waiting[earlier]
            if all(trace.position[each] <= cut[trace.process[each]] for each in later):
                found.pop(("event", earlier), None)
        written = self._written(event)
        for name in self._racing.intersection(trace.reads(event)).difference(written):
            found["read", name] = found.get(("read", name), NOTHING).joined(past)
        for name in self._racing.intersection(written):
            found["write", name] = past
            found.pop(("read", name), None)
        return found


def _mattering(pasts: Pasts, fed: Fed | None) -> frozenset[tuple[Key, Past]]:
    """The pasts without the events that make no difference any more."""
    bits = 0
    for past in pasts.values():
        bits |= past.latest
    for slot in fed.slots if fed is not None else ():
        bits |= 1 << slot
    kept = ((key, past._replace(events=past.events & bits)) for key, past in pasts.items())
    return frozenset((key, past) for key, past in kept if past != NOTHING)


def _bits(events: int) -> list[int]:
    found = []
    while events:
        lowest = events & -events
        found.append(lowest.bit_length() - 1)
        events ^= lowest
    return found
