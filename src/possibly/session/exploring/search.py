"""A search through the executions of a program that is under way.

If an execution shows that accesses which were hidden race, they are visible from then on and the search
begins anew (see `control.runtime.memory`); that execution is its first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from possibly.control.coverage import coverage_of
from possibly.control.execution import ENDLESS, Execution, Explorer, Outcome
from possibly.control.forking.patience import TimeIsUp
from possibly.control.forking.zygote import ControlledProgram
from possibly.control.tree import HUNT, Node
from possibly.control.workers import Team
from possibly.session.exploring.checks import Check
from possibly.session.exploring.claims import watch_claims, with_claims
from possibly.session.exploring.deepening import Deepening
from possibly.session.exploring.diverged import OUTSIDE_DECIDES, diverged, in_words
from possibly.session.exploring.exploration import BAD, Exploration, Options, Progress, explorer_for
from possibly.session.why.failure import Failure
from possibly.session.why.simplest import Simplest
from possibly.verdict.reasons import OUTSIDE, SAME_AGAIN, Reason

ALONE = 0.1
"""Seconds that one worker searches alone: what is through by then is not worth the start of another."""
CAREFUL = 4
"""So many executions are each planned by all before them: most bugs are found by these."""
AHEAD = 4
"""So many executions a worker are on their way: it runs one while the last is learnt from."""
RECENT = 30
"""Executions that are kept, so that one that goes another way can be compared with them."""
SHORT = 500
"""Steps of an execution, on average, up to which there are so many: all are waited for at the end.

