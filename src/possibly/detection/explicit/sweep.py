"""The explicit engine: ctl, any nesting, on the whole lattice held in rows of bits.

Here belongs the formula as operations on sets of cuts, from the inside out: one pass over the rows for each
operator, without recursion along paths. Every cut is visited and there is no early exit, which is why
`choose` tries the plain engine first. The operations are `rowsets` or, where it was built, `compiled`.
"""

from __future__ import annotations

from collections.abc import Callable

from possibly.detection.explicit.compiled import algebra
from possibly.detection.explicit.laws import LAWS, TRUE, now_and_while
from possibly.detection.explicit.rowsets import RowAlgebra, Set
from possibly.detection.limits import Budget
from possibly.detection.witness import nearest
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates, Holds


class Sweep:
    """Evaluates formulas at all cuts of one lattice at once."""

    def __init__(
        self,
        lattice: Lattice,
        predicates: CutPredicates,
        budget: Budget,
        make: Callable[[Lattice, Callable[[int], None]], RowAlgebra] = algebra,
    ) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.budget = budget
        self.sets: RowAlgebra = make(lattice, budget.visit)
        self._known: dict[Node, Set] = {}

    def at(self, formula: Node, cut: int) -> bool:
        return self.function(formula)(cut)

    def function(self, formula: Node) -> Holds:
        """The formula as a look-up by packed cut."""
        found = self.satisfying(formula)
        contains, unpack = self.sets.contains, self.lattice.unpack
        return lambda cut: contains(found, unpack(cut))

    def nearest(self, meanwhile: Node, goal: Node) -> set[int]:
        """The nearest cuts with `goal`, through cuts with `meanwhile`; empty if there is none."""
        if not self.at(Temporal("EU", (meanwhile, goal)), self.lattice.initial):
            return set()
        if meanwhile == TRUE and not self.lattice.computation.joint:
            return self.sets.nearest(self.satisfying(goal))
        return nearest(self.lattice, self.function(meanwhile), self.function(goal), self.budget)

    def satisfying(self, formula: Node) -> Set:
        """The cuts that satisfy the formula."""
        if formula not in self._known:
            self.budget.look()
            with deep():
                self._known[formula] = self._make(formula)
        return self._known[formula]

    def _make(self, formula: Node) -> Set:
        sets = self.sets
        if is_state(formula) and len(self.predicates.support(formula)) < 2:
            return self._simple(formula)
        match formula:
            case Not(operand):
                return sets.combined("-", sets.everything(), self.satisfying(operand))
            case And(operands):
                return self._merged("&", operands)
            case Or(operands):
                return self._merged("|", operands)
            case Implies(left, right):
                return self.satisfying(Or((Not(left), right)))
            case Iff(left, right):
                differ = sets.combined("^", self.satisfying(left), self.satisfying(right))
                return sets.combined("-", sets.everything(), differ)
            case Temporal("EX", (operand,), process):
                numbers = self.lattice.computation.trace.process_number
                return sets.some_next(self.satisfying(operand), None if process is None else numbers[process])
            case Temporal("AX", (operand,)):
                return self.satisfying(Not(Temporal("EX", (Not(operand),))))
            case Temporal():
                now, meanwhile = now_and_while(formula)
                law = LAWS[formula.operator]
                return sets.path(law, self.satisfying(now), self.satisfying(meanwhile))
        return sets.several(self.predicates.support(formula), self.predicates(formula))

    def _merged(self, operator: str, operands: tuple[Node, ...]) -> Set:
        merged = self.satisfying(operands[0])
        for part in operands[1:]:
            merged = self.sets.combined(operator, merged, self.satisfying(part))
        return merged

    def _simple(self, formula: Node) -> Set:
        """A predicate on one process, or on none."""
        support = self.predicates.support(formula)
        if support:
            return self.sets.local(support[0], self.predicates.table(formula, support[0]))
        return self.sets.everything() if self.predicates(formula)(0) else self.sets.nothing()
