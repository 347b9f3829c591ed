"""Relational atoms: a sum of terms, each of one chain, compared with a constant.

Here belongs the reading of a comparison as `c1*t1 + c2*t2 + ... OP k`: terms are moved to one side, signs
and constant factors are multiplied out, `sum([a, b])` is a sum. See "relational predicates" in the thesis
on detecting temporal logic predicates in distributed computations.

What it promises: at a cut where every variable of the atom has a value and all these are integers, the
atom is true iff the signed sum satisfies the comparison; where some variable has no value the atom is
false, whatever the sum of the others. Other values (strings add up too, floats round) are outside the
promise: an engine that works with sums looks at the values first.
"""

from __future__ import annotations

from possibly.logic.predicates.functions import MISSING, compile_value, leaves
from possibly.logic.syntax import And, Arithmetic, Call, Compare, Iff, Implies, Items, Literal, Node, Not, Or
from possibly.logic.walk import nodes
from possibly.records import dataclass

Number = int | float
_TRUTHS = (Compare, Not, And, Or, Implies, Iff)
_ORDER = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Relation:
    """`sum of coefficient * term  OPERATOR  constant`."""

    terms: tuple[tuple[Number, Node], ...]
    operator: str
    constant: Number


def relation(node: Node) -> Relation | None:
    """The atom as a relation; None if it is no comparison of sums with one operator."""
    if not isinstance(node, Compare) or len(node.operators) != 1 or node.operators[0] not in _ORDER:
        return None
    left, right = node.operands
    terms: list[tuple[Number, Node]] = []
    constant: Number = 0
    for coefficient, part in _summands([(1, left), (-1, right)]):
        if isinstance(part, _TRUTHS):
            return None  # a truth value inside hides missing values, which the promise does not allow
        if leaves(part):
            if any(isinstance(below, _TRUTHS) for below in nodes(part)):
                return None
            terms.append((coefficient, part))
            continue
        value = compile_value(part).evaluate(())
        if not _is_number(value):
            return None
        constant -= coefficient * value
    return Relation(tuple(terms), node.operators[0], constant)


def _summands(pending: list[tuple[Number, Node]]) -> list[tuple[Number, Node]]:
    """What is added up, each with its factor; in the order of the text."""
    found: list[tuple[Number, Node]] = []
    pending.reverse()
    while pending:
        factor, node = pending.pop()
        match node:
            case Arithmetic("+", (left, right)):
                pending += [(factor, right), (factor, left)]
            case Arithmetic("-", (left, right)):
                pending += [(-factor, right), (factor, left)]
            case Arithmetic("-", (only,)):
                pending.append((-factor, only))
            case Arithmetic("+", (only,)):
                pending.append((factor, only))
            case Arithmetic("*", (Literal(value), other) | (other, Literal(value))) if _is_number(value):
                pending.append((factor * value, other))
            case Call("sum", (Items(items),)):
                pending += [(factor, item) for item in reversed(items)]
            case _:
                found.append((factor, node))
    return found


def _is_number(value: object) -> bool:
    return value is not MISSING and isinstance(value, int | float)
