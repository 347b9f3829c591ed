"""Whether a property held in the recorded order alone: every path is then that one path.

Truth along the path is one integer with a bit a cut, bit 0 the final one, as in `sweep`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.detection.branching import ALWAYS, ENDS_FALSE, ENDS_TRUE, NEVER, Finding, Shows
from possibly.detection.laws import LAWS, now_and_while
from possibly.logic.depth import deep
from possibly.logic.predicate import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates


def observed_path(lattice: Lattice) -> tuple[Move, ...]:
    """The recorded order as moves."""
    return tuple(lattice.move_of(step) for step in lattice.computation.steps)


def shown_by(observed: Observed, formula: Node) -> Finding | None:
    """What the recorded order alone decides: one path refutes AG and AF, and shows EF and EG.

    For when an engine gave up; the path is not the shortest one.
    """
    match formula:
        case Temporal("AG" | "EF" as operator, (operand,)) if is_state(operand):
            holds, wanted = observed.predicates(operand), operator == "EF"
            for count, cut in enumerate(observed.cuts()):
                if holds(cut) == wanted:
                    shows = Shows(ENDS_TRUE if wanted else ENDS_FALSE, operand)
                    return Finding(wanted, tuple(observed.path[:count]), shows)
        case Temporal("AF" | "EG" as operator, (operand,)) if is_state(operand):
            exists = operator == "EG"
            if observed.holds(formula) == exists:
                shows = Shows(ALWAYS if exists else NEVER, operand, to_the_end=True)
                return Finding(exists, tuple(observed.path), shows)
    return None


class Observed:
    """Evaluates ctl formulas on one path."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, path: Sequence[Move]) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.path = path
        self.full = (1 << len(path) + 1) - 1

    def holds(self, formula: Node) -> bool:
        """Whether the formula holds at the first cut of the path."""
        with deep():
            return bool(self.bits(formula) >> len(self.path) & 1)

    def cuts(self) -> Iterator[int]:
        cut = self.lattice.initial
        yield cut
        for move in self.path:
            cut += move.delta
            yield cut

    def bits(self, formula: Node) -> int:
        if is_state(formula):
            holds = self.predicates(formula)
            return int("".join("1" if holds(cut) else "0" for cut in self.cuts()), 2)
        match formula:
            case Not(operand):
                return self.full & ~self.bits(operand)
            case And(operands):
                found = self.full
                for part in operands:
                    found &= self.bits(part)
                return found
            case Or(operands):
                found = 0
                for part in operands:
                    found |= self.bits(part)
                return found
            case Implies(left, right):
                return self.full & ~self.bits(left) | self.bits(right)
            case Iff(left, right):
                return self.full & ~(self.bits(left) ^ self.bits(right))
            case Temporal("EX", (operand,), process):
                return self.bits(operand) << 1 & self.full & self._steps_of(process)
            case Temporal("AX", (operand,)):
                return self.bits(operand) << 1 & self.full | 1
            case Temporal():
                return self._path(formula)
        raise TypeError(f"not a ctl formula: {type(formula).__name__}")

    def _steps_of(self, process: str | None) -> int:
        """The cuts whose next step is one of that process."""
        if process is None:
            return self.full
        number = self.lattice.computation.trace.process_number[process]
        return int("".join("1" if number in move.processes else "0" for move in self.path) + "0", 2)

    def _path(self, formula: Temporal) -> int:
        law = LAWS[formula.operator]
        first, second = now_and_while(formula)
        now, through = self.bits(first), self.bits(second)
        seeds = now | (through & 1 if law.at_end else 0)
        start = seeds << 1 & through
        return (seeds | start | ((through + start) ^ through) & through) & self.full
