"""Exploring a program: executions under control, one after another, until one fails or all are covered.

The verdict says what was covered. `complete` is true only if the explorer has nothing left, it is one that
covers everything, and nothing happened outside control; otherwise `open` says what leaves it open. If an
execution shows that accesses which were hidden race, they are visible from then on and the search begins
anew (see `control.runtime.memory`); that execution is its first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from possibly.control.execution import Execution, Explorer, Outcome, Task
from possibly.control.runtime.zygote import ControlledProgram
from possibly.control.workers import Team
from possibly.errors import UsageError
from possibly.session import check

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.session.kept import Kept
    from possibly.trace.model import Trace
    from possibly.verdict.model import Verdict

BAD = (Outcome.FAILED, Outcome.DEADLOCK, Outcome.LIVELOCK)
Progress = Callable[[str, int, int | None], None]
Check = Callable[[Execution], dict[str, Any] | None]
"""Looks at an execution as a partial order: what is wrong with it, or None."""


@dataclass(frozen=True, slots=True)
class Options:
    scheduler: str = "dpor"
    executions: int | None = None
    seconds: float | None = None
    preemptions: int = 2
    depth: int = 3
    """Of the bugs that `pct` looks for."""
    seed: int = 0
    minimise: int = 200
    """So many executions are spent to make a failing schedule short; 0: none."""
    jobs: int = 1
    """So many executions run at a time."""
    kept: Kept | None = None
    """The file in which the explored part is kept."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in one execution."""

    execution: Execution
    number: int
    """It was the number-th execution."""
    details: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.details.get("kind", "failure"))

    @property
    def message(self) -> str:
        return str(self.details.get("message", ""))

    @property
    def schedule(self) -> tuple[Task, ...]:
        return self.execution.schedule


@dataclass(slots=True)
class Exploration:
    """What was found and what was covered."""

    executions: int = 0
    earlier: int = 0
    """Those of an earlier search that this one went on with."""
    steps: int = 0
    restarts: int = 0
    seconds: float = 0.0
    failure: Failure | None = None
    complete: bool = False
    open: dict[str, None] = field(default_factory=dict)
    """Why the search is not complete."""
    assumed: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    """Families of memory that are choice points."""
    explorer: Any = None

    @property
    def holds(self) -> bool | None:
        """True, False, or None where something leaves it open."""
        if self.failure is not None:
            return False
        return True if self.complete else None


def explorer_for(options: Options) -> Explorer:
    """The explorer of that name."""
    match options.scheduler:
        case "dpor":
            from possibly.control.schedulers.dpor import Dpor

            return Dpor()
        case "bounded":
            from possibly.control.schedulers.bounded import Bounded

            return Bounded(options.preemptions)
        case "random":
            from possibly.control.schedulers.random import RandomWalk

            return RandomWalk(options.seed)
        case "pct":
            from possibly.control.schedulers.pct import Pct

            return Pct(options.depth, options.seed)
    raise UsageError(f"there is no scheduler {options.scheduler!r}", hint="dpor, bounded, random or pct")


def property_check(program: ControlledProgram, specification: Specification, options: check.Options) -> Check:
    """Looks whether the properties hold in every order of an execution's steps that it stands for."""
    from possibly.session.execution_trace import trace_of

    def look(execution: Execution) -> dict[str, Any] | None:
        trace = trace_of(execution, program.initial)
        report = check.check_trace(trace, specification, options)
        undecided = None
        for verdict in report.verdicts:
            if verdict.holds is False:
                return _violated(verdict, trace)
            if verdict.holds is None:
                undecided = {"undecided": f"property {verdict.name}, which is undecided on an execution"}
        return undecided

    return look


def _violated(verdict: Verdict, trace: Trace) -> dict[str, Any]:
    witness = verdict.witness
    events = [trace.find(name) for name in witness.path] if witness is not None else []
    return {
        "kind": "property",
        "property": verdict.name,
        "language": verdict.language,
        "formula": verdict.formula,
        "message": f"{verdict.name}: {verdict.formula}",
        "witness": list(witness.path) if witness is not None else None,
        "order": [event for event in events if event is not None],
    }


def race_check(execution: Execution) -> dict[str, Any] | None:
    """Conflicting accesses that nothing orders are wrong, whatever comes of them."""
    from possibly.control.races import data_races

    races = data_races(execution)
    if not races:
        return None
    return {"kind": "data race", "message": _race_message(races[0]), "races": races}


def _race_message(race: dict[str, Any]) -> str:
    told = [f"{each['name']} {each['kind']}s it at {each['at']}" for each in (race["first"], race["second"])]
    return f"{race['thing']}: {told[0]}, {told[1]}, in no order"


def _left_by(explorer: Any, options: Options) -> str | None:
    """What an explorer that has nothing left did not cover, if it is one that leaves something out."""
    if options.scheduler == "bounded" and not explorer.is_complete:
        return f"schedules with more than {options.preemptions} preemptions"
    tree = getattr(explorer, "tree", None)
    if tree is not None and tree.divergence is not None:
        return f"something outside control decides: {tree.divergence}"
    return None


def explore(
    program: ControlledProgram,
    options: Options = Options(),  # noqa: B008 - it is immutable
    looks_wrong: Check | None = None,
    progress: Progress | None = None,
    make: Callable[[], Explorer] | None = None,
) -> Exploration:
    """Runs the program until something fails, nothing is left, or a limit is hit.

    `make` gives an explorer other than that of the options.
    """
    return _Search(program, options, looks_wrong, progress, make).run()


