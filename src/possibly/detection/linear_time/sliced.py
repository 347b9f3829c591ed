"""The polynomial engine for ltl: formulas that say the same in branching time.

Here belongs the translation of a few common shapes, with state predicates s and t, and the whole observation
that shows a violation:

    G s           AG s: a path to a cut where s fails, continued in any order
    F s           AF s: an observation on which s is never true
    G(s -> F t)   AG(s -> AF t): a path to a cut with s from which t can be avoided, continued without t
    p & q         both; p -> q at the first state, for a state predicate p

All other formulas get no answer here.
"""

from __future__ import annotations

from possibly.detection.finding import BREAKS, Finding, Path, Shows
from possibly.detection.slices.extension import extension
from possibly.detection.slices.sliced import Sliced
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.order.computation import Cut
from possibly.records import replace


class SlicedLinear:
    """Answers a linear formula on all observations, or says that it cannot."""

    def __init__(self, sliced: Sliced) -> None:
        self.sliced = sliced
        self.lattice = sliced.lattice
        self.final = sliced.computation.final

    def decide(self, formula: Node) -> Finding | None:
        found = self._decide(formula)
        if found is None or found.path is None:
            return found
        return replace(found, shows=Shows(BREAKS, formula, to_the_end=True))

    def _decide(self, formula: Node) -> Finding | None:
        match formula:
            case And(operands):
                return self._all(operands)
            case Temporal("G", (operand,)) if is_state(operand):
                return self._invariant(operand)
            case Temporal("F", (operand,)) if is_state(operand):
                return self.sliced.decide(Temporal("AF", (operand,)))
            case Temporal("G", (Implies(left, Temporal("F", (right,))),)) if is_state(left) and is_state(
                right
            ):
                return self._response(left, right)
            case Temporal("G", (Or((left, Temporal("F", (right,)))),)) if is_state(left) and is_state(right):
                return self._response(Not(left), right)
        return None

    def _all(self, operands: tuple[Node, ...]) -> Finding | None:
        found = [self._decide(part) for part in operands]
        broken = next((part for part in found if part is not None and not part.value), None)
        return broken or (None if None in found else Finding(True))

    def _invariant(self, operand: Node) -> Finding | None:
        found = self.sliced.decide(Temporal("AG", (operand,)))
        if found is None or found.path is None:
            return found
        rest = extension(self.lattice, self._end(found.path), self.final)
        assert rest is not None, "the order of a computation has no cycle"
        return Finding(False, self.lattice.joined(found.path, rest), moment=len(found.path) if rest else None)

    def _response(self, left: Node, right: Node) -> Finding | None:
        if not is_state(left) or not is_state(right):
            return None
        avoidable = And((left, Temporal("EG", (Not(right),))))
        found = self.sliced.decide(Temporal("EF", (avoidable,)))
        if found is None:
            return None
        if found.path is None:
            return Finding(True)
        without = self.sliced.slicing.alternatives(right, False)
        assert without is not None and len(without) == 1, "EG was answered from this one slice"
        rest = self.sliced.observation_in(without[0], self._end(found.path))
        assert rest is not None, "EG was answered with such an observation"
        return Finding(False, self.lattice.joined(found.path, rest), since=len(found.path))

    def _end(self, path: Path) -> Cut:
        return self.lattice.unpack(self.lattice.initial + sum(move.delta for move in path))
