"""The point of no return: the first step of a failing execution after which every schedule fails.

Theory of operation. If every schedule fails after some steps, then also after more: so the first such step is
found by halving. What can follow a beginning is explored as a program of its own, whose initial state is the
one after these steps (`After`): when its search comes to an end without a passing execution, the answer is
exact, an AF over the tree of executions. Passing executions that are known already begin the search.
"""

from __future__ import annotations

from dataclasses import replace

from possibly.control.execution import Choice, Execution, Outcome, Program, Scheduler, Step, Task
from possibly.control.schedulers.dpor import Dpor
from possibly.control.why import NoReturn
from possibly.control.why.nearby import Nearby, fails, passes

MOST = 60
"""So many executions are made at most."""


class After:
    """A program that has done some steps already."""

    def __init__(self, program: Program, prefix: tuple[Task, ...]) -> None:
        self._program, self._prefix = program, prefix

    def whole(self, scheduler: Scheduler) -> Execution:
        """An execution with the steps that were done already."""
        found = self._program.execute(Delayed(self._prefix, scheduler))
        is_like_it = found.schedule[: len(self._prefix)] == self._prefix
        return found if is_like_it else replace(found, outcome=Outcome.DIVERGED)

    def rest(self, whole: Execution) -> Execution:
        return replace(whole, steps=whole.steps[len(self._prefix) :])


class Delayed:
    """A scheduler that begins when the steps of a prefix are done."""

    def __init__(self, prefix: tuple[Task, ...], scheduler: Scheduler) -> None:
        self._prefix, self._scheduler = prefix, scheduler
        self._done = 0

    def choose(self, choice: Choice) -> Task | None:
        number = choice.number - len(self._prefix)
        if number < 0:
            task = self._prefix[choice.number]
            return task if task in choice.enabled else None
        return self._scheduler.choose(choice._replace(number=number))

    def done(self, step: Step) -> None:
        self._done += 1
        if self._done > len(self._prefix):
            self._scheduler.done(step)


def point_of_no_return(near: Nearby, budget: int = MOST) -> NoReturn:
    """The fewest steps after which all that was or could be executed fails."""
    schedule = near.execution.schedule
    first = 0 if near.nearest is None else near.shared(near.nearest) + 1
    last, made, is_exact = near.decisive, 0, True
    while first < last:
        middle = (first + last) // 2 if first else 0
        verdict, spent = _all_fail(near, schedule[:middle], budget - made)
        made += spent
        if verdict is False:
            first = middle + 1
        else:
            last, is_exact = middle, is_exact and verdict is True
        if made >= budget:
            break
    if first < last:
        is_exact = False
    return NoReturn(last, made, is_exact)


def _all_fail(near: Nearby, prefix: tuple[Task, ...], budget: int) -> tuple[bool | None, int]:
    """Whether every schedule that begins like this fails, None if that is not known; and what that took."""
    explorer, after = Dpor(mixes=False), After(near.program, prefix)
    is_known = True
    for spent in range(budget):
        if (plan := explorer.plan()) is None:
            return (True if is_known else None), spent
        whole = after.whole(plan)
        if passes(whole):
            near.saw(whole)
            return False, spent + 1
        if not fails(whole) and (whole.outcome is not Outcome.CUT_OFF or whole.uncontrolled):
            return None, spent + 1
        another = near.may_pass(whole, len(prefix)) if fails(whole) else False
        if another:
            return False, spent + 1
        is_known = is_known and another is False
        explorer.learn(after.rest(whole))
    return None, budget


def never_fails(program: Program, budget: int) -> bool:
    """Whether so many executions show that no schedule fails."""
    explorer = Dpor(mixes=False)
    for _ in range(budget):
        if (plan := explorer.plan()) is None:
            return True
        execution = program.execute(plan)
        if not passes(execution):
            return False
        explorer.learn(execution)
    return explorer.plan() is None
