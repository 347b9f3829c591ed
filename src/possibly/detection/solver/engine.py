"""EF and AG of any predicate, by a constraint solver: neither cuts nor classes.

Here belongs what is asked of the solver and what its answer says; the encoding is in `solver_model`.

EF(p) asks for a cut where p is true, AG(p) for one where it is false. Conjuncts that are one lean slice each
are not left to the solver: their slice bounds the cuts that it may choose, and if it is empty the solver is
not asked at all. The fewest steps are the solver's objective, so the path is a shortest one; if that is not
settled in `PATIENCE` seconds, the path is one to the best cut found, or to any. The operand
may contain temporal operators that slices know. The problem is NP-complete (thesis, section 6.7), so there
is no promise about time: `--timeout` applies, `--max-cuts` does not, as no cut is visited.

An atom that is no slice and no sum, and reads too many values for a table, is outside (None).
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from possibly.detection.finding import ENDS_FALSE, ENDS_TRUE, Finding, Shows
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.model import Encoding, OutsideError
from possibly.detection.solver.nearest import any_cut, nearest
from possibly.detection.solver.search import UndecidedError
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.order.computation import Cut
from possibly.order.slice import Slice, conjunction, nothing, whole

MOST_EVENTS = 300_000
"""Events beyond which the constraints would not fit into memory with ease."""
PATIENCE = 10.0
"""Seconds for the shortest path before any path will do."""


class Solver(Sliced):
    """Answers EF and AG, and whatever slices answer around them."""

    def __init__(self, slicing: Slicing, budget: Budget | None = None) -> None:
        super().__init__(slicing)
        self.budget = budget or Budget()

    def _temporal(self, formula: Temporal) -> Finding | None:
        exists = formula.operator == "EF"
        if not exists and formula.operator != "AG":
            return super()._temporal(formula)
        operand = formula.operands[0]
        try:
            cut = self.cut(operand, exists)
        except OutsideError:
            return None
        if cut is None:
            return Finding(not exists)
        return Finding(exists, self.path_to([cut]), Shows(ENDS_TRUE if exists else ENDS_FALSE, operand))

    def cut(self, formula: Node, positive: bool) -> Cut | None:
        """The cut with the fewest steps where the formula (or its negation) holds; None if there is none."""
        if len(self.computation.trace) > MOST_EVENTS:
            raise OutsideError
        region, rest = self._regular_part(formula, positive)
        if region.is_empty:
            return None
        if not rest:
            return region.least
        cut = self._search(region, rest)
        right = cut is None or self._is_right(formula, positive, cut)
        assert right, "the solver's cut does not satisfy its constraints"
        return cut

    def _search(self, region: Slice, rest: Sequence[tuple[Node, bool]]) -> Cut | None:
        """One worker looks for the nearest cut; if that takes too long all cores look for any."""

        def add(encoding: Encoding) -> None:
            for node, is_positive in rest:
                encoding.clause(encoding.formula(node, is_positive))

        self.budget.look()
        try:
            return nearest(self.slicing, region, add, min(PATIENCE, self._left()))
        except UndecidedError:
            self.budget.look()
        try:
            return any_cut(self.slicing, region, add, self._left())
        except UndecidedError:
            self.budget.look()
            given = f" within {self.budget.timeout:g} s; raise --timeout" if self.budget.timeout else ""
            raise LimitReachedError(f"not decided{given}") from None

    def _left(self) -> float:
        """Seconds until the user's limit."""
        if self.budget.timeout is None:
            return float("inf")
        return max(0.0, self.budget.started + self.budget.timeout - monotonic())

    def _is_right(self, formula: Node, positive: bool, cut: Cut) -> bool:
        """The answer is checked with the trace itself: a library may err."""
        if not self.computation.is_consistent(cut):
            return False
        return not is_state(formula) or self.slicing.predicates(formula)(self.lattice.pack(cut)) == positive

    def _regular_part(self, formula: Node, positive: bool) -> tuple[Slice, list[tuple[Node, bool]]]:
        """The slice of the conjuncts that have one, and the other conjuncts, each with its sign."""
        slices, rest = [whole(self.computation)], []
        for part, sign in _conjuncts(formula, positive):
            known = self.slicing.alternatives(part, sign)
            if known is None or len(known) > 1:
                rest.append((part, sign))
            else:
                slices.append(known[0] if known else nothing(self.computation))
        return conjunction(slices), rest


def _conjuncts(formula: Node, positive: bool) -> list[tuple[Node, bool]]:
    pending, found = [(formula, positive)], []
    while pending:
        node, sign = pending.pop()
        match node, sign:
            case (Not(operand), _):
                pending.append((operand, not sign))
            case (And(operands), True) | (Or(operands), False):
                pending += [(part, sign) for part in reversed(operands)]
            case (Implies(left, right), False):
                pending += [(right, False), (left, True)]
            case _:
                found.append((node, sign))
    return found
