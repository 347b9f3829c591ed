"""Quantifiers that say "two of them": kept as a count, not written out for every pair.

Here belongs recognising them in the text of a formula, before names are resolved:

    exists i, j in "P*" if i != j: p(i) & p(j)          at least two of p(P1), p(P2), ...
    exists i, j in "P*" if i != j: p(i) & q(j)          one of p(P1), p(P2), ... beside one of q(P1), ...
    forall i, j in "P*" if i != j: !(p(i) & p(j))       not that; also !p(i) | !p(j), and p(i) -> !p(j)
    forall ...: AG(q), exists ...: EF(q)                AG and EF of the quantified q

with `index(i) < index(j)`, `index(i) != index(j)` and their mirror images as conditions that mean the same.
p and q are any predicates that speak of their variable alone; where they differ, the condition must not ask
for an order. A thousand processes have half a million pairs, and one count.
"""

from __future__ import annotations

from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import (
    And,
    At,
    Compare,
    Done,
    Implies,
    Index,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Stack,
    Temporal,
    Transit,
)
from possibly.logic.walk import fold, nodes, with_children
from possibly.records import dataclass


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two different processes that fulfil `part`; `is_denied`: there are none."""

    variable: str
    part: Node
    is_denied: bool
    operator: str | None = None
    """AG or EF around it."""
    other: Node | None = None
    """What the second one fulfils, in terms of the same variable, if that is something else."""


def pairs_of(node: Quantified) -> Pairs | None:
    """What a quantifier over pairs says of single processes; None if it is none of these."""
    if not asks_for_different(node):
        return None
    body, operator = node.body, None
    wanted = "AG" if node.quantifier == "forall" else "EF"
    if isinstance(body, Temporal) and body.operator == wanted:
        body, operator = body.operands[0], wanted
    both = _denied(body) if node.quantifier == "forall" else _both(body)
    if both is None or not is_state(body):
        return None
    first, second = node.variables
    sides = _sides(both, first, second)
    if sides is None:
        return None
    part, other = sides[0], _renamed(sides[1], second, first)
    if _parts(part) == _parts(other):
        return Pairs(first, part, node.quantifier == "forall", operator)
    if not _is_symmetric(node):
        return None
    return Pairs(first, part, node.quantifier == "forall", operator, other)


def _is_symmetric(node: Quantified) -> bool:
    """Whether the condition is fulfilled by a pair either way."""
    return isinstance(node.condition, Compare) and node.condition.operators == ("!=",)


def _parts(node: Node) -> frozenset[Node]:
    return frozenset(node.operands) if isinstance(node, And) else frozenset((node,))


def asks_for_different(node: Quantified) -> bool:
    """Whether the condition asks for two different processes, each pair once or twice, and nothing else."""
    if len(node.variables) != 2:
        return False
    first, second = node.variables
    match node.condition:
        case Compare((Name((one,)), Name((other,))), ("!=",)):
            return {one, other} == {first, second}
        case Compare((Index(one), Index(other)), (operator,)) if operator in ("<", ">", "!="):
            return {one, other} == {first, second}
    return False


def _both(body: Node) -> tuple[Node, ...] | None:
    """The parts of a conjunction."""
    match body:
        case And(parts):
            return parts
        case Not(Or(parts)) if all(isinstance(part, Not) for part in parts):
            return tuple(part.operand for part in parts if isinstance(part, Not))
    return None


def _denied(body: Node) -> tuple[Node, ...] | None:
    match body:
        case Not(inner):
            return _both(inner)
        case Or():
            return _both(Not(body))
        case Implies(one, Not(other)):
            return one, other
    return None


def _sides(parts: tuple[Node, ...], first: str, second: str) -> tuple[Node, Node] | None:
    """What is said of the first variable, and what of the second; None if a part speaks of both or none."""
    ones = tuple(part for part in parts if _mentions(part, first))
    others = tuple(part for part in parts if _mentions(part, second))
    if len(ones) + len(others) != len(parts) or any(_mentions(part, second) for part in ones):
        return None
    if not ones or not others:
        return None
    return _conjunction(ones), _conjunction(others)


def _conjunction(parts: tuple[Node, ...]) -> Node:
    return parts[0] if len(parts) == 1 else And(parts)


def mentioned(node: Node) -> set[str]:
    """Names that a formula speaks of, before they are resolved: those of variables, among others."""
    return {name for part in nodes(node) for name in _variables(part)}


def _mentions(node: Node, variable: str) -> bool:
    return variable in mentioned(node)


def _variables(node: Node) -> tuple[str, ...]:
    """Names that a node itself speaks of; a quantifier inside may hide any, so it speaks of all."""
    match node:
        case Name(parts):
            return parts[:1]
        case Index(variable):
            return (variable,)
        case Transit(sender, receiver):
            return tuple(end.parts[0] for end in (sender, receiver) if isinstance(end, Name))
        case At(process) | Stack(_, process) | Done(process):
            return process.parts[:1] if isinstance(process, Name) else ()
        case Quantified(_, variables):
            return variables
    return ()


def _renamed(node: Node, old: str, new: str) -> Node:
    def name(found: object) -> object:
        if isinstance(found, Name) and found.parts[0] == old:
            return found.changed(parts=(new, *found.parts[1:]))
        return found

    def combine(part: Node, below: list[Node]) -> Node:
        match part:
            case Name():
                renamed = name(part)
                assert isinstance(renamed, Name)
                return renamed
            case Index(variable):
                return part.changed(variable=new if variable == old else variable)
            case Transit(sender, receiver):
                return part.changed(sender=name(sender), receiver=name(receiver))
            case At() | Stack() | Done():
                return part.changed(process=name(part.process))
        return with_children(part, below) if below else part

    return fold(node, combine)
