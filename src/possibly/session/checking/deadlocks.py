"""Deadlocks that another order of a recorded run reaches: found, and confirmed on the live program.

The prediction is certain as far as the trace tells all that the processes share. A recording without
accesses to memory leaves open whether what one process wrote made another one do what it did; then it is
said what is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.prediction.deadlocks import DeadlockFinder
from possibly.trace.model import Trace
from possibly.trace.recorded import recorded_of
from possibly.verdict.deadlocks import ASSUMED, Deadlock

if TYPE_CHECKING:
    from possibly.control.forking.zygote import ControlledProgram
    from possibly.session.exploring.exploration import Exploration, Options, Progress

MOST_STEPS = 2_000_000
"""Patterns and requests that are looked at."""


@dataclass(frozen=True, slots=True)
class DeadlockReport:
    """The deadlocks of a run. `reason` says why there may be more, if a limit was hit."""

    trace: Trace
    deadlocks: tuple[Deadlock, ...]
    assumed: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def remedy(self) -> str | None:
        """The command that records what is assumed."""
        recorded = recorded_of(self.trace.header)
        return recorded.again("--deadlocks") if self.assumed and recorded and recorded.program else None


def deadlocks_of(trace: Trace, timeout: float | None = None) -> DeadlockReport:
    """Every cycle of requests that a reordering of the run reaches."""
    recorded = recorded_of(trace.header)
    assumed = (ASSUMED,) if recorded is not None and not recorded.accesses else ()
    found: list[Deadlock] = []
    try:
        for deadlock in DeadlockFinder(trace, Budget(MOST_STEPS, timeout)).found():
            found.append(deadlock)  # noqa: PERF402 - those before the limit count
    except LimitReachedError as error:
        return DeadlockReport(trace, tuple(found), assumed if found else (), str(error))
    return DeadlockReport(trace, tuple(found), assumed if found else ())


def confirmed(
    trace: Trace,
    deadlock: Deadlock,
    program: ControlledProgram,
    options: Options,
    progress: Progress | None = None,
) -> Exploration:
    """What the live program does when it is driven there."""
    from possibly.control.schedulers.guided import Guided
    from possibly.session.exploring.confirm import path_of
    from possibly.session.exploring.explore import explore

    wanted = tuple(path_of(trace, tuple(trace.name(event) for event in deadlock.path)))
    return explore(program, options, None, progress, lambda: Guided(wanted))
