"""`expect`: the projected run is in the language, or here is the first event that does not fit.

The events are fed in the recorded order to the predecessor automaton of the expression. An event that does
not fit is the first at which no run of the language can go on: a run that fits so far can be completed
(where synchronisation makes that too costly to know, the event may be a later one; the verdict is exact).
"""

from __future__ import annotations

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
        events = list(projection(meaning))
        part_machine = Machine(body)
        part_machine.look = machine.look
        parts = _connected(events, budget)
        strange = [part for part in parts if not _is_run(part, part_machine, meaning.is_simple)]
        if not strange:
            return Fitting(True, fitted=len(events))
        if len(events) > TOLD_WHOLE or len(parts) > MOST_TOLD:
            return _first([_fed(machine, part, budget) for part in strange], events)
    elif meaning.is_simple:
        # A run that does not fit is fed again, to say why.
        run = Run(machine)
        fitted = run.feed_many(_looked_at(fed(meaning), budget))
        if run.is_complete:
            return Fitting(True, fitted=fitted)
    return _fed(machine, projection(meaning), budget)


def _fed(machine: Machine, events: Iterable[Projected], budget: Budget | None) -> Fitting:
    run, fitted = Run(machine), 0
    latest: deque[Projected] = deque(maxlen=LATEST)
    for event in events:
        state, slots = run.state, run.slots
        if not run.feed(*event):
            assert state is not None
            return Fitting(False, event, expectations(machine, state, slots), fitted, tuple(latest))
        fitted += 1
        latest.append(event)
        if budget is not None and not fitted & 1023:
            budget.look()
    if run.is_complete:
        return Fitting(True, fitted=fitted)
    assert run.state is not None
    return Fitting(False, None, expectations(machine, run.state, run.slots), fitted, tuple(latest))


def _is_run(part: list[Projected], machine: Machine, is_simple: bool) -> bool:
    run = Run(machine)
    if is_simple:
        run.feed_many((event.step, event.symbols, event.predecessors) for event in part)
    else:
        all(run.feed(*event) for event in part)
    return run.is_complete


def _first(found: list[Fitting], events: list[Projected]) -> Fitting:
    """That with the earliest event; those in which events are only missing come last."""
    first = min(found, key=lambda each: (each.misfit is None, each.misfit.step if each.misfit else 0))
    return replace(first, fitted=events.index(first.misfit) if first.misfit else len(events))


def _connected(events: list[Projected], budget: Budget | None) -> list[list[Projected]]:
    """The parts of a run between which there is no order, each as it was recorded."""
    owner: dict[int, int] = {}

    def part_of(step: int) -> int:
        while owner[step] != step:
            owner[step] = owner[owner[step]]
            step = owner[step]
        return step

    for number, event in enumerate(events):
        if budget is not None and not number & 1023:
            budget.look()
        owner[event.step] = event.step
        for other in event.predecessors:
            owner[part_of(other)] = event.step
    found: dict[int, list[Projected]] = {}
    for event in events:
        found.setdefault(part_of(event.step), []).append(event)
    return list(found.values())


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
