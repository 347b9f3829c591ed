"""What the operators and functions of model files do: Python's meaning on whole numbers, within bounds.

Here belong the operations alone, as tables by the syntax that names them. What has no meaning, or grows
beyond the bounds, raises `Failure`, which makes the process fail there.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from possibly.models.slots import NOTHING, Evaluate, Failure, Value, Values

MOST_BITS = 256
MOST_ITEMS = 10_000


def reading(slot: int, name: str) -> Evaluate:
    def evaluate(values: Values) -> Value:
        value = values[slot]
        if value is NOTHING:
            raise Failure(f"{name} has no value yet")
        return value

    return evaluate


def known(value: Value, name: str) -> Value:
    if value is NOTHING:
        raise Failure(f"{name} has no value yet")
    return value


def index_within(index: Value, size: int, name: str) -> int:
    if not isinstance(index, int) or not -size <= index < size:
        raise Failure(f"{name}[{index!r}] is outside: {name} has {size} elements")
    return index % size


def item(value: Value, index: Value) -> Value:
    if not isinstance(value, tuple | str):
        raise Failure(f"{value!r} has no items")
    return value[index_within(index, len(value), repr(value))]


def nested(items: Sequence[Value], sizes: Sequence[int]) -> Value:
    """The elements of an array as tuples in tuples; the one item itself where there are no sizes."""
    if not sizes:
        return items[0]
    part = len(items) // sizes[0]
    return tuple([nested(items[i * part : (i + 1) * part], sizes[1:]) for i in range(sizes[0])])


def _bounded(value: int) -> int:
    if value.bit_length() > MOST_BITS:
        raise Failure(f"a number of more than {MOST_BITS} bits")
    return value


def _arithmetic(function: Callable[[Any, Any], Any]) -> Callable[[Value, Value], Value]:
    def compute(left: Value, right: Value) -> Value:
        if not isinstance(left, int) or not isinstance(right, int):
            raise Failure(f"no arithmetic with {left!r} and {right!r}")
        try:
            return _bounded(function(left, right))
        except ZeroDivisionError:
            raise Failure("division by zero") from None

    return compute


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) + len(right) <= MOST_ITEMS:
        return left + right
    return _SUM(left, right)


def _times(left: Value, right: Value) -> Value:
    if isinstance(left, tuple) and isinstance(right, int) and len(left) * right <= MOST_ITEMS:
        return left * right
    return _PRODUCT(left, right)


_SUM, _PRODUCT = _arithmetic(operator.add), _arithmetic(operator.mul)


def _ordered(function: Callable[[Any, Any], Any]) -> Callable[[Value, Value], bool]:
    def compare(left: Value, right: Value) -> bool:
        try:
            return bool(function(left, right))
        except TypeError:
            raise Failure(f"cannot compare {left!r} with {right!r}") from None

    return compare


def _contains(item: Value, container: Value) -> bool:
    if not isinstance(container, tuple | str):
        raise Failure(f"cannot search {container!r}")
    return item in container


def _of_items(function: Callable[..., Any]) -> Callable[..., Value]:
    def compute(*arguments: Value) -> Value:
        try:
            return function(*arguments)
        except (TypeError, ValueError) as error:
            raise Failure(str(error)) from None

    return compute


UNARY: dict[type, Callable[[Value], Value]] = {
    ast.Not: operator.not_,
    ast.USub: lambda value: _arithmetic(operator.sub)(0, value),
    ast.UAdd: lambda value: _SUM(0, value),
}
BINARY: dict[type, Callable[[Value, Value], Value]] = {
    ast.Add: _add,
    ast.Sub: _arithmetic(operator.sub),
    ast.Mult: _times,
    ast.FloorDiv: _arithmetic(operator.floordiv),
    ast.Mod: _arithmetic(operator.mod),
}
COMPARISONS: dict[type, Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: _contains,
    ast.NotIn: lambda item, container: not _contains(item, container),
}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "len": _of_items(len),
    "min": _of_items(min),
    "max": _of_items(max),
    "abs": _of_items(abs),
    "sum": _of_items(sum),
    "any": _of_items(any),
    "all": _of_items(all),
}
