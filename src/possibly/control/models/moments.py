"""One clock for all: when sleeps, timers and time-outs may come.

Law. A step begins at the moment at which it can be done first: when its task has come to it, when what it
waits for was done, when its sleep or its time is over. It may come late by the slack, never early. What tasks
compute takes no time. So a step may be done before another one only if it does not begin later than the
other and the slack: whoever sleeps, or waits until its time is up, has to let all others go on first that
begin so much earlier. Moments follow the order of an execution (`task.Clocks`): they do not depend on how
independent steps are put in a line, and of every order that the law allows there is a line in which it is
kept at every choice.

Which steps have to come first. If a step with a time comes at `t`, then all steps that begin before `t` less
the slack come before it. Each step writes a thing of its own, a slot of its task (`slot_of`), and a step with
a time reads the last such slot of every other task: so the order of executions knows it, and no two steps
depend on each other for the sake of time that may come in either order. While it waits, it reads the slots
that are to be written; whoever writes one says so (`Step.shut`). All this is told only if in some execution
somebody had to wait for the time to pass (`Kernel.timed`): else time orders nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from possibly.control.execution import SLOT, Access
from possibly.control.runtime.task import Clocks, Task


class Moment(NamedTuple):
    """When a step can be done first, and what that means for its order."""

    begin: float
    before: tuple[Access, ...]
    """The slots of the steps that have to come before."""
    shut: tuple[str, ...]
    """Kinds of operations that wait for the time to pass, and for this step among others."""


def lateness(slack: float) -> str:
    """What a verdict rests on if somebody had to wait for the time to pass."""
    if slack == 0:
        return "sleeps, timers and time-outs come in time (--slack 0)"
    return f"sleeps, timers and time-outs come late by at most {slack:g} s, and never early (--slack)"


def is_timed(task: Task) -> bool:
    """It goes on at a certain time, unless it gets before what it waits for."""
    return task.wakes_at is not None or (task.deadline is not None and task.timed_out)


def is_waiting(task: Task, able: list[Task]) -> bool:
    """It can go on only because its time is up."""
    task.timed_out = False
    if task.deadline is None or not has_time(task) or task in able:
        return False
    task.timed_out = True
    return True


def has_time(task: Task) -> bool:
    """A loop that retries after each time-out waits, in truth, for a change."""
    return task.operation is not None and (task.trail.changed is None or task.trail.changed())


def begin_of(task: Task, clocks: Clocks) -> float:
    """When the task can go on first."""
    if task.timed_out and task.deadline is not None:
        return task.deadline
    begin = task.time if task.wakes_at is None else task.wakes_at
    if task.ready is None or task.operation is None:
        return begin
    return max(begin, clocks.latest(task.operation.footprint, task.loop))


def slot_of(task: Task, number: int) -> str:
    """The thing that the step of that number of a task writes."""
    return f"{SLOT}{task.name}#{number}"


def moment_of(
    task: Task, live: list[Task], known: list[Task], early: list[Task], clocks: Clocks, slack: float
) -> Moment:
    begin = begin_of(task, clocks)
    before: list[Access] = []
    if is_timed(task):
        first = begin - slack
        for other in known:
            if other is not task:
                done = bisect_left(other.begins, first)
                goes_on = task in early and _begins_before(other, first, clocks) and other in live
                if done or goes_on:
                    number = len(other.begins) if goes_on else done - 1
                    before.append(Access(slot_of(other, number), False))
    shut = tuple(dict.fromkeys(_kind(each) for each in early if each is not task))
    return Moment(begin, tuple(before), shut)


def _begins_before(task: Task, moment: float, clocks: Clocks) -> bool:
    return task.operation is not None and begin_of(task, clocks) < moment


def _kind(task: Task) -> str:
    return task.operation.kind if task.operation is not None else ""
