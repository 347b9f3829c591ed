"""What an execution would do, foreseen from others: so that a schedule of a known class need not be executed.

Theory of operation. What a step does, and whether it can be done, depends on its task's own past and on the
things of its footprint alone (the law of `execution`). So it is told by an event: the task, its last event,
the operation, and of each thing that it touches the event that wrote it last and, for a write, those that
read it since. An event names its whole causal past by this; the set of its events names the class of an
execution. Whatever was seen is remembered under what it depends on; a schedule whose every step is
remembered is foreseen up to its end, with all choices on the way. If its class was executed, then executing
it would show nothing that is not known; if not, or if anything is not remembered, it has to be executed.

Law: foresight only says that a class was executed. It gives up, for ever, where an execution does otherwise
than it remembers, or where what a task is about to do changes while it waits. A step that touches what it was
not about to touch is not remembered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from possibly.control.execution import Execution, Operation, Outcome, Task
from possibly.control.schedulers.course import ancestry

Event = int
"""The hash of what an event is; 0 stands for none."""
_Key = tuple[Any, ...]


class _Done(NamedTuple):
    """What a step did."""

    operation: Operation
    following: dict[Task, Operation]
    """What its task, and those that it created, are about to do then; an ended task is not there."""


class Foreseen(NamedTuple):
    """An execution as it would be."""

    schedule: tuple[Task, ...]
    enabled: tuple[tuple[Task, ...], ...]
    trace: int
    """The hash of its class."""


class _State:
    """Where an execution stands."""

    __slots__ = ("events", "last", "pending", "read", "written")

    def __init__(self, pending: dict[Task, Operation]) -> None:
        self.pending = dict(pending)
        self.last: dict[Task, Event] = {}
        self.written: dict[str, Event] = {}
        self.read: dict[str, frozenset[Event]] = {}
        self.events: list[Event] = []

    def key(self, task: Task) -> _Key:
        """What the next step of a task depends on."""
        return (task, self.last.get(task, 0), *self._touched(self.pending[task]))

    def _touched(self, operation: Operation) -> _Key:
        found: list[Any] = [operation.kind, operation.thing, operation.waits]
        for thing, writes in sorted(operation.footprint):
            found += (thing, writes, self.written.get(thing, 0))
            if writes:
                found.append(self.read.get(thing, ()))
        return tuple(found)

    def move(self, task: Task, done: _Done) -> None:
        event = hash((task, self.last.get(task, 0), *self._touched(done.operation)))
        for thing, writes in done.operation.footprint:
            if writes:
                self.written[thing] = event
                self.read.pop(thing, None)
        for thing, writes in done.operation.footprint:
            if not writes and self.written.get(thing) != event:
                self.read[thing] = self.read.get(thing, frozenset()) | {event}
        self.events.append(event)
        del self.pending[task]
        for each, operation in done.following.items():
            self.pending[each] = operation
            self.last[each] = event

    @property
    def trace(self) -> int:
        return hash(frozenset(self.events))


class Foresight:
    """All that executions have shown."""

    def __init__(self) -> None:
        self.is_over = False
        """Something was not as it should be: nothing is foreseen any more."""
        self._begin: dict[Task, Operation] | None = None
        self._can: dict[_Key, bool] = {}
        self._done: dict[_Key, _Done] = {}

    def learn(self, execution: Execution) -> int:
        """Remembers an execution; the hash of its class."""
        steps = execution.steps
        begin = steps[0].pending if steps else execution.pending
        if self._begin is None:
            self._begin = begin
        self.is_over = self.is_over or begin != self._begin
        state = _State(begin)
        for number, step in enumerate(steps):
            after = steps[number + 1].pending if number + 1 < len(steps) else execution.pending
            following = {each: after[each] for each in after if each == step.task or each not in step.pending}
            done = _Done(step.operation, following)
            if not self.is_over:
                self._check(step.pending, after, step.task)
                self._remember_choices(state, step.enabled)
                self._remember(state, step.task, done)
            state.move(step.task, done)
        if self.is_over:
            self._can.clear()
            self._done.clear()
        elif execution.outcome is Outcome.DEADLOCK:
            self._remember_choices(state, ())
        return state.trace

    def _check(self, before: dict[Task, Operation], after: dict[Task, Operation], moved: Task) -> None:
        """What the others are about to do must be what it was, unless the program ends with this step."""
        if not after:
            return
        for task, operation in before.items():
            if task != moved and after.get(task) != operation:
                self.is_over = True

    def _remember_choices(self, state: _State, enabled: tuple[Task, ...]) -> None:
        for task in state.pending:
            is_enabled = task in enabled
            if self._can.setdefault(state.key(task), is_enabled) != is_enabled:
                self.is_over = True

    def _remember(self, state: _State, moved: Task, done: _Done) -> None:
        about = {access.thing for access in state.pending[moved].footprint}
        if not all(access.thing in about for access in done.operation.footprint):
            return  # what it does depends on more than is told beforehand
        if self._done.setdefault(state.key(moved), done) != done:
            self.is_over = True

    def foreseen(self, prefix: tuple[Task, ...]) -> Foreseen | None:
        """The execution that begins with a schedule and then goes on without preemptions; None: not known."""
        if self.is_over or self._begin is None:
            return None
        state = _State(self._begin)
        schedule: list[Task] = []
        choices: list[tuple[Task, ...]] = []
        while state.pending:
            enabled = self._enabled(state)
            if enabled is None:
                return None
            if not enabled:  # a deadlock, as it was executed
                break
            task = _next(prefix, schedule, enabled)
            done = self._done.get(state.key(task)) if task in enabled else None
            if done is None:
                return None
            schedule.append(task)
            choices.append(enabled)
            state.move(task, done)
        return Foreseen(tuple(schedule), tuple(choices), state.trace)

    def _enabled(self, state: _State) -> tuple[Task, ...] | None:
        """Who can go on; None: not known."""
        found = []
        for task in sorted(state.pending, key=ancestry):
            is_enabled = self._can.get(state.key(task))
            if is_enabled is None:
                return None
            if is_enabled:
                found.append(task)
        return tuple(found)


def _next(prefix: tuple[Task, ...], schedule: list[Task], enabled: tuple[Task, ...]) -> Task:
    """As `Course` goes on by the habit to stay."""
    number = len(schedule)
    if number < len(prefix):
        return prefix[number]
    return schedule[-1] if schedule and schedule[-1] in enabled else enabled[0]
