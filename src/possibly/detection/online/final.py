"""Which answers about the beginning of a run stay when the run goes on.

Here belongs one law about formulas, no events. Let the run grow: the cuts so far, the steps between them
and the truth of predicates at them stay, while cuts and steps are added, and paths that ended go on. So by
induction:

    a state predicate     stays as it is (without `done`, which speaks of the end of a process)
    EF, EX, EX[P], EU     once true stay true, if their operands do: the path is still there
    AG, AX                once false stay false, if their operands do
    EG(p)                 once false stays false for p a conjunction of predicates on one chain each, as every
                          observation passes every state of a chain. Not for others: a receive that arrives
                          may let an observation empty a channel in time
    AF(p)                 once true stays true for p a disjunction of such predicates, for the same reason
    not, and, or, ...     by their parts

Everything else (AF in general, AU, EG being true, ...) may change with the next event.
"""

from __future__ import annotations

from possibly.detection.online.terms import ChannelTerm, alternatives
from possibly.errors import FormulaError
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state, leaves
from possibly.logic.syntax import And, Done, Iff, Implies, Node, Not, Or, Temporal


def is_final(formula: Node, value: bool) -> bool:
    """Whether a ctl formula with this value at the initial cut keeps it whatever arrives later."""
    with deep():
        return _stays(formula, value)


def _stays(formula: Node, value: bool) -> bool:
    if is_state(formula):
        return not any(isinstance(leaf, Done) for leaf in leaves(formula))
    match formula:
        case Not(operand):
            return _stays(operand, not value)
        case And(operands) | Or(operands):
            return all(_stays(part, value) for part in operands)
        case Implies(left, right):
            return _stays(left, not value) and _stays(right, value)
        case Iff(left, right):
            return all(_stays(part, each) for part in (left, right) for each in (True, False))
        case Temporal("EF" | "EX" | "EU", operands) if value:
            return all(_stays(part, True) for part in operands)
        case Temporal("AG" | "AX", operands) if not value:
            return all(_stays(part, False) for part in operands)
        case Temporal("EG", (operand,)) if not value:
            return is_conjunctive(operand)
        case Temporal("AF", (operand,)) if value:
            return is_conjunctive(Not(operand))
    return False


def is_conjunctive(node: Node) -> bool:
    """Whether a predicate is a conjunction of parts that read one chain each."""
    if not is_state(node):
        return False
    try:
        found = alternatives(node)
    except FormulaError:
        return False
    return len(found) < 2 and not any(isinstance(term, ChannelTerm) for part in found for term in part)
