"""Formulas about a few tasks taken apart: what they say of single tasks, and what follows from it.

Here belongs what `fibers` and `passing` both read off a formula in which no temporal operator stands inside
another: its quantifiers and conditions, what it says of single tasks, its truth from what is said, and the
terms of an operand. Truth has three values; connectives are read from the left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from possibly.detection.tasks.cuts import NotCoveredError
from possibly.detection.tasks.local import SATISFIED, UNDEFINED, UNSATISFIED
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.logic.tasks.formulas import Condition, ForTask, Provided, Says

MOST_TERMS = 64
"""Terms of an operand."""
NEGATION = (UNDEFINED, UNSATISFIED, SATISFIED)
TRUTH = {True: SATISFIED, False: UNSATISFIED}
ONLY = {wanted: bytes(value == wanted for value in range(256)) for wanted in (SATISFIED, UNSATISFIED)}
Term = Mapping[Says, int]
"""What single tasks say, and how."""


class Stripped(NamedTuple):
    """A formula without what stands before it."""

    body: Node
    conditions: tuple[Condition, ...]
    bound: tuple[str, ...]
    """The variables of the quantifiers."""


def stripped(formula: Node) -> Stripped:
    """The formula without the quantifiers and conditions that stand before it."""
    conditions: list[Condition] = []
    bound: list[str] = []
    while True:
        match formula:
            case ForTask("forall", tvar, body):
                if any(tvar in (each.left, each.right) for each in conditions):
                    raise NotCoveredError  # they speak of another task of that name
                bound.append(tvar)
                formula = body
            case Provided(body, condition):
                conditions.append(condition)
                formula = body
            case _:
                return Stripped(formula, tuple(conditions), tuple(bound))


def says_of(node: Node, is_inside: bool = False) -> Iterator[Says]:
    """What it says of single tasks; refuses time inside time, and quantifiers inside."""
    match node:
        case Says():
            yield node
        case Temporal(_, operands) if not is_inside:
            for part in operands:
                yield from says_of(part, is_inside=True)
        case And(operands) | Or(operands):
            for part in operands:
                yield from says_of(part, is_inside)
        case Implies(left, right):
            yield from says_of(left, is_inside)
            yield from says_of(right, is_inside)
        case Not(operand):
            yield from says_of(operand, is_inside)
        case _:
            raise NotCoveredError


def timed_of(node: Node) -> Iterator[Temporal]:
    match node:
        case Temporal():
            yield node
        case And(operands) | Or(operands):
            yield from chain.from_iterable(map(timed_of, operands))
        case Implies(left, right):
            yield from chain(timed_of(left), timed_of(right))
        case Not(operand):
            yield from timed_of(operand)


def demands(node: Node, wanted: int) -> Iterator[tuple[Says, int]]:
    """What single tasks must say for the formula to have that truth, whatever else it needs."""
    match node:
        case Says():
            yield node, wanted
        case Not(operand):
            yield from demands(operand, NEGATION[wanted])
        case Implies(left, right) if wanted == UNSATISFIED:
            yield from chain(demands(left, SATISFIED), demands(right, UNSATISFIED))
        case And(operands) if wanted == SATISFIED:
            yield from chain.from_iterable(demands(part, wanted) for part in operands)
        case Or(operands) if wanted == UNSATISFIED:
            yield from chain.from_iterable(demands(part, wanted) for part in operands)


def value(node: Node, said: Callable[[Says], int], timed: Mapping[int, bool]) -> int:
    """Its truth, from what single tasks say and where its temporal operators, by identity, are true.

    Of `always` and `before` the contrary is given.
    """
    match node:
        case Says():
            return said(node)
        case Not(operand):
            return NEGATION[value(operand, said, timed)]
        case And(operands):
            return _from_the_left(operands, said, timed, SATISFIED)
        case Or(operands):
            return _from_the_left(operands, said, timed, UNSATISFIED)
        case Implies(left, right):
            found = value(left, said, timed)
            return value(right, said, timed) if found == SATISFIED else NEGATION[found]
        case Temporal(operator, _):
            return TRUTH[timed[id(node)] != (operator in ("always", "before"))]
    raise NotCoveredError


def _from_the_left(
    operands: tuple[Node, ...], said: Callable[[Says], int], timed: Mapping[int, bool], goes_on: int
) -> int:
    for part in operands:
        found = value(part, said, timed)
        if found != goes_on:
            return found
    return goes_on


def goals_and_bad(node: Temporal) -> tuple[list[Term], list[Term]]:
    """What an operator waits for, and what must not come before it; of `always` and `before` the contrary."""
    match node.operator, node.operands:
        case "next" | "sometime", (operand,):
            return union(operand, SATISFIED), []
        case "always", (operand,):
            return union(operand, UNSATISFIED), []
        case "until", (left, right):
            return union(right, SATISFIED), union(left, UNSATISFIED)
        case "before", (left, right):
            return union(right, SATISFIED), union(left, SATISFIED)
    raise NotCoveredError


def union(node: Node, wanted: int) -> list[Term]:
    """When a formula without temporal operators has that truth: one of these terms is fulfilled."""
    match node:
        case Says():
            return [{node: wanted}]
        case Not(operand):
            return union(operand, NEGATION[wanted])
        case Implies(left, right):
            return union(Or((Not(left), right)), wanted)
        case And(operands) | Or(operands):
            goes_on = SATISFIED if isinstance(node, And) else UNSATISFIED
            found = union(operands[-1], wanted)
            for part in reversed(operands[:-1]):
                found = _product(union(part, goes_on), found)
                if wanted != goes_on:
                    found += union(part, wanted)
                if len(found) > MOST_TERMS:
                    raise NotCoveredError
            return found
    raise NotCoveredError


def _product(ones: list[Term], others: list[Term]) -> list[Term]:
    """Both at once, where they do not contradict each other."""
    return [
        {**one, **other}
        for one in ones
        for other in others
        if all(other.get(says, wanted) == wanted for says, wanted in one.items())
    ]


def both(one: bytes, other: bytes) -> bytes:
    """Where both tables have a 1."""
    found = int.from_bytes(one, "little") & int.from_bytes(other, "little")
    return found.to_bytes(len(one), "little")
