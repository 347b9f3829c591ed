"""Every schedule with at most so many preemptions, those with the fewest first.

A preemption is a choice of another task while the one that moved last could go on. Theory of operation: each
execution follows a prefix and then goes on without preemptions; every other choice that it could have made
behind the prefix is a prefix of its own. Those are executed in the order of their preemptions, so the first
failure has the fewest, and when all with at most the bound are done, the search is complete up to it.
After: Musuvathi and Qadeer, Iterative Context Bounding for Systematic Testing of Multithreaded Programs,
PLDI 2007.

No reduction: sleep sets would cut executions off whose equivalents need more preemptions than the bound
(Coons, Musuvathi and McKinley: Bounded Partial-Order Reduction, OOPSLA 2013). Schedules of the same trace are
told apart in the figures only.
"""

from __future__ import annotations

from itertools import pairwise

from possibly.control.causality import canonical
from possibly.control.execution import Execution, Step, Task
from possibly.control.schedulers.course import Course, Habit

_Branch = tuple[tuple[Task, ...], int, Task]
"""A schedule, how much of it is kept, and the task that goes on instead: schedules are shared."""


def preemptions(steps: tuple[Step, ...]) -> int:
    """How often another task was chosen while the last one could go on."""
    return sum(step.task != before.task and before.task in step.enabled for before, step in pairwise(steps))


class Bounded:
    """An explorer that is complete up to a number of preemptions."""

    def __init__(self, bound: int = 2) -> None:
        self.bound = bound
        self.executions = 0
        self.classes: set[int] = set()
        """Hashes of the traces that were executed."""
        self.exceeded = 0
        """Choices that were left out because of the bound; none: the search is complete altogether."""
        self.strayed = False
        """Some execution went another way than it was to go."""
        self._waiting: list[list[_Branch]] = [[] for _ in range(bound + 1)]
        self._waiting[0].append(((), 0, ""))
        self._running: list[tuple[tuple[Task, ...], int]] = []
        """Prefixes of executions under way, with their preemptions: none is the beginning of another."""
        self.levels: dict[int, int] = {}
        """Preemptions -> classes known when all schedules with at most so many had been executed."""

    def plan(self) -> Course | None:
        for cost, branches in enumerate(self._waiting):
            if branches:
                schedule, kept, task = branches.pop()
                prefix = (*schedule[:kept], task) if task else ()
                self._running.append((prefix, cost))
                return Course(prefix, habit=Habit.STAY)
        return None

    @property
    def left(self) -> int:
        """Prefixes within the bound that are known and were not executed yet."""
        return sum(map(len, self._waiting)) + len(self._running)

    @property
    def is_complete(self) -> bool:
        """Nothing at all was left out, not even because of the bound."""
        return not self.exceeded and not self.left

    def learn(self, execution: Execution) -> None:
        self.executions += 1
        self.classes.add(hash(canonical(execution)))
        steps, schedule = execution.steps, execution.schedule
        found = next((each for each in self._running if each[0] == schedule[: len(each[0])]), None)
        if found is None:  # it went another way than it was to go: what lay behind that is not covered
            self.exceeded += 1
            self.strayed = True
            self._running.remove(next(iter(self._running)))
            return
        self._running.remove(found)
        prefix = found[0]
        spent = preemptions(steps[: len(prefix)])
        for number in range(len(prefix), len(steps)):
            previous = steps[number - 1].task if number else None
            for task in steps[number].enabled:
                if task != schedule[number]:
                    self._branch(schedule, number, task, spent + (previous in steps[number].enabled))
        self._note_levels()

    def _note_levels(self) -> None:
        if self.strayed:
            return
        left = [cost for cost, branches in enumerate(self._waiting) if branches]
        left += [cost for _, cost in self._running]
        for level in range(min(left, default=self.bound + 1)):
            self.levels.setdefault(level, len(self.classes))

    def _branch(self, schedule: tuple[Task, ...], kept: int, task: Task, cost: int) -> None:
        # The free run behind the prefix never preempts, so all that it chose instead cost the same or more.
        if cost > self.bound:
            self.exceeded += 1
        else:
            self._waiting[cost].append((schedule, kept, task))
