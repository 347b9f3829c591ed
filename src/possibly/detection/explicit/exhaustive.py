"""The plain engine: ctl, any nesting, by visiting cuts one at a time.

Here belongs the meaning of every ctl operator, as near to the definition as a program can be (Sen,
"Techniques for formal verification of concurrent and distributed program traces", section 3.2): all other
engines are tested against this one, and this one against the enumeration of paths.

Theory of operation. The lattice has no cycles, so each operator equals its fixpoint law read as a
recursion, e.g. E[p U q] at C is q at C, or p at C and E[p U q] at a successor. The recursion is run
depth-first with answers kept for each cut, and stops at the first successor that decides: a cut is never
evaluated twice and none that does not matter is visited. The outermost EF, AG and EU are searched level
by level instead, which gives the shortest path. Witnesses are made in `witness`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from possibly.detection.explicit.laws import LAWS, now_and_while
from possibly.detection.limits import Budget
from possibly.detection.witness import nearest
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates, Holds


class Exhaustive:
    """Evaluates formulas at cuts of one lattice."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, budget: Budget) -> None:
        self.lattice = lattice
        self.predicates = predicates
        self.budget = budget
        self._known: dict[Node, Holds] = {}

    def at(self, formula: Node, cut: int) -> bool:
        """Whether the formula holds at the packed cut."""
        with deep():
            return self.function(formula)(cut)

    def nearest(self, meanwhile: Node, goal: Node) -> set[int]:
        """The nearest cuts with `goal`, through cuts with `meanwhile`; empty if there is none."""
        return nearest(self.lattice, self.function(meanwhile), self.function(goal), self.budget)

    def function(self, formula: Node) -> Holds:
        """The formula as a function of a cut; a state predicate, or a recursion with kept answers."""
        if formula not in self._known:
            self._known[formula] = self._make(formula)
        return self._known[formula]

    def _make(self, formula: Node) -> Holds:
        if is_state(formula):
            return self.predicates(formula)
        match formula:
            case Not(operand):
                inner = self.function(operand)
                return lambda cut: not inner(cut)
            case And(operands):
                parts = self._cheap_first(operands)
                return lambda cut: all(part(cut) for part in parts)
            case Or(operands):
                parts = self._cheap_first(operands)
                return lambda cut: any(part(cut) for part in parts)
            case Implies(left, right):
                return self.function(Or((Not(left), right)))
            case Iff(left, right):
                first, second = self.function(left), self.function(right)
                return lambda cut: first(cut) == second(cut)
            case Temporal("EX" | "AX"):
                return self._next(formula)
            case Temporal():
                return self._path(formula)
        raise TypeError(f"not a ctl formula: {type(formula).__name__}")

    def _cheap_first(self, operands: Sequence[Node]) -> list[Holds]:
        return [self.function(part) for part in sorted(operands, key=lambda part: not is_state(part))]

    def _next(self, formula: Temporal) -> Holds:
        inner = self.function(formula.operands[0])
        successors = self._successors(formula.process)
        decides = formula.operator == "EX"
        known: dict[int, bool] = {}

        def holds(cut: int) -> bool:
            if cut not in known:
                known[cut] = not decides
                for following in successors(cut):
                    if inner(following) == decides:
                        known[cut] = decides
                        break
            return known[cut]

        return holds

    def _successors(self, process: str | None) -> Callable[[int], list[int]]:
        lattice, budget = self.lattice, self.budget
        number = None if process is None else lattice.computation.trace.process_number[process]

        def successors(cut: int) -> list[int]:
            budget.visit()
            moves = lattice.moves(cut)
            return [cut + move.delta for move in moves if number is None or number in move.processes]

        return successors

    def _path(self, formula: Temporal) -> Holds:
        law = LAWS[formula.operator]
        now, meanwhile = map(self.function, now_and_while(formula))
        known: dict[int, bool] = {}
        lattice, budget = self.lattice, self.budget

        def leaf(cut: int) -> bool | None:
            """The answer at a cut if it needs no successor, else None; kept either way."""
            budget.visit()
            if now(cut):
                known[cut] = True
            elif not meanwhile(cut):
                known[cut] = False
            elif cut == lattice.final:
                known[cut] = law.at_end
            return known.get(cut)

        def holds(cut: int) -> bool:
            if cut in known or leaf(cut) is not None:
                return known[cut]
            stack = [(cut, lattice.successors(cut))]
            returned: bool | None = None
            while stack:
                here, rest = stack[-1]
                answer = returned if returned != law.every else None
                while answer is None and (following := next(rest, None)) is not None:
                    answer = known[following] if following in known else leaf(following)
                    if answer is None:
                        stack.append((following, lattice.successors(following)))
                        break
                    answer = answer if answer != law.every else None
                else:
                    known[here] = returned = law.every if answer is None else answer
                    stack.pop()
                    continue
                returned = None
            return known[cut]

        return holds
