"""A uniform random choice among the enabled tasks at every step.

Execution number n of a seed is always the same one. It never ends, and shows nothing by finding nothing.
"""

from __future__ import annotations

from collections import Counter

from possibly.control.causality import canonical
from possibly.control.execution import Execution
from possibly.control.schedulers.course import Course, Habit


class RandomWalk:
    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.planned = 0
        self.executions = 0
        self.classes: Counter[int] = Counter()
        """How often each trace was executed, by its hash."""

    def plan(self) -> Course:
        self.planned += 1
        # Far apart, so that neighbouring seeds do not share executions.
        return Course(habit=Habit.RANDOM, seed=self.seed * 1_000_003 + self.planned)

    def learn(self, execution: Execution) -> None:
        self.executions += 1
        self.classes[hash(canonical(execution))] += 1
