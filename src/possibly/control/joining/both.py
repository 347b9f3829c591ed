"""Two searches at once, by states and by classes of schedules: whichever is through first ends both.

Theory of operation. The first executions are those of `Dpor`, which shows most bugs soon. Then the search
that joins equal states (`explorer`) makes most executions, and `Dpor` some, wherever it thinks that failures
are. How many classes there are can be estimated (`coverage`): if they seem to be few, the two take turns, and
once most of them seem to be executed, `Dpor` goes on alone, unless the other one has still less to do. A
search over states that cannot be read, or that are hardly ever equal, is given up. Neither learns from the
executions of the other; each alone covers everything, so the answer is that of the one that is through.
"""

from __future__ import annotations

from possibly.control.execution import Execution, Scheduler
from possibly.control.joining.explorer import Joining
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import ExecutionTree, explored_part

ALONE = 100
"""So many executions are made by classes before states are looked at, which takes some time."""
TRIED = 60
"""So many executions over states are made before it is asked whether they help."""
SELDOM, IN_TURN = 4, 2
"""One of so many executions is made by classes from then on; and if these seem to be few."""
FEW, MOST = 10, 2
"""They are if they seem to be at most so many times those executed; most of them are executed if so many."""
EVERY = 32
"""After so many executions the classes are estimated again."""


class Both:
    """An explorer that is complete when one of its two is."""

    def __init__(self, alone: int = ALONE) -> None:
        self.alone = alone
        self.dpor = Dpor()
        self.joining: Joining | None = Joining()
        self._begun = 0
        self._often = SELDOM
        """One of so many executions is made by classes."""
        self._estimated = 0
        """After so many executions."""

    @property
    def tree(self) -> ExecutionTree:
        return self.dpor.tree

    @property
    def is_joined(self) -> bool:
        """Whether the search over states has covered everything."""
        return self.joining is not None and self.joining.is_complete

    def plan(self) -> Scheduler | None:
        if self.is_joined:
            return None
        joining, number = self.joining, self._begun
        if joining is not None and number >= self.alone and number % self._how_often(joining):
            route = joining.plan()
            if route is not None:
                self._begun += 1
                return route
        course = self.dpor.plan()
        if course is not None:
            self._begun += 1
        return course

    def _how_often(self, joining: Joining) -> int:
        """One of so many executions is made by classes."""
        if self._begun >= self._estimated:
            self._estimated = self._begun + EVERY
            tree = self.tree
            part = explored_part(tree.root)
            if part * MOST >= 1 and tree.executions * (1 - part) < MOST * joining.left * part:
                self._often = 1
            else:
                self._often = IN_TURN if part * FEW >= 1 else SELDOM
        return self._often

    def learn(self, execution: Execution) -> None:
        joining = self.joining
        if joining is None or not joining.knows(execution):
            if execution.seen is None or not self.dpor.tree.executions:
                self.dpor.learn(execution)
            return
        joining.learn(execution)
        if _is_in_vain(joining):
            self.joining = None


def _is_in_vain(joining: Joining) -> bool:
    """Whether it is better to go by classes alone."""
    if joining.graph.divergence or 2 * joining.unread > joining.looked > 0:
        return True
    return joining.executions >= TRIED and 4 * joining.graph.joined < joining.executions
