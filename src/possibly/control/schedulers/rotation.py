"""Tasks that take turns of the same length in the same order, for ever: what a starving schedule looks like.

A task starves in a round of the others that hides from it, each time it looks, what it waits for. Such
rounds are found where the others are out of step with each other and the waiting task comes in between; so
all orders of the tasks are tried, with turns of one to a few steps. Whether an execution is a round that can
go on for ever is not decided here (`runtime.cycles`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from possibly.control.execution import Choice, Step, Task

LONGEST = 4
"""Steps of a turn."""
MOST = 4
"""Tasks of which all orders are tried."""


@dataclass(slots=True)
class Rotation:
    """The first task goes on whenever it can; the others in turn."""

    order: tuple[Task, ...]
    length: int
    at: int = 0
    left: int = 0

    def choose(self, choice: Choice) -> Task | None:
        others = [task for task in choice.enabled if task not in self.order]
        if others:
            return others[0]
        current = self.order[self.at]
        if self.left > 0 and current in choice.enabled:
            self.left -= 1
            return current
        for _ in self.order:
            self.at = (self.at + 1) % len(self.order)
            if self.order[self.at] in choice.enabled:
                self.left = self.length - 1
                return self.order[self.at]
        return None

    def done(self, step: Step) -> None:
        pass


def rotations(tasks: tuple[Task, ...]) -> Iterator[Rotation]:
    """All of them, short turns first."""
    if 2 <= len(tasks) <= MOST:
        for length in range(1, LONGEST + 1):
            for order in permutations(tasks):
                yield Rotation(order, length, at=len(order) - 1)
