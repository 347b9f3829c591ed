"""The meaning of state predicates once more, directly by recursion and with Python's own operators."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import (
    And,
    Arithmetic,
    Call,
    Compare,
    Iff,
    Implies,
    Items,
    Literal,
    Node,
    Not,
    Or,
    Subscript,
)

ARITHMETIC: Mapping[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow,
}  # fmt: skip
COMPARISONS: Mapping[str, Any] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
CALLS: Mapping[str, Any] = {
    "len": len, "abs": abs, "sum": sum, "any": any, "all": all, "min": min, "max": max,
}  # fmt: skip
ATOMS = (Compare, Not, And, Or, Implies, Iff)
State = Mapping[Node, Any]


class NoValueError(Exception):
    """A variable without value was read."""


def truth(node: Node, state: State) -> bool:
    match node:
        case Not(operand):
            return not truth(operand, state)
        case And(operands):
            return all(truth(part, state) for part in operands)
        case Or(operands):
            return any(truth(part, state) for part in operands)
        case Implies(left, right):
            return not truth(left, state) or truth(right, state)
        case Iff(left, right):
            return truth(left, state) == truth(right, state)
    try:
        return compared(node, state) if isinstance(node, Compare) else bool(value(node, state))
    except (NoValueError, TypeError, ValueError, ArithmeticError, LookupError):
        return False


def compared(node: Compare, state: State) -> bool:
    values = [value(node.operands[0], state)]
    for name, operand in zip(node.operators, node.operands[1:], strict=True):
        values.append(value(operand, state))
        if not COMPARISONS[name](values[-2], values[-1]):
            return False
    return True


def value(node: Node, state: State) -> Any:
    match node:
        case Literal(constant):
            return constant
        case Items(items):
            return [value(item, state) for item in items]
        case Subscript(base, index):
            return value(base, state)[value(index, state)]
        case Arithmetic(name, (only,)):
            return -value(only, state) if name == "-" else +value(only, state)
        case Arithmetic(name, (left, right)):
            return computed(name, value(left, state), value(right, state))
        case Call("defined", (only,)):
            try:
                value(only, state)
            except (NoValueError, LookupError):
                return False
            return True
        case Call(name, arguments):
            return CALLS[name](*[value(argument, state) for argument in arguments])
    if isinstance(node, ATOMS):
        return truth(node, state)
    if state[node] is MISSING:
        raise NoValueError
    return state[node]


def computed(name: str, left: Any, right: Any) -> Any:
    """Python's result, less what the language leaves out: formatting, huge and complex results."""
    if name == "%" and isinstance(left, str):
        raise TypeError
    if (
        name == "**"
        and isinstance(left, int)
        and isinstance(right, int)
        and left.bit_length() * right > 100_000
    ):
        raise OverflowError
    if name == "*" and any(
        isinstance(side, list) and any(isinstance(x, list | dict) for x in side) for side in (left, right)
    ):
        raise TypeError
    if name == "*" and isinstance(left, str | list) | isinstance(right, str | list):
        sequence, times = (left, right) if isinstance(left, str | list) else (right, left)
        if isinstance(times, int) and len(sequence) * times > 100_000:
            raise OverflowError
    found = ARITHMETIC[name](left, right)
    if isinstance(found, complex):
        raise ValueError
    return found