class _Search:
    def __init__(
        self,
        program: ControlledProgram,
        options: Options,
        check: Check | None,
        progress: Progress | None,
        make: Callable[[], Explorer] | None,
    ) -> None:
        self.make = make or (lambda: explorer_for(options))
        self.program = program
        self.options = options
        self.check = check
        self.progress = progress
        self.found = Exploration()
        self.explorer = self.make() if options.kept is None else options.kept.begin(program, self.found)
        self.begun = time.monotonic()
        self.limits: set[str] = set()
        self.team: Team[ControlledProgram] = Team([])

    def run(self) -> Exploration:
        found = self.found
        twins = [self.program.twin() for _ in range(self.options.jobs - 1)]
        self.team = team = Team([self.program, *twins])
        try:
            while found.failure is None and not self._limit():
                while team.idle and (plan := self.explorer.plan()) is not None:
                    team.begin(plan)
                if not team.running:
                    self._conclude()
                    break
                self._wait()
            team.drain()
        finally:
            for twin in twins:
                twin.close()
            found.seconds = time.monotonic() - self.begun
            if self.options.kept is not None:
                self.options.kept.save(self.program, found, self.explorer, self.limits)
            found.assumed = tuple(self.program.assumed)
            found.visible = tuple(sorted(self.program.visible))
            found.explorer = self.explorer
        return found

    def _wait(self) -> None:
        """Takes the next execution that is over; what runs beside it may have become useless by that."""
        worker, plan, execution = self.team.finished()
        explorer = self.explorer
        if worker is not self.program:
            self.program.learn_from(worker)
        self._take(execution, plan)
        if self.explorer is not explorer and self._drained():
            self.explorer = self.make()

    def _drained(self) -> bool:
        """Lets all that runs come to its end; whether anything more has become visible by that."""
        visible, grown = len(self.program.visible), self.program.grown
        self.team.drain()
        self.program.grown = grown
        return len(self.program.visible) > visible

    def _conclude(self) -> None:
        """Nothing is left to explore."""
        found = self.found
        left = _left_by(self.explorer, self.options)
        if left is not None:
            found.open[left] = None
        for family in self.program.left:
            found.open[f"{family}, which tasks race for and which is not a choice point"] = None
        found.complete = not found.open

    def _limit(self) -> bool:
        options, found = self.options, self.found
        if options.executions is not None and found.executions - found.earlier >= options.executions:
            limit = f"the limit of {options.executions:,} executions"
        elif options.seconds is not None and time.monotonic() - self.begun >= options.seconds:
            limit = f"the limit of {options.seconds:g} seconds"
        else:
            return False
        self.limits.add(limit)
        found.open[limit] = None
        return True

    def _take(self, execution: Execution, plan: Any) -> None:
        found = self.found
        found.executions += 1
        found.steps += len(execution.steps)
        if self.progress is not None:
            self.progress("exploring", found.executions, self.options.executions)
        found.open.update(dict.fromkeys(execution.uncontrolled))
        if self.program.grown and (found.executions > 1 or self.program.repeat):
            found.restarts += 1
            self.explorer = self.make()
            plan = self.explorer.plan()
        if execution.outcome is Outcome.DIVERGED or _strayed(execution, plan):
            found.open[_divergence(execution)] = None
        if not self.program.repeat:
            self.explorer.learn(execution)
        elif self.program.grown:
            self.explorer = self.make()
        details = execution.failure if execution.outcome in BAD else None
        if details is None and self.check is not None and execution.outcome is Outcome.FINISHED:
            details = self.check(execution)
            if details is not None and details.get("undecided"):
                found.open[str(details["undecided"])] = None
                details = None
        if details is not None:
            found.failure = Failure(execution, found.executions, details)
            self._drained()
            if self.options.minimise and execution.outcome in BAD:
                self._minimise(execution)
            elif details.get("order"):
                self._follow(execution, details)

    def _follow(self, execution: Execution, details: dict[str, Any]) -> None:
        """The order that violates a property, run: the execution that was looked at only stands for it."""
        from possibly.control.schedulers.course import Course

        if self.program.grown:
            return
        tasks = tuple(execution.steps[number].task for number in details["order"])
        other = self.program.execute(Course(tasks))
        if other.schedule[: len(tasks)] == tasks:
            again = self.check(other) if self.check is not None else None
            self.found.failure = Failure(other, self.found.executions, again or details)

    def _minimise(self, execution: Execution) -> None:
        """The failing schedule with the fewest turns; what that takes does not count as exploring."""
        from possibly.control.minimise import minimised

        if self.program.grown:  # what was inserted afterwards is a schedule of the program from now on
            execution = self._again(execution)
        best = minimised(self.program, execution, self.options.minimise)
        self.found.failure = Failure(best, self.found.executions, best.failure or {})

    def _again(self, execution: Execution) -> Execution:
        from possibly.control.schedulers.course import Course

        other = self.program.execute(Course(execution.schedule))
        return other if other.outcome is execution.outcome else execution


def _strayed(execution: Execution, plan: Any) -> bool:
    """The execution ended before it had done all that was planned except the last choice, which may fail."""
    prefix = getattr(plan, "prefix", ())
    return execution.outcome is Outcome.CUT_OFF and len(execution.steps) < len(prefix) - 1


def _divergence(execution: Execution) -> str:
    told = (execution.failure or {}).get("message", "a schedule did not go the same way again")
    return f"something outside control decides: {told}"
