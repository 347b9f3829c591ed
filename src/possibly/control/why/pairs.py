"""Which order decides: the pairs of moments of a failing execution that, the other way round, do not fail.

Theory of operation. Two moments that conflict could perhaps have come the other way round, steps that came
only after the failure and operations that a task still waited for among them. To find out, the program goes
the way of the failing execution up to the first of the two; then the task of the first waits until the other
moment has come, and all else goes on as it did (`Postponed`). If that is possible and the program does not
fail, the order of the two decides. Not only races in the sense of `schedulers.dpor` are tried: what lies
between the two may order them by a lock, and what a task knew too early may have been read long before. Reads
before writes are tried first, then other accesses to memory, then locks; late ones before early ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.control.causality import members
from possibly.control.execution import ANY, Choice, Execution, Operation, Outcome, Step, Task
from possibly.control.naming import parent_of
from possibly.control.why import Moment, Pair
from possibly.control.why.nearby import Nearby, passes
from possibly.trace.place import is_of_library

MOST = 24
"""So many pairs are turned round at most."""
MOST_HOPELESS = 2 * MOST
"""So many may turn out not to be possible the other way round."""
WAITING = frozenset({"acquire", "release", "join", "end", "exit", "start", "leave_loop"})
"""Kinds of operation that order others, and seldom matter by themselves."""


def deciding(near: Nearby, budget: int = MOST) -> Iterator[Pair]:
    """The pairs, in the order in which they are found out.

    If a task cannot wait for a moment, which comes of what it does, it cannot wait longer for it either.
    """
    ranked = sorted(_reversible(near), key=lambda pair: _rank(near, *pair))
    hopeless: set[tuple[Task, Moment]] = set()
    for first, then in ranked:
        if not budget or len(hopeless) >= MOST_HOPELESS:
            return
        if (first.task, then) in hopeless:
            continue
        other = turned_round(near, first, then)
        if other is None:
            hopeless.add((first.task, then))
            continue
        budget -= 1
        if passes(other):
            yield Pair(first, then, other)


def _rank(near: Nearby, first: Moment, then: Moment) -> tuple[bool, bool, bool]:
    """Sorting keeps the order of those that rank alike."""
    kinds = {first.operation.kind, then.operation.kind}
    is_known = first.number is not None and near.known_to(then) >> first.number & 1
    reads = {access.thing for access in first.operation.footprint if not access.writes}
    is_stale = any(access.writes and access.thing in reads for access in then.operation.footprint)
    return bool(kinds & WAITING), bool(is_known), not is_stale


def _reversible(near: Nearby) -> Iterator[tuple[Moment, Moment]]:
    moments = near.moments()
    for then in reversed(moments):
        for number in sorted(_conflicts(near, then), reverse=True):
            first = moments[number]
            if first.task != then.task and not _is_shut(near, first, then) and _is_there(near, first, then):
                yield first, then


def _conflicts(near: Nearby, then: Moment) -> Iterator[int]:
    """The decisive steps before a moment that conflict with it."""
    order = near.order
    before = (1 << min(near.decisive, order.size if then.number is None else then.number)) - 1
    return members(near.conflicts(then) & before)


def _is_shut(near: Nearby, first: Moment, then: Moment) -> bool:
    """Whether the later one could not have been done just before the first."""
    assert first.number is not None
    shut = near.steps[first.number].shut
    things = {access.thing for access in then.operation.footprint}
    return then.operation.waits and any(k in (then.operation.kind, ANY) and t in things for k, t in shut)


def _is_there(near: Nearby, first: Moment, then: Moment) -> bool:
    """Whether the later one's task was there already when the first one was done."""
    assert first.number is not None
    return then.task in near.steps[first.number].pending


def turned_round(near: Nearby, first: Moment, then: Moment) -> Execution | None:
    """The execution in which the later of two moments comes before the other; None if it cannot."""
    assert first.number is not None
    scheduler = Postponed(near.execution.schedule, first.number, first.task, then.task, then.operation)
    other = near.execute(scheduler)
    if other.outcome in (Outcome.DIVERGED, Outcome.CUT_OFF):
        return None
    for step in other.steps[first.number :]:
        if step.task == first.task:
            return None
        if scheduler.has_come(step):
            return other
    return None


def are_turns(pair: Pair) -> bool:
    """Whether both are turns of tasks of an event loop."""
    return {pair.first.operation.kind, pair.then.operation.kind} == {"resume"}


def one_after_the_other(near: Nearby, pair: Pair) -> tuple[Task, Task] | None:
    """The tasks of a pair, the one that had to come first before the other, if that does not fail."""
    held, awaited = _caller(near, pair.first.task), _caller(near, pair.then.task)
    if held == awaited:
        return None
    mine = [number for number, step in enumerate(near.steps) if step.task == held]
    others = [number for number, step in enumerate(near.steps) if step.task == awaited]
    if not mine or not others:
        return None
    begin, end = near.steps[mine[0]].operation, near.steps[others[-1]].operation
    first, last = Moment(mine[0], held, begin), Moment(others[-1], awaited, end)
    if not _is_there(near, first, last):
        return None
    other = turned_round(near, first, last)
    return (awaited, held) if other is not None and passes(other) else None


def _caller(near: Nearby, task: Task) -> Task:
    """The task; of one that a library has started, and that is in no line of the user's, who called it."""
    while parent_of(task):
        places = [step.operation.at for step in near.steps if step.task == task]
        if not places or not all(map(is_of_library, places)):
            break
        task = parent_of(task)
    return task


class Postponed:
    """A scheduler that follows a schedule, and lets one of its steps wait for a moment of another task."""

    def __init__(
        self, schedule: tuple[Task, ...], number: int, held: Task, awaited: Task, operation: Operation
    ) -> None:
        self._left = list(schedule)
        self._number, self._held = number, held
        self._awaited, self._operation = awaited, operation
        self._done = 0
        self._has_come = False

    def choose(self, choice: Choice) -> Task | None:
        if choice.number < self._number:
            return self._left[0] if self._left[0] in choice.enabled else None
        free = [task for task in choice.enabled if self._has_come or task != self._held]
        if not free:
            return None
        if not self._has_come and self._awaited in free:
            return self._awaited
        wished = next((task for task in self._left if task in free), None)
        return wished or (choice.previous if choice.previous in free else free[0])

    def done(self, step: Step) -> None:
        if step.task in self._left:
            self._left.remove(step.task)
        self._done += 1
        self._has_come = self._has_come or (self._done > self._number and self.has_come(step))

    def has_come(self, step: Step) -> bool:
        """Whether a step is what is waited for."""
        kind, thing, _, at, _ = step.operation
        wanted = self._operation
        return step.task == self._awaited and (kind, thing, at) == (wanted.kind, wanted.thing, wanted.at)
