"""Only the slices that can matter: the part of the lattice in which a task formula has to be looked at.

Here belongs "slice first by the regular part". The transformed formula is often a conjunction, and its local
parts t:(...) are a conjunctive predicate: no slice outside its least and its greatest one can fail (Frey,
"Debugging parallel programs using temporal logic specifications", section 5: "not all cuts have to be
calculated"). The temporal parts look further, but not for ever, where their operands are not temporal:

    next, all_next     one step beyond
    the others         from a slice l the goals that count are the least ones above a successor of l, for
                       each conjunction T of the goal. Let u be the greatest slice that can matter with one
                       step more of each task, and g the greatest slice of T: the successor is below both, so
                       the goal is not beyond the least slice of T above their meet

Everything else looks up to the final slice. A window is the interval between two slices; it is the lattice of
the events between them, so a trace is made of these and counts are shifted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from possibly.detection.limits import Budget
from possibly.detection.tasks.cuts import Assignment, Evaluation, NotCoveredError, fulfils
from possibly.detection.tasks.local import IS_SATISFIED, LocalFormulas
from possibly.detection.tasks.slices import Set, SliceSets
from possibly.detection.tasks.terms import Terms, TermSets, joined
from possibly.logic.syntax import And, Or, Temporal
from possibly.logic.tasks.formulas import ForTask, Provided, Says
from possibly.logic.tasks.tree import TreeNode
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.trace.build import TraceBuilder


@dataclass(frozen=True, slots=True)
class Window:
    """The slices from `low` to `high`."""

    low: Cut
    high: Cut

    def hull(self, other: Window | None) -> Window:
        return self if other is None else Window(meet(self.low, other.low), join(self.high, other.high))

    def contains(self, cut: Sequence[int]) -> bool:
        return all(a <= b <= c for a, b, c in zip(self.low, cut, self.high, strict=True))

    @property
    def bound(self) -> int:
        """At least as many as it has slices."""
        found = 1
        for low, high in zip(self.low, self.high, strict=True):
            found *= high - low + 1
        return found


class Windows:
    """Finds the window of a formula under an assignment."""

    def __init__(self, net: Net, local: LocalFormulas, budget: Budget) -> None:
        self.net = net
        self.local = local
        self.computation = net.computation
        self.terms = TermSets(self.computation, budget)
        self.evaluation = Evaluation(net, local, self.terms, budget)
        self.whole = Window(self.computation.initial, self.computation.final)

    def window(self, root: TreeNode, assignment: Assignment) -> Window | None:
        """Where cuts of the root can lie with all that they depend on; None: nowhere."""
        match root.formula:
            case Provided(_, condition):
                if not fulfils(self.net, condition, assignment):
                    return None
                return self.window(root.successors[0], assignment)
            case ForTask("exists", tvar, _):
                tasks = range(len(self.net.tasks))
                return _hull(self.window(root.successors[0], {**assignment, tvar: t}) for t in tasks)
            case And() if root.kind == "s":
                return self._conjunction(root.successors, assignment)
            case Or(operands) if root.kind == "s":
                return _hull(self.window(part, assignment) for part in root.successors[: len(operands)])
            case Says():
                return self._conjunction((root,), assignment)
        return self.whole

    def _conjunction(self, parts: Sequence[TreeNode], assignment: Assignment) -> Window | None:
        term: dict[int, bytes] = {}
        for part in parts:
            if isinstance(part.formula, Says):
                task = assignment[part.formula.tvar]
                table = self.local.table(part.formula.formula, task).translate(IS_SATISFIED)
                term = dict(joined(term, {task: table}))
        low, high = self.terms.least(term), self.terms.greatest(term)
        if low is None or high is None:
            return None
        top = high
        for part in parts:
            top = join(top, self._looks_to(part, high, assignment))
        return Window(low, top)

    def _looks_to(self, part: TreeNode, high: Cut, assignment: Assignment) -> Cut:
        """How far a part looks from the slices up to `high`."""
        if not _is_temporal(part):
            return high
        if not isinstance(part.formula, Temporal) or any(map(_is_temporal, part.successors)):
            return self.whole.high
        beyond = self._one_more(high)
        match part.formula.operator:
            case "next" | "all_next":
                return beyond
            case "sometime" | "always":
                return self._goals(part.successors[0], beyond, assignment)
            case _:
                return self._goals(part.successors[1], beyond, assignment)

    def _one_more(self, high: Cut) -> Cut:
        """With every step that is enabled there, and so with every one enabled before and not taken."""
        found = high
        for step in self.computation.enabled(high):
            found = join(found, self.computation.after(high, step))
        return found

    def _goals(self, part: TreeNode, beyond: Cut, assignment: Assignment) -> Cut:
        """Up to where the least slices of a node above a slice that is not beyond can lie."""
        try:
            terms: Terms = self.evaluation.cuts(part, assignment)
        except NotCoveredError:
            return self.whole.high
        top = beyond
        for term in terms:
            greatest = self.terms.greatest(term)
            if greatest is not None:
                top = join(top, self.terms.least(term, meet(beyond, greatest)) or self.whole.high)
        return top


def _hull(windows: Iterable[Window | None]) -> Window | None:
    found: Window | None = None
    for window in windows:
        if window is not None:
            found = window.hull(found)
    return found


def _is_temporal(node: TreeNode) -> bool:
    pending = [node]
    while pending:
        found = pending.pop()
        if isinstance(found.formula, Temporal | ForTask):
            return True
        pending.extend(found.successors)
    return False


# ---- the lattice of a window ------------------------------------------------------------------------


class WindowSets(SliceSets):
    """The algebra of the slices of a window; counts and slices of the whole run come in and go out."""

    def __init__(self, net: Net, lattice: Lattice, window: Window, budget: Budget) -> None:
        computation = net.computation
        self.window = window
        self.whole = lattice
        is_whole = window == Window(computation.initial, computation.final)
        super().__init__(lattice if is_whole else Lattice(between(computation, window)), budget)

    def local(self, task: int, table: bytes) -> Set:
        return super().local(task, table[self.window.low[task] : self.window.high[task] + 1])

    def contains(self, cuts: Set, cut: Sequence[int]) -> bool:
        if not self.window.contains(cut):
            return False
        return super().contains(cuts, self._inside(cut))

    def nearest(self, cuts: Set) -> set[int]:
        return set(map(self._outside, super().nearest(cuts)))

    def slices(self, cuts: Set) -> Iterable[int]:
        """The slices of the set, packed as those of the whole run."""
        return (self._outside(cut) for _, cut in self.members(cuts))

    def _inside(self, cut: Sequence[int]) -> Cut:
        return tuple([count - low for count, low in zip(cut, self.window.low, strict=True)])

    def _outside(self, packed: int) -> int:
        counts = zip(self.lattice.unpack(packed), self.window.low, strict=True)
        return self.whole.pack([count + low for count, low in counts])


def between(computation: Computation, window: Window) -> Computation:
    """The events between two slices with the order among them."""
    trace, builder = computation.trace, TraceBuilder()
    builder.header([(process.name, {}) for process in trace.processes])

    def is_inside(event: int) -> bool:
        process, position = computation.place(event)
        return window.low[process] < position <= window.high[process]

    for event in range(len(trace)):
        if is_inside(event):
            joint = computation.joint.get(event, ())
            before = [e for e in computation.predecessors(event) if is_inside(e) and e not in joint]
            builder.add(
                trace.processes[trace.process[event]].name,
                id=f"e{event}",
                after=[f"e{other}" for other in before],
                meet=f"m{joint[0]}" if joint else None,
            )
    return Computation(builder.finish(), "sync")
