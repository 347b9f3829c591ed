"""With `--fifo`: who of an event loop goes on in which order, as the loop itself has it.

asyncio keeps what is ready in one queue and what is to come at some time in one heap. Law. Tasks that are
ready, and calls from threads, go on in the order in which they became so. A sleep or timer comes after one
that began before it wherever the heap has no choice: where it lasts at least as long as what is left of the
other. Steps may come late, so what is left is what cannot have passed: between two moments of a loop at
least those sleeps have passed that began after the first and were over before the second. All else is up to
the clock, as it is without `--fifo`.
"""

from __future__ import annotations

from typing import NamedTuple

from possibly.control.runtime.kernel import Kernel, Task

IN_TURN = "tasks of an event loop go on in the order in which they become ready (--fifo)"
ALIKE = 1e-9
"""Seconds by which sums of the same times may differ."""


class Entry(NamedTuple):
    number: int
    turn: int
    lasts: float | None
    """How long it sleeps; None: it is ready."""
    passed: dict[int, float]
    """What at least had passed, when it began, of those sleeps that began before: number -> seconds."""


class InTurn:
    """The tasks of one loop that are ready or sleep, and the timers that are to come."""

    def __init__(self) -> None:
        self._entered = self._turn = 0
        self._entries: dict[Task, Entry] = {}
        self._passed: dict[int, float] = {}
        """What at least has passed of the sleeps that are not over."""

    def enter(self, task: Task, kernel: Kernel) -> None:
        """It has become ready, or has begun to sleep, just now."""
        kernel.assumed[IN_TURN] = None
        lasts = None if task.wakes_at is None else task.wakes_at - kernel.current.time
        self._enter(task, lasts)

    def _enter(self, task: Task, lasts: float | None) -> None:
        self._entered += 1
        self._entries[task] = Entry(self._entered, self._turn, lasts, dict(self._passed))
        if lasts is not None:
            self._passed[self._entered] = 0.0

    def leave(self, task: Task) -> None:
        """It goes on: if it slept, so much time has passed for all who have slept as long."""
        self._turn += 1
        entry = self._entries.pop(task, None)
        if entry is None or entry.lasts is None:
            return
        del self._passed[entry.number]
        for number, before in entry.passed.items():
            if number in self._passed:
                self._passed[number] = max(self._passed[number], before + entry.lasts)

    def wakes(self, task: Task) -> None:
        """Its sleep is over before its time."""
        entry = self._entries.get(task)
        if entry is not None and entry.lasts is not None:
            del self._passed[entry.number]
            self._enter(task, None)

    def is_first(self, task: Task) -> bool:
        """Whether nobody, ready or asleep, has to come before it."""
        mine = self._entries.get(task)
        return mine is None or not any(
            _comes_before(other, mine) for each, other in self._entries.items() if not each.ended
        )


def _comes_before(other: Entry, mine: Entry) -> bool:
    if mine.lasts is None or other.lasts is None:
        return mine.lasts is None and other.lasts is None and other.number < mine.number
    if other.turn == mine.turn:  # what a turn computes takes no time
        return (other.lasts, other.number) < (mine.lasts, mine.number)
    passed = mine.passed.get(other.number, 0.0)
    return other.number < mine.number and passed + mine.lasts >= other.lasts - ALIKE
