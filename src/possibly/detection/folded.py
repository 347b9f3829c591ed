"""A long formula without the parts that this run decides: what a process never, or always, satisfies.

Here belongs the simplification of formulas that quantifiers have made long: "some pair is in office" has a
part for each two of a thousand processes, of which a run has seen but a few in office at all. A conjunction
is false if what it asks of one process is true in none of its states; the rest follows as in propositional
logic. Each part keeps its truth at every cut, so every operator around it does too; engines then read few
processes, and the projection to them is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Implies, Literal, Local, Node, Not, Or, Temporal
from possibly.logic.walk import children, nodes
from possibly.order.bitmaps import Bits
from possibly.order.predicate import CutPredicates

SHORT = 200
"""Operands up to which it is asked which processes a predicate reads."""

LOOK_EVERY = 256
"""Operands between two looks at the limits."""

TRUE, FALSE = Literal(True), Literal(False)


def folded(formula: Node, predicates: CutPredicates, look: Callable[[], None] = lambda: None) -> Node:
    """The formula, or a shorter one that has its truth at every cut of this run."""
    with deep():
        return Folding(predicates, look).of(formula)


class Folding:
    """Folds formulas of one run; what a process never satisfies is found out once."""

    def __init__(self, predicates: CutPredicates, look: Callable[[], None] = lambda: None) -> None:
        self.predicates = predicates
        self._look = look
        self._constants: dict[Node, Node] = {}

    def of(self, node: Node) -> Node:
        match node:
            case And(operands):
                return self._joined(operands, FALSE, TRUE)
            case Or(operands):
                return self._joined(operands, TRUE, FALSE)
            case Not(operand):
                return _negated(self.of(operand))
            case Implies(left, right):
                return self._joined((Not(left), right), TRUE, FALSE)
            case Temporal(operator, operands, process):
                return Temporal(operator, tuple(map(self.of, operands)), process, span=node.span)
        return self._decided(node) if is_state(node) else node

    def _joined(self, operands: Iterable[Node], decides: Node, neutral: Node) -> Node:
        """A conjunction if FALSE decides it, else a disjunction."""
        left: list[Node] = []
        for number, operand in enumerate(operands):
            if number % LOOK_EVERY == LOOK_EVERY - 1:
                self._look()
            part = self.of(operand)
            if part == decides:
                return decides
            if part != neutral:
                left.append(part)
        if decides is FALSE and self._is_never_together(left):
            return FALSE
        if len(left) < 2:
            return left[0] if left else neutral
        return And(tuple(left)) if decides is FALSE else Or(tuple(left))

    def _decided(self, node: Node) -> Node:
        """A predicate on one process is constant if all its states agree."""
        if node not in self._constants:
            found, process = node, self._process(node)
            if process is not None:
                states = self.predicates.states(node, process)
                found = FALSE if not states.any() else TRUE if not states.negated().any() else node
            self._constants[node] = found
        return self._constants[node]

    def _is_never_together(self, parts: list[Node]) -> bool:
        """Whether what is asked of one process is true in none of its states."""
        allowed: dict[int, Bits] = {}
        for part in parts:
            if (process := self._process(part)) is None:
                continue
            states = self.predicates.states(part, process)
            allowed[process] = states.both(allowed[process]) if process in allowed else states
            if not allowed[process].any():
                return True
        return False

    def _process(self, node: Node) -> int | None:
        """The one process that a short predicate reads."""
        if (
            not is_state(node)
            or len(children(node)) > SHORT
            or not any(isinstance(n, Local) for n in nodes(node))
        ):
            return None
        support = self.predicates.support(node)
        return support[0] if len(support) == 1 else None


def _negated(node: Node) -> Node:
    if isinstance(node, Literal):
        return FALSE if node.value else TRUE
    return Not(node)
