"""A run without the events that change nothing a formula reads: fewer events, the same answer.

Here belongs the projection of a computation to the steps that matter, and the way back. Which formulas may be
asked there is a law: the lattice of a run and that of its projection are stutter bisimilar and have no
endless stuttering, so every formula without a next operator has the same answer in both.

Why. A step that changes nothing that is read leads to a cut that looks the same. Conversely, where the next
step v that matters may follow in the projection, everything that v still needs in the run does not matter
(what matters of it has happened, or v could not follow), so it can be executed first, unseen. Both lattices
end where all has happened.

Theory of operation. The events that change what the formula reads (`changes`) are kept, with the order of
the whole run between them, found in one pass along each process (`slice.Rise`). The result is a trace of its
own, with the same processes, values and names, so that every engine can be asked; a state of it is the one
just after a kept event and stands for all until the next one. `arcs` and `target` say how a path there is
one of the run.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

from possibly.logic.predicates.functions import leaves
from possibly.logic.syntax import Leaf, Local, Node, Temporal, Transit
from possibly.logic.walk import nodes
from possibly.order.changes import Look, differ, kept_positions
from possibly.order.computation import Arcs, Computation, Cut, Place
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Rise, whole
from possibly.order.state import Chain, Reading, Readings, Timeline
from possibly.trace.index import Course
from possibly.trace.model import NONE, Ints, Trace

NEXT = frozenset(("EX", "AX", "X", "N", "Y", "Z"))
"""Operators that count steps: with one of them the law does not hold."""

LOOK_EVERY = 1024
"""Events between two looks at the limits."""


def may_be_projected(formula: Node) -> bool:
    """Whether no operator of the formula counts steps."""
    return not any(isinstance(node, Temporal) and node.operator in NEXT for node in nodes(formula))


class Projection:
    """The kept events of a run as a run of its own; `predicates` and `lattice` are those of it."""

    def __init__(self, original: CutPredicates, formula: Node, look: Look = lambda: None) -> None:
        kept = kept_positions(original, formula, look)
        self.whole: Lattice = original.lattice
        self.processes = tuple(kept)
        """The numbers in the whole run of the processes that are read."""
        self.positions = tuple(kept.values())
        """For each of them the positions of its kept events."""
        self._original = original
        self._look = look
        self._leaves = leaves(formula)

    @property
    def events(self) -> int:
        return sum(map(len, self.positions))

    @property
    def most_cuts(self) -> int:
        """An upper bound on the cuts."""
        return prod(len(positions) + 1 for positions in self.positions)

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice(Computation(self.trace, self.whole.computation.order))

    @cached_property
    def predicates(self) -> CutPredicates:
        found = CutPredicates(
            self.lattice, _Restricted(self, self._original.readings), self._original.declared
        )
        found.report_faults_to(self._original)
        return found

    def place(self, process: int, count: int) -> Place:
        """Where an event of the projection stands in the whole run."""
        return self.processes[process], self.positions[process][count - 1]

    # ---- its trace ------------------------------------------------------------------------------

    @cached_property
    def trace(self) -> Trace:
        """Processes, values and names as in the whole run; the order is all in `after`."""
        original, events = self.whole.computation.trace, self._events
        number = array("i", [NONE]) * len(original)
        for index, event in enumerate(events):
            number[event] = index
        mine = {process: index for index, process in enumerate(self.processes)}
        return Trace(
            processes=tuple(original.processes[process] for process in self.processes),
            shared=original.shared,
            strings=original.strings,
            values=original.values,
            process=array("i", [mine[original.process[event]] for event in events]),
            kind=array("i", [original.kind[event] for event in events]),
            meet=_picked(original.meet, events),
            tag=_picked(original.tag, events),
            label=_picked(original.label, events),
            file=original.file,
            **self._assigned(events),
            **self._ordered(len(events), number),
            **_delivered(original, events, number, mine),
        )

    @cached_property
    def _events(self) -> list[int]:
        """The kept events in an order in which they could have happened."""
        computation = self.whole.computation
        pairs = zip(self.processes, self.positions, strict=True)
        events = [computation.at(process, position) for process, kept in pairs for position in kept]
        if not computation.joint:
            return sorted(events)
        rank = {step: index for index, step in enumerate(computation.steps)}
        return sorted(events, key=lambda event: (rank[computation.step(event)], event))

    def _assigned(self, events: Sequence[int]) -> dict[str, Any]:
        """Each event sets what its process has of the variables that are read, whoever set it before."""
        trace = self.whole.computation.trace
        running: dict[int, list[tuple[int, Iterator[int]]]] = {}
        for process, variable in self._variables():
            positions = self.positions[self.processes.index(process)]
            numbers = _numbers_at(trace.courses[process, variable], positions)
            running.setdefault(process, []).append((variable, numbers))
        start, variables, values = array("i", [0]), array("i"), array("i")
        for event in events:  # those of one process in its order
            for variable, numbers in running.get(trace.process[event], ()):
                value = next(numbers)
                if value != NONE:
                    variables.append(variable)
                    values.append(value)
            start.append(len(variables))
        return {"set_start": start, "set_variable": variables, "set_value": values}

    def _variables(self) -> Iterator[tuple[int, int]]:
        """Process and string number of the local variables that are read and set."""
        trace = self.whole.computation.trace
        for leaf in self._leaves:
            if isinstance(leaf, Local):
                process = trace.process_number[leaf.process]
                variable = trace.course_numbers.get((process, leaf.variable))
                if variable is not None:
                    yield process, variable

    def _ordered(self, events: int, number: Ints) -> dict[str, Any]:
        """For each event the last kept ones of other processes in its past, where there is a new one."""
        found = array("Q")
        for process in range(len(self.processes)):
            found.extend(number[event] << 32 | number[earlier] for event, earlier in self._needs_of(process))
        counts, edges = array("i", bytes(4 * (events + 1))), array("i")
        for pair in sorted(found):
            counts[(pair >> 32) + 1] += 1
            edges.append(pair & _EARLIER)
        return {"after_start": array("i", accumulate(counts)), "after_event": edges}

    def _needs_of(self, process: int) -> Iterator[tuple[int, int]]:
        computation = self.whole.computation
        others = [(there, other) for there, other in enumerate(self.processes) if there != process]
        rise, before = Rise(whole(computation)), [0] * len(self.processes)
        for count, position in enumerate(self.positions[process]):
            if not count % LOOK_EVERY:
                self._look()
            clock = rise.at_least(self.processes[process], position)
            assert clock is not None, "every event is in some cut"
            for there, other in others:
                known = clock[other]
                if known > before[there]:
                    before[there] = known
                    kept = bisect_right(self.positions[there], known)
                    if kept:
                        yield from self._need((process, count + 1), (there, kept))

    def _need(self, later: Place, earlier: Place) -> Iterator[tuple[int, int]]:
        computation = self.whole.computation
        event, other = computation.at(*self.place(*later)), computation.at(*self.place(*earlier))
        if computation.step(event) != computation.step(other):
            yield event, other

    # ---- the way back ---------------------------------------------------------------------------

    def arcs(self, path: Sequence[Move]) -> Arcs:
        """The order of the kept events on a path, for the whole run: each step after the one before."""
        places = [self._places(move)[0] for move in path]
        return Arcs(len(self.whole.computation.lengths), zip(places[1:], places, strict=False))

    def target(self, path: Sequence[Move]) -> Cut:
        """The least cut of the whole run with all events of the path."""
        last: dict[int, int] = {}
        for move in path:
            last.update(self._places(move))
        return self.whole.computation.closure(last)

    def step_of(self, move: Move) -> int:
        """The step of the whole run that a step of the projection is."""
        computation = self.whole.computation
        return computation.step(computation.at(*self._places(move)[0]))

    def _places(self, move: Move) -> list[Place]:
        computation = self.lattice.computation
        return [self.place(*computation.place(event)) for event in computation.events(move.step)]


class _Restricted(Readings):
    """What is read of the projection: shared variables, call stacks and the like as in the whole run."""

    def __init__(self, projection: Projection, original: Readings) -> None:
        super().__init__(projection.lattice.computation)
        self.projection = projection
        self.original = original
        self._mine = {process: index for index, process in enumerate(projection.processes)}

    def _prepare(self, leaf: Leaf) -> Reading:
        if isinstance(leaf, Local | Transit):
            return super()._prepare(leaf)
        reading = self.original(leaf)
        if isinstance(reading, Timeline):
            mine = self._mine[reading.process]
            kept = [0, *self.projection.positions[mine]]
            return Timeline(mine, [reading.values[position] for position in kept])
        assert isinstance(reading, Chain)
        return self._alone(reading) if len(reading.reached) == 1 else self._together(reading)

    def _alone(self, chain: Chain) -> Chain:
        """One process writes it: each of its kept events has the last value."""
        process, counts, numbers = chain.reached[0]
        kept = self.projection.positions[self._mine[process]]
        last = [numbers[done - 1] if (done := bisect_right(counts, position)) else 0 for position in kept]
        values = [chain.values[0], *(chain.values[number] for number in last)]
        every = range(1, len(kept) + 1)
        return Chain(values, ((self._mine[process], every, every),))

    def _together(self, chain: Chain) -> Chain:
        """Several do: all writes that change it are kept, and the others do not count."""
        found = []
        for process, counts, numbers in chain.reached:
            kept = {
                position: n for n, position in enumerate(self.projection.positions[self._mine[process]], 1)
            }
            found += [
                (number, self._mine[process], kept[count])
                for count, number in zip(counts, numbers, strict=True)
                if count in kept and differ(*chain.values[number - 1 : number + 1])
            ]
        found.sort()
        reached: dict[int, tuple[list[int], list[int]]] = {}
        for index, (_, process, count) in enumerate(found, start=1):
            columns = reached.setdefault(process, ([], []))
            columns[0].append(count)
            columns[1].append(index)
        values = [chain.values[0], *(chain.values[number] for number, _, _ in found)]
        return Chain(values, tuple((process, *columns) for process, columns in sorted(reached.items())))


def _picked(column: Ints | None, events: Sequence[int]) -> array[int] | None:
    return None if column is None else array("i", [column[event] for event in events])


_EARLIER = (1 << 32) - 1


def _delivered(trace: Trace, events: Sequence[int], number: Ints, mine: Mapping[int, int]) -> dict[str, Any]:
    """The messages whose ends are kept: those that are counted are among them."""
    rows = []
    for send in events if len(trace.delivery_send) else ():
        for row in trace.deliveries(send):
            receive, to = trace.delivery_receive[row], trace.delivery_to[row]
            if receive == NONE or number[receive] != NONE:
                at = NONE if receive == NONE else number[receive]
                rows.append((number[send], at, mine.get(to, NONE)))
    rows.sort()
    names = ("delivery_send", "delivery_receive", "delivery_to")
    return {name: array("i", [row[index] for row in rows]) for index, name in enumerate(names)}


def _numbers_at(course: Course, positions: Sequence[int]) -> Iterator[int]:
    """The value numbers that a variable has after these events, NONE before it is set."""
    if course.position is None:
        return (course.number[position - 1] for position in positions)
    found = (bisect_right(course.position, position) for position in positions)
    return (course.number[done - 1] if done else NONE for done in found)
