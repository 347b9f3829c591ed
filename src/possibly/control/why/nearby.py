"""Executions near a given one: some of its steps in another order, all else as much alike as it can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from possibly.control.causality import Causality, split
from possibly.control.execution import Execution, Operation, Outcome, Program, Scheduler, Step, Task
from possibly.control.minimise import BAD, decisive
from possibly.control.schedulers.course import Course
from possibly.control.why import Moment


def passes(execution: Execution) -> bool:
    """Whether an execution came to its end and nothing is wrong with it."""
    return execution.outcome is Outcome.FINISHED


def fails(execution: Execution) -> bool:
    return execution.outcome in BAD


Another = Callable[[Execution, int], bool | None]
"""Whether a failing execution passes in another order of what comes after its first steps; None: unknown."""


def none_other(execution: Execution, begun: int) -> bool | None:
    """Of failures that do not depend on the order of independent steps."""
    return False


class Wish:
    """A guide that goes on in the order of some schedule wherever that is possible."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.left = list(tasks)

    def preferred(self, awake: list[Task], pending: dict[Task, Operation]) -> Task | None:
        return next((task for task in self.left if task in awake), None)

    def moved(self, task: Task, operation: Operation) -> None:
        if task in self.left:
            self.left.remove(task)


class Nearby:
    """A failing execution, and the program to be executed in orders like it."""

    def __init__(
        self,
        program: Program,
        execution: Execution,
        asked: frozenset[int] = frozenset(),
        may_pass: Another = none_other,
    ) -> None:
        self.program, self.may_pass = program, may_pass
        self.asked = sum(1 << number for number in asked)
        """Steps whose order matters to a property, whatever they touch."""
        self.execution = execution
        self.order = Causality(execution.steps)
        self.decisive = len(decisive(execution))
        """How many steps lead to the failure; others may come after it."""
        self.tried = 0
        self.nearest: Execution | None = None
        """The passing execution that parts from the failing one last."""

    @property
    def steps(self) -> Sequence[Step]:
        return self.order.steps

    def moments(self) -> list[Moment]:
        """The steps, and what could not be done any more."""
        done = [Moment(number, step.task, step.operation) for number, step in enumerate(self.steps)]
        return done + [Moment(None, task, each) for task, each in self.execution.pending.items()]

    def conflicts(self, moment: Moment) -> int:
        """The steps whose order with a moment may matter."""
        mask = self.order.conflicts(*split(moment.operation.footprint))
        return mask | self.asked if self.is_asked(moment) else mask

    def is_asked(self, moment: Moment) -> bool:
        """Whether a property reads what the moment changes."""
        return moment.number is not None and bool(self.asked >> moment.number & 1)

    def known_to(self, moment: Moment) -> int:
        """The steps that a moment's task knew of before."""
        return self.order.knowledge(moment.task) if moment.number is None else self.order.own[moment.number]

    def run(self, tasks: tuple[Task, ...]) -> Execution | None:
        """The execution that begins like this and goes on like the failing one; None if it cannot."""
        other = self.execute(Course(tasks, guide=Wish(self.execution.schedule)))
        return None if other.schedule[: len(tasks)] != tasks else other

    def execute(self, scheduler: Scheduler) -> Execution:
        self.tried += 1
        other = self.program.execute(scheduler)
        self.saw(other)
        return other

    def saw(self, other: Execution) -> None:
        """An execution that was needed for something else may be the nearest that passes."""
        if passes(other) and self._parts_later(other):
            self.nearest = other

    def _parts_later(self, other: Execution) -> bool:
        known = self.nearest
        return known is None or self.shared(other) > self.shared(known)

    def shared(self, other: Execution) -> int:
        """How many choices two executions have in common."""
        pairs = zip(self.execution.schedule, other.schedule, strict=False)
        return next((n for n, (one, another) in enumerate(pairs) if one != another), len(other.schedule))
