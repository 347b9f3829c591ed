"""What a controlled execution is, and the two ports between the runtime and whoever chooses.

Theory of operation. A program runs under control one task at a time. Before each visible operation its task
stops and tells what it is about to do: its pending operation. The runtime knows which tasks are enabled
(their pending operation can be done now) and asks a `Scheduler` which of them goes on. The task then does
the operation and runs, alone, up to its next visible operation: that is one `Step`. An execution is the
sequence of its steps; running the same choices again gives the same steps, and a fresh process for each
execution makes executions independent. Which executions to run is chosen by an `Explorer`, from what the
earlier ones showed.

Names do not depend on the schedule. A task is named by its ancestry: the first is `0`, its second child
`0.2`. A thing is named by the task that made or published it and a counter of that task. So steps of
different executions can be compared.

Dependence. Two steps are dependent if one task does both, if one creates, wakes or waits for the other's
task, or if their footprints meet: both touch one thing and at least one of them writes it. Steps that are
not dependent commute, and neither enables or disables the other: that is the law which the footprints of
all operations must keep, and on which reduction rests. What follows from it for the runtime:
- a task is created by the step after which it is first pending; its `end` is a step that writes the thing
  named as the task, `join` reads that thing;
- whether a pending operation is enabled depends on its task's own past and on the things of its footprint
  alone (as pending), so what enables or disables it writes one of them;
- a step says in `shut` which operations it found closed: without that the search stays complete, but it
  tries in vain to have an `acquire` before the `release` that allowed it;
- a task that waits for something it read to change (a spin loop) is pending with the kind `SPIN` and reads
  all that it read in the loop; done, its footprint has all of that too;
- a failed task does not end the execution: the others go on, else the search is not complete;
- a step that takes another task away (a timer is cancelled) writes what that task's operation touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from possibly.control.naming import LIFE, NOBODYS, slot_of, unnamed_text
from possibly.trace.place import is_of_library, place_in

Task = str
Thing = str

SPIN = "spin"
"""The kind of an operation that waits until one of the things it reads is written again."""


SLOT = "_:time "
"""Begins the thing that one step writes, and who comes later by the clock reads."""
RESUME = "resume"
"""The kind of an operation that waits for all the things it reads beside its own, each of which happens once:
the turn of a task in an event loop."""
ANY = "any"
"""In `Step.shut`, for a kind: whatever waits and touches the thing could not have been done before."""

ENDLESS = "an execution that need not end"
"""How the reason begins for which such an execution was cut off."""


class Access(NamedTuple):
    """A part of the system that an operation touches."""

    thing: Thing
    writes: bool


CALLED_FROM = "called_from"
"""In the detail of a step or moment that is in a library: the line of the user's that called it."""


new_tuple = tuple.__new__
"""Makes named tuples in half the time that their own names take."""


class Operation(NamedTuple):
    """What a task is about to do, or did: `acquire` of a lock, `write` of a field, `start` of a task, ..."""

    kind: str
    thing: Thing
    footprint: tuple[Access, ...]
    at: str = ""
    """The source place, `file.py:12`."""
    waits: bool = True
    """What steps found `shut` holds for it; False: it never waits, like a `get` that may find nothing."""


class Step(NamedTuple):
    """One operation done, with what was possible when it was chosen."""

    task: Task
    operation: Operation
    """As done: its footprint may be smaller than it was while pending (a `get` that found an item)."""
    enabled: tuple[Task, ...]
    """The tasks that could have gone on instead, this one included, in the order of their names."""
    pending: dict[Task, Operation]
    """What each live task was about to do, enabled or not."""
    detail: Any = None
    """Values for the report and the trace; plain data."""
    shut: tuple[tuple[str, Thing], ...] = ()
    """Kinds of operation on things of its footprint that another task could not have done just before this
    step: `("acquire", lock)` for a `release`, `("get", queue)` for a `put` into an empty queue, `("join",
    task)` for the `end` of a task, `("acquire", semaphore)` for a `release` from zero only."""


class Outcome(Enum):
    FINISHED = "finished"
    FAILED = "failed"
    """An uncaught exception or a failed assertion in some task, or a violated claim."""
    DEADLOCK = "deadlock"
    LIVELOCK = "livelock"
    CUT_OFF = "cut off"
    """The scheduler ended it (a bound, or everything that could go on is covered elsewhere)."""
    DIVERGED = "diverged"
    """A choice to be replayed was not possible: something outside our control decided."""


