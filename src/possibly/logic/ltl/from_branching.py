"""Formulas of branching time that say the same in linear time.

Here belongs the translation alone, no trace. `A φ` inside `&`, `p ->`, `p |` and `AG` says of every path
what φ says without its quantifiers, and dually `E φ` of some path. For others (`AG(EF p)`) there is no
such form (Clarke and Draghicescu, "Expressibility results for linear-time and branching-time logics").
"""

from __future__ import annotations

from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal

UNIVERSAL = {"AG": "G", "AF": "F", "AU": "U"}
EXISTENTIAL = {"EF": "F", "EG": "G", "EU": "U"}


def of_every_path(formula: Node) -> Node | None:
    """The linear formula that every path satisfies iff this one holds."""
    return _linear(formula, UNIVERSAL, And)


def of_some_path(formula: Node) -> Node | None:
    """The linear formula that some path satisfies iff this one holds."""
    return _linear(formula, EXISTENTIAL, Or)


def _linear(node: Node, words: dict[str, str], connective: type[And] | type[Or]) -> Node | None:
    if is_state(node):
        return node
    match node:
        case Not(operand):
            inner = of_some_path(operand) if connective is And else of_every_path(operand)
            return None if inner is None else Not(inner)
        case Temporal(operator, operands) if operator in words:
            passes = words[operator] == ("G" if connective is And else "F")
            if not passes and not all(map(is_state, operands)):
                return None
            parts = _each(operands, words, connective)
            return None if parts is None else Temporal(words[operator], parts)
        case And(operands) | Or(operands):
            if not isinstance(node, connective) and sum(not is_state(part) for part in operands) > 1:
                return None
            parts = _each(operands, words, connective)
            return None if parts is None else type(node)(parts)
        case Implies(left, right) if is_state(left):
            following = _linear(right, words, connective)
            return None if following is None else Implies(left, following)
    return None


def _each(
    operands: tuple[Node, ...], words: dict[str, str], connective: type[And] | type[Or]
) -> tuple[Node, ...] | None:
    parts = [_linear(part, words, connective) for part in operands]
    found = tuple(part for part in parts if part is not None)
    return found if len(found) == len(parts) else None
