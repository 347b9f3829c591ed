"""Exploring a program: executions under control, one after another, until one fails or all are covered.

The verdict says what was covered. `complete` is true only if the explorer has nothing left, it is one that
covers everything, and nothing happened outside control; otherwise `open` says what leaves it open. If an
execution shows that accesses which were hidden race, they are visible from then on and the search begins
anew (see `control.runtime.memory`); that execution is its first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from possibly.control.execution import ENDLESS, Execution, Explorer, Outcome, Scheduler, Task
from possibly.control.runtime.patience import TimeIsUp
from possibly.control.runtime.zygote import ControlledProgram
from possibly.control.tree import HUNT
from possibly.control.workers import Team
from possibly.errors import UsageError
from possibly.session.claims import watch_claims, with_claims
from possibly.session.execution_checks import Check
from possibly.verdict.reasons import OUTSIDE, SAME_AGAIN, Reason

if TYPE_CHECKING:
    from possibly.session.kept import Kept

ALONE = 0.1
"""Seconds that one worker searches alone: what is through by then is not worth the start of another."""
CAREFUL = 4
"""So many executions are each planned by all before them: most bugs are found by these."""
AHEAD = 4
"""So many executions a worker are on their way: it runs one while the last is learnt from."""
QUICK = 0.1
"""Seconds of an execution, on average, below which there are so many: all are waited for at the end."""
AT_ONCE = 1.0
"""Seconds after which a failure is told although its schedule is not simple yet."""
SIMPLIFYING = 30.0
"""Seconds for which a failing schedule is made simpler, if the user gave no time and the search took less."""
FOLLOWED = 3
"""So often the order that violates a property is run, if memory turns out to be raced for on the way."""
SAMPLED = 16
"""After so many executions, and each time twice as many, one is repeated in a fresh process."""
BAD = (Outcome.FAILED, Outcome.DEADLOCK, Outcome.LIVELOCK)
Progress = Callable[[str, int, int | None], None]
Seen = Callable[[Execution, dict[str, Any] | None, int], None]
"""Told of an execution, what is wrong with it, and how often the search had begun anew before."""


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
    seen: Seen | None = None
    """Told of each execution."""
    told: Callable[[Failure], None] | None = None
    """Told of a failure whose schedule is still being made simple, if that is not done at once."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in one execution."""

    execution: Execution
    number: int
    """It was the number-th execution."""
    details: dict[str, Any]
    decides: tuple[tuple[int, int], ...] = ()
    """Pairs of steps of the execution: done the other way round it does not fail (`control.deciding`)."""

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
    cut_short: bool = False
    """There was no time to look for a simpler schedule that fails alike."""
    open: dict[str, Reason] = field(default_factory=dict)
    """Why the search is not complete, by the words that say so."""
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


