"""`expect`: the projected run is in the language, or here is the first event that does not fit.

The events are fed in the recorded order to the predecessor automaton of the expression. An event that does
not fit is the first at which no run of the language can go on: a run that fits so far can be completed
(where synchronisation makes that too costly to know, the event may be a later one; the verdict is exact).
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from possibly.detection.limits import Budget
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.projection import Projected, fed, projection
from possibly.logic.paths.copies import copied
from possibly.logic.paths.machine import Machine, State
from possibly.logic.paths.run import Run

Fed = tuple[int, tuple[int, ...], tuple[int, ...]]
TOLD_WHOLE = 500
"""Events up to which what was expected is told for all copies of an `@`, not only for the one at fault."""
MOST_TOLD = 6
"""The same for the parts of a run, whose readings together are as many as their partitions."""
TOGETHER = 1_024
"""Events of a part that are fed at once."""
LATEST = 12
"""Events that are kept to show the order so far."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One event that could have come: its text, and after which events."""

    symbol: str
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fitting:
    """Whether the run fits; if not, where it stopped and what was expected there."""

    fits: bool
    misfit: Projected | None = None
    """None although it does not fit: only events are missing."""
    expected: tuple[Expectation, ...] = ()
    fitted: int = 0
    """How many events fitted."""
    latest: tuple[Projected, ...] = ()
    """The last of those that fitted: the partial order so far."""


def fitting(meaning: Meaning, machine: Machine, budget: Budget | None = None) -> Fitting:
    """Whether the whole projection fits; the copies of an `@` are looked at apart where that is the same."""
    body = copied(machine.expression)
    if body is not None:
        part_machine = Machine(body)
        part_machine.look = machine.look
        parts = _Parts(meaning, budget)
        strange = parts.strange(part_machine)
        if not strange:
            return Fitting(True, fitted=parts.events)
        if parts.events > TOLD_WHOLE or parts.count > MOST_TOLD:
            return parts.first_misfit(machine, strange)
    elif meaning.is_simple:
        # A run that does not fit is fed again, to say why.
        run = Run(machine)
        fitted = run.feed_many(_looked_at(fed(meaning), budget))
        if run.is_complete:
            return Fitting(True, fitted=fitted)
    return _fed(machine, projection(meaning), budget)


class _Feeding:
    """A run that is fed, with what is told of it where it stops."""

    def __init__(self, machine: Machine) -> None:
        self.run = Run(machine)
        self.fitted = 0
        self.latest: deque[Projected] = deque(maxlen=LATEST)

    def feed(self, event: Projected) -> Fitting | None:
        """What is to be said if the event does not fit."""
        state, slots = self.run.state, self.run.slots
        if not self.run.feed(*event):
            assert state is not None
            return self._stopped(event, state, slots)
        self.fitted += 1
        self.latest.append(event)
        return None

    def end(self) -> Fitting:
        if self.run.is_complete:
            return Fitting(True, fitted=self.fitted)
        assert self.run.state is not None
        return self._stopped(None, self.run.state, self.run.slots)

    def _stopped(self, event: Projected | None, state: State, slots: list[int]) -> Fitting:
        expected = expectations(self.run.machine, state, slots)
        return Fitting(False, event, expected, self.fitted, tuple(self.latest))


def _fed(machine: Machine, events: Iterable[Projected], budget: Budget | None) -> Fitting:
    feeding = _Feeding(machine)
    for event in events:
        if (found := feeding.feed(event)) is not None:
            return found
        if budget is not None and not feeding.fitted & 1023:
            budget.look()
    return feeding.end()


class _Parts:
    """The parts of a run between which there is no order. The run is gone through again each time: its events
    together are many times the trace."""

    def __init__(self, meaning: Meaning, budget: Budget | None) -> None:
        self.meaning = meaning
        self.budget = budget
        self.events = 0
        self._owner: array[int] = array("i", bytes(4 * len(meaning.trace)))
        """For each event another one of its part, for the last one itself."""
        for event in self._all():
            self._owner[event.step] = event.step
            for other in event.predecessors:
                self._owner[self.of(other)] = event.step
            self.events += 1
        self.count = len({self.of(event.step) for event in self._all()})

    def of(self, step: int) -> int:
        owner = self._owner
        while owner[step] != step:
            owner[step] = owner[owner[step]]
            step = owner[step]
        return step

    def _all(self) -> Iterator[Projected]:
        for number, event in enumerate(projection(self.meaning)):
            if self.budget is not None and not number & 1023:
                self.budget.look()
            yield event

    def strange(self, machine: Machine) -> list[int]:
        """Those that are no run of the machine, in the order of their first events."""
        runs: dict[int, Run] = {}
        waiting: dict[int, list[Projected]] = {}
        for event in self._all():
            part = self.of(event.step)
            if part not in runs:
                runs[part] = Run(machine)
            pending = waiting.setdefault(part, [])
            pending.append(event)
            if len(pending) == TOGETHER or event.step == part:
                self._feed(runs[part], waiting.pop(part))
        return [part for part, run in runs.items() if not run.is_complete]

    def _feed(self, run: Run, events: list[Projected]) -> None:
        if self.meaning.is_simple:
            run.feed_many((event.step, event.symbols, event.predecessors) for event in events)
        else:
            all(run.feed(*event) for event in events)

    def first_misfit(self, machine: Machine, strange: list[int]) -> Fitting:
        """The earliest event that does not fit; if events are only missing, those of the first part."""
        feedings = {part: _Feeding(machine) for part in strange}
        for number, event in enumerate(self._all()):
            feeding = feedings.get(self.of(event.step))
            if feeding is not None and (found := feeding.feed(event)) is not None:
                return replace(found, fitted=number)
        return replace(feedings[strange[0]].end(), fitted=self.events)


def _looked_at(events: Iterator[Fed], budget: Budget | None) -> Iterator[Fed]:
    """The same events; the clock is looked at now and then."""
    if budget is None or budget.timeout is None:
        return events
    return _with_looks(events, budget)


def _with_looks(events: Iterator[Fed], budget: Budget) -> Iterator[Fed]:
    for number, event in enumerate(events):
        if not number & 1023:
            budget.look()
        yield event


def expectations(machine: Machine, state: State, slots: list[int]) -> tuple[Expectation, ...]:
    """What may come in a state, with the events that must come right before."""
    symbols = machine.expression.symbols
    return tuple(
        [
            Expectation(symbols[symbol].text, tuple([slots[slot] for slot in before]))
            for symbol, before in machine.choices(state)
            if machine.move(state, (symbol,), before, _fresh(machine, state, symbol)).state is not None
        ]
    )


def _fresh(machine: Machine, state: State, symbol: int) -> tuple[int, ...]:
    """Arguments for a trial: values that are bound already, as far as there are any."""
    part = next(part for part in machine.parts if part.symbol == symbol)
    return tuple([0 if state.values else number for number in range(len(part.variables))])
