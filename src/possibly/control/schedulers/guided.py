"""Guided: follows a predicted path, and searches near it.

Theory of operation. A witness is a list of events in the order in which they should happen, each known by
its task and its place or operation. In the free part of each execution the task of the next wanted event
goes on until it has done it. If that task waits, another one goes on, best one that does not run past an
event which is wanted later. Around this the search is that of `dpor`: every execution after the first begins
with a reversal, the rest of it follows the path again. So the path is found quickly where it exists, and if
the search comes to its end without it, no schedule has it: it is infeasible, and `reached` says how far any
execution came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from possibly.control.execution import Execution, Operation, Task
from possibly.control.schedulers.course import Course
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import ExecutionTree


class Wanted(NamedTuple):
    """An event of a witness; empty fields fit anything."""

    name: str
    """Of the task, as users know it."""
    at: str = ""
    """`file.py:12`."""
    kind: str = ""
    thing: str = ""

    def fits(self, operation: Operation) -> bool:
        return (
            (not self.kind or self.kind == operation.kind)
            and (not self.thing or self.thing == operation.thing)
            and (not self.at or _same_place(self.at, operation.at))
        )


def _same_place(one: str, other: str) -> bool:
    """Paths may be given from different folders: the shorter one is the end of the longer."""
    short, long = sorted((one, other), key=len)
    return long == short or long.endswith("/" + short)


class Trail:
    """How much of a path an execution has done."""

    def __init__(self, path: tuple[Wanted, ...], tasks: Mapping[str, Task]) -> None:
        self.path = path
        self.tasks = tasks
        """By the names that users know; a name that is not there yet stands for itself."""
        self.done = 0

    def task(self, wanted: Wanted) -> Task:
        return self.tasks.get(wanted.name, wanted.name)

    def moved(self, task: Task, operation: Operation) -> None:
        if self.done < len(self.path):
            wanted = self.path[self.done]
            if self.task(wanted) == task and wanted.fits(operation):
                self.done += 1

    def preferred(self, awake: list[Task], pending: Mapping[Task, Operation]) -> Task | None:
        """Who should go on; None: nobody better than another."""
        later = self.path[self.done :]
        if not later:
            return None
        if (next_task := self.task(later[0])) in awake:
            return next_task
        ahead = [t for t in awake if any(self.task(w) == t and w.fits(pending[t]) for w in later)]
        return next((task for task in awake if task not in ahead), None)


class Guided:
    """An explorer that looks for one path first, and then everywhere."""

    def __init__(self, path: tuple[Wanted, ...], tasks: Mapping[str, Task] | None = None) -> None:
        self._search = Dpor()
        self.path = path
        self.tasks: dict[str, Task] = dict(tasks or {})
        self.reached = 0
        """The longest part of the path that some execution has done, in order."""
        self.best: Execution | None = None

    @property
    def tree(self) -> ExecutionTree:
        return self._search.tree

    def plan(self) -> Course | None:
        course = self._search.plan()
        if course is None:
            return None
        guide = Trail(self.path, self.tasks)
        return Course(course.prefix, course.sleep, alone=course.alone, guide=guide)

    def learn(self, execution: Execution) -> None:
        self._search.learn(execution)
        for task, name in execution.names.items():
            self.tasks.setdefault(name, task)
        reached = self.done_by(execution)
        if self.best is None or reached > self.reached:
            self.reached, self.best = reached, execution

    def done_by(self, execution: Execution) -> int:
        """How many events of the path an execution has done, in order."""
        trail = Trail(self.path, self.tasks)
        for step in execution.steps:
            trail.moved(step.task, step.operation)
        return trail.done

    @property
    def missing(self) -> Wanted | None:
        """The first event of the path that no execution reached; None: the path was followed to its end."""
        return self.path[self.reached] if self.reached < len(self.path) else None
