"""Levels of preemptions beside a search that will not come to its end within its limit.

Theory of operation. Now and then the search is asked how many executions it will be in all, as far as it can
tell, and what is left. If these are many times as many as its limit allows, or if late in its time more is
left than a while before (of a search over states nothing else is known, so that one is given its time),
every third execution from then on is one of a search by levels (`schedulers.bounded`), for the search may
still be nearer to its end than it can tell: all schedules without preemptions, then all with one, and so on,
each level complete before the next. It learns from the executions of the other search too, and executes no
class again that it knows. So a search that stays open says what it has shown: that there is no failure with
at most so many preemptions. If the levels come to their end first, all is covered.

Law: preemptions are counted as the program would see them. Where interchangeable tasks wait for each other
(`joining.alike`), they are not, and there are no levels.
"""

from __future__ import annotations

from typing import Any

from possibly.control.coverage import coverage_of
from possibly.control.execution import Execution, Explorer
from possibly.control.joining.alike import is_turn
from possibly.control.schedulers.bounded import Bounded
from possibly.control.tree import HUNT

OFTEN = 0.1
"""After so much of its limit, and again each time, the search is asked."""
BEYOND = 3.0
"""It will not come to its end if it needs so many times its limit."""


HALF, LATE = 0.5, 0.7
EVERY = 3
"""So many executions have one of a level among them."""


class Deepening:
    """The levels of one search, once there are any."""

    def __init__(self) -> None:
        self.levels: Bounded | None = None
        self._asked = OFTEN
        self._left: int | None = None
        """What was left when the search was asked last."""
        self._planned = 0
        """Executions since there are levels."""
        self._plans: list[Any] = []
        """Those under way that are of a level."""
        self._is_possible = True

    @property
    def is_complete(self) -> bool:
        """Whether the levels have covered everything."""
        return self.levels is not None and self.levels.is_complete and not self._plans

    def forget(self) -> None:
        """The search begins anew."""
        self.levels, self._left, self._plans = None, None, []

    def ask(self, explorer: Explorer, executions: int, part: float) -> None:
        """Begins if a search will not come to its end that has had so large a part of its limit."""
        if self.levels is not None or part < self._asked or executions < HUNT or not self._is_possible:
            return
        self._asked = part + OFTEN
        found = coverage_of(explorer)
        if found is None or found.complete:
            return
        grows = self._left is not None and found.left >= self._left > 0
        self._left = found.left
        is_beyond = found.estimate * part > BEYOND * executions
        joining = getattr(explorer, "joining", None)
        if joining is not None and joining.executions:
            is_due = grows and part >= LATE
        elif joining is not None:  # it begins later
            is_due = is_beyond and part >= HALF
        else:
            is_due = is_beyond or (grows and part >= HALF)
        if is_due:
            self.levels = Bounded(None)

    def plan(self, explorer: Explorer) -> Any:
        """The next execution of the search, or now and then of a level."""
        if self.levels is None:
            return explorer.plan()
        is_next = self._planned % EVERY == 0
        self._planned += 1
        plan = self.levels.plan() if is_next and not self.levels.strayed else None
        if plan is None:
            return None if self.is_complete else explorer.plan()
        self._plans.append(plan)
        return plan

    def learn(self, execution: Execution, plan: Any) -> bool:
        """Takes an execution in; whether it was one of a level, so that the search knows nothing of it."""
        is_own = any(each is plan for each in self._plans)
        self._plans = [each for each in self._plans if each is not plan]
        if self.levels is None:
            return is_own
        if self._waits_for_likes(execution):
            self.levels, self._is_possible = None, False
        elif is_own:
            self.levels.learn(execution)
        else:
            self.levels.note(execution)
        return is_own

    @staticmethod
    def _waits_for_likes(execution: Execution) -> bool:
        return any(is_turn(access.thing) for step in execution.steps for access in step.operation.footprint)
