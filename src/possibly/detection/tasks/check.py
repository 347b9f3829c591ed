"""Checking a formula of the task logic in a state action net.

Here belongs the way through the five steps of Frey, "Debugging parallel programs using temporal logic
specifications", section 5: the formula is negated and transformed (`tree`), its tree is built, local
state formulas are evaluated (`local`), and the cuts of the inner nodes follow from the leaves up
(`cuts`). The formula is satisfied iff the root has no cut under any assignment of its free variables.

Three engines do the last step. `terms` needs no lattice and decides formulas without `until` and `before`
on runs of any size; `fibers` needs none either, where no time stands inside time; `slices` holds one
bit for each slice that can matter (`window`). Where the lattice is large, `auto` takes `fibers` for `next`,
`until` and `before`, else it tries `terms` first. What `terms` finds unsatisfied is counted by `slices`
where the lattice is small. Runs of event loops are asked about once more, in whole `turns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

from possibly.detection.explicit.compiled import algebra
from possibly.detection.explicit.whole import INTERRUPTED, MOST_CUTS, NOTE, WholeTurns
from possibly.detection.finding import Path
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.tasks.cuts import Assignment, Cuts, Evaluation, NotCoveredError
from possibly.detection.tasks.failure import Contains, Diagnosis
from possibly.detection.tasks.fibers import Fibers
from possibly.detection.tasks.local import LocalFormulas
from possibly.detection.tasks.ranked import Ranked
from possibly.detection.tasks.terms import Terms, TermSets, holds_at
from possibly.detection.tasks.turns import TurnNet, TurnSets
from possibly.detection.tasks.window import Window, Windows, WindowSets
from possibly.detection.witness import free_path
from possibly.errors import UsageError
from possibly.logic.syntax import Node, Temporal
from possibly.logic.tasks.formulas import ForTask, task_text, variables_in_order
from possibly.logic.tasks.tree import TreeNode, formula_tree, negated
from possibly.order.computation import CLOCK_TABLE_LIMIT
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.records import replace
from possibly.trace.turns import Turns
from possibly.verdict.tasks import TaskFailure

ENGINES = ("auto", "terms", "fibers", "slices")
NOT_COVERED = {
    "terms": "engine terms: not covered (until, before, or too many terms)",
    "fibers": "engine fibers: not covered (many task variables, `exists`, or time inside time)",
}
LATER = (
    "which slices come later, and what shared variables hold, depends on the turns of an event loop, which "
    "are not interrupted, and has to be looked at slice by slice"
)
STEPWISE = ("next", "all_next", "until", "before")
"""Operators of which terms are many, or do not tell."""
MANY = 20
"""Tasks from which on their pairs are many."""
COUNTED = 1_000_000
"""Slices up to which the failing ones are counted where the answer did not need the lattice."""
COUNTED_TABLE = 300_000
"""Events times tasks up to which that is tried."""
MOST_SLICES = 10_000_000
"""Slices up to which those of the whole net are counted, which costs little."""
FEW, MOST_FEW = 20, 10_000
"""Slices an event, and in all, up to which counting them costs less than to think."""
WORTH, WORTH_BETWEEN = 2_000, 20
"""Slices an event from which on only those that can matter are computed; the same with `until`, `before`."""
LARGEST_TABLE = 40_000_000
"""Events times tasks up to which the lattice is tried."""
LONGEST_LIST = 1_000_000
"""Failing slices of overlapping windows that are told apart one by one."""
LONGEST_WALK = 5_000_000
"""Slices of the recorded order times terms that are looked at."""
LONGEST_LOOK = 200_000
"""The same times assignments and tasks, where each slice is judged singly."""


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What was found. `value` None: not known within the limits."""

    value: bool | None
    engine: str
    visited: int
    tree: TreeNode
    path: Path | None = None
    """A shortest way to a failing slice."""
    failure: TaskFailure | None = None
    """What fails there; `failing` in it counts pairs of a slice and an assignment."""
    observed: bool | None = None
    """Whether no slice that the recorded order passed fails."""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str | None = None


def check_engine(name: str) -> None:
    if name not in ENGINES:
        raise UsageError(
            f"engine {name!r} does not answer tl properties", hint=f"engines: {', '.join(ENGINES)}"
        )


def check_tasks(
    net: Net, lattice: Lattice, formula: Node, budget: Budget, engine: str = "auto"
) -> TaskAnswer:
    """Whether the bound formula is satisfied in the net."""
    check_engine(engine)
    check = _Check(net, lattice, formula, budget)
    return check.within_turns(check.answer(engine))