class Seen(NamedTuple):
    """The states of an execution, as far as somebody looked at them."""

    plan: int
    """The number of the plan that it followed."""
    states: tuple[bytes | None, ...]
    """Digests of the states before the steps; empty: not looked at; None: it cannot be read."""
    touched: dict[Thing, list[tuple[Task, bool]]]
    """Memory that is no choice point: who has read (False) or written (True) it."""


@dataclass(frozen=True, slots=True)
class Execution:
    steps: tuple[Step, ...]
    outcome: Outcome
    names: dict[Task, str] = field(default_factory=dict)
    """The names that users know the tasks by."""
    failure: dict[str, Any] | None = None
    """Plain data about what went wrong: kind, message, task, place, wait-for cycle, traceback."""
    uncontrolled: tuple[str, ...] = ()
    """Operations that the runtime could not control: with any of these no search is complete."""
    output: bytes = b""
    pending: dict[Task, Operation] = field(default_factory=dict)
    """What the tasks that had not ended were about to do after the last step: those of a deadlock wait."""
    things: dict[Thing, str] = field(default_factory=dict)
    """The names that users know things by: a variable, or the line where it was made."""
    seen: Seen | None = field(default=None, compare=False)
    """What a scheduler that looks at states saw."""
    visible: frozenset[str] | None = field(default=None, compare=False)
    """The families whose accesses are steps; None: nobody has said."""
    entered: frozenset[tuple[str, str, int]] = field(default=frozenset(), compare=False)
    """The code of packages (file, name, line) that was watched."""
    is_settled: bool = field(default=True, compare=False)
    """It has shown nothing that would make other steps of it."""

    @property
    def schedule(self) -> tuple[Task, ...]:
        return tuple(step.task for step in self.steps)

    def name_of(self, thing: Thing) -> str:
        """What users call a task or a thing; an item of a queue by the queue."""
        if thing.startswith(LIFE):
            return f"whether {self.name_of(thing[len(LIFE) :])} is still alive"
        return self._known(thing) or unnamed_text(thing, self.names) or NOBODYS.get(thing, thing)

    def has_name(self, thing: Thing) -> bool:
        """Whether anything has led the user to it."""
        return bool(self._known(thing)) or not unnamed_text(thing, {})

    def _known(self, thing: Thing) -> str:
        slot = slot_of(thing)
        of_queue = self.things.get(slot.queue, "") if slot is not None else ""
        return self.names.get(thing) or self.things.get(thing) or of_queue

    def files(self) -> frozenset[str]:
        """The user's files that its steps are in."""
        places = [at for step in self.steps for at in _places(step)]
        places += [operation.at for operation in self.pending.values()]
        files = {place_in(at).file for at in places if at}
        return frozenset(file for file in files if not is_of_library(file))

    def withdrawn(self) -> Iterator[tuple[int, Task, Operation]]:
        """What was pending and will not be done, because the step of that number took it away.

        A timer that is cancelled, for instance: it could have come before.
        """
        for number, step in enumerate(self.steps):
            after = self.steps[number + 1].pending if number + 1 < len(self.steps) else self.pending
            if len(after) < len(step.pending) + (step.task in after):
                for task in step.pending.keys() - after.keys():
                    if task != step.task:
                        yield number, task, step.pending[task]


def _places(step: Step) -> Iterator[str]:
    """Where a step is, and all that happened in it; of a library's line the user's that called it."""
    detail = step.detail if isinstance(step.detail, dict) else {}
    yield detail.get(CALLED_FROM, step.operation.at)
    for each in (*detail.get("turn", ()), *detail.get("inside", ())):
        yield each.get(CALLED_FROM, each["at"])


class Choice(NamedTuple):
    """What a scheduler is asked: the state before step `number`."""

    number: int
    previous: Task | None
    enabled: tuple[Task, ...]
    pending: dict[Task, Operation]


class Scheduler(Protocol):
    """Chooses in one execution. It lives in the process that runs the program, so it must be picklable."""

    def choose(self, choice: Choice) -> Task | None:
        """One of the enabled tasks; None ends the execution (`Outcome.CUT_OFF`)."""
        ...

    def done(self, step: Step) -> None:
        """The chosen step as it was done (its final footprint)."""
        ...


class Explorer(Protocol):
    """Chooses the executions. It lives in the process of the user's command."""

    def plan(self) -> Scheduler | None:
        """How to run the next execution; None: nothing is left to explore."""
        ...

    def learn(self, execution: Execution) -> None:
        """What the planned execution did."""
        ...


class Program(Protocol):
    """Something that can be executed under a scheduler, again and again from the same initial state."""

    def execute(self, scheduler: Scheduler) -> Execution: ...
