"""AF of any regular predicate: the interval that matters, then a search inside it.

Here belongs Algo 6.2 of Sen's thesis in its exact part. All cuts that satisfy a regular p lie between its
least cut I and its greatest cut S. AF(p) holds of the computation iff it holds of the interval from C, the
meet of the predecessors of I, to D, the join of the successors of S (theorem 6.7): outside it p is false. A
path through the interval without p, depth first, refutes it; no cut is entered twice. No polynomial algorithm
is known for this class; conjunctive predicates go to `intervals` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.detection.branching import ALWAYS, NEVER, Finding, Shows
from possibly.detection.extension import extension
from possibly.detection.limits import Budget
from possibly.detection.slicing import Slicing
from possibly.detection.witness import Path, any_path, moves_inside
from possibly.logic.predicate import is_state
from possibly.logic.syntax import Node, Not, Temporal
from possibly.order.computation import Cut, join, meet
from possibly.order.lattice import Lattice, Move


class Definitely:
    """Answers AF of a regular predicate, and EG of the negation of one."""

    def __init__(self, slicing: Slicing, budget: Budget) -> None:
        self.slicing = slicing
        self.lattice: Lattice = slicing.lattice
        self.budget = budget

    def decide(self, formula: Node) -> Finding | None:
        match formula:
            case Temporal("AF", (operand,)) if is_state(operand):
                return self._avoid(operand, Shows(NEVER, operand, to_the_end=True), False)
            case Temporal("EG", (operand,)) if is_state(operand):
                return self._avoid(Not(operand), Shows(ALWAYS, operand, True), True)
        return None

    def _avoid(self, predicate: Node, shows: Shows, value: bool) -> Finding | None:
        """Whether some observation passes no cut of the predicate; `value` is the answer if one does."""
        part = self.slicing.slice_of(predicate)
        if part is None:
            return None
        computation = self.slicing.computation
        if part.least is None or part.greatest is None:
            return Finding(value, extension(self.lattice, computation.initial, computation.final), shows)
        low, high = self._interval(part.least, part.greatest)
        path = self._through(predicate, low, high)
        if path is None:
            return Finding(not value)
        before = extension(self.lattice, computation.initial, low)
        after = extension(self.lattice, high, computation.final)
        assert before is not None and after is not None
        return Finding(value, (*before, *path, *after), shows)

    def _interval(self, least: Cut, greatest: Cut) -> tuple[Cut, Cut]:
        low, high = least, greatest
        for _, before in self.lattice.predecessors(self.lattice.pack(least)):
            low = meet(low, self.lattice.unpack(before))
        for following in self.lattice.successors(self.lattice.pack(greatest)):
            high = join(high, self.lattice.unpack(following))
        return low, high

    def _through(self, predicate: Node, low: Cut, high: Cut) -> Path | None:
        """A path from low to high on which the predicate is never true."""
        holds = self.slicing.predicates(predicate)
        start, end = self.lattice.pack(low), self.lattice.pack(high)
        if holds(start):
            return None

        def successors(cut: int) -> Iterator[tuple[Move, int]]:
            following = ((move, cut + move.delta) for move in moves_inside(self.lattice, cut, high))
            return ((move, after) for move, after in following if not holds(after))

        return any_path(start, successors, end.__eq__, self.budget)
