"""Two searches at once, by states and by classes of schedules: whichever is through first ends both.

Theory of operation. The first executions are those of `Dpor`, which shows most bugs soon. Then the search
that joins equal states (`explorer`) makes most executions, and `Dpor` some, wherever it thinks that failures
are. A search over states that cannot be read, or that are hardly ever equal, is given up. Neither learns from
the executions of the other; each alone covers everything, so the answer is that of the one that is through.
"""

from __future__ import annotations

from possibly.control.execution import Execution, Scheduler
from possibly.control.joining.explorer import Joining
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import ExecutionTree

ALONE = 100
"""So many executions are made by classes before states are looked at, which takes some time."""
TRIED = 60
"""So many executions over states are made before it is asked whether they help."""
SELDOM = 4
"""One of so many executions is made by classes from then on."""


class Both:
    """An explorer that is complete when one of its two is."""

    def __init__(self, alone: int = ALONE) -> None:
        self.alone = alone
        self.dpor = Dpor()
        self.joining: Joining | None = Joining()
        self._begun = 0

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
        if joining is not None and number >= self.alone and number % SELDOM:
            route = joining.plan()
            if route is not None:
                self._begun += 1
                return route
        course = self.dpor.plan()
        if course is not None:
            self._begun += 1
        return course

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
