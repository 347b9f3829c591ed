"""A failing execution as it is shown: with the fewest turns, with what decides it, and with all it touched.

What is executed for that does not count as exploring. Each result is kept as soon as it is there, so that
whoever has seen enough can interrupt it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from possibly.control.execution import Execution, Outcome, Program, Scheduler
from possibly.control.forking.patience import TimeIsUp
from possibly.control.forking.zygote import ControlledProgram
from possibly.control.minimise import BAD, Same, cost, fails_alike, fewest_turns, minimised
from possibly.control.schedulers.course import Course
from possibly.control.why import Cause
from possibly.control.why.atomic import smallest_atomic
from possibly.control.why.nearby import Nearby
from possibly.control.why.pairs import are_turns, deciding, one_after_the_other
from possibly.control.why.returning import never_fails, point_of_no_return
from possibly.logic.languages import ORDERED
from possibly.session.exploring.checks import Check, shown_by
from possibly.session.why.asked import asked_steps
from possibly.session.why.failure import Failure
from possibly.session.why.orders import passes_in_some_order

AT_ONCE = 1.0
"""Seconds after which a failure is told although its schedule is not simple yet."""
SHORTEST, LONGER, LONGEST = 500, 10, 20_000
"""How many steps other executions may have: of their own, for each of the failing one, and at most."""
PART = 3
"""This part of the time that there is goes to making the schedule simpler."""
FOLLOWED = 3
"""So often the order that violates a property is run, if memory turns out to be raced for on the way."""
IN_TURN = 24
"""So many executions show that no order of the event loop itself fails, or it is not known."""
MOST_STEPS = 40_000
"""Steps of all executions that are made to explain one: of long ones there are fewer."""


NOTHING = Cause()
TIMED = ("resume", "timer")
"""What event loops do in an order of their own."""


class Judged:
    """A program whose executions fail where they violate a property by their own order of steps.

    An execution whose steps violate it in another order alone passes: that other order is another schedule.
    """

    def __init__(self, program: ControlledProgram, check: Check) -> None:
        self.program, self._check = program, check

    def execute(self, scheduler: Scheduler) -> Execution:
        return self.judged(self.program.execute(scheduler))

    def judged(self, execution: Execution) -> Execution:
        details = self._check(execution) if execution.outcome is Outcome.FINISHED else None
        if details is None or "undecided" in details:
            return execution
        if "order" in details:
            details = shown_by(execution, self.program, details)
            if "step" not in details:
                return execution
        return replace(execution, outcome=Outcome.FAILED, failure=details)

    def may_pass(self, execution: Execution, begun: int) -> bool | None:
        """Whether a failing execution passes in another order of what comes after its first steps."""
        details = execution.failure or {}
        if details.get("language") not in ORDERED:
            return False
        return passes_in_some_order(execution, self.program.initial, details["specification"], begun)


class Simplest:
    """Looks for the simplest way to show a failure."""

    def __init__(
        self,
        program: ControlledProgram,
        check: Check,
        failure: Failure,
        keep: Callable[[Failure], None],
        tell: Callable[[], None],
    ) -> None:
        self.program = program
        self.failure = failure
        self._keep, self._tell = keep, tell
        self._judged = Judged(program, check)
        self._check = check

    def run(self, budget: int, explain: bool = True) -> None:
        """At most so many executions make the schedule simpler."""
        execution, details = self.failure.execution, self.failure.details
        if "round" in details:  # a schedule that goes round for ever has no simpler one
            return
        if execution.outcome not in BAD:
            self._follow()
        else:
            self._use(execution)
        best = self._failing()
        if best is None or not budget:
            return
        with self._short_executions(len(best.steps)):
            with self._part_of_the_time():
                self._minimise(best, budget)
            if explain:
                self._explain()
        if explain:
            self._see_everything()

    @contextmanager
    def _short_executions(self, steps: int) -> Iterator[None]:
        """A task that goes round and round where others could go on shows nothing: it need not go far."""
        options = self.program.options
        limit = options.get("limit")
        options["limit"] = min(limit or LONGEST, SHORTEST + LONGER * steps)
        try:
            yield
        finally:
            options["limit"] = limit
            if limit is None:
                del options["limit"]

    @contextmanager
    def _part_of_the_time(self) -> Iterator[None]:
        """A simpler schedule is worth a part of the time: what decides is worth more."""
        program, now = self.program, time.monotonic()
        end = program.until
        if end is not None:
            program.until = now + max((end - now) / PART, 0.0)
        try:
            yield
        except TimeIsUp:
            if end is None or time.monotonic() >= end:
                raise
        finally:
            program.until = end

    def _use(self, execution: Execution, details: dict[str, Any] | None = None) -> None:
        """This execution shows the failure from now on."""
        told = details if details is not None else execution.failure or {}
        self.failure = replace(self.failure, execution=execution, details=told)
        self._keep(self.failure)

    def _failing(self) -> Execution | None:
        """The execution as one that fails by itself; None if it only stands for one that does."""
        execution, details = self.failure.execution, self.failure.details
        if execution.outcome in BAD:
            return self._again(execution) if self.program.grown else execution
        if "step" not in details:
            return None
        return replace(execution, outcome=Outcome.FAILED, failure=details)

    def _again(self, execution: Execution) -> Execution:
        """What was inserted afterwards is a schedule of the program from now on."""
        other = self.program.execute(Course(execution.schedule))
        return other if other.outcome is execution.outcome else execution

    # ---- the order that violates a property ------------------------------------------------------

    def _follow(self) -> None:
        """The order that violates it, run: the execution that was looked at only stands for it."""
        execution, details = self.failure.execution, self.failure.details
        for _ in range(FOLLOWED):
            if self.program.grown:
                execution = self._again(execution)
                details = self._check(execution) or {}
            if "step" in details:
                self._use(execution, details)
            if not details.get("order"):
                return
            if any(self._shows(tasks) for tasks in _orders(execution, details["order"])):
                return

    def _shows(self, tasks: tuple[str, ...]) -> bool:
        """Runs the program in that order; whether it violates the property by itself."""
        other = self._judged.execute(Course(tasks))
        found = other.failure or {}
        if other.schedule[: len(tasks)] != tasks or "step" not in found:
            return False
        self._use(replace(other, outcome=Outcome.FINISHED, failure=None), found)
        return True

    # ---- fewer turns -----------------------------------------------------------------------------

    def _minimise(self, execution: Execution, budget: int) -> None:
        is_property = self.failure.execution.outcome not in BAD
        alike = fails_alike(execution)
        same: Same = (
            (lambda other: alike(other) and "step" in (other.failure or {})) if is_property else alike
        )
        simpler = _Simpler(self._judged if is_property else self.program, execution, same, self._tell)
        try:
            simpler.best = minimised(simpler, execution, budget, same)
        finally:
            best = simpler.best
            if is_property:
                self._use(replace(best, outcome=Outcome.FINISHED, failure=None), best.failure or {})
            else:
                self._use(best)

    # ---- why -------------------------------------------------------------------------------------

    def _explain(self) -> None:
        execution = self._failing()
        if execution is None:
            return
        most = max(1, MOST_STEPS // (1 + len(execution.steps)))
        near = self._near(execution)
        cause = self._found_near(near, most)
        if near.nearest is None and any(step.operation.kind == "resume" for step in execution.steps):
            cause = self._in_freer_orders(execution, most) or cause
        no_return = point_of_no_return(near, min(60, most)) if most > 1 else None
        cause = replace(cause, no_return=no_return, passing=cause.passing or near.nearest)
        self._because(cause)
        if any(step.operation.kind in TIMED for step in execution.steps):
            self._because(replace(cause, is_beyond=self._is_beyond(min(IN_TURN, most))))

    def _near(self, execution: Execution) -> Nearby:
        return Nearby(self._judged, execution, self._asked(execution), self._judged.may_pass)

    def _found_near(self, near: Nearby, most: int, cause: Cause = NOTHING) -> Cause:
        """What decides, with at most so many executions."""
        for pair in deciding(near, min(24, most)):
            cause = replace(cause, pairs=(*cause.pairs, pair), tried=near.tried, passing=near.nearest)
            self._because(cause)
        cause = replace(cause, tried=near.tried)
        things = frozenset(pair.thing for pair in cause.pairs[:1] if pair.thing is not None)
        atomic = smallest_atomic(near, min(12, most), things) if most > 1 else None
        is_apart = atomic is None and most > 1 and bool(cause.pairs) and are_turns(cause.pairs[0])
        in_turn = one_after_the_other(near, cause.pairs[0]) if is_apart else None
        cause = replace(cause, atomic=atomic, in_turn=in_turn, passing=near.nearest)
        self._because(cause)
        return cause

    def _in_freer_orders(self, execution: Execution, most: int) -> Cause | None:
        """What decides if sleeps may end early: a loop may go the one way that fails every time it runs."""
        with self._free_sleeps():
            other = self._judged.execute(Course(execution.schedule))
            if other.schedule != execution.schedule or other.outcome is not execution.outcome:
                return None
            near = self._near(other)
            cause = self._found_near(near, most, Cause(is_freer=True))
        return cause if near.nearest is not None else None

    def _is_beyond(self, most: int) -> bool:
        """Whether no order that the event loop takes by itself fails."""
        if self.program.options.get("fifo"):
            return False
        assumed = dict(self.program.assumed)
        self.program.options["fifo"] = True
        try:
            return never_fails(self._judged, most)
        finally:
            del self.program.options["fifo"]
            self.program.assumed = assumed  # what was explored does not rest on it

    @contextmanager
    def _free_sleeps(self) -> Iterator[None]:
        self.program.options["free_sleeps"] = True
        try:
            yield
        finally:
            del self.program.options["free_sleeps"]

    def _asked(self, execution: Execution) -> frozenset[int]:
        """The steps whose order a property may depend on, though nothing else does."""
        details = self.failure.details
        if details.get("language") not in ORDERED:
            return frozenset()
        return asked_steps(execution, self.program.initial, details)

    def _because(self, cause: Cause) -> None:
        self.failure = replace(self.failure, cause=cause)
        self._keep(self.failure)

    def _see_everything(self) -> None:
        """The same execution once more, with what it touches and what is no choice point."""
        execution = self.failure.execution
        other = told_whole(self.program, Course(execution.schedule))
        if other.schedule == execution.schedule and other.outcome is execution.outcome:
            if other.failure is not None:
                self.failure = replace(self.failure, details=other.failure)
            asked = asked_steps(other, self.program.initial, self.failure.details)
            self.failure = replace(self.failure, execution=other, asked=asked)
            self._keep(self.failure)


def told_whole(program: ControlledProgram, scheduler: Scheduler) -> Execution:
    """An execution that tells of accesses too which are no choice points."""
    program.options["tells"] = True
    try:
        return program.execute(scheduler)
    finally:
        del program.options["tells"]


def _orders(execution: Execution, numbers: list[int]) -> list[tuple[str, ...]]:
    """The schedules that lead to where a property is violated: with the fewest turns, and as it was found."""
    needed = sum(1 << number for number in numbers)
    return [fewest_turns(execution, needed), tuple(execution.steps[number].task for number in numbers)]


class _Simpler:
    """A program that remembers the simplest of its executions that failed alike."""

    def __init__(self, program: Program, execution: Execution, same: Same, tell: Callable[[], None]) -> None:
        self._program, self._same = program, same
        self.best = execution
        self._tell: Callable[[], None] | None = tell
        self._begun = time.monotonic()

    def execute(self, scheduler: Scheduler) -> Execution:
        if self._tell is not None and time.monotonic() - self._begun > AT_ONCE:
            self._tell()
            self._tell = None
        other = self._program.execute(scheduler)
        if self._same(other) and cost(other) < cost(self.best):
            self.best = other
        return other
