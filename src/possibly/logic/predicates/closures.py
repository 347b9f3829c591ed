"""Bound predicates, node by node, as closures over positions in a sequence of values.

Here belongs the compilation step for each type of node; `predicate` owns the meaning and the walk. The
frequent shapes (a leaf with a constant, a leaf with a leaf, two operands) get closures of their own, as a
call in Python costs more than what it computes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from possibly.logic.predicates.values import (
    ARITHMETIC,
    COMPARISONS,
    FUNCTIONS,
    SIGNS,
    FaultError,
    kind,
    subscript,
)
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Apart,
    Arithmetic,
    At,
    AtLeast,
    Call,
    Compare,
    Done,
    Iff,
    Implies,
    Items,
    Leaf,
    Literal,
    Local,
    Node,
    Not,
    Or,
    Shared,
    Stack,
    Subscript,
    Transit,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple, TypeAlias
else:
    from possibly.records import NamedTuple

Value: TypeAlias = "Any"
Values = Sequence[Value]
Term = Callable[[Values], Value]
"""Yields a value; raises `MissingError` or any error of the operations."""
Truth = Callable[[Values], bool]
"""Yields a truth value; raises nothing."""
Faults = dict[str, None]


class _Nothing:
    """The type of MISSING, so that it shows its name."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING = _Nothing()
"""Stands in a sequence of values for a variable that has no value yet."""


class MissingError(Exception):
    """A variable without value was read."""


ERRORS = (FaultError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError, MemoryError)
"""What an operation on values can raise."""
LEAVES = (Local, Shared, Transit, At, Stack, Done)
_BOOLEAN = (Compare, Not, And, Or, AtLeast, Apart, Implies, Iff)


class Part(NamedTuple):
    """A compiled node: as a value, or as a truth value, or both where that is free."""

    node: Node
    term: Term | None = None
    truth: Truth | None = None
    position: int | None = None
    """It is the leaf at this position."""
    constant: bool = False
    """It reads nothing and `value` is what it yields."""
    value: Value = None


class Compiler:
    """Compiles a node given its compiled children."""

    def __init__(self, positions: dict[Leaf, int], faults: Faults) -> None:
        self.positions = positions
        self.faults = faults

    def combine(self, node: Node, below: list[Part]) -> Part:
        if isinstance(node, LEAVES):
            position = self.positions[node]
            return Part(node, _leaf(position), position=position)
        if isinstance(node, Literal):
            value = node.value
            return Part(node, lambda values: value, constant=True, value=value)
        if isinstance(node, _BOOLEAN):
            return Part(node, truth=self._truth(node, below))
        return _folded(Part(node, _term(node, [as_term(part) for part in below])), below)

    def _truth(self, node: Node, below: list[Part]) -> Truth:
        if isinstance(node, Compare):
            return _comparison(node, below, self.faults)
        truths = [as_truth(part, self.faults) for part in below]
        match node:
            case Not():
                return _not(truths[0])
            case And():
                return _and(truths)
            case Or():
                return _or(truths)
            case AtLeast(least):
                return _at_least(least, truths)
            case Apart():
                return _apart(truths)
            case Implies():
                return _or([_not(truths[0]), truths[1]])
        left, right = truths
        return lambda values: left(values) is right(values)


def _at_least(least: int, truths: list[Truth]) -> Truth:
    def enough(values: Values) -> bool:
        missing = least
        for truth in truths:
            if truth(values):
                missing -= 1
                if missing <= 0:
                    return True
        return missing <= 0

    return enough


def _apart(truths: list[Truth]) -> Truth:
    half = len(truths) // 2

    def are_there(values: Values) -> bool:
        ones = [place for place in range(half) if truths[place](values)]
        if not ones:
            return False
        return any(truths[half + place](values) for place in range(half) if ones != [place])

    return are_there


def _folded(part: Part, below: list[Part]) -> Part:
    """Evaluated once and for all if it reads nothing; what fails is left to fail when it is evaluated."""
    if not all(each.constant for each in below) or part.term is None:
        return part
    try:
        value = part.term(())
    except ERRORS:
        return part
    return Part(part.node, lambda values: value, constant=True, value=value)


def _leaf(position: int) -> Term:
    def read(values: Values) -> Value:
        value = values[position]
        if value is MISSING:
            raise MissingError
        return value

    return read


def as_term(part: Part) -> Term:
    if part.term is not None:
        return part.term
    if part.truth is None:
        raise TypeError(f"a compiled part without function: {part.node!r}")
    return part.truth


def as_truth(part: Part, faults: Faults) -> Truth:
    """An atom, unless it is a truth value already."""
    if part.truth is not None:
        return part.truth
    if part.position is not None:
        position = part.position
        return lambda values: bool(values[position])  # MISSING counts as false
    if part.constant:
        constant = bool(part.value)
        return lambda values: constant
    term, node = as_term(part), part.node

    def atom(values: Values) -> bool:
        try:
            return bool(term(values))
        except MissingError:
            return False
        except ERRORS as error:
            return _fault(faults, node, reason(error))

    return atom


def _fault(faults: Faults, node: Node, reason: str) -> bool:
    faults[f"{unparse(node)}: {reason}"] = None
    return False


