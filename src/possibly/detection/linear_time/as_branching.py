"""Linear formulas that say the same in branching time.

Here belongs the translation alone, no trace. A linear formula holds iff every observation satisfies it; A(f)
is that as a formula of branching time. With state predicates s and t, and f of this kind:

    A(s)              s
    A(f & g)          A(f) & A(g)
    A(s | f)          s | A(f), as s is decided by the first cut alone; so s -> f
    A(G f)            AG A(f): every end of an observation is an observation of where it begins
    A(N f)            AX A(f)
    A(X f)            AX A(f) & EX true: there has to be a next cut
    A(F s)            AF s
    A(s U t)          A[s U t]
    A(t R s)          !E[!t U !s], its dual; s W t is t R (s | t)
    A(G(s -> O t))    !E[!t U s & !t]: no way to s past no t

A negation goes down to the state predicates first. On finite observations, which all end at the final cut,
F G s and G F s are both s there. All other formulas may have no such form and get none (Maidl, "The common
fragment of CTL and LTL", has the exact border for infinite observations).
"""

from __future__ import annotations

from possibly.logic.depth import deep
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal

TRUE = Literal(True)
DUAL = {"G": "F", "F": "G", "X": "N", "N": "X", "U": "R", "R": "U"}


def as_branching(formula: Node) -> Node | None:
    """The formula of branching time that holds iff all observations satisfy this one; None: none is known."""
    with deep():
        return _all_paths(positive(formula))


def positive(formula: Node, value: bool = True) -> Node:
    """The same with negations on state predicates only; what has no dual here stays negated."""
    if is_state(formula):
        return formula if value else opposite(formula)
    match formula:
        case Not(operand):
            return positive(operand, not value)
        case And(operands) | Or(operands):
            parts = tuple(positive(part, value) for part in operands)
            return And(parts) if isinstance(formula, And) == value else Or(parts)
        case Implies(left, right):
            return positive(Or((Not(left), right)), value)
        case Iff(left, right):
            both = And((left, right)), And((Not(left), Not(right)))
            return positive(Or(both), value)
        case Temporal("W", (left, right)):
            return positive(Temporal("R", (right, Or((left, right)))), value)
        case Temporal(operator, operands) if operator in DUAL or value:
            parts = tuple(positive(part, value) for part in operands)
            return Temporal(operator if value else DUAL[operator], parts)
    return Not(formula)


def opposite(predicate: Node) -> Node:
    return predicate.operand if isinstance(predicate, Not) else Not(predicate)


def _all_paths(formula: Node) -> Node | None:
    if is_state(formula):
        return formula
    match formula:
        case And(operands):
            parts = [_all_paths(part) for part in operands]
            return None if None in parts else And(tuple(part for part in parts if part is not None))
        case Or(operands):
            return _choice(operands)
        case Temporal(operator, (operand,)):
            return _unary(operator, operand)
        case Temporal("U", (left, right)) if is_state(left) and is_state(right):
            return Temporal("AU", (left, right))
        case Temporal("R", (left, right)) if is_state(left) and is_state(right):
            return Not(Temporal("EU", (opposite(left), opposite(right))))
    return None


def _choice(operands: tuple[Node, ...]) -> Node | None:
    """A disjunction in which one part at most speaks of time."""
    timed = [part for part in operands if not is_state(part)]
    if len(timed) > 1:
        return None
    found = _all_paths(timed[0])
    states = tuple(part for part in operands if is_state(part))
    return None if found is None else Or((*states, found))


def _unary(operator: str, operand: Node) -> Node | None:
    match operator, operand:
        case "F", Temporal("G", (inner,)) if is_state(inner):
            return Temporal("AG", (Temporal("AF", (inner,)),))
        case "F", _ if is_state(operand):
            return Temporal("AF", (operand,))
        case "G", Or(parts) if (found := _precedence(parts)) is not None:
            return found
    if operator not in ("G", "N", "X"):
        return None
    inside = _all_paths(operand)
    if inside is None:
        return None
    if operator == "G":
        return Temporal("AG", (inside,))
    following = Temporal("AX", (inside,))
    return following if operator == "N" else And((following, Temporal("EX", (TRUE,))))


def _precedence(parts: tuple[Node, ...]) -> Node | None:
    """G(r | O t): t comes before or with every cut at which r fails."""
    earlier = [part for part in parts if isinstance(part, Temporal) and part.operator == "O"]
    states = tuple(part for part in parts if is_state(part))
    if len(earlier) != 1 or len(states) + 1 != len(parts) or not is_state(earlier[0].operands[0]):
        return None
    without = opposite(earlier[0].operands[0])
    return Not(Temporal("EU", (without, And((*map(opposite, states), without)))))