@dataclass(slots=True)
class _Failures:
    """The failing slices found so far, over all assignments."""

    steps: Callable[[int], int]
    best: int | None = None
    assignment: Assignment = field(default_factory=dict)
    nearest: frozenset[int] = frozenset()
    count: int = 0

    def add(self, assignment: Assignment, nearest: set[int]) -> None:
        distance = self.steps(min(nearest))
        if self.best is None or distance < self.best:
            self.best, self.assignment, self.nearest = distance, assignment, frozenset(nearest)


@dataclass(slots=True)
class _Part:
    """The slices of one window, with what failed in it so far."""

    sets: WindowSets
    evaluation: Evaluation
    union: Cuts
    """The failing slices under all assignments."""
    newest: Cuts = None
    count: int = 0
    failing: list[Assignment] = field(default_factory=list)

    def add(self, assignment: Assignment, tree: TreeNode) -> bool:
        """Whether some slice fails under the assignment."""
        self.newest = self.evaluation.cuts(tree, assignment)
        if self.sets.is_empty(self.newest):
            return False
        self.count += self.sets.size(self.newest)
        self.union = self.sets.either(self.union, self.newest)
        self.failing.append(assignment)
        return True


class _Check:
    def __init__(self, net: Net, lattice: Lattice, formula: Node, budget: Budget) -> None:
        self.net = net
        self.lattice = lattice
        self.budget = budget
        self.formula = formula
        self.variables = variables_in_order(formula)
        root = negated(formula)
        self.tree = formula_tree(root)
        self.notes = [
            f"1. negation, 2. transformation: {task_text(root)}",
            "3. formula tree:",
            *(f"{'  ' * depth}{node.text}" for depth, node in outline(self.tree)),
        ]
        self.local = LocalFormulas(net, budget)

    def answer(self, engine: str) -> TaskAnswer:
        if not self.net.tasks:
            return self._without_tasks()
        for name, answer in (("fibers", self._by_fibers), ("terms", self._by_terms)):
            try:
                if engine == name or (engine == "auto" and self._is_tried(name)):
                    return answer()
            except NotCoveredError:
                self.notes.append(NOT_COVERED[name])
            except LimitReachedError as limit:
                return self._unknown(name, self.budget, str(limit))
        if engine in ("terms", "fibers"):
            reason = f"engine {engine} does not cover this formula; use --engine slices"
            return self._unknown(engine, self.budget, reason)
        if not self._fits(LARGEST_TABLE):
            return self._unknown("slices", self.budget, "the run is too large for engine slices")
        part = self.budget.part(None)
        try:
            return self._by_slices(part)
        except LimitReachedError as limit:
            return self._unknown("slices", part, str(limit))

    def _is_tried(self, name: str) -> bool:
        """Where the lattice is small, `fibers` has nothing to spare."""
        if name == "terms":
            return True
        found = {
            node.formula.operator for _, node in outline(self.tree) if isinstance(node.formula, Temporal)
        }
        if found and len(self.variables) == 2 and len(self.net.tasks) >= MANY:
            return True
        return bool(found.intersection(STEPWISE)) and (
            not self._fits(COUNTED_TABLE)
            or self._has_more_slices_than(min(FEW * len(self.net.trace), MOST_FEW))
        )

    def _unknown(self, engine: str, budget: Budget, reason: str) -> TaskAnswer:
        notes = tuple(self.notes)
        return TaskAnswer(
            None, engine, budget.visited, self.tree, faults=self.local.faults, notes=notes, reason=reason
        )

    def _without_tasks(self) -> TaskAnswer:
        """No task, one slice: only `exists` without free variables can be unsatisfied."""
        found = self._result("terms", self.budget, observed=True)
        if self.variables or not (isinstance(self.formula, ForTask) and self.formula.quantifier == "exists"):
            return found
        failure = TaskFailure({}, failing=1, slices=1, all_slices=1)
        return replace(found, value=False, observed=False, path=(), failure=failure)

    def _fits(self, limit: int) -> bool:
        """Whether the lattice can be tried at all: its bounds are tables of events x tasks."""
        return len(self.net.trace) * len(self.net.tasks) <= limit

    # ---- terms --------------------------------------------------------------------------------------

    def _by_terms(self) -> TaskAnswer:
        sets = TermSets(self.net.computation, self.budget)
        evaluation = Evaluation(self.net, self.local, sets, self.budget)
        failures = _Failures(self._steps)
        kept: list[Terms] = []
        ranked = Ranked(evaluation, sets, self.tree, self.variables)
        for distance, assignment in ranked:
            if failures.best is not None and distance >= failures.best:
                ranked.is_cut_short = True
                break
            cuts: Terms = evaluation.cuts(self.tree, assignment)
            least = [cut for term in cuts if (cut := sets.least(term)) is not None]
            if least:
                kept.append(cuts)
                packed = [self.lattice.pack(cut) for cut in least]
                distance = min(map(self._steps, packed))
                failures.add(assignment, {cut for cut in packed if self._steps(cut) == distance})
        self._tell_local()
        self.notes.append("5. inner nodes, engine terms: unions of conjunctions, without the lattice")
        if failures.best is None:
            return self._result("terms", self.budget, observed=True)
        counted = self._counted()
        if counted is not None:
            return counted
        observed = self._observed_in(kept)
        if ranked.is_cut_short and observed:
            observed = None  # under another assignment the recorded order may fail
        found = self._result("terms", self.budget, observed=observed)
        return self._shown(found, failures, evaluation, holds_at)

    def _counted(self) -> TaskAnswer | None:
        """The same answer with all failing cuts counted, if the lattice is small."""
        if not self._fits(min(CLOCK_TABLE_LIMIT, COUNTED_TABLE)):
            return None
        part = self.budget.part(COUNTED)
        part.max_cuts = None  # the answer is known; this is for the numbers only
        try:
            return self._by_slices(part, "terms")
        except LimitReachedError:
            self.notes.append(f"failing slices not counted: more than {COUNTED} slices")
            return None

    def _observed_in(self, kept: list[Terms]) -> bool | None:
        if sum(map(len, kept)) * len(self.net.computation) > LONGEST_WALK:
            return None
        return not any(holds_at(cuts, cut) for cut in self._passed() for cuts in kept)

    # ---- fibers -------------------------------------------------------------------------------------

    def _by_fibers(self) -> TaskAnswer:
        fibers = Fibers(self.net, self.local, self.formula, self.budget)
        found = fibers.nearest(
            lambda cut: self._steps(self.lattice.pack(cut)), len(self.net.computation.joint)
        )
        self._tell_local()
        self.notes.append(
            "5. inner nodes, engine fibers: the slices of each count of the tasks named, by their order"
        )
        if found is None:
            return self._result("fibers", self.budget, observed=True)
        failures = _Failures(self._steps)
        failures.add(found.assignment, {self.lattice.pack(found.cut)})
        evaluation = Evaluation(
            self.net, self.local, TermSets(self.net.computation, self.budget), self.budget
        )
        answer = self._result("fibers", self.budget, self._observed_by(fibers))
        return self._shown(answer, failures, evaluation, holds_at, fibers.body)

    def _observed_by(self, fibers: Fibers) -> bool | None:
        """Whether no slice that the recorded order passed fails, where it is short."""
        assignments = len(self.net.tasks) ** len(fibers.variables)
        if assignments * len(self.net.tasks) * len(self.net.computation) > LONGEST_LOOK:
            return None
        passed = list(self._passed())
        return not any(each.fails_at(cut) for each in fibers.projections() for cut in passed)

    # ---- slices -------------------------------------------------------------------------------------

    def _by_slices(self, budget: Budget, name: str = "slices") -> TaskAnswer:
        by_window: dict[Window, _Part] = {}
        failures = _Failures(self._steps)
        windows = Windows(self.net, self.local, budget)
        for assignment in windows.evaluation.assignments(self.tree, self.variables):
            window = windows.window(self.tree, assignment)
            if window is None:
                continue
            if not self._is_large or 2 * window.bound > windows.whole.bound:
                window = windows.whole  # one lattice for all assignments costs less
            if name == "terms" and window is windows.whole and self._is_large and self._worth == COUNTED:
                raise LimitReachedError("too many slices to count")
            if window not in by_window:
                by_window[window] = self._part(window, budget)
            part = by_window[window]
            if part.add(assignment, self.tree):
                failures.add(assignment, part.sets.nearest(part.newest))
        parts = list(by_window.values())
        if name == "slices":
            self._tell_local()
            self._tell_windows(parts)
        self.notes.extend(f"{node.text}: {cuts}" for node, cuts in _sizes(parts).items())
        observed = not any(part.sets.contains(part.union, cut) for cut in self._passed() for part in parts)
        found = self._result(name, budget, observed)
        if failures.best is None:
            return found
        part = next(part for part in parts if failures.assignment in part.failing)
        found = self._shown(found, failures, part.evaluation, part.sets.contains)
        assert found.failure is not None
        counted = replace(
            found.failure,
            failing=sum(part.count for part in parts),
            slices=_distinct(parts),
            all_slices=self._all_slices(parts),
        )
        return replace(found, failure=counted)

    @cached_property
    def _is_large(self) -> bool:
        """Whether the lattice has so many slices that windows cost less, which are built event by event."""
        return self._has_more_slices_than(self._worth)

    def _has_more_slices_than(self, limit: int) -> bool:
        part = self.budget.part(limit)
        part.max_cuts = None
        try:
            algebra(self.lattice, part.visit)
        except LimitReachedError:
            if not part.stopped_at_bound:
                raise
            return True
        return False

    @property
    def _worth(self) -> int:
        worth = WORTH_BETWEEN if self.tree.is_costly else WORTH
        return min(worth * len(self.net.trace), COUNTED)

    def _part(self, window: Window, budget: Budget) -> _Part:
        sets = WindowSets(self.net, self.lattice, window, budget)
        return _Part(sets, Evaluation(self.net, self.local, sets, budget), sets.nothing())

    def _tell_windows(self, parts: list[_Part]) -> None:
        looked_at = max((part.sets.count for part in parts), default=0)
        self.notes.append("5. inner nodes, engine slices: one bit a slice, one pass an operator")
        if any(part.sets.lattice is not self.lattice for part in parts) or not parts:
            self.notes.append(f"only the slices that can matter: at most {looked_at} for an assignment")

    def _all_slices(self, parts: list[_Part]) -> int | None:
        """The number of slices of the whole net, if it is small or known anyway."""
        for part in parts:
            if part.sets.lattice is self.lattice:
                return part.sets.count
        if not self._fits(CLOCK_TABLE_LIMIT):
            return None
        part_budget = Budget(bound=MOST_SLICES)
        try:
            return algebra(self.lattice, part_budget.visit).cuts
        except LimitReachedError:
            return None

    # ---- event loops --------------------------------------------------------------------------------

    def within_turns(self, found: TaskAnswer) -> TaskAnswer:
        """The answer where no task of an event loop is interrupted in the middle of a turn."""
        turns = Turns(self.net.trace)
        if not turns:
            return found
        whole = WholeTurns(self.net.computation, turns)
        if not whole.leaves_out:
            return found
        is_timed = any(isinstance(node.formula, Temporal) for _, node in outline(self.tree))
        if found.value is None or is_timed or self.local.is_undecided:
            return self._by_turns(whole, found)
        if found.path is None or whole.is_whole(found.path):
            return found
        try:
            return self._failing_within(whole, found)
        except (LimitReachedError, NotCoveredError):
            return self._unknown(found.engine, self.budget, INTERRUPTED)

    def _by_turns(self, whole: WholeTurns, found: TaskAnswer) -> TaskAnswer:
        """The same question to the slices that whole turns lead to, one after the other."""
        part = self.budget.part(MOST_CUTS)
        try:
            sets = TurnSets(whole, part)
            net = TurnNet(self.net, sets)
            self.local = LocalFormulas(net, part)
            evaluation = Evaluation(net, self.local, sets, part)
            failing = {
                tuple(assignment.items()): cuts
                for assignment in evaluation.assignments(self.tree, self.variables)
                if (cuts := evaluation.cuts(self.tree, assignment))
            }
        except LimitReachedError as limit:
            return (
                found
                if found.value is None
                else self._unknown("turns", part, f"{LATER}: {limit}; possibly explore tells")
            )
        self.notes.append(NOTE)
        return self._told_of_turns(sets, evaluation, failing, part)

    def _told_of_turns(
        self,
        sets: TurnSets,
        evaluation: Evaluation,
        failing: Mapping[tuple[tuple[str, int], ...], int],
        budget: Budget,
    ) -> TaskAnswer:
        union = reduce(or_, failing.values(), 0)
        observed = not any(sets.contains(union, cut) for cut in self._passed())
        found = self._result("turns", budget, observed)
        if not union:
            return found
        nearest = union & -union
        assignment, _ = next(each for each in failing.items() if each[1] & nearest)
        packed = sets.slices[nearest.bit_length() - 1]
        cut = self.lattice.unpack(packed)
        diagnosis = Diagnosis(evaluation.net, evaluation, sets.contains, cut)
        failure = replace(
            diagnosis.failure(self.formula, self.tree, dict(assignment)),
            failing=sum(cuts.bit_count() for cuts in failing.values()),
            slices=union.bit_count(),
            all_slices=len(sets.slices),
        )
        return replace(found, value=False, path=sets.path(packed), failure=failure)

    def _failing_within(self, whole: WholeTurns, found: TaskAnswer) -> TaskAnswer:
        """The nearest failing slice that whole turns lead to."""
        sets = TermSets(self.net.computation, self.budget)
        evaluation = Evaluation(self.net, self.local, sets, self.budget)
        judged = [
            (assignment, cuts)
            for assignment in evaluation.assignments(self.tree, self.variables)
            if (cuts := evaluation.cuts(self.tree, assignment))
        ]

        def failing(packed: int) -> Assignment | None:
            cut = self.lattice.unpack(packed)
            return next((assignment for assignment, cuts in judged if holds_at(cuts, cut)), None)

        path = whole.to(lambda packed: failing(packed) is not None, self.budget.part(MOST_CUTS))
        self.notes.append(NOTE)
        if path is None:
            return self._result(found.engine, self.budget, observed=True)
        at = sum(move.delta for move in path)
        failures = _Failures(self._steps)
        failures.add(failing(at) or {}, {at})
        shown = self._shown(
            self._result(found.engine, self.budget, found.observed), failures, evaluation, holds_at
        )
        return replace(shown, path=path)

    # ---- both ---------------------------------------------------------------------------------------

    def _passed(self) -> Iterator[tuple[int, ...]]:
        """The slices that the recorded order passed."""
        cut = self.net.computation.initial
        yield cut
        for step in self.net.computation.steps:
            cut = self.net.computation.after(cut, step)
            yield cut

    def _steps(self, packed: int) -> int:
        """How many steps lead to the slice."""
        computation, cut = self.net.computation, self.lattice.unpack(packed)
        followers = [e for e in computation.joint if computation.step(e) != e]
        inside = sum(computation.place(e)[1] <= cut[computation.place(e)[0]] for e in followers)
        return sum(cut) - inside

    def _tell_local(self) -> None:
        self.notes.append("4. local state formulas:")
        self.notes.extend(self.local.summary())

    def _result(self, engine: str, budget: Budget, observed: bool | None) -> TaskAnswer:
        return TaskAnswer(
            value=True,
            engine=engine,
            visited=budget.visited,
            tree=self.tree,
            observed=observed,
            faults=self.local.faults,
            notes=tuple(self.notes),
        )

    def _shown(
        self,
        found: TaskAnswer,
        failures: _Failures,
        evaluation: Evaluation,
        contains: Contains,
        formula: Node | None = None,
    ) -> TaskAnswer:
        """The answer "unsatisfied" with a shortest way to a failing slice and what fails there."""
        path = free_path(self.lattice, failures.nearest)
        cut = self.lattice.unpack(sum(move.delta for move in path))
        diagnosis = Diagnosis(self.net, evaluation, contains, cut)
        failure = diagnosis.failure(formula or self.formula, self.tree, failures.assignment)
        return replace(found, value=False, path=path, failure=failure)


def _distinct(parts: list[_Part]) -> int | None:
    """How many slices fail under some assignment; None where windows overlap and hold too many."""
    sizes = [size for part in parts if (size := part.sets.size(part.union))]
    if len(sizes) < 2:
        return sum(sizes)
    if sum(sizes) > LONGEST_LIST:
        return None
    return len({cut for part in parts for cut in part.sets.slices(part.union)})


def _sizes(parts: list[_Part]) -> dict[TreeNode, int]:
    found: dict[TreeNode, int] = {}
    for part in parts:
        for node, cuts in part.evaluation.sizes(part.sets.size):
            found[node] = found.get(node, 0) + cuts
    return found


def outline(tree: TreeNode) -> Iterator[tuple[int, TreeNode]]:
    """The nodes with their depth, a node before its successors; what stood before is not repeated."""
    seen: set[TreeNode] = set()
    pending = [(0, tree)]
    while pending:
        depth, node = pending.pop()
        yield depth, node
        if node not in seen:
            seen.add(node)
            pending.extend((depth + 1, below) for below in reversed(node.successors))