def _left_by(explorer: Any, options: Options) -> tuple[str, Reason] | None:
    """What an explorer that has nothing left did not cover, if it is one that leaves something out."""
    if options.scheduler == "bounded" and not explorer.is_complete:
        more = Reason(remedy="a larger --preemptions, or --scheduler dpor")
        return f"schedules with more than {options.preemptions} preemptions", more
    tree = getattr(explorer, "tree", None)
    if tree is not None and tree.divergence is not None:
        return f"something outside control decides: {tree.divergence}", Reason(remedy=SAME_AGAIN)
    if tree is not None and tree.root.open:
        return "executions that could not be learnt from", Reason(remedy=SAME_AGAIN)
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
        self.check = with_claims(program, check)
        self.progress = progress
        self.found = Exploration()
        self.explorer = self.make() if options.kept is None else options.kept.begin(program, self.found)
        self.begun = time.monotonic()
        self.limits: set[str] = set()
        self.sampled = SAMPLED
        """After so many executions one is repeated in a fresh process, and must be the same there."""
        self.reused = False
        """Some execution was not the first in its process."""
        self.hunted = False
        """Schedules that starve a task have been looked for."""
        self.team: Team[ControlledProgram] = Team([])

    def run(self) -> Exploration:
        found = self.found
        twins = [self.program.twin() for _ in range(self.options.jobs - 1)]
        self.team = team = Team([self.program, *twins])
        if self.options.seconds is not None:
            self._until(self.begun + self.options.seconds)
        try:
            self._search()
            team.drain()
        except TimeIsUp as stop:
            self._give_up(stop)
        finally:
            self._until(None)
            for twin in twins:
                twin.close()
            found.seconds = time.monotonic() - self.begun
            if self.options.kept is not None:
                self.options.kept.save(self.program, found, self.explorer, self.limits)
            found.assumed = tuple(self.program.assumed)
            found.visible = tuple(sorted(self.program.visible))
            found.explorer = self.explorer
        return found

    def _search(self) -> None:
        team = self.team
        while self.found.failure is None and not self._limit():
            while self._has_room() and (plan := self.explorer.plan()) is not None:
                team.begin(plan, self._workers())
            if not team.running:
                is_over = self.found.executions < self.sampled
                self.sampled = max(self.sampled, 2 * self.found.executions)
                if self._is_confirmed() and is_over:
                    self._conclude()
                    break
                continue
            self._wait()

    def _until(self, end: float | None) -> None:
        """When all workers have to be at an end, whatever they do then."""
        for worker in self.team.workers:
            worker.until = end

    def _give_up(self, stop: TimeIsUp) -> None:
        """The user's time is over in the middle of an execution."""
        self.team.abandon()
        if self.found.failure is None:
            self._limit()
            if stop.place:
                what = f"an execution that did not come to its end, at {stop.place}"
                self.found.open[what] = Reason(stop.place, OUTSIDE)

    def _wait(self) -> None:
        """Takes the next execution that is over; what runs beside it may have become useless by that."""
        worker, plan, execution = self.team.finished()
        explorer = self.explorer
        self.reused = self.reused or worker.is_reused
        if worker is not self.program:
            self.program.learn_from(worker)
        self._take(execution, plan)
        if self.explorer is not explorer and self._drained():
            self.explorer = self.make()

    def _has_room(self) -> bool:
        """Whether another execution may begin."""
        if self.found.executions >= self.sampled:  # first all come to an end, and the last is looked at again
            return False
        return len(self.team.running) < self._workers() * self._ahead()

    def _workers(self) -> int:
        """How many may work."""
        return 1 if time.monotonic() - self.begun < ALONE else self.options.jobs

    def _ahead(self) -> int:
        """How many executions each worker may have on its way."""
        done = self.found.executions
        if done < CAREFUL or time.monotonic() - self.begun > QUICK * done:
            return 1
        return AHEAD if done >= HUNT else 2

    def _is_confirmed(self) -> bool:
        """Nothing is left to explore; if fresh processes do not agree, all begins anew with these alone."""
        if all(worker.agrees() for worker in self.team.workers):
            return True
        self._begin_anew_in_fresh_processes()
        return False

    def _begin_anew_in_fresh_processes(self) -> None:
        """Something came from an execution before: none shares its process with another from now on."""
        self.reused = False
        for worker in self.team.workers:
            worker.distrust()
        self.found.restarts += 1
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
            found.open[left[0]] = left[1]
        for family in self.program.left:
            found.open[f"{family}, which tasks race for and which is not a choice point"] = Reason(
                remedy="name it with --watch, or leave --watch and --ignore out"
            )
        found.complete = not found.open

    def _limit(self) -> bool:
        options, found = self.options, self.found
        if options.executions is not None and found.executions - found.earlier >= options.executions:
            limit, more = f"the limit of {options.executions:,} executions", "--executions"
        elif options.seconds is not None and time.monotonic() - self.begun >= options.seconds:
            limit, more = f"the limit of {options.seconds:g} seconds", "--time"
        else:
            return False
        self.limits.add(limit)
        found.open[limit] = Reason(remedy=f"a larger {more}, or --resume FILE to go on another time")
        return True

    def _take(self, execution: Execution, plan: Any) -> None:
        found = self.found
        found.executions += 1
        found.steps += len(execution.steps)
        if self.progress is not None:
            self.progress("exploring", found.executions, self.options.executions)
        self._note(execution)
        watch_claims(self.program)
        if self.program.grown and (found.executions > 1 or self.program.repeat):
            found.restarts += 1
            self.explorer = self.make()
            plan = self.explorer.plan()
        if execution.outcome is Outcome.DIVERGED or _strayed(execution, plan):
            if self.reused:
                self._begin_anew_in_fresh_processes()
                return
            place = str((execution.failure or {}).get("place", ""))
            found.open[_divergence(execution)] = Reason(place, SAME_AGAIN)
        if not self.program.repeat:
            self.explorer.learn(execution)
            tree: Any = getattr(self.explorer, "tree", None)
            if self.reused and tree is not None and tree.diverged:
                self._begin_anew_in_fresh_processes()
                return
        elif self.program.grown:
            self.explorer = self.make()
        details = execution.failure if execution.outcome in BAD else None
        if details is None and execution.outcome is Outcome.FINISHED:
            details = self.check(execution)
            if details is not None and details.get("undecided"):
                found.open[str(details["undecided"])] = Reason(remedy=str(details.get("remedy", "")))
                details = None
        if self.options.seen is not None:
            self.options.seen(execution, details, found.restarts)
        if details is None and not self.hunted and any(r.startswith(ENDLESS) for r in execution.uncontrolled):
            self._hunt_starvation(execution)
        if details is not None:
            found.failure = Failure(execution, found.executions, details)
            self._simplify(execution, details)

    def _note(self, execution: Execution) -> None:
        """What was not under control leaves the search open."""
        known = self.program.reasons
        for what in execution.uncontrolled:
            self.found.open[what] = known.get(what, Reason(remedy=OUTSIDE))

    def _simplify(self, execution: Execution, details: dict[str, Any]) -> None:
        """Within the time that is left; whoever does not want to wait for that interrupts it."""
        if self.options.seconds is None:
            now = time.monotonic()
            self._until(now + max(SIMPLIFYING, now - self.begun))
        try:
            self._drained()
            if self.options.minimise and execution.outcome in BAD and "round" not in details:
                self._minimise(execution)
                self._find_what_decides()
            elif details.get("order"):
                self._follow(execution, details)
        except (TimeIsUp, KeyboardInterrupt):
            self.found.cut_short = True
            self.team.abandon()

    def _hunt_starvation(self, execution: Execution) -> None:
        """A program that need not end may starve some task: the schedules that would are tried, once."""
        from possibly.control.schedulers.rotation import rotations

        self.hunted = True
        self._drained()
        tasks = tuple(task for task in execution.names if task != "0")
        for rotation in rotations(tasks):
            other = self.program.execute(rotation)
            self.found.executions += 1
            self._note(other)
            if other.outcome in BAD:
                self.found.failure = Failure(other, self.found.executions, other.failure or {})
                return

    def _follow(self, execution: Execution, details: dict[str, Any]) -> None:
        """The order that violates a property, run: the execution that was looked at only stands for it."""
        from possibly.control.schedulers.course import Course

        for _ in range(FOLLOWED):
            if self.program.grown:  # what was inserted afterwards is a step of the program from now on
                execution = self._again(execution)
                details = self.check(execution) or {}
            if not details.get("order"):
                return
            tasks = tuple(execution.steps[number].task for number in details["order"])
            other = self.program.execute(Course(tasks))
            shown = self._shown(other, details) if other.schedule[: len(tasks)] == tasks else None
            if shown is not None:
                self.found.failure = Failure(other, self.found.executions, shown)
                return

    def _shown(self, execution: Execution, details: dict[str, Any]) -> dict[str, Any] | None:
        """What is wrong with the execution that was run in the order that violates the property."""
        from possibly.session.execution_checks import shown_by

        again = self.check(execution)
        return None if again is None or "undecided" in again else shown_by(execution, self.program, again)

    def _minimise(self, execution: Execution) -> None:
        """The failing schedule with the fewest turns; what that takes does not count as exploring."""
        from possibly.control.minimise import minimised

        if self.program.grown:  # what was inserted afterwards is a schedule of the program from now on
            execution = self._again(execution)
        simpler = _Simpler(self.program, execution, self._tell)
        try:
            simpler.best = minimised(simpler, execution, self.options.minimise)
        finally:
            best = simpler.best
            self.found.failure = Failure(best, self.found.executions, best.failure or {})

    def _find_what_decides(self) -> None:
        from possibly.control.deciding import deciding

        failure = self.found.failure
        assert failure is not None
        for pair in deciding(self.program, failure.execution):
            failure = replace(failure, decides=(*failure.decides, pair))
            self.found.failure = failure

    def _tell(self) -> None:
        if self.options.told is not None and self.found.failure is not None:
            self.options.told(self.found.failure)

    def _again(self, execution: Execution) -> Execution:
        from possibly.control.schedulers.course import Course

        other = self.program.execute(Course(execution.schedule))
        return other if other.outcome is execution.outcome else execution


class _Simpler:
    """A program that remembers the simplest of its executions that failed alike."""

    def __init__(self, program: ControlledProgram, execution: Execution, tell: Callable[[], None]) -> None:
        from possibly.control.minimise import cost, fails_alike

        self._program = program
        self._same, self._cost = fails_alike(execution), cost
        self.best = execution
        self._tell: Callable[[], None] | None = tell
        self._begun = time.monotonic()

    def execute(self, scheduler: Scheduler) -> Execution:
        if self._tell is not None and time.monotonic() - self._begun > AT_ONCE:
            self._tell()
            self._tell = None
        other = self._program.execute(scheduler)
        if self._same(other) and self._cost(other) < self._cost(self.best):
            self.best = other
        return other


def _strayed(execution: Execution, plan: Any) -> bool:
    """The execution ended before it had done all that was planned except the last choice, which may fail."""
    prefix = getattr(plan, "prefix", ())
    return execution.outcome is Outcome.CUT_OFF and len(execution.steps) < len(prefix) - 1


def _divergence(execution: Execution) -> str:
    told = (execution.failure or {}).get("message", "a schedule did not go the same way again")
    return f"something outside control decides: {told}"
