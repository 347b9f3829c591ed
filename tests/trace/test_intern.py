"""Tables of strings and values, and what may stand in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from possibly.errors import TraceError
from possibly.trace.intern import DEPTH, Column, Strings, Values, check_value, decoded, quoted, shown
from tests.trace.strategies import values


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_a_column_is_padded_when_used() -> None:
    column = Column()
    assert column.padded(5) is None
    column.put(2, 7)
    column.put(0, 1)
    assert column.get(9) == -1
    assert list(column.padded(4) or ()) == [1, -1, 7, -1]


def test_strings_get_one_number_each() -> None:
    strings = Strings()
    assert [strings.number(text) for text in ("a", "b", "a", "")] == [0, 1, 0, 2]
    assert strings.texts == ["a", "b", ""]


@given(values, values)
def test_two_values_share_a_number_iff_they_look_alike(one: Any, other: Any) -> None:
    table = Values()
    is_same = table.number(one) == table.number(other)
    assert is_same == (decoded_key(one) == decoded_key(other))


def decoded_key(value: Any) -> Any:
    """Types told apart, keys of objects in any order."""
    if isinstance(value, dict):
        return ("dict", sorted((key, decoded_key(part)) for key, part in value.items()).__repr__())
    if isinstance(value, list):
        return ("list", repr([decoded_key(part) for part in value]))
    return (type(value).__name__, repr(value))


def test_depth_is_bounded_without_recursion() -> None:
    check_value(nested(DEPTH))
    with pytest.raises(TraceError, match="nested more than 200 levels"):
        check_value(nested(DEPTH + 1))
    with pytest.raises(TraceError, match="nested more than 200 levels"):
        check_value(nested(100_000))


def test_keys_must_be_strings() -> None:
    with pytest.raises(TraceError, match="the key the number 1, expected a string"):
        check_value({1: 2})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NaN", "NaN is not a JSON value"),
        ("[-Infinity]", "-Infinity is not a JSON value"),
        ("[1 2]", "broken JSON, expecting ',' delimiter"),
        ('"abc', "broken JSON, unterminated string"),
        ('"a\tb"', "broken JSON, invalid control character"),
        ("1 2", "broken JSON, extra data"),
        ("9" * 5000, "an integer has too many digits"),
        ("[" * 100_000, "a value is nested too deeply"),
    ],
)
def test_what_is_no_json_is_a_clear_error(text: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        decoded(text)
    assert caught.value.message == message


def test_values_are_shown_by_their_kind() -> None:
    found = [shown(value) for value in (None, True, 1, 1.5, "a", [], {}, object(), 10**4000)]
    assert found == [
        "null", "true", "the number 1", "the number 1.5", 'the string "a"', "a list", "an object",
        "a Python object", "the number of many digits",
    ]  # fmt: skip
    assert quoted("x" * 100) == '"' + "x" * 56 + "..."
