"""Step 5 of checking a task formula: the cuts of the nodes of a formula tree, from the leaves up.

Here belong the rules of Frey, "Debugging parallel programs using temporal logic specifications", section 5.5,
over any algebra of sets of slices. The paper's sets hold pairs of a slice and an assignment, and its rules
compare all pairs with all; here a set belongs to an assignment of the task variables that its formula
really has, so sets of slices are merged as a whole and an assignment is looked up. Departures from the
printed rules: `all_next` is true in the final slice, `exists` is the union over the tasks, and a u-node of
`t:(...)` has the slices in which the task has no local state as well.

The parts of a conjunction without `until` and `before` come first; the others are only asked about the
slices that these leave over (`within`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, Protocol

from possibly.detection.limits import Budget
from possibly.detection.tasks.local import IS_SATISFIED, IS_UNDEFINED, UNDEFINED, LocalFormulas
from possibly.logic.depth import deep
from possibly.logic.syntax import And, Or, Temporal
from possibly.logic.tasks.formulas import Condition, ForTask, Provided, Says
from possibly.logic.tasks.tree import TreeNode
from possibly.order.nets.net import Net

Cuts = Any
"""A set of slices, in the form of the algebra that made it."""
Assignment = Mapping[str, int]
"""The task of each task variable."""


class NotCoveredError(Exception):
    """This algebra cannot hold the set; another one may."""


class CutAlgebra(Protocol):
    """Operations on sets of slices."""

    def everything(self) -> Cuts: ...

    def nothing(self) -> Cuts: ...

    def local(self, task: int, table: bytes) -> Cuts:
        """The slices whose count of that task has a 1 in the table."""

    def both(self, first: Cuts, second: Cuts) -> Cuts: ...

    def either(self, first: Cuts, second: Cuts) -> Cuts: ...

    def outside(self, cuts: Cuts) -> Cuts: ...

    def is_empty(self, cuts: Cuts) -> bool: ...

    def some_next(self, cuts: Cuts) -> Cuts:
        """The slices with a successor in the set."""

    def before(self, cuts: Cuts) -> Cuts:
        """The slices with a strictly later one in the set."""

    def never_before(self, cuts: Cuts) -> Cuts:
        """The slices with no strictly later one in the set."""

    def undisturbed(self, goal: Cuts, bad: Cuts, within: Cuts | None) -> Cuts:
        """The slices with a strictly later one in `goal` and none in `bad` strictly between.

        Only those in `within` have to be right, if it is given.
        """


class Evaluation:
    """The cuts of tree nodes over one algebra, each computed once for an assignment."""

    def __init__(self, net: Net, local: LocalFormulas, algebra: CutAlgebra, budget: Budget) -> None:
        self.net = net
        self.local = local
        self.algebra = algebra
        self.budget = budget
        self._known: dict[tuple[TreeNode, tuple[int, ...]], Cuts] = {}

    def cuts(self, node: TreeNode, assignment: Assignment, within: Cuts | None = None) -> Cuts:
        """The slices in the node under that assignment."""
        with deep():
            return self._cuts(node, assignment, within)

    def sizes(self, size: Callable[[Cuts], int]) -> Iterator[tuple[TreeNode, int]]:
        """The nodes whose cuts were computed, with their number over all assignments."""
        found: dict[TreeNode, int] = {}
        for (node, _), cuts in self._known.items():
            found[node] = found.get(node, 0) + size(cuts)
        yield from found.items()

    def assignments(self, root: TreeNode, variables: tuple[str, ...]) -> Iterator[Assignment]:
        """Those under which the root can have a cut at all."""
        tasks = [self._candidates(root, variable) for variable in variables]
        for chosen in product(*tasks):
            self.budget.look()
            yield dict(zip(variables, chosen, strict=True))

    def demands(self, node: TreeNode) -> Iterator[Says]:
        """What a conjunction asks of single tasks, whatever else it asks."""
        match node.formula:
            case Says():
                yield node.formula
            case And() if node.kind == "s":
                for part in node.successors:
                    yield from self.demands(part)
            case Provided():
                yield from self.demands(node.successors[0])

    def is_excluded(self, node: TreeNode, assignment: Assignment) -> bool:
        """Whether an outermost `if` leaves the formula undefined."""
        while isinstance(node.formula, Provided):
            if not fulfils(self.net, node.formula.condition, assignment):
                return True
            node = node.successors[0]
        return False

    def _candidates(self, node: TreeNode, variable: str) -> list[int]:
        """The tasks whose local states can satisfy what a conjunction demands of them."""
        every = list(range(len(self.net.tasks)))
        match node.formula:
            case Says(tvar, formula) if tvar == variable:
                return [task for task in every if 1 in self.local.table(formula, task)]
            case And() if node.kind == "s":
                parts = [set(self._candidates(part, variable)) for part in node.successors]
                return sorted(set(every).intersection(*parts))
            case Provided():
                return self._candidates(node.successors[0], variable)
            case ForTask("exists", tvar, _) if tvar != variable:
                return self._candidates(node.successors[0], variable)
        return every

    def _cuts(self, node: TreeNode, assignment: Assignment, within: Cuts | None) -> Cuts:
        key = node, tuple([assignment[variable] for variable in node.variables])
        if key in self._known:
            return self._known[key]
        if within is not None and node.is_costly:
            return self._make(node, assignment, within)
        self._known[key] = self._make(node, assignment, None)
        return self._known[key]

    def _make(self, node: TreeNode, assignment: Assignment, within: Cuts | None) -> Cuts:
        match node.formula:
            case Says(tvar, formula):
                table = self.local.table(formula, assignment[tvar])
                wanted = IS_SATISFIED if node.kind == "s" else IS_UNDEFINED
                return self.algebra.local(assignment[tvar], table.translate(wanted))
            case And(operands):
                make = self._every if node.kind == "s" else self._undefined
                return make(node, len(operands), assignment, within)
            case Or(operands):
                make = self._some if node.kind == "s" else self._undefined
                return make(node, len(operands), assignment, within)
        if node.kind == "u":
            return self.algebra.nothing()
        return self._satisfying(node, assignment, within)

    def _every(self, node: TreeNode, count: int, assignment: Assignment, within: Cuts | None) -> Cuts:
        algebra = self.algebra
        found = within
        for part in sorted(node.successors, key=lambda part: part.is_costly):
            cuts = self._cuts(part, assignment, found)
            found = cuts if found is None else algebra.both(found, cuts)
            if algebra.is_empty(found):
                break
        return found

    def _some(self, node: TreeNode, count: int, assignment: Assignment, within: Cuts | None) -> Cuts:
        """p or q: p, or q where p is unsatisfied; from the last operand back to the first."""
        algebra = self.algebra
        own, failing = node.successors[:count], node.successors[count:]
        found = self._cuts(own[-1], assignment, within)
        for part, fails in zip(reversed(own[:-1]), reversed(failing), strict=True):
            rest = found
            if self._may_be_undefined(part, assignment):
                rest = algebra.both(self._cuts(fails, assignment, within), found)
            found = algebra.either(self._cuts(part, assignment, within), rest)
        return found

    def _may_be_undefined(self, node: TreeNode, assignment: Assignment) -> bool:
        """Where a formula always has a truth value, an `or` with it is the plain union."""
        pending = [node.formula]
        while pending:
            match pending.pop():
                case Says(tvar, formula):
                    if UNDEFINED in self.local.table(formula, assignment[tvar]):
                        return True
                case And(operands) | Or(operands):
                    pending.extend(operands)
        return False

    def _undefined(self, node: TreeNode, count: int, assignment: Assignment, within: Cuts | None) -> Cuts:
        """p and q, p or q: where p is undefined, or p leaves it to q and q is undefined."""
        algebra = self.algebra
        own, leaving = node.successors[:count], node.successors[count:]
        found = self._cuts(own[-1], assignment, None)
        for part, leaves in zip(reversed(own[:-1]), reversed(leaving), strict=True):
            rest = algebra.both(self._cuts(leaves, assignment, None), found)
            found = algebra.either(self._cuts(part, assignment, None), rest)
        return found

    def _satisfying(self, node: TreeNode, assignment: Assignment, within: Cuts | None) -> Cuts:
        algebra, below = self.algebra, node.successors
        match node.formula:
            case Temporal("next"):
                return algebra.some_next(self._cuts(below[0], assignment, None))
            case Temporal("all_next"):
                good = [self._cuts(part, assignment, None) for part in below]
                return algebra.outside(algebra.some_next(algebra.outside(algebra.either(*good))))
            case Temporal("sometime"):
                return algebra.before(self._cuts(below[0], assignment, None))
            case Temporal("always"):
                return algebra.never_before(self._cuts(below[0], assignment, None))
            case Temporal("until" | "before" as operator):
                bad, goal = [self._cuts(part, assignment, None) for part in below]
                found = algebra.undisturbed(goal, bad, within)
                return found if operator == "until" else algebra.outside(found)
            case Provided(_, condition):
                if not fulfils(self.net, condition, assignment):
                    return algebra.nothing()
                return self._cuts(below[0], assignment, within)
            case ForTask(quantifier, tvar, _):
                found = algebra.nothing()
                for task in self._candidates(below[0], tvar):
                    cuts = self._cuts(below[0], {**assignment, tvar: task}, None)
                    found = algebra.either(found, cuts)
                return found if quantifier == "exists" else algebra.outside(found)
        raise TypeError(f"not a transformed task formula: {type(node.formula).__name__}")


def fulfils(net: Net, condition: Condition, assignment: Assignment) -> bool:
    left, right = net.tasks[assignment[condition.left]], net.tasks[assignment[condition.right]]
    if condition.caller:
        return net.callers.get(right) == left
    return (left == right) == (condition.operator == "==")
