"""Every schedule with at most so many preemptions, those with the fewest first.

A preemption is a choice of another task while the one that moved last could go on. Theory of operation: each
execution follows a prefix and then goes on without preemptions; every other choice that it could have made
behind the prefix is a prefix of its own. Those are executed in the order of their preemptions, so the first
failure has the fewest, and when all with at most the bound are done, the search is complete up to it.
After: Musuvathi and Qadeer, Iterative Context Bounding for Systematic Testing of Multithreaded Programs,
PLDI 2007.

Schedules of one class are executed once, unless they cannot be told to be of that class (`foresight`): what
the others would do is foreseen, with the choices that they leave, so no schedule within the bound is left
out. Sleep sets would not do: they cut executions off whose equivalents need more preemptions than the bound
(Coons, Musuvathi and McKinley: Bounded Partial-Order Reduction, OOPSLA 2013, where more branches make up for
that; Marmanis, Kokologiannakis and Vafeiadis: Reconciling Preemption Bounding with DPOR, TACAS 2023, bound
the classes). Here schedules are bounded, as the user asked, and classes are executed.

Without a bound it deepens for ever: level after level, each complete before the next, until nothing is left
or too much waits; then the deepest schedules are forgotten, and the level below them is the bound.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from possibly.control.execution import Execution, Step, Task
from possibly.control.schedulers.course import Course, Habit
from possibly.control.schedulers.foresight import Foreseen, Foresight
from possibly.verdict.coverage import Level

_Branch = tuple[tuple[Task, ...], int, Task]
"""A schedule, how much of it is kept, and the task that goes on instead: schedules are shared."""


def preemptions(steps: tuple[Step, ...]) -> int:
    """How often another task was chosen while the last one could go on."""
    return sum(step.task != before.task and before.task in step.enabled for before, step in pairwise(steps))


AT_ONCE = 1_000
"""So many schedules are foreseen one after another at most, before one is executed in any case."""


MOST_WAITING = 200_000
"""So many schedules wait at most."""


class Bounded:
    """An explorer that is complete up to a number of preemptions."""

    def __init__(self, bound: int | None = 2) -> None:
        """`bound`: None if it is to go as deep as it can."""
        self.bound = bound
        self.executions = 0
        self.classes: set[int] = set()
        """Hashes of the traces that were executed."""
        self.covered: set[int] = set()
        """Those of schedules that were tried here: not what others have asked for besides."""
        self.foreseen = 0
        """Schedules that were not executed, because they are of such a trace."""
        self._foresight = Foresight()
        self.exceeded = 0
        """Choices that were left out because of the bound; none: the search is complete altogether."""
        self.strayed = False
        """Some execution went another way than it was to go."""
        self._waiting: list[list[_Branch]] = [[((), 0, "")]]
        self._known = 1
        """Schedules that wait."""
        self._tried: Counter[int] = Counter()
        """Preemptions -> schedules that were executed or foreseen."""
        self._running: list[tuple[tuple[Task, ...], int]] = []
        """Prefixes of executions under way, with their preemptions: none is the beginning of another."""
        self.levels: dict[int, int] = {}
        """Preemptions -> classes known when all schedules with at most so many had been executed."""

    def plan(self) -> Course | None:
        for _ in range(AT_ONCE):
            found = self._next()
            if found is None:
                return None
            prefix, cost = found
            foreseen = self._foresight.foreseen(prefix)
            if foreseen is None or foreseen.trace not in self.classes:
                break
            self.foreseen += 1
            self._tried[cost] += 1
            self.covered.add(foreseen.trace)
            self._branches(prefix, foreseen)
            self._note_levels()
        self._running.append((prefix, cost))
        return Course(prefix, habit=Habit.STAY)

    def _next(self) -> tuple[tuple[Task, ...], int] | None:
        """What is to be tried next, and its preemptions."""
        for cost, branches in enumerate(self._waiting):
            if branches:
                # Far from what is under way, of which nothing can be foreseen yet.
                schedule, kept, task = branches.pop(0 if self._running else -1)
                self._known -= 1
                return ((*schedule[:kept], task) if task else ()), cost
        return None

    @property
    def left(self) -> int:
        """Prefixes within the bound that are known and were not executed yet."""
        return self._known + len(self._running)

    @property
    def under_way(self) -> Level | None:
        """The lowest level that is not complete; None: there is none, or it cannot be told."""
        left = [cost for cost, branches in enumerate(self._waiting) if branches]
        left += [cost for _, cost in self._running]
        if not left or self.strayed:
            return None
        level = min(left)
        waiting = len(self._waiting[level]) + sum(cost == level for _, cost in self._running)
        return Level(level, self._tried[level], self._tried[level] + waiting)

    @property
    def is_complete(self) -> bool:
        """Nothing at all was left out, not even because of the bound."""
        return not self.exceeded and not self.left

    def note(self, execution: Execution) -> int:
        """Takes in what an execution shows that somebody else has asked for; the hash of its class."""
        trace = self._foresight.learn(execution)
        self.classes.add(trace)
        return trace

    def learn(self, execution: Execution) -> None:
        self.executions += 1
        trace = self.note(execution)
        self.covered.add(trace)
        steps, schedule = execution.steps, execution.schedule
        found = next((each for each in self._running if each[0] == schedule[: len(each[0])]), None)
        if found is None:  # it went another way than it was to go: what lay behind that is not covered
            self.exceeded += 1
            self.strayed = True
            self._running.remove(next(iter(self._running)))
            return
        self._running.remove(found)
        self._tried[found[1]] += 1
        prefix = found[0]
        done = Foreseen(schedule, tuple(step.enabled for step in steps), trace)
        self._branches(prefix, done)
        self._note_levels()

    def _branches(self, prefix: tuple[Task, ...], done: Foreseen) -> None:
        """All other choices behind the prefix of an execution."""
        schedule, spent = done.schedule, 0
        for number, (task, enabled) in enumerate(zip(schedule, done.enabled, strict=True)):
            previous = schedule[number - 1] if number else ""
            is_able = previous in enabled
            if number >= len(prefix):
                for other in enabled:
                    if other != task:
                        self._branch(schedule, number, other, spent + (is_able and other != previous))
            spent += is_able and task != previous

    def _note_levels(self) -> None:
        if self.strayed:
            return
        level = self.under_way
        deepest = len(self._waiting) if self.bound is None else self.bound + 1
        for complete in range(deepest if level is None else level.preemptions):
            self.levels.setdefault(complete, len(self.covered))

    def _branch(self, schedule: tuple[Task, ...], kept: int, task: Task, cost: int) -> None:
        if self.bound is not None and cost > self.bound:
            self.exceeded += 1
            return
        while cost >= len(self._waiting):
            self._waiting.append([])
        self._waiting[cost].append((schedule, kept, task))
        self._known += 1
        if self._known > MOST_WAITING:
            self._forget_deepest()

    def _forget_deepest(self) -> None:
        """Of several levels that wait the deepest goes: it would not be come to."""
        waiting = [cost for cost, branches in enumerate(self._waiting) if branches]
        if len(waiting) > 1:
            self.bound = waiting[-1] - 1
            gone = sum(map(len, self._waiting[self.bound + 1 :]))
            self.exceeded += gone
            self._known -= gone
            del self._waiting[self.bound + 1 :]
