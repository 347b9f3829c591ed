"""Several executions at a time: programs that run side by side, fed by one explorer.

Theory of operation. Each worker is a program of its own with its own processes. The explorer stays in one
place: it plans for whoever is idle, and learns each execution when it is over, in whatever order they end.
Leaves of an `ExecutionTree` are handed out once, so no class of schedules is executed twice, and nothing is
divided beforehand: all workers are busy until the last leaves. Waiting is for the ends of all that run.
"""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from possibly.control.execution import Execution, Scheduler


class Worker(Protocol):
    """A program whose execution can be waited for together with others."""

    @property
    def until(self) -> float | None:
        """When the user's time is over."""
        ...

    def begin(self, scheduler: Scheduler) -> None: ...

    def fileno(self) -> int: ...

    def end(self) -> Execution:
        """Waits for it; `TimeIsUp` if it has not come by `until`."""
        ...

    def close(self) -> None: ...


PATIENCE = 5.0
"""Seconds after which one of those that run is waited for, who then notices if it stands still."""
_Worker = TypeVar("_Worker", bound=Worker)


class Team(Generic[_Worker]):
    """Workers, each with any number of executions under way."""

    def __init__(self, workers: Sequence[_Worker]) -> None:
        self.workers = workers
        self.running: list[tuple[_Worker, Scheduler]] = []

    def begin(self, plan: Scheduler, among: int) -> None:
        """Gives a plan to that one of the first workers who has the fewest."""
        busy = [worker for worker, _ in self.running]
        worker = min(self.workers[:among], key=busy.count)
        worker.begin(plan)
        self.running.append((worker, plan))

    def finished(self) -> tuple[_Worker, Scheduler, Execution]:
        """The next execution that is over."""
        busy = [worker for worker, _ in self.running]
        ends = [worker.until for worker in busy if worker.until is not None]
        patience = min([PATIENCE, *(end - time.monotonic() for end in ends)])
        ready = select.select(busy, [], [], max(patience, 0.0))[0]
        number = next((n for n, worker in enumerate(busy) if worker in ready), 0)
        worker, plan = self.running.pop(number)
        return worker, plan, worker.end()

    def abandon(self) -> None:
        """Ends all that run, wherever they are."""
        for worker, _ in self.running:
            worker.close()
        self.running.clear()

    def drain(self) -> None:
        """Waits for all that run, and forgets what they did."""
        while self.running:
            self.finished()
