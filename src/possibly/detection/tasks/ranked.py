"""Assignments of tasks to the variables of a task formula, those first whose failing slice can be nearest.

Here belongs a lower bound for what a check by terms has to find out. Every slice in which a conjunction fails
comes after the least slices of its local parts, each for one task. These are computed once for each part and
task, not for each assignment, and so is the number of events in their join. Once a failing slice is found,
assignments whose bound is no less need not be looked at: the way shown is a shortest one all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from possibly.detection.tasks.cuts import Assignment, Evaluation
from possibly.detection.tasks.local import IS_SATISFIED
from possibly.detection.tasks.terms import TermSets
from possibly.logic.tasks.formulas import Says
from possibly.logic.tasks.tree import TreeNode
from possibly.order.computation import Cut

MOST_RANKED = 100_000
"""Assignments that are put in order; more are looked at one after the other."""
FROM = 16
"""Assignments from which on an order is worth its price."""


class Ranked:
    """Pairs of a lower bound of the steps to a failing slice, and an assignment; the bounds ascend."""

    def __init__(
        self, evaluation: Evaluation, sets: TermSets, tree: TreeNode, variables: tuple[str, ...]
    ) -> None:
        self.evaluation = evaluation
        self.sets = sets
        self.tree = tree
        self.variables = variables
        self.is_cut_short = False
        """Set by whoever stops before the end."""
        self._least: dict[tuple[Says, int], Cut | None] = {}

    def __iter__(self) -> Iterator[tuple[int, Assignment]]:
        found = (
            each
            for each in self.evaluation.assignments(self.tree, self.variables)
            if not self.evaluation.is_excluded(self.tree, each)
        )
        tasks = len(self.evaluation.net.tasks)
        demands = [says for says in self.evaluation.demands(self.tree) if says.tvar in self.variables]
        if not demands or not FROM <= prod([tasks] * len(self.variables)) <= MOST_RANKED:
            yield from ((0, each) for each in found)
            return
        bounds = ((self._bound(demands, each), each) for each in found)
        yield from sorted([pair for pair in bounds if pair[0] >= 0], key=lambda pair: pair[0])

    def _bound(self, demands: list[Says], assignment: Assignment) -> int:
        """Steps to the join of the least slices; -1 if one of the parts is satisfied nowhere."""
        cuts = [self._least_of(says, assignment[says.tvar]) for says in demands]
        found = [cut for cut in cuts if cut is not None]
        if len(found) < len(cuts):
            return -1
        joint = len(self.sets.computation.joint)
        # Lines of one joint event are one step.
        return max(0, sum(map(max, *found)) - joint if len(found) > 1 else sum(found[0]) - joint)

    def _least_of(self, says: Says, task: int) -> Cut | None:
        key = says, task
        if key not in self._least:
            table = self.evaluation.local.table(says.formula, task).translate(IS_SATISFIED)
            self._least[key] = self.sets.least({task: table})
        return self._least[key]
