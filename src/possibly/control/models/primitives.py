"""`threading`'s Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event and Barrier as models.

Law: a primitive here is its state and nothing else; no task ever blocks in one. An operation first stops at
`Kernel.visible`, with the footprint that says what it depends on, and is done when it is possible. Each
model does what CPython 3.11 to 3.13 does. Locks are in `locks`, what wakes others in `conditions`.
"""

from __future__ import annotations

from typing import Any

from possibly.control.models.conditions import Barrier, Condition, Event
from possibly.control.models.locks import Lock, Quiet, RLock, label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import Task

__all__ = [
    "Barrier", "BoundedSemaphore", "Condition", "Event", "Lock", "Quiet", "RLock", "Semaphore", "label",
    "name_for",
]  # fmt: skip


class Semaphore(Quiet):
    """A number of units."""

    _bound: int | None = None

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._settle()
        self.name = name_for("semaphore", self.quiet)
        self._value = value
        self.holders: list[Task] | None = []
        """Who has taken units; None: somebody gave one back who had none, so units are words and nobody's."""
        if not self.quiet:
            label(self.name, "semaphore")

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        kernel = running.kernel
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        if kernel is not None and not (self.quiet and self._value > 0):
            ready = self._has_units if blocking else None
            footprint = writing(self.name)
            if not kernel.visible("take", self.name, footprint, None, ready, timeout, self.why):
                return False
        if self._value == 0:
            if kernel is not None:
                kernel.did(reading(self.name))
            return False
        self._value -= 1
        if kernel is not None and self.holders is not None:
            self.holders.append(kernel.current)
        return True

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _has_units(self) -> bool:
        return self._value > 0

    def why(self) -> dict[str, Any]:
        return {"for": list(dict.fromkeys(task.name for task in self.holders or ()))}

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
        kernel = running.kernel
        if kernel is not None and not self.quiet:
            kernel.visible("give", self.name, writing(self.name))
        if self._bound is not None and self._value + n > self._bound:
            raise ValueError("Semaphore released too many times")
        if kernel is not None and self._value == 0:
            kernel.opened(("take", self.name))
        self._value += n
        if kernel is not None:
            self._given(kernel.current, n)

    def _given(self, task: Task, units: int) -> None:
        for _ in range(units):
            if self.holders and task in self.holders:
                self.holders.remove(task)
            else:
                self.holders = None


class BoundedSemaphore(Semaphore):
    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._bound = value
