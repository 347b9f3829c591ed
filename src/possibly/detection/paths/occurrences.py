"""`never` and `watch`: every occurrence of an expression in a run.

An occurrence is a set of events whose order is in the language and which is *convex*: no other event of the
expression lies causally between two of them. Occurrences grow one event at a time in the recorded order.
An event may join a set if each of its predecessors is in the set or comes after nothing of the set; its
predecessors inside the set are then exactly those among them. Sets that no process can extend any more,
because it knows an event that lies after the set, are dropped: with synchronised programs few are left.

Departure from Modeling Concurrency in Parallel Debugging, which lets the expressions run along with the
program and leaves open what lies between the events of one occurrence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.projection import Clock, Pasts, Projected, projection
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.run import Run

MOST_OPEN = 200_000
"""Sets under way that are kept in memory."""
FIRST_SWEEP = 16
"""Sets under way at which those that cannot grow are dropped for the first time."""


@dataclass(frozen=True, slots=True)
class Partial:
    """A convex set of events that is the beginning of an occurrence."""

    events: tuple[int, ...]
    run: Run
    played: tuple[tuple[tuple[int, int], ...], ...] = ()
    """For each reading of the state: which event each atom stands for, pairs (atom, event)."""

    @property
    def is_complete(self) -> bool:
        return self.run.is_complete


class Occurrences:
    """Grows all occurrences; `feed` yields the sets that an event begins or joins."""

    def __init__(self, meaning: Meaning, machine: Machine, budget: Budget | None = None) -> None:
        self.meaning = meaning
        self.machine = machine
        self.budget = budget
        self.pasts = Pasts(meaning.computation)
        self.process = meaning.trace.process
        self.clocks: dict[int, Clock] = {}
        self.open: list[Partial] = []
        self._sweep_at = FIRST_SWEEP

    def __iter__(self) -> Iterator[tuple[Projected, Partial]]:
        """Every set, in the order of its last event, with that event; complete ones are occurrences."""
        for event in projection(self.meaning, self.pasts):
            self.clocks[event.step] = event.clock
            for partial in self.feed(event):
                yield event, partial
            if len(self.open) > self._sweep_at:
                self._sweep()

    def feed(self, event: Projected) -> Iterator[Partial]:
        grown: list[Partial] = []
        seed = Partial((), Run(self.machine), ((),))
        for partial in [seed, *self.open]:
            if self.budget is not None:
                self.budget.visit()
            before = self._joining(partial, event)
            if before is None:
                continue
            found = self._with(partial, event, before)
            if found is not None:
                grown.append(found)
        if len(self.open) + len(grown) > MOST_OPEN:
            raise LimitReachedError(f"more than {MOST_OPEN:,} sets of events are under way at once")
        self.open.extend(grown)
        yield from grown

    def _joining(self, partial: Partial, event: Projected) -> tuple[int, ...] | None:
        """The predecessors of the event inside the set, None if the set would not be convex."""
        inside = []
        for other in event.predecessors:
            if other in partial.events:
                inside.append(other)
            elif self._follows(other, partial.events):
                return None
        return tuple(inside)

    def _follows(self, step: int, events: tuple[int, ...]) -> bool:
        """Whether the step comes after one of the events."""
        clock, process = self.clocks[step], self.process
        return any(clock[process[event]] >= event for event in events)

    def _with(self, partial: Partial, event: Projected, before: tuple[int, ...]) -> Partial | None:
        run = partial.run.copy()
        state = run.state
        assert state is not None
        try:
            slots = tuple(sorted([run.slots.index(other) for other in before]))
        except ValueError:
            return None
        numbers = run.numbers(event.values)
        move = self.machine.move(state, event.symbols, slots, numbers)
        if move.state is None:
            return None
        run.follow(move, event.step)
        played = tuple(
            [
                (*partial.played[number], *((atom, event.step) for atom in atoms))
                for number, atoms in move.origins
            ]
        )
        return Partial((*partial.events, event.step), run, played)

    def _sweep(self) -> None:
        """Drops the sets that no process can extend."""
        frontiers = {past[0] for past in self.pasts.now}
        self.open = [
            partial for partial in self.open if any(self._can_grow(partial, front) for front in frontiers)
        ]
        self._sweep_at = max(FIRST_SWEEP, 2 * len(self.open))
        needed = {step for front in frontiers for step in front}
        needed.update(step for past in self.pasts.carried() for step in past[0])
        self.clocks = {step: clock for step, clock in self.clocks.items() if step in needed}

    def _can_grow(self, partial: Partial, frontier: tuple[int, ...]) -> bool:
        return all(step in partial.events or not self._follows(step, partial.events) for step in frontier)


def occurrences(
    meaning: Meaning, machine: Machine, budget: Budget | None = None
) -> Iterator[tuple[int, ...]]:
    """The events of every occurrence, ascending."""
    for _, partial in Occurrences(meaning, machine, budget):
        if partial.is_complete:
            yield tuple(sorted(partial.events))