Seconds would make what is executed depend on the machine."""
SIMPLIFYING = 30.0
"""Seconds for which a failing schedule is made simpler, if the user gave no time and the search took less."""
SAMPLED = 16
"""After so many executions, and each time twice as many, one is repeated in a fresh process."""
ORDERING, LONGER = 100_000, 4
"""Steps, and times as many as all before, for which both orders of turns of libraries are explored."""


def _trusted_in(assumed: str) -> str | None:
    """The package of which an assumption says that it is trusted."""
    _, is_trusted, rest = assumed.partition(", as --trust ")
    return rest.split()[0] if is_trusted else None


def _left_by(explorer: Any, options: Options, names: dict[str, str]) -> tuple[str, Reason] | None:
    """What an explorer that has nothing left did not cover, if it is one that leaves something out."""
    if options.scheduler == "bounded" and not explorer.is_complete:
        more = Reason(remedy="a larger --preemptions, or --scheduler dpor")
        return f"schedules with more than {options.preemptions} preemptions", more
    tree = getattr(explorer, "tree", None)
    if getattr(explorer, "is_joined", False):
        return None
    if tree is not None and tree.divergence is not None:
        return OUTSIDE_DECIDES + in_words(tree.divergence, names), Reason(remedy=SAME_AGAIN)
    if tree is not None and tree.root.open:
        return "executions that could not be learnt from", Reason(remedy=SAME_AGAIN)
    return None


@dataclass(frozen=True, slots=True)
class Ordered:
    """From when on both orders of turns that run code of libraries were explored."""

    executions: int
    """So many were enough as long as such turns were taken to commute."""
    most: int
    """Steps after which that ends if no time was given: how fast the machine is decides nothing."""

    def left(self, packages: tuple[str, ...]) -> dict[str, Reason]:
        """What it leaves open if it does not come to an end."""
        names = ", ".join(packages)
        trusted = " ".join(f"--trust {each}" for each in packages)
        what = f"other orders of the turns that run code of {names}, which is not watched"
        covered = f"all else is covered ({self.executions:,} executions)"
        return {what: Reason(remedy=f"{trusted} takes these turns to commute: then {covered}")}


class Search:
    """A search that is under way."""

    def __init__(
        self,
        program: ControlledProgram,
        options: Options,
        check: Check | None,
        progress: Progress | None,
        make: Callable[[], Explorer] | None,
    ) -> None:
        if check is not None or options.kept is not None or options.seen is not None:
            options = replace(options, join="none")
        self._let_alike(program, options, make is None)
        within = program.options.get("within")
        if within and options.scheduler == "dpor":
            from possibly.control.schedulers.within import Searches, Within

            options = replace(options, join="none")
            make = Searches(Within(within, program.path)).make
        self.make = make or (lambda: explorer_for(self.options))
        self.program = program
        self.options = options
        self.is_plain = check is None and options.seen is None
        """Nobody looks at executions that do not fail."""
        self.check = with_claims(program, check)
        self.progress = progress
        self.found = Exploration()
        self.explorer = self.make() if options.kept is None else options.kept.begin(program, self.found)
        self.deepening = Deepening()
        self.deepens = make is None and options.scheduler == "dpor" and not (options.kept or options.cluster)
        """Levels of preemptions are searched beside, if it will not come to its end within its limit."""
        self.begun = time.monotonic()
        self.limits: set[str] = set()
        self.sampled = SAMPLED
        """After so many executions one is repeated in a fresh process, and must be the same there."""
        self.reused = False
        """Some execution was not the first in its process."""
        self.ordered: Ordered | None = None
        """Both orders of turns that run code of libraries are explored."""
        self.names: dict[str, str] = {}
        """What users call the tasks that were seen."""
        self.hunted = False
        """Schedules that starve a task have been looked for."""
        self._recent: deque[Execution] = deque(maxlen=RECENT)
        """Those by which it is told what another one does otherwise."""
        self.worked = 0.0
        """Seconds of workers elsewhere."""
        self.team: Team[ControlledProgram] = Team([])

    @staticmethod
    def _let_alike(program: ControlledProgram, options: Options, is_usual: bool) -> None:
        """Lets interchangeable tasks go in one order, if nobody asks for the order of steps."""
        if is_usual and options.join == "all" and options.scheduler == "dpor":
            from possibly.control.joining.orders import Orders
            from possibly.control.joining.unseen import unread_lists

            program.options["alike"] = Orders
            program.options["unread"] = unread_lists

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
            found.assumed = self._assumed()
            found.visible = tuple(sorted(self.program.visible))
            found.apart = self.program.distrusted
            found.broken = sum(worker.broken for worker in team.workers)
            found.coverage = coverage_of(self.explorer, self.deepening.levels)
        return found

    def _assumed(self) -> tuple[str, ...]:
        """What the verdict rests on; that all which was not named is taken as it is is said once."""
        options = self.program.options
        within, trusted = options.get("within", ()), options.get("trust", frozenset())
        if not within:
            return tuple(self.program.assumed)
        told = [each for each in self.program.assumed if _trusted_in(each) in (None, *trusted)]
        from possibly.control.schedulers.within import assumption

        return (*told, assumption(within))

    def _search(self) -> None:
        team = self.team
        while not self.is_over():
            while self._has_room() and (plan := self._plan()) is not None:
                team.begin(plan, self._workers())
            if not team.running:
                if self._goes_away():
                    self._explore_branches()
                    continue
                is_over = self.found.executions < self.sampled
                self.sampled = max(self.sampled, 2 * self.found.executions)
                if self._is_confirmed() and is_over and not self._orders_libraries():
                    self._conclude()
                    break
                continue
            self._wait()

    def _plan(self) -> Any:
        if self.deepens:
            self.deepening.ask(self.explorer, self.found.executions, self._part())
        return self.deepening.plan(self.explorer)

    def _part(self) -> float:
        """How much of its limit the search has had, from 0 to 1; 0: it has none."""
        options, done = self.options, self.found.executions
        time_had = (time.monotonic() - self.begun) / options.seconds if options.seconds else 0.0
        return max(time_had, done / options.executions if options.executions else 0.0)

    def _begin_anew(self) -> None:
        self.explorer = self.make()
        self.deepening.forget()

    def is_over(self) -> bool:
        """Whether a failure is found, or a limit is hit."""
        return self.found.failure is not None or self.is_at_limit()

    def executions_left(self) -> int | None:
        """How many may still be made, if there is a limit."""
        most, found = self.options.executions, self.found
        return None if most is None else max(1, most - (found.executions - found.earlier))

    def _goes_away(self) -> bool:
        """Whether what is left is explored by workers of a cluster, branch by branch."""
        if self.options.cluster is None or not self.is_plain:
            return False
        from possibly.session.exploring.branches import are_due

        return are_due(self.explorer)

    def _explore_branches(self) -> None:
        from possibly.session.exploring.branches import Branches, classes_of

        explorer = classes_of(self.explorer)
        assert explorer is not None and self.options.cluster is not None, "branches are due"
        Branches(self, self.options.cluster, explorer).run()
        self.sampled = max(self.sampled, self.found.executions + 1)

    def count(self, executions: int, steps: int) -> None:
        """So many executions were made."""
        self.found.executions += executions
        self.found.steps += steps
        if self.progress is not None:
            self.progress("exploring", self.found.executions, self.options.executions)

    def _orders_libraries(self) -> bool:
        """Turns that run code of libraries were taken to commute: all begins anew with both orders."""
        if not self.program.order_libraries():
            return False
        self.found.open = {what: why for what, why in self.found.open.items() if SAME_AGAIN not in why.remedy}
        self.found.restarts += 1
        self._begin_anew()
        steps = self.found.steps
        self.ordered = Ordered(self.found.executions, steps + max(ORDERING, LONGER * steps))
        return True

    def _until(self, end: float | None) -> None:
        """When all workers have to be at an end, whatever they do then."""
        for worker in self.team.workers:
            worker.until = end

    def _give_up(self, stop: TimeIsUp) -> None:
        """The user's time is over in the middle of an execution."""
        self.team.abandon()
        if self.found.failure is None:
            self.is_at_limit()
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
        self.take(execution, plan)
        if self.explorer is not explorer and self._drained():
            self._begin_anew()

    def _has_room(self) -> bool:
        """Whether another execution may begin."""
        if self._goes_away():
            return False
        if self.found.executions >= self.sampled:  # first all come to an end, and the last is looked at again
            return False
        return len(self.team.running) < self._workers() * self._ahead()

    def _workers(self) -> int:
        """How many may work."""
        if self.program.writes_files or not self.found.executions:
            return 1
        if time.monotonic() - self.begun < ALONE:
            return 1
        return self.options.jobs

    def _ahead(self) -> int:
        """How many executions each worker may have on its way."""
        done = self.found.executions
        if done < CAREFUL or self.found.steps > SHORT * done:
            return 1
        return AHEAD if done >= HUNT else 2

    def _is_confirmed(self) -> bool:
        """Nothing is left to explore; if fresh processes do not agree, all begins anew with these alone."""
        differences = [found for worker in self.team.workers if (found := worker.difference())]
        if not differences:
            return True
        self.begin_anew_in_fresh_processes(f"a fresh process differs in {differences[0]}")
        return False

    def begin_anew_in_fresh_processes(self, why: str) -> None:
        """Something came from an execution before: none shares its process with another from now on."""
        self.reused = False
        for worker in self.team.workers:
            worker.distrust(why)
        self.found.restarts += 1
        self._begin_anew()

    def _drained(self) -> bool:
        """Lets all that runs come to its end; whether anything more has become visible by that."""
        visible, grown = len(self.program.visible), self.program.grown
        self.team.drain()
        self.program.grown = grown
        return len(self.program.visible) > visible

    def _conclude(self) -> None:
        """Nothing is left to explore."""
        found = self.found
        left = None if self.deepening.is_complete else _left_by(self.explorer, self.options, self.names)
        if left is not None:
            found.open[left[0]] = left[1]
        for family in self.program.left:
            found.open[f"{family}, which tasks race for and which is not a choice point"] = Reason(
                remedy="name it with --watch, or leave --watch and --ignore out"
            )
        found.complete = not found.open

    def is_at_limit(self) -> bool:
        options, found = self.options, self.found
        if options.executions is not None and found.executions - found.earlier >= options.executions:
            limit, more = f"the limit of {options.executions:,} executions", "--executions"
        elif options.seconds is not None and time.monotonic() - self.begun >= options.seconds:
            limit, more = f"the limit of {options.seconds:g} seconds", "--time"
        elif options.seconds is None and self.ordered is not None and found.steps > self.ordered.most:
            limit, more = "a search without --time, which is not for ever", "--time"
        else:
            return False
        self.limits.add(limit)
        found.open[limit] = Reason(remedy=f"a larger {more}, or --resume FILE to go on another time")
        if self.ordered is not None:
            found.open.update(self.ordered.left(tuple(self.program.in_turns)))
        return True

    def take(self, execution: Execution, plan: Any, leaf: Node | None = None) -> None:
        """Takes an execution in that a plan asked for; `leaf`: that of the tree, where it is known."""
        found, asking = self.found, self.explorer
        self.count(1, len(execution.steps))
        self.names |= execution.names
        self._note(execution)
        watch_claims(self.program)
        if self.program.claims and self.options.join != "none":  # they speak of the order of steps
            self.options = replace(self.options, join="none")
            self.program.options.pop("alike", None)
            self.program.options.pop("unread", None)
            self.program.grown = self.program.repeat = True
        if self.program.grown and (found.executions > 1 or self.program.repeat):
            found.restarts += 1
            self._begin_anew()
            plan = self.explorer.plan()
        if execution.outcome is Outcome.DIVERGED or _strayed(execution, plan):
            if self.reused:
                self.begin_anew_in_fresh_processes(diverged(execution, getattr(plan, "prefix", ()))[0])
                return
            if self._orders_libraries():
                return
            if not any(what.startswith(OUTSIDE_DECIDES) for what in found.open):  # the first one says it all
                told, reason = diverged(execution, getattr(plan, "prefix", ()), self._recent)
                found.open[told] = reason
        else:
            self._recent.append(execution)
        if not self.program.repeat:
            if not self.deepening.learn(execution, plan):
                self._learn(execution, leaf if self.explorer is asking else None)
            tree: Any = getattr(self.explorer, "tree", None)
            if self.reused and tree is not None and tree.diverged:
                self.begin_anew_in_fresh_processes(str(tree.divergence))
                return
        elif self.program.grown:
            self._begin_anew()
        details = execution.failure if execution.outcome in BAD else None
        if details is None and execution.outcome is Outcome.FINISHED and not self.program.repeat:
            details = self.check(execution)  # one that is repeated lacks what orders its steps
            if details is not None and details.get("undecided"):
                found.open[str(details["undecided"])] = Reason(remedy=str(details.get("remedy", "")))
                details = None
        if self.options.seen is not None:
            self.options.seen(execution, details, found.restarts)
        if details is None and not self.hunted and any(r.startswith(ENDLESS) for r in execution.uncontrolled):
            self._hunt_starvation(execution)
        if details is not None:
            found.failure = Failure(execution, found.executions, details)
            self._simplify()

    def _learn(self, execution: Execution, leaf: Node | None) -> None:
        if leaf is None:
            self.explorer.learn(execution)
            return
        from possibly.session.exploring.branches import classes_of

        explorer = classes_of(self.explorer)
        assert explorer is not None, "it has handed the leaf out"
        explorer.learn(execution, leaf)

    def _note(self, execution: Execution) -> None:
        """What was not under control leaves the search open."""
        known = self.program.reasons
        for what in execution.uncontrolled:
            self.found.open[what] = known.get(what, Reason(remedy=OUTSIDE))

    def _simplify(self) -> None:
        """Within the time that is left; whoever does not want to wait for that interrupts it."""
        self.program.options.pop("alike", None)
        if self.options.seconds is None:
            now = time.monotonic()
            self._until(now + max(SIMPLIFYING, now - self.begun))
        try:
            self._drained()
            failure = self.found.failure
            if failure is not None:
                Simplest(self.program, self.check, failure, self._keep, self._tell).run(
                    self.options.minimise, self.options.explain
                )
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

    def _keep(self, failure: Failure) -> None:
        self.found.failure = failure

    def _tell(self) -> None:
        if self.options.told is not None and self.found.failure is not None:
            self.options.told(self.found.failure)


def _strayed(execution: Execution, plan: Any) -> bool:
    """The execution ended before it had done all that was planned except the last choice, which may fail."""
    prefix = getattr(plan, "prefix", ())
    return execution.outcome is Outcome.CUT_OFF and len(execution.steps) < len(prefix) - 1
