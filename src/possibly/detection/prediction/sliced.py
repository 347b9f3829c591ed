"""States that a sliced reordering of the run reaches, found in one pass over it.

"Parametrizing reads-from equivalence for predictive monitoring" (Farzan, Mathur): the events of a run, or of
a part of it that is closed under its order, are divided into k + 1 slices, and the slices are executed one
after the other, each in the order of the run. That is a reordering if no event comes before one that it
follows in its process or by synchronisation, and if every read sees what it saw: the same write, or an equal
value. So no process notices a difference, and whatever state is reached, the program can reach. With k the
reorderings grow to all that nobody notices.

The pass goes along the run and holds every way to divide what lies behind, as far as what lies ahead can tell
them apart: in which slice each process is (it never goes back), what each slice has left in each variable,
and which slices may not write a variable any more, since a later one has read what they left. Departures from
the paper: the property is a state predicate, asked at the end of each part; only variables whose accesses
race are followed, as synchronisation keeps the order of all others; and there is a bound on the ways that are
held, beyond which those with the fewest changes go on, so that "not found" is no answer (`is_complete`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from possibly.detection.limits import Budget
from possibly.detection.prediction.orders import Sight, Sights
from possibly.logic.predicates.functions import MISSING, Predicate
from possibly.logic.syntax import Leaf, Shared, Transit
from possibly.order.computation import Computation
from possibly.order.knowledge import Knowledge
from possibly.order.state import Readings
from possibly.trace.model import Trace

MOST_WAYS, FEWEST_WAYS = 2_000, 50
"""Ways to divide what lies behind that are held at once: in a long run fewer."""
MOST_WORK = 600_000
"""Events times ways, about."""

Division = tuple[tuple[int, int], ...]
"""The events from which on their process is in another slice, and which."""

Left = tuple[tuple[int, ...], ...]
Settled = frozenset[tuple[int, int]]


class Way(NamedTuple):
    """What the rest of the run can tell of a way to divide the events so far."""

    slices: tuple[int, ...]
    """The slice of each process that goes on; one too many if it has stopped."""
    awaited: tuple[int, ...]
    """The slice of each event that an event ahead must follow."""
    left: Left
    """For each variable that is followed, what each slice has left in it; 0 if it has not written it."""
    settled: Settled
    """Variables and slices that may not write them any more."""
    facts: tuple[int, ...]
    """What the predicate reads of single processes."""


class SlicedSearch:
    """Looks for a state in which a predicate is true."""

    def __init__(self, trace: Trace, predicate: Predicate, cuts: int, budget: Budget) -> None:
        self._trace = trace
        self._predicate = predicate
        self._stopped = cuts + 1
        self._budget = budget
        self.is_complete = trace.meet is None and not any(
            isinstance(leaf, Transit) for leaf in predicate.leaves
        )
        """Whether a state that is not found is reached by none of these reorderings."""
        self._computation = Computation(trace, "sync")
        self._sights = Sights(trace)
        self._interned = _Interned()
        asked = {leaf.variable for leaf in predicate.leaves if isinstance(leaf, Shared)}
        last_read = {name: event for event in range(len(trace)) for name in trace.reads(event)}
        self._variables = sorted(asked | (racing(trace, self._computation) & last_read.keys()))
        self._number = {name: number for number, name in enumerate(self._variables)}
        self._last_read = [len(trace) if name in asked else last_read[name] for name in self._variables]
        """After it, nobody looks at the variable."""
        self._seen = {
            (event, name): self._interned.of(name, each)
            for (event, name), each in self._sights.seen(range(len(trace))).items()
        }
        self._start = tuple(self._interned.of(name, self._sights.before(name)) for name in self._variables)
        self._facts = _Facts(trace, predicate)
        self._last_need = self._needs()
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}

    def found(self) -> tuple[int, ...] | None:
        """An order of all events, of which a first part reaches such a state unnoticed."""
        if not self.is_complete:
            return None
        start = Way(
            tuple(0 for _ in self._trace.processes),
            (),
            tuple(tuple(0 for _ in range(self._stopped)) for _ in self._variables),
            frozenset(),
            self._facts.start,
        )
        ways: dict[Way, Division] = {start: ()}
        awaited: list[int] = []
        for event in range(len(self._trace)):
            self._budget.look()
            following: dict[Way, Division] = {}
            later = [each for each in (*awaited, event) if self._last_need.get(each, -1) > event]
            for way, division in ways.items():
                for after, part in self._after(way, division, event, awaited, later):
                    if after not in following:
                        following[after] = part
                        if self._is_reached(after):
                            return self._order(part, event)
            ways, awaited = self._limited(following), later
        return None

    def _limited(self, ways: dict[Way, Division]) -> dict[Way, Division]:
        most = max(FEWEST_WAYS, min(MOST_WAYS, MOST_WORK // len(self._trace)))
        if len(ways) <= most:
            return ways
        self.is_complete = False
        return dict(sorted(ways.items(), key=lambda pair: len(pair[1]))[:most])

    # ---- one event ----------------------------------------------------------------------------------

    def _after(
        self, way: Way, division: Division, event: int, awaited: Sequence[int], later: Sequence[int]
    ) -> Iterator[tuple[Way, Division]]:
        process = self._trace.process[event]
        now = way.slices[process]
        choices = range(now, self._stopped + 1) if self._tells(event) else (now,)
        for number in choices:
            left, settled, facts = way.left, way.settled, way.facts
            if number < self._stopped:
                executed = self._executed(way, event, number, awaited)
                if executed is None:
                    continue
                left, settled = executed
                facts = self._facts.after(facts, event)
            is_over = self._trace.position[event] == len(self._trace.events_of[process])
            slices = (*way.slices[:process], 0 if is_over else number, *way.slices[process + 1 :])
            at = dict(zip(awaited, way.awaited, strict=True)) | {event: number}
            after = Way(slices, tuple(at[each] for each in later), left, settled, facts)
            yield after, division if number == now else (*division, (event, number))

    def _tells(self, event: int) -> bool:
        """Whether it can matter in which slice the event is; else it is in that of the one before."""
        trace = self._trace
        return (
            event in self._last_need
            or any(True for _ in self._computation.predecessors(event))
            or self._facts.tells(event)
            or any(name in self._number for name in trace.reads(event))
            or any(name in self._number for name, _ in trace.writes(event))
        )

    def _executed(
        self, way: Way, event: int, number: int, awaited: Sequence[int]
    ) -> tuple[Left, Settled] | None:
        """What is left and settled when the event is executed in the slice; None if it cannot be."""
        before = set(self._computation.predecessors(event))
        if any(at > number for each, at in zip(awaited, way.awaited, strict=True) if each in before):
            return None
        settled = set(way.settled)
        for name in self._trace.reads(event):
            variable = self._number.get(name)
            if variable is not None:
                below = self._writer(way.left[variable], number)
                there = self._start[variable] if below < 0 else way.left[variable][below]
                if there != self._seen[event, name]:
                    return None
                settled.update((variable, each) for each in range(max(below, 0), number))
        left = list(way.left)
        for name, sight in self._sights.written(event).items():
            variable = self._number.get(name)
            if variable is not None:
                if (variable, number) in settled:
                    return None
                if event > self._last_read[variable]:
                    continue
                row = list(left[variable])
                row[number] = self._interned.of(name, sight)
                left[variable] = tuple(row)
        return tuple(left), frozenset(settled)

    def _writer(self, row: Sequence[int], number: int) -> int:
        """The last slice up to this one that wrote the variable, -1 if none did."""
        return next((each for each in range(number, -1, -1) if row[each]), -1)

    # ---- what is asked ------------------------------------------------------------------------------

    def _is_reached(self, way: Way) -> bool:
        ends = tuple(
            row[last] if (last := self._writer(row, self._stopped - 1)) >= 0 else start
            for row, start in zip(way.left, self._start, strict=True)
        )
        key = ends, way.facts
        if key not in self._known:
            self._known[key] = self._is_true(ends, way.facts)
        return self._known[key]

    def _is_true(self, ends: tuple[int, ...], facts: tuple[int, ...]) -> bool:
        values = []
        for leaf, place in zip(self._predicate.leaves, self._facts.places, strict=True):
            if isinstance(leaf, Shared):
                values.append(self._interned.value(ends[self._number[leaf.variable]]))
            else:
                assert place is not None
                values.append(self._facts.value(place, facts[place]))
        return bool(self._predicate.evaluate(values))

    def _order(self, division: Division, last: int) -> tuple[int, ...]:
        """The slices one after the other, and then what is in none."""
        trace, now = self._trace, [0] * len(self._trace.processes)
        changes = dict(division)
        parts: list[list[int]] = [[] for _ in range(self._stopped + 1)]
        for event in range(len(trace)):
            if event in changes:
                now[trace.process[event]] = changes[event]
            parts[now[trace.process[event]] if event <= last else self._stopped].append(event)
        return tuple(event for part in parts for event in part)

    def _needs(self) -> dict[int, int]:
        """For each event that one of another process must follow: the last that must."""
        found: dict[int, int] = {}
        for event in range(len(self._trace)):
            for before in self._computation.predecessors(event):
                found[before] = event
        return found


class _Interned:
    """What is seen in variables, as numbers from 1 on: equal if nobody can tell them apart."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._values: list[object] = [MISSING]

    def of(self, name: str, sight: Sight) -> int:
        key = name, sight.key
        number = self._numbers.setdefault(key, len(self._values))
        if number == len(self._values):
            self._values.append(sight.value if sight.has_value else MISSING)
        return number

    def value(self, number: int) -> object:
        return self._values[number]


