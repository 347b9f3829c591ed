"""The fewest moments of one task that would have to happen without others in between.

Theory of operation. An atomicity violation is a step of another task between two moments of one task, with
both of which it conflicts (Lu, Tucek, Qin and Zhou: AVIO, ASPLOS 2006). Such intervals are tried, the
shortest first: the program is executed with the moments of the interval in a row, all else as it was. Where
two tasks came between each other's moments that is not enough: then the failing schedule is followed with the
places of the interval as a critical section (`Guarded`), as if all who come there took one lock. If it does
not fail one way or the other, the program is executed with that section in the schedules with the fewest
preemptions: an interval with which any of these fails is too small. So what is told was executed, though not
in every schedule.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.control.causality import members
from possibly.control.execution import Choice, Operation, Scheduler, Step, Task, Thing
from possibly.control.naming import Sort, sort_of
from possibly.control.schedulers.bounded import Bounded
from possibly.control.schedulers.course import Course
from possibly.control.why import Atomic, Moment
from possibly.control.why.nearby import Nearby, Wish, fails, passes

MOST = 12
"""So many intervals are tried at most."""
SCHEDULES, PREEMPTIONS = 20, 2
"""So many schedules are executed with a critical section, and so often each task is interrupted in them."""
NEAREST = 3
"""So many beginnings of an interval are looked at for each end."""


def smallest_atomic(
    near: Nearby, budget: int = MOST, things: frozenset[Thing] = frozenset()
) -> Atomic | None:
    """Intervals that begin and end with one of the things come first: of a library there are many others."""
    found = _intervals(near, things)
    ranked = sorted(found, key=lambda each: (not _is_about(each, things), _length(near, each)))
    for interval in ranked[:budget]:
        if _helps(near, interval) and _is_enough(near, interval):
            return interval
    return None


def _is_about(interval: Atomic, things: frozenset[Thing]) -> bool:
    first, last = ({a.thing for a in each.operation.footprint} for each in (interval.first, interval.last))
    return bool(first & last & things)


def _helps(near: Nearby, interval: Atomic) -> bool:
    """Whether the failing execution does not fail with the interval in a row, or as a critical section."""
    others = (near.run(row) for row in _in_a_row(near, interval))
    if any(other is not None and passes(other) for other in others):
        return True
    ends = (interval.first.operation.thing, interval.last.operation.thing)
    if any(sort_of(thing) is not Sort.MEMORY for thing in ends):  # who waits in between lets the others in
        return False
    followed = Course((), guide=Wish(near.execution.schedule))
    return passes(near.execute(Guarded(followed, *_section(near, interval))))


def _is_enough(near: Nearby, interval: Atomic) -> bool:
    """Whether the program does not fail if the interval is a critical section, as far as that is tried."""
    section = _section(near, interval)
    explorer = Bounded(PREEMPTIONS)
    for _ in range(SCHEDULES):
        if (plan := explorer.plan()) is None:
            return True
        other = near.program.execute(Guarded(plan, *section))
        if fails(other):
            return False
        explorer.learn(other)
    return True


def _section(near: Nearby, interval: Atomic) -> tuple[str, frozenset[str]]:
    """Where the critical section begins, and the places within it."""
    begin, end, task = interval.first.number or 0, _end(near, interval.last), interval.first.task
    inner = {step.operation.at for step in near.steps[begin + 1 : end + 1] if step.task == task}
    return interval.first.operation.at, frozenset({*inner, interval.last.operation.at})


class Guarded:
    """A scheduler under which one task at a time is in a critical section, which nobody has written yet.

    A task is inside when it has done what stands at the beginning, while what it does next stands inside.
    """

    def __init__(self, scheduler: Scheduler, begin: str, inner: frozenset[str]) -> None:
        self._scheduler, self._begin, self._inner = scheduler, begin, inner
        self._entered: set[Task] = set()

    def choose(self, choice: Choice) -> Task | None:
        inside = {task for task in self._entered if self._goes_on(choice.pending.get(task))}
        self._entered = inside
        free = tuple(t for t in choice.enabled if not self._must_wait(choice.pending[t], inside - {t}))
        return self._scheduler.choose(choice._replace(enabled=free)) if free else None

    def _goes_on(self, operation: Operation | None) -> bool:
        return operation is not None and operation.at in self._inner

    def _must_wait(self, operation: Operation, others: set[Task]) -> bool:
        return bool(others) and operation.at in (self._begin, *self._inner)

    def done(self, step: Step) -> None:
        if step.operation.at == self._begin:
            self._entered.add(step.task)
        self._scheduler.done(step)


def _intervals(near: Nearby, things: frozenset[Thing]) -> Iterator[Atomic]:
    """For each moment the last few of its task after which something came that conflicts with both.

    Of those about one of the things there are as many more.
    """
    order = near.order
    own: dict[Task, list[Moment]] = {}
    for last in near.moments():
        if last.number is not None and last.number >= near.decisive and not near.is_asked(last):
            continue
        meeting = near.conflicts(last) & ~order.of_task.get(last.task, 0)
        meeting &= (1 << _end(near, last)) - 1
        found = [0, 0]
        for first in reversed(own.setdefault(last.task, [])):
            assert first.number is not None
            between = meeting >> first.number << first.number
            interval = Atomic(first, last, ())
            which = _is_about(interval, things)
            if between & near.conflicts(first) and found[which] < NEAREST:
                found[which] += 1
                yield interval._replace(between=tuple(members(between)))
        own[last.task].append(last)


def _length(near: Nearby, interval: Atomic) -> tuple[int, int]:
    """How many moments of the task, and how many steps of others."""
    begin, end = interval.first.number or 0, _end(near, interval.last)
    mine = sum(step.task == interval.last.task for step in near.steps[begin:end])
    return mine, end - begin


def _end(near: Nearby, moment: Moment) -> int:
    return near.order.size if moment.number is None else moment.number


def _in_a_row(near: Nearby, interval: Atomic) -> Iterator[tuple[Task, ...]]:
    """The tasks of schedules in which the interval's moments are done one after another.

    What has to be done before one of them and does not follow from the first is done before all of them;
    where a property only asks for their order, perhaps nothing has to.
    """
    begin, task = interval.first.number or 0, interval.first.task
    end = _end(near, interval.last)
    earlier = [step.task for step in near.steps[:begin]]
    needed = near.known_to(interval.last) & ~near.order.future[begin]
    before = [near.steps[n].task for n in range(begin, end) if needed >> n & 1 and near.steps[n].task != task]
    row = [task for step in near.steps[begin:end] if step.task == task]
    yield (*earlier, *before, *row, task)
    if before and near.is_asked(interval.last):
        yield (*earlier, *row, task)