def reason(error: Exception) -> str:
    match error:
        case FaultError():
            return str(error)
        case ZeroDivisionError():
            return "division by zero"
        case OverflowError() | MemoryError():
            return "too large"
        case RecursionError():
            return "nested too deep"
        case IndexError():
            return "index out of range"
        case KeyError():
            return "no such key"
    return "cannot be evaluated"


def _term(node: Node, below: list[Term]) -> Term:
    match node:
        case Arithmetic(name, operands) if len(operands) == 1:
            return _apply(SIGNS[name], below)
        case Arithmetic(name):
            return _apply(ARITHMETIC[name], below)
        case Subscript():
            return _apply(subscript, below)
        case Call("defined"):
            return _defined(below[0])
        case Call(name):
            return _apply(FUNCTIONS[name], below)
        case Items():
            return lambda values: [part(values) for part in below]
    raise TypeError(f"not a state predicate: {type(node).__name__}")


def _defined(below: Term) -> Term:
    """Whether there is a value, and in a container that item of it."""

    def is_there(values: Values) -> bool:
        try:
            below(values)
        except (MissingError, LookupError):
            return False
        return True

    return is_there


def _apply(function: Callable[..., Value], below: list[Term]) -> Term:
    if len(below) == 1:
        (only,) = below
        return lambda values: function(only(values))
    if len(below) == 2:
        left, right = below
        return lambda values: function(left(values), right(values))
    return lambda values: function(*[part(values) for part in below])


# ---- connectives --------------------------------------------------------------------------------


def _not(truth: Truth) -> Truth:
    return lambda values: not truth(values)


def _and(truths: list[Truth]) -> Truth:
    if len(truths) == 2:
        left, right = truths
        return lambda values: left(values) and right(values)

    def every(values: Values) -> bool:
        for truth in truths:  # noqa: SIM110 - a generator would double the time
            if not truth(values):
                return False
        return True

    return every


def _or(truths: list[Truth]) -> Truth:
    if len(truths) == 2:
        left, right = truths
        return lambda values: left(values) or right(values)

    def some(values: Values) -> bool:
        for truth in truths:  # noqa: SIM110 - as above
            if truth(values):
                return True
        return False

    return some


# ---- comparisons --------------------------------------------------------------------------------


def _comparison(node: Compare, below: list[Part], faults: Faults) -> Truth:
    if len(below) > 2:
        return _chain(node, [as_term(part) for part in below], faults)
    left, right = below
    name = node.operators[0]
    if left.position is not None and right.constant:
        return _leaf_with_constant(node, name, left.position, right.value, faults)
    if left.constant and right.position is not None and name in _MIRRORED:
        return _leaf_with_constant(node, name, right.position, left.value, faults, mirrored=True)
    if left.position is not None and right.position is not None:
        return _leaf_with_leaf(node, name, left.position, right.position, faults)
    return _chain(node, [as_term(left), as_term(right)], faults)


_MIRRORED: dict[str, Callable[[Value, Value], Value]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.gt, "<=": operator.ge,
    ">": operator.lt, ">=": operator.le,
}  # fmt: skip
"""The comparison with its sides exchanged."""


def _incomparable(name: str, left: Value, right: Value, error: Exception) -> str:
    if isinstance(error, TypeError):
        verb = "compare" if name in _MIRRORED else "search"
        first, second = (left, right) if verb == "compare" else (right, left)
        return f"cannot {verb} {kind(first)} {'with' if verb == 'compare' else 'for'} {kind(second)}"
    return reason(error)


def _leaf_with_constant(
    node: Compare, name: str, position: int, constant: Value, faults: Faults, mirrored: bool = False
) -> Truth:
    compare = _MIRRORED[name] if mirrored else COMPARISONS[name]

    def atom(values: Values) -> bool:
        value = values[position]
        if value is MISSING:
            return False
        try:
            return compare(value, constant)  # type: ignore[no-any-return]
        except ERRORS as error:
            sides = (constant, value) if mirrored else (value, constant)
            return _fault(faults, node, _incomparable(name, *sides, error))

    return atom


def _leaf_with_leaf(node: Compare, name: str, first: int, second: int, faults: Faults) -> Truth:
    compare = COMPARISONS[name]

    def atom(values: Values) -> bool:
        left, right = values[first], values[second]
        if left is MISSING or right is MISSING:
            return False
        try:
            return compare(left, right)  # type: ignore[no-any-return]
        except ERRORS as error:
            return _fault(faults, node, _incomparable(name, left, right, error))

    return atom


def _chain(node: Compare, terms: list[Term], faults: Faults) -> Truth:
    first, rest = terms[0], list(zip(node.operators, terms[1:], strict=True))

    def atom(values: Values) -> bool:
        try:
            left = first(values)
            for name, term in rest:
                right = term(values)
                try:
                    if not COMPARISONS[name](left, right):
                        return False
                except TypeError as error:
                    return _fault(faults, node, _incomparable(name, left, right, error))
                left = right
            return True
        except MissingError:
            return False
        except ERRORS as error:
            return _fault(faults, node, reason(error))

    return atom
