"""Probabilistic concurrency testing: random priorities that change at a few random steps.

Theory of operation (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic
Guarantees of Finding Bugs, ASPLOS 2010, section 2). Each task gets a random priority above d; the enabled
task of the highest priority goes on. At d - 1 steps drawn from the k that an execution has, the task that is
about to move gets priority d - 1, d - 2, ... instead. A bug that needs d ordering constraints is found by
each execution with a probability of at least 1 / (n * k**(d - 1)), n being the number of tasks.

Departures: n and k are learnt, so the bound holds for executions planned when the longest was known; tasks
are created on the way and get their random place among the priorities then.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from possibly.control.causality import canonical
from possibly.control.execution import Choice, Execution, Step, Task


class Priorities:
    """The scheduler of one execution."""

    def __init__(self, depth: int, steps: int, seed: int) -> None:
        random = Random(seed)
        self.depth = depth
        changes = min(depth - 1, steps)
        # The i-th change in the order drawn, not in that of time, lowers to depth - i.
        self.changes = {step: depth - 1 - i for i, step in enumerate(random.sample(range(steps), changes))}
        self.priority: dict[Task, float] = {}
        self.random = random

    def choose(self, choice: Choice) -> Task | None:
        for task in choice.pending:
            if task not in self.priority:
                self.priority[task] = self.depth + self.random.random()
        best = max(choice.enabled, key=self.priority.__getitem__)
        if choice.number in self.changes:
            self.priority[best] = self.changes[choice.number]
            best = max(choice.enabled, key=self.priority.__getitem__)
        return best

    def done(self, step: Step) -> None: ...


class Pct:
    """An explorer without an end."""

    def __init__(self, depth: int = 3, seed: int = 0) -> None:
        self.depth = depth
        self.seed = seed
        self.planned = 0
        self.executions = 0
        self.steps = 0
        """k: of the longest execution so far."""
        self.tasks = 1
        self.classes: Counter[int] = Counter()

    def plan(self) -> Priorities:
        self.planned += 1
        return Priorities(self.depth, self.steps, self.seed * 1_000_003 + self.planned)

    def learn(self, execution: Execution) -> None:
        self.executions += 1
        self.steps = max(self.steps, len(execution.steps))
        self.tasks = max(self.tasks, len({step.task for step in execution.steps}))
        self.classes[hash(canonical(execution))] += 1

    @property
    def probability(self) -> float:
        """With which the next execution at least shows a given bug of that depth, if there is one."""
        return 1 / (self.tasks * float(max(self.steps, 1)) ** (self.depth - 1))
