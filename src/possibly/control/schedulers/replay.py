"""Replay: a recorded schedule again, also in a program that was edited elsewhere.

Theory of operation. The steps of a schedule are taken in order. A step fits what its task is about to do if
the kinds of operation agree and the source text of the line does, or the place, or the thing. In the same
program every step fits and the execution is the same event for event. In an edited one
- an operation that fits none of the task's steps to come is new: the task does it and the step stays;
- one that fits a later step of the task: the steps between are gone, and left out;
- a task that should move but waits lets another one move that is not ahead of its own steps.
Each of these is a `Deviation`, which says where; a replay without any is faithful. When all steps are taken,
the run goes on without preemptions.

The same `Follower` chooses in the process of the execution and tells afterwards, from what was recorded,
where the execution deviated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from possibly.control.execution import SPIN, Choice, Execution, Operation, Step, Task
from possibly.trace.place import place_in
from possibly.trace.schedule import Schedule, ScheduledStep

Sources = Mapping[str, list[str]]
"""The lines of source files, by their names in the places of operations."""
NEAR = 200
"""So many of a task's steps are looked through for one that fits."""


class Deviation(NamedTuple):
    number: int
    """The step of the execution before which it was noticed."""
    what: str
    """`new`, `gone`, `waits` or `ended`."""
    step: ScheduledStep
    """What the schedule says."""
    operation: Operation | None
    """What the task was about to do."""


def sources_of(schedule: Schedule, lines_of: Callable[[str], list[str]]) -> Sources:
    """The sources of all places in a schedule."""
    files = dict.fromkeys(place_in(step.at).file for step in schedule.steps if step.at)
    return {file: lines_of(file) for file in files}


def source_line(at: str, sources: Sources) -> str:
    file, number = place_in(at)
    lines = sources.get(file, [])
    return " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""


def recorded(execution: Execution, header: dict[str, object], sources: Sources) -> Schedule:
    """The schedule of an execution, to be written into a file."""
    names, things = execution.names, execution.things
    return Schedule(
        tuple(
            ScheduledStep(
                step.task,
                names.get(step.task, ""),
                _word(step.operation.kind),
                things.get(step.operation.thing, step.operation.thing),
                step.operation.at,
                source_line(step.operation.at, sources),
            )
            for step in execution.steps
        ),
        header,
    )


def _word(kind: str) -> str:
    """A kind of operation as it stands in a schedule."""
    return kind.replace(" ", "_")


class Follower:
    """Where an execution is in a schedule."""

    def __init__(self, steps: Iterable[ScheduledStep], sources: Sources) -> None:
        self.steps = tuple(steps)
        self.sources = sources
        self.position = 0
        self.gone: set[int] = set()
        self.deviations: list[Deviation] = []

    def expected(
        self, number: int, enabled: tuple[Task, ...], pending: Mapping[Task, Operation]
    ) -> Task | None:
        """The task that is to move; None behind the last step. The position moves when it has (`moved`)."""
        while self.position < len(self.steps):
            step = self.steps[self.position]
            operation = pending.get(step.task)
            if self.position in self.gone:
                self.position += 1
            elif operation is None:
                self._note(number, "ended", step, None)
                self.position += 1
            elif not self.fits(step, operation) and self._skip(number, step, operation):
                continue
            elif step.task in enabled:
                return step.task
            else:
                return self._other(number, step, operation, enabled, pending)
        return None

    def _skip(self, number: int, step: ScheduledStep, operation: Operation) -> bool:
        """Drops the task's steps before the one that its operation fits, if there is one."""
        later = [k for k in range(self.position + 1, len(self.steps)) if self.steps[k].task == step.task]
        for count, position in enumerate(later[:NEAR]):
            if self.fits(self.steps[position], operation):
                self.gone.update((self.position, *later[:count]))
                self._note(number, "gone", step, operation)
                return True
        return False

    def _other(
        self,
        number: int,
        step: ScheduledStep,
        operation: Operation,
        enabled: tuple[Task, ...],
        pending: Mapping[Task, Operation],
    ) -> Task:
        """Somebody who may make it possible: best a task that has something to do before its next step."""
        self._note(number, "waits", step, operation)
        coming: dict[Task, ScheduledStep] = {}
        for later in self.steps[self.position :]:
            coming.setdefault(later.task, later)
        ahead = [t for t in enabled if t in coming and self.fits(coming[t], pending[t])]
        return next((task for task in enabled if task not in ahead), enabled[0])

    def fits(self, step: ScheduledStep, operation: Operation) -> bool:
        if not step.kind:
            return True
        if step.kind != _word(operation.kind) and SPIN not in (step.kind, operation.kind):
            return False
        if not step.at and not operation.at:
            return True
        text = source_line(operation.at, self.sources)
        return (
            (bool(step.text) and step.text == text)
            or step.at == operation.at
            or step.thing == operation.thing
        )

    def moved(self, number: int, task: Task, operation: Operation) -> None:
        """A task has done its pending operation."""
        if self.position >= len(self.steps):
            return
        step = self.steps[self.position]
        if step.task != task:
            self._pass(task, operation)
        elif self.fits(step, operation):
            self.position += 1
        else:
            self._note(number, "new", step, operation)

    def _pass(self, task: Task, operation: Operation) -> None:
        """A task moved out of turn: if that was its next step, it is done."""
        for position in range(self.position, len(self.steps)):
            step = self.steps[position]
            if step.task == task and position not in self.gone:
                if self.fits(step, operation):
                    self.gone.add(position)
                return

    def _note(self, number: int, what: str, step: ScheduledStep, operation: Operation | None) -> None:
        self.deviations.append(Deviation(number, what, step, operation))


class Replay:
    """The scheduler that follows a schedule."""

    def __init__(self, schedule: Schedule, sources: Sources | None = None) -> None:
        self._follower = Follower(schedule.steps, sources or {})
        self._pending: Operation | None = None

    def choose(self, choice: Choice) -> Task | None:
        task = self._follower.expected(choice.number, choice.enabled, choice.pending)
        if task is None:
            task = choice.previous if choice.previous in choice.enabled else choice.enabled[0]
        self._pending = choice.pending[task]
        return task

    def done(self, step: Step) -> None:
        self._follower.moved(0, step.task, self._pending or step.operation)


def deviations(schedule: Schedule, execution: Execution, sources: Sources | None = None) -> list[Deviation]:
    """Where an execution did not follow a schedule; empty: it is that schedule, event for event."""
    follower = Follower(schedule.steps, sources or {})
    for number, step in enumerate(execution.steps):
        expected = follower.expected(number, step.enabled, step.pending)
        if expected is not None and expected != step.task:
            follower._note(number, "other", follower.steps[follower.position], step.operation)
        follower.moved(number, step.task, step.pending.get(step.task, step.operation))
    while follower.position < len(follower.steps):
        if follower.position not in follower.gone:
            follower._note(len(execution.steps), "ended", follower.steps[follower.position], None)
        follower.position += 1
    return follower.deviations
