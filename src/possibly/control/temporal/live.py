"""A live program as states: schedules, and which of them are the same state.

Nothing of a program's state is stored. A state is the sequence of choices that leads to it, and whoever
wants to know something of it executes the program again along that sequence ("Temporal debugging for
concurrent systems", section 5, after Verisoft). Two schedules whose steps are in the same happened-before
order lead to the same state (`control.execution`: steps that are not dependent commute), so a state is
named by the least of them: `least`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from possibly.control.causality import Causality, members
from possibly.control.execution import Choice, Scheduler, Step, Task

Schedule = tuple[Task, ...]


class Follow:
    """The scheduler that follows a schedule and then goes on for a while with whoever was running."""

    def __init__(self, schedule: Schedule, further: int) -> None:
        self.schedule = schedule
        self.further = further

    def choose(self, choice: Choice) -> Task | None:
        if choice.number < len(self.schedule):
            task = self.schedule[choice.number]
            return task if task in choice.enabled else None
        if choice.number >= len(self.schedule) + self.further:
            return None
        return choice.previous if choice.previous in choice.enabled else choice.enabled[0]

    def done(self, step: Step) -> None:
        """It does not depend on what was done."""


class Wander(Follow):
    """Follows a schedule and goes on at random to the end."""

    def __init__(self, schedule: Schedule, seed: int) -> None:
        super().__init__(schedule, 0)
        self._random = Random(seed)

    def choose(self, choice: Choice) -> Task | None:
        if choice.number < len(self.schedule):
            return super().choose(choice)
        return self._random.choice(choice.enabled)


class After:
    """Follows a schedule; from its end on another scheduler chooses, for whom that is the beginning."""

    def __init__(self, schedule: Schedule, then: Scheduler) -> None:
        self.schedule = schedule
        self.then = then
        self._done = 0

    def choose(self, choice: Choice) -> Task | None:
        begin = len(self.schedule)
        if choice.number < begin:
            task = self.schedule[choice.number]
            return task if task in choice.enabled else None
        return self.then.choose(choice._replace(number=choice.number - begin))

    def done(self, step: Step) -> None:
        self._done += 1
        if self._done > len(self.schedule):
            self.then.done(step)


def least(steps: Sequence[Step]) -> Schedule:
    """The least schedule with the happened-before order of these steps."""
    direct = Causality(steps).direct
    waiting = [len(list(members(mask & ~(1 << number)))) for number, mask in enumerate(direct)]
    following: list[list[int]] = [[] for _ in steps]
    for number, mask in enumerate(direct):
        for before in members(mask & ~(1 << number)):
            following[before].append(number)
    ready = {number for number, count in enumerate(waiting) if not count}
    found: list[Task] = []
    while ready:
        # Two ready steps are never of one task: a step waits for the one before it.
        number = min(ready, key=lambda each: steps[each].task)
        ready.remove(number)
        found.append(steps[number].task)
        for after in following[number]:
            waiting[after] -= 1
            if not waiting[after]:
                ready.add(after)
    return tuple(found)
