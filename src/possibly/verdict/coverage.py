"""How much of what a program can do was seen, as data."""

from __future__ import annotations

from typing import NamedTuple

from possibly.records import dataclass


class Level(NamedTuple):
    """The schedules with so many preemptions, as far as they are known."""

    preemptions: int
    done: int
    known: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Figures of a search; those that only some searches know are None, zero or empty for others."""

    executions: int
    classes: int
    """Mazurkiewicz traces that were executed to their end."""
    pruned: int
    """Choices that were possible and were not tried: they lead to classes that are covered elsewhere."""
    left: int
    """Leaves that are known and not executed yet."""
    explored: float
    """The estimated part, from 0 to 1; of a random search: how likely the next execution is nothing new."""
    complete: bool
    new: float | None = None
    """Of a random search: the estimated probability that the next execution shows a new class."""
    species: int | None = None
    """Of a random search: how many classes there are at least, as estimated by those met once and twice."""
    levels: tuple[tuple[int, int], ...] = ()
    """Of a bounded search: preemptions, and the classes when all schedules with so many had been executed."""
    under_way: Level | None = None
    """Of such a search: the level that is not complete yet."""
    states: int | None = None
    """Of a search that joins equal states: how many it knows."""

    @property
    def estimate(self) -> int:
        """How many executions it will be in all, as far as can be told now."""
        if self.complete or not self.explored:
            return self.executions
        return max(round(self.executions / self.explored), self.executions + self.left)
