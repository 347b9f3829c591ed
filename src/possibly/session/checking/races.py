"""Races of a recorded run: those that nothing orders in it, and those that another order of it reaches.

The prediction is certain as far as the trace tells all that the processes share: `possibly run --record all`
records every access to shared memory, `--races` alone those that nothing orders.
"""

from __future__ import annotations

from dataclasses import dataclass

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.prediction.races import RaceFinder
from possibly.recorder.sharing.races import Atomic, Race, races
from possibly.trace.model import Trace

LONG, WINDOW = 20_000, 2_000
"""Events from which on other orders are looked at in windows, and how many events one of them has."""


@dataclass(frozen=True, slots=True)
class RaceReport:
    """The races of a run. `reason` says why there may be more, if a limit was hit."""

    trace: Trace
    races: tuple[Race, ...]
    notes: tuple[Race, ...] = ()
    """Unordered operations of the interpreter of which none is lost, whichever comes first."""
    window: int | None = None
    """Other orders were looked at in windows of so many events."""
    reason: str | None = None


def races_of(trace: Trace, timeout: float | None = None, window: int | None = None) -> RaceReport:
    """Every race of the run itself and of reorderings that keep the order of critical sections."""
    if window is None and len(trace) > LONG:
        window = WINDOW
    every, reason = races(trace), None
    try:
        for race in RaceFinder(trace, window, Budget(None, timeout)).found(list(every)):
            every.append(race)
    except LimitReachedError as error:
        reason = str(error)
    looked = Atomic(trace).beside_changes() if reason is None else None
    if looked is not None:
        reason = f"a loop over {looked}, or a copy, beside its changes is only told by run --races alone"
    found = tuple(each for each in every if not each.is_atomic)
    return RaceReport(trace, found, tuple(each for each in every if each.is_atomic), window, reason)
