"""`expect`: the projected run is in the language, or here is the first event that does not fit.

The events are fed in the recorded order to the predecessor automaton of the expression. An event that does
not fit is the first at which no run of the language can go on: a run that fits so far can be completed
(where synchronisation makes that too costly to know, the event may be a later one; the verdict is exact).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from possibly.detection.limits import Budget
from possibly.detection.paths.meaning import Meaning
from possibly.detection.paths.projection import Projected, fed, projection
from possibly.logic.paths.machine import Machine, State
from possibly.logic.paths.run import Run

Fed = tuple[int, tuple[int, ...], tuple[int, ...]]
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
    """Feeds the whole projection."""
    run = Run(machine)
    if meaning.is_simple:
        # A run that does not fit is fed again, to say why.
        fitted = run.feed_many(_looked_at(fed(meaning), budget))
        if run.is_complete:
            return Fitting(True, fitted=fitted)
        run = Run(machine)
    fitted = 0
    latest: deque[Projected] = deque(maxlen=LATEST)
    for event in projection(meaning):
        state, slots = run.state, run.slots
        if not run.feed(event.step, event.symbols, event.predecessors, event.values):
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
