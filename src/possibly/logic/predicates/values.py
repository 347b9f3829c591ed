"""What the operators and functions of values do: Python's meaning on JSON values, within bounds.

Here belong the operations alone, as tables by their name. They work on null, booleans, numbers, strings,
lists and objects. Whatever has no meaning raises `FaultError` or one of Python's own errors, never hangs and
never fills the memory: numbers are kept below `MAX_BITS` bits, made lists and strings below `MAX_ITEMS`
items, and repetition of lists is for lists of plain values (a list of lists repeated thrice over could
take ages to compare while being small in memory).
"""

from __future__ import annotations

import operator
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Value: TypeAlias = "Any"

MAX_BITS = 100_000
MAX_ITEMS = 100_000

CUT = "possibly:cut"
"""The key that marks an object as what is left of a value that was too large to be kept."""


class FaultError(Exception):
    """An operation without meaning, or with too large a result; the text says which."""


def kind(value: Value) -> str:
    """The type of a value, as messages name it."""
    return "null" if value is None else type(value).__name__


def cut_off(word: str, length: int, first: Value = None) -> Value:
    """What is kept of a large value: its kind, its length and its first items."""
    return {CUT: word, "length": length} | ({} if first is None else {"first": first})


def is_cut(value: Value) -> bool:
    return type(value) is dict and CUT in value


_CONTAINERS = frozenset((dict, list))


def has_cut(value: Value) -> bool:
    """Whether a part of the value, or all of it, was cut off."""
    pending = [value]
    while pending:
        each = pending.pop()
        if type(each) is dict:
            if CUT in each:
                return True
            pending += each.values()
        elif type(each) is list and not _CONTAINERS.isdisjoint(map(type, each)):
            pending += each
    return False


def _length(value: Value) -> int:
    """Lengths are kept whole."""
    if is_cut(value) and type(value.get("length")) is int:
        return int(value["length"])
    return len(_iterable("len", value))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float)


def _numbers(name: str, left: Value, right: Value) -> None:
    if not (_is_number(left) and _is_number(right)):
        raise FaultError(f"cannot compute {kind(left)} {name} {kind(right)}")


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left + right
    if not (isinstance(left, str | list) and type(left) is type(right)):
        _numbers("+", left, right)
    elif len(left) + len(right) > MAX_ITEMS:
        raise FaultError("too large")
    total: Value = left + right
    return total


def _subtract(left: Value, right: Value) -> Value:
    _numbers("-", left, right)
    return left - right


def _multiply(left: Value, right: Value) -> Value:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | list) and isinstance(times, int):
            return _repeated(sequence, times)
    _numbers("*", left, right)
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > MAX_BITS:
        raise FaultError("too large")
    return left * right


def _repeated(sequence: Any, times: int) -> Value:
    if len(sequence) * times > MAX_ITEMS:
        raise FaultError("too large")
    if isinstance(sequence, list) and any(isinstance(item, list | dict) for item in sequence):
        raise FaultError("cannot repeat a list of lists or objects")
    return sequence * times


def _divide(left: Value, right: Value) -> Value:
    _numbers("/", left, right)
    return left / right


def _floor_divide(left: Value, right: Value) -> Value:
    _numbers("//", left, right)
    return left // right


def _remainder(left: Value, right: Value) -> Value:
    _numbers("%", left, right)
    return left % right


def _power(left: Value, right: Value) -> Value:
    _numbers("**", left, right)
    whole = isinstance(left, int) and isinstance(right, int) and abs(left) > 1
    if whole and right > 0 and left.bit_length() * right > MAX_BITS:
        raise FaultError("too large")
    if left < 0 and isinstance(right, float) and not right.is_integer():
        raise FaultError("no real number")
    return left**right


def _negative(value: Value) -> Value:
    if not _is_number(value):
        raise FaultError(f"cannot compute -{kind(value)}")
    return -value


def _positive(value: Value) -> Value:
    if not _is_number(value):
        raise FaultError(f"cannot compute +{kind(value)}")
    return +value


ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "//": _floor_divide,
    "%": _remainder,
    "**": _power,
}
SIGNS: dict[str, Callable[[Value], Value]] = {"-": _negative, "+": _positive}


def _contains(item: Value, container: Value) -> bool:
    return item in container


def _lacks(item: Value, container: Value) -> bool:
    return item not in container


COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": _contains,
    "not in": _lacks,
}


def subscript(value: Value, index: Value) -> Value:
    if isinstance(value, dict) and isinstance(index, str):
        return value[index]
    if isinstance(value, str | list) and isinstance(index, int):
        return value[index]
    raise FaultError(f"cannot take entry {kind(index)} of {kind(value)}")


def _iterable(name: str, value: Value) -> Value:
    if not isinstance(value, str | list | dict):
        raise FaultError(f"cannot compute {name}({kind(value)})")
    return value


def _absolute(value: Value) -> Value:
    if not _is_number(value):
        raise FaultError(f"cannot compute abs({kind(value)})")
    return abs(value)


def _sum(values: Value) -> Value:
    total: Value = 0
    for value in _iterable("sum", values):
        if not _is_number(value):
            raise FaultError(f"cannot compute sum with {kind(value)}")
        total += value
    return total


def _extreme(name: str, choose: Callable[[Any], Value]) -> Callable[..., Value]:
    def extreme(*values: Value) -> Value:
        among = _iterable(name, values[0]) if len(values) == 1 else values
        if not among:
            raise FaultError(f"{name} of nothing")
        try:
            return choose(among)
        except TypeError:
            raise FaultError(f"cannot compute {name}: the values do not compare") from None

    return extreme


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "len": _length,
    "abs": _absolute,
    "sum": _sum,
    "any": lambda value: any(_iterable("any", value)),
    "all": lambda value: all(_iterable("all", value)),
    "min": _extreme("min", min),
    "max": _extreme("max", max),
}
