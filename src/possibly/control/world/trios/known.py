"""What is known of the runs of `trio` that are under control."""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

from possibly.control.models.locks import name_for
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.world.waiting.wishes import Wish


class Run:
    """What is known of one run of trio."""

    def __init__(self, runner: Any, kernel: Kernel) -> None:
        self.runner = runner
        self.host = kernel.current.host or kernel.current
        self.name = name_for("trio")
        self.known: dict[Any, Task] = {}
        self.called = f"{self.name}.calls"
        """What other threads have called and trio has not done yet."""
        self.calls: set[Task] = set()
        """Calls from other threads."""
        self.timers: dict[tuple[float, int], Task] = {}
        """Of each scope that has a deadline."""
        self.wakers: dict[Task, str] = {}
        """Whose turn made the next turn of a task ready."""
        self.waits: dict[tuple[int, str], tuple[Task, Any, Wish]] = {}
        """Open file, direction -> the task that waits for it, as we and as trio know it, and its wish."""
        self.granted: Any = None
        """The task that trio gets into its queue because its file is ready."""
        self.opening: Task | None = None
        """Trio's own task that does what threads call: its first turn comes before those of the program."""
        self.opened = f"{self.name}.opened"
        """The thing that this turn writes."""
        self.is_woken = False
        """Trio itself has called something: it is done at once."""
        self.expiring = -math.inf
        self.due: list[tuple[float, int]] = []
        """The deadlines that pass before the next turn."""
        self.is_over = False
        self.is_paused = False
        """Whoever drives it does something else."""
        self.queue = Queue(self)

    def is_free(self) -> bool:
        """Whether it runs, and no turn of it has begun and not ended."""
        return not (self.is_over or self.is_paused) and id(self) not in busy

    def can_go(self) -> bool:
        return self.opening is None and self.is_free()


busy: set[int] = set()
"""Numbers of the runs in which a turn has not ended."""


class Queue(deque[Any]):
    """The runnable tasks; trio gets the one whose turn it is."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.chosen: Any = None

    def __iter__(self) -> Iterator[Any]:
        return iter(() if self.chosen is None else (self.chosen,))

    def clear(self) -> None:
        if self.chosen is not None:
            self.remove(self.chosen)
            self.chosen = None


runs: weakref.WeakKeyDictionary[Any, Run] = weakref.WeakKeyDictionary()


def run_with_files(manager: Any) -> Run | None:
    """The run whose input and output this object of trio looks for."""
    return next((each for each in runs.values() if each.runner.io_manager is manager), None)