class _Facts:
    """What a predicate reads of single processes, as numbers that are equal where it reads the same."""

    def __init__(self, trace: Trace, predicate: Predicate) -> None:
        self._trace = trace
        readings = Readings(Computation(trace, "sync"))
        mine: list[Leaf] = [leaf for leaf in predicate.leaves if not isinstance(leaf, Shared | Transit)]
        self._lines = [readings(leaf) for leaf in mine]
        self.places = [mine.index(leaf) if leaf in mine else None for leaf in predicate.leaves]
        self._rows = [_classes(line.values) for line in self._lines]  # type: ignore[union-attr]
        self._of_process: dict[int, list[int]] = {}
        for place, line in enumerate(self._lines):
            self._of_process.setdefault(line.support[0], []).append(place)
        self.start = tuple(row[0] for row in self._rows)

    def after(self, facts: tuple[int, ...], event: int) -> tuple[int, ...]:
        places = self._of_process.get(self._trace.process[event])
        if not places:
            return facts
        found = list(facts)
        for place in places:
            found[place] = self._rows[place][self._trace.position[event]]
        return tuple(found)

    def tells(self, event: int) -> bool:
        position = self._trace.position[event]
        places = self._of_process.get(self._trace.process[event], ())
        return any(self._rows[place][position] != self._rows[place][position - 1] for place in places)

    def value(self, place: int, number: int) -> object:
        return self._lines[place].values[number]  # type: ignore[union-attr]


def _classes(values: Sequence[object]) -> list[int]:
    """For each count the first one with the same value."""
    first: dict[str, int] = {}
    return [
        first.setdefault(f"{type(value).__name__} {value!r}", count) for count, value in enumerate(values)
    ]


def racing(trace: Trace, computation: Computation) -> set[str]:
    """The variables of which two accesses, one of them a write, are ordered by nothing."""
    knowledge, found = Knowledge(computation), set[str]()
    writes: dict[str, dict[int, int]] = {}
    reads: dict[str, dict[int, int]] = {}
    for event in range(len(trace)):
        process, position = trace.process[event], trace.position[event]
        row = knowledge.row(process, position)

        def is_free(earlier: dict[int, int], row: Sequence[int] = row, process: int = process) -> bool:
            return any(row[other] < place for other, place in earlier.items() if other != process)

        written = [name for name, _ in trace.writes(event)]
        for name in (*trace.reads(event), *written):
            if is_free(writes.get(name, {})) or (name in written and is_free(reads.get(name, {}))):
                found.add(name)
        for name in trace.reads(event):
            reads.setdefault(name, {})[process] = position
        for name in written:
            writes.setdefault(name, {})[process] = position
    return found
