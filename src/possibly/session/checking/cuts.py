"""The cuts of a run with what marks and slices them: what pictures of lattices ask for."""

from __future__ import annotations

from collections.abc import Sequence

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.closure import slice_of
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import Vocabulary
from possibly.logic.syntax import Node
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary


class Cuts:
    """The lattice of one run, with what is needed to mark and to slice it."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.lattice = Lattice(computation)
        self.names: Vocabulary = vocabulary(computation.trace)
        self._predicates = CutPredicates(self.lattice, Readings(computation))
        self._slicing = Slicing(self.lattice, self._predicates)

    def satisfying(self, formula: Node, packed: Sequence[int]) -> list[int]:
        """Which of these cuts satisfy the formula, by their numbers."""
        plain = Exhaustive(self.lattice, self._predicates, Budget())
        return [number for number, cut in enumerate(packed) if plain.at(formula, cut)]

    def slice_of(self, formula: Node) -> Slice:
        """The smallest slice that contains all cuts of the formula."""
        return slice_of(self._slicing, formula)
