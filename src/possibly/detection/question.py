"""What an engine is asked: a formula on a run, or on the part of the run that matters to it.

Here belongs the question as a value, and the choice between the run and its projection: an engine whose time
grows with the cuts is asked about the projection (`projected`), unless there are so few cuts that nothing is
gained. A path found in the projection is given back as one of the run.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice

from possibly.detection.finding import Finding
from possibly.detection.limits import Budget
from possibly.detection.slicing import Slicing
from possibly.logic.syntax import Node
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.records import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.order.projection import Projection

FEW = 100_000
"""Cuts times processes up to which visiting all cuts takes no longer than to load a solver."""


@dataclass(frozen=True, slots=True)
class Question:
    """A formula at the initial cut of a computation. What is sliced for one engine serves the next."""

    formula: Node
    slicing: Slicing
    budget: Budget

    @property
    def lattice(self) -> Lattice:
        return self.slicing.lattice

    @property
    def predicates(self) -> CutPredicates:
        return self.slicing.predicates


class Asked:
    """A question about a run, and the same about its projection. `may_project`: unless it is told not to."""

    def __init__(self, question: Question, may_project: bool) -> None:
        self.question = question
        self.may_project = may_project
        self._projected: Slicing | None = None
        self._projection: Projection | None = None
        self._is_tried = False

    @cached_property
    def has_few_cuts(self) -> bool:
        return self.may_project and few_cuts(self.question.lattice)

    def to(self, on_projection: bool, budget: Budget) -> Question:
        """The question for an engine, about the projection if it is one for that."""
        if not on_projection or not self._project(budget) or self._projected is None:
            return replace(self.question, budget=budget)
        return Question(self.question.formula, self._projected, budget)

    def _project(self, budget: Budget) -> bool:
        if not self._is_tried and self.may_project and not self.has_few_cuts:
            from possibly.detection.projected import projection_for

            self._projection = projection_for(self.question.predicates, self.question.formula, budget.look)
            if self._projection is not None:
                look = self.question.budget.look
                self._projected = Slicing(self._projection.lattice, self._projection.predicates, look)
        self._is_tried = True
        return self._projection is not None

    def finding(self, on_projection: bool, found: Finding) -> Finding:
        """What an engine found, as a finding of the run."""
        if not on_projection or self._projection is None:
            return found
        from possibly.detection.projected import lifted

        return lifted(self._projection, found)

    def told(self, on_projection: bool) -> tuple[str, ...]:
        """What was left out, for the notes."""
        if not on_projection or self._projection is None:
            return ()
        from possibly.detection.projected import told

        return (told(self._projection),)


def few_cuts(lattice: Lattice) -> bool:
    """Whether visiting every cut is quick; the cuts are counted, up to there."""
    most = FEW // max(1, len(lattice.computation.lengths))
    if len(lattice.computation) > most:  # an observation alone has more
        return False
    return sum(1 for _ in islice(lattice.depth_first(), most + 1)) <= most
