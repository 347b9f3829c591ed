"""Linear formulas answered in branching time, by whichever engine knows the predicates.

Here belongs the question that an engine of branching time is asked for a linear formula (the law is in
`linear_as_branching`), and the whole observation that shows a violation. With state predicates s and t:

    G s             AG s: the way to where s fails, continued in any order
    F s             AF s: an observation on which s is never true
    s U t           A[s U t]: an observation without t, or a way to where both fail, continued
    t R s, s W t,   an E[... U ...] that must not hold: the way up to its end, continued
    G(s -> O t)
    N s, X s        AX s: one event, continued
    F G s, G F s    s at the final cut, where every observation ends
    p & q, s | p    the part that decides

Formulas of other shapes get no answer here, as an engine's path for them is no observation that breaks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from possibly.detection.finding import BREAKS, Finding, Path, Shows
from possibly.detection.linear_time.as_branching import as_branching, positive
from possibly.detection.slices.extension import extension
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.records import replace

Ask = Callable[[Node], Finding | None]
"""An engine of branching time; None: it does not know the formula."""


class ViaBranching:
    """Answers a linear formula on all observations, or says that it cannot."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, ask: Ask) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.ask = ask

    def decide(self, formula: Node) -> Finding | None:
        with deep():
            found = self._decide(positive(formula))
        if found is None or found.path is None:
            return found
        return replace(found, shows=Shows(BREAKS, formula, to_the_end=True))

    def _decide(self, formula: Node) -> Finding | None:
        if is_state(formula):
            return self._at(formula, self.lattice.initial, 0)
        match formula:
            case And(operands):
                return self._all(operands)
            case Or(operands):
                return self._choice(operands)
            case Temporal("G", (Temporal("G", _) as inner,)) | Temporal("F", (Temporal("F", _) as inner,)):
                return self._decide(inner)
            case Temporal("G" | "F", (Temporal("F" | "G", (inner,)),)) if is_state(inner):
                return self._at(inner, self.lattice.final, None)
            case Temporal("G" | "F" | "U" | "R" | "N" | "X"):
                return self._question(formula)
        return None

    def _all(self, operands: Sequence[Node]) -> Finding | None:
        found = [self._decide(part) for part in operands]
        broken = next((part for part in found if part is not None and not part.value), None)
        return broken or (None if None in found else Finding(True))

    def _choice(self, operands: Sequence[Node]) -> Finding | None:
        """State predicates are decided at the first cut; what speaks of time must be one part alone."""
        timed = [part for part in operands if not is_state(part)]
        if any(self.predicates(part)(self.lattice.initial) for part in operands if is_state(part)):
            return Finding(True)
        return self._decide(timed[0]) if len(timed) == 1 else None

    def _at(self, predicate: Node, cut: int, moment: int | None) -> Finding:
        if self.predicates(predicate)(cut):
            return Finding(True)
        return self._continued(Finding(False, (), moment=moment), moment)

    def _question(self, formula: Temporal) -> Finding | None:
        """Shapes whose translation is one operator of branching time over state predicates."""
        if formula.operator == "X":
            return self._next(formula.operands[0])
        asked = as_branching(formula)
        match asked:
            case Not(Temporal("EU") as until):
                return self._opposite(until)
            case Temporal(operator, operands) if all(map(is_state, operands)):
                found = self.ask(asked)
                if found is None or found.path is None:
                    return found
                return self._continued(found, None if operator == "AF" else len(found.path))
        return None

    def _opposite(self, until: Temporal) -> Finding | None:
        found = self.ask(until)
        if found is None or not found.value:
            return None if found is None else Finding(True, assumed=found.assumed)
        assert found.path is not None, "a way that exists is shown"
        return self._continued(replace(found, value=False), len(found.path))

    def _next(self, operand: Node) -> Finding | None:
        if not is_state(operand):
            return None
        if self.lattice.initial == self.lattice.final:
            return Finding(False, ())
        return self._question(Temporal("N", (operand,)))

    def _continued(self, found: Finding, moment: int | None) -> Finding:
        """The path to the final cut in any order."""
        path: Path = found.path or ()
        end = self.lattice.unpack(self.lattice.initial + sum(move.delta for move in path))
        rest = extension(self.lattice, end, self.lattice.computation.final)
        assert rest is not None, "the order of a computation has no cycle"
        return replace(
            found, path=self.lattice.joined(path, rest), shows=None, moment=moment if rest else None
        )
