"""A course: choices to follow, then a free run that keeps clear of what is explored elsewhere.

Theory of operation. The tasks of `prefix` go in that order. From the last of them on `sleep` holds tasks
whose next step, taken here, leads to executions that are explored elsewhere (sleep sets: Godefroid,
Partial-Order Methods for the Verification of Concurrent Systems, chapter 5); a task leaves it when a step is
done that depends on its own. The free run chooses among the enabled tasks that do not sleep, by a `Habit`;
if all sleep, the execution is cut off. If only the last choice of the prefix is not possible, the run goes on
freely (a reversal that blocking forbids), unless `alone` is False: then others go on from there.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from random import Random
from typing import Any, Protocol

from possibly.control.causality import meet
from possibly.control.execution import Access, Choice, Operation, Step, Task

Sleep = dict[Task, tuple[Access, ...]]


@lru_cache(maxsize=4096)
def ancestry(task: Task) -> tuple[int, ...]:
    """The order of tasks: as their names count, not as they are spelt."""
    return tuple(int(part) for part in task.split("."))


class Habit(Enum):
    """Which task a free run prefers."""

    TURNS = "turns"
    """Another task after each step, in turn, once all are started: what most bugs need, at once."""
    STAY = "stay"
    """The same task as long as it can, then the first."""
    NEWEST = "newest"
    """The same task as long as it can, then the one created last."""
    RANDOM = "random"
    PRIORITIES = "priorities"
    """The task of the highest priority; these are drawn, and fall at a few steps that are drawn too (as in
    `pct`): few preemptions, wherever they are needed."""


CHANGES = 2
"""So many times a priority falls in a free run."""
LONG = 40
"""Steps within which priorities fall, if it is not known how many an execution has."""


class Guide(Protocol):
    """Where the free run of a course should go."""

    def preferred(self, awake: list[Task], pending: dict[Task, Operation]) -> Task | None:
        """Who should go on; None: nobody better than another."""
        ...

    def moved(self, task: Task, operation: Operation) -> None: ...


class Course:
    """A scheduler for one execution of an explorer."""

    def __init__(
        self,
        prefix: tuple[Task, ...] = (),
        sleep: Sleep | None = None,
        habit: Habit = Habit.STAY,
        *,
        alone: bool = True,
        seed: int = 0,
        guide: Guide | None = None,
        steps: int = LONG,
    ) -> None:
        self.prefix = prefix
        self.sleep: Sleep = dict(sleep or {})
        self.habit = habit
        self.alone = alone
        self.seed = seed
        self.guide = guide
        self.steps = steps
        """How many steps an execution may have, for habits that want to know."""
        self._random: Random | None = None
        self._priorities: dict[Task, float] = {}
        self._falls: tuple[int, ...] = ()
        self._begin = max(len(prefix) - 1, 0)
        """The number of the step from which on `sleep` is kept."""

    def __reduce__(self) -> tuple[Any, ...]:
        """A course travels before it begins, once for each execution."""
        given = (self.prefix, self.sleep, self.habit.name, self.alone, self.seed, self.guide, self.steps)
        return _course, given

    def choose(self, choice: Choice) -> Task | None:
        number, last = choice.number, len(self.prefix) - 1
        if number <= last:
            task = self.prefix[number]
            if task in choice.enabled:
                return task
            if number < last or not self.alone:
                return None
        sleep = self.sleep
        awake = [task for task in choice.enabled if task not in sleep] if sleep else list(choice.enabled)
        return self._preferred(choice, awake) if awake else None

    def _preferred(self, choice: Choice, awake: list[Task]) -> Task:
        previous = choice.previous
        if self.guide is not None:
            wanted = self.guide.preferred(awake, choice.pending)
            if wanted is not None:
                return wanted
        match self.habit:
            case Habit.TURNS:
                if previous in awake and choice.pending[previous].kind == "start":
                    return previous
                turn = ancestry(previous) if previous is not None else ()
                for task in awake:
                    if ancestry(task) > turn:
                        return task
                return awake[0]
            case Habit.STAY:
                return previous if previous in awake else awake[0]
            case Habit.NEWEST:
                return previous if previous in awake else awake[-1]
            case Habit.RANDOM:
                if self._random is None:
                    self._random = Random(self.seed)
                return self._random.choice(awake)
            case Habit.PRIORITIES:
                return self._most_important(choice.number, awake)

    def _most_important(self, number: int, awake: list[Task]) -> Task:
        random = self._random
        if random is None:
            random = self._random = Random(self.seed)
            first = len(self.prefix)
            left = range(first, max(self.steps, first + CHANGES))
            self._falls = tuple(random.sample(left, CHANGES))
        priorities = self._priorities
        for task in awake:
            if task not in priorities:
                priorities[task] = 1.0 + random.random()
        best = max(awake, key=priorities.__getitem__)
        if number in self._falls:
            priorities[best] = -float(self._falls.index(number))
            best = max(awake, key=priorities.__getitem__)
        return best

    def done(self, step: Step) -> None:
        if self.sleep and self._begin <= 0:
            self.sleep.pop(step.task, None)
            done = step.operation.footprint
            self.sleep = {task: kept for task, kept in self.sleep.items() if not meet(kept, done)}
        self._begin -= 1
        if self.guide is not None:
            self.guide.moved(step.task, step.operation)


def _course(
    prefix: tuple[Task, ...],
    sleep: Sleep,
    habit: str,
    alone: bool,
    seed: int,
    guide: Guide | None,
    steps: int,
) -> Course:
    return Course(prefix, sleep, Habit[habit], alone=alone, seed=seed, guide=guide, steps=steps)
