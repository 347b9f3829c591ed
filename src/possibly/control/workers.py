"""Several executions at a time: programs that run side by side, fed by one explorer.

Theory of operation. Each worker is a program of its own with its own processes. The explorer stays in one
place: it plans for whoever is idle, and learns each execution when it is over, in whatever order they end.
Leaves of an `ExecutionTree` are handed out once, so no class of schedules is executed twice, and nothing is
divided beforehand: all workers are busy until the last leaves. Waiting is for the ends of all that run.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from possibly.control.execution import Execution, Scheduler


class Worker(Protocol):
    """A program whose execution can be waited for together with others."""

    @property
    def patience(self) -> float:
        """Seconds that an execution may take."""
        ...

    def begin(self, scheduler: Scheduler) -> None: ...

    def fileno(self) -> int: ...

    def end(self) -> Execution: ...


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
        ready = select.select(busy, [], [], min(worker.patience for worker in busy))[0]
        number = next((n for n, worker in enumerate(busy) if worker in ready), 0)
        worker, plan = self.running.pop(number)
        return worker, plan, worker.end()

    def drain(self) -> None:
        """Waits for all that run, and forgets what they did."""
        while self.running:
            self.finished()
