from __future__ import annotations

from typing import Any

import pytest

from possibly.logic.predicates.values import (
    ARITHMETIC,
    COMPARISONS,
    FUNCTIONS,
    MAX_ITEMS,
    SIGNS,
    FaultError,
    kind,
    subscript,
)


@pytest.mark.parametrize(
    ("name", "left", "right", "value"),
    [
        ("+", 1, 2.5, 3.5),
        ("+", "a", "b", "ab"),
        ("+", [1], [2], [1, 2]),
        ("+", True, True, 2),
        ("-", 1, 3, -2),
        ("*", 2, "ab", "abab"),
        ("*", [0], 3, [0, 0, 0]),
        ("*", "a", -5, ""),
        ("/", 7, 2, 3.5),
        ("//", -7, 2, -4),
        ("%", -7, 3, 2),
        ("**", 2, 10, 1024),
        ("**", 2, -1, 0.5),
        ("**", -8, 2.0, 64.0),
        ("**", 0, 10**9, 0),
        ("**", -1, 10**9 + 1, -1),
    ],
)
def test_arithmetic_is_that_of_python(name: str, left: Any, right: Any, value: Any) -> None:
    found = ARITHMETIC[name](left, right)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "left", "right", "message"),
    [
        ("+", 1, "a", "cannot compute int + str"),
        ("+", [1], "a", "cannot compute list + str"),
        ("+", {}, {}, "cannot compute dict + dict"),
        ("-", "a", "a", "cannot compute str - str"),
        ("*", "a", "b", "cannot compute str * str"),
        ("*", "a", 1.0, "cannot compute str * float"),
        ("/", None, 1, "cannot compute null / int"),
        ("//", 1, [], "cannot compute int // list"),
        ("%", "%d", 1, "cannot compute str % int"),
        ("**", 9, 9**9, "too large"),
        ("**", -8, 0.5, "no real number"),
        ("*", "a", 10**12, "too large"),
        ("*", 10**9, [0], "too large"),
        ("*", [[0]], 2, "cannot repeat a list of lists or objects"),
        ("+", "a" * MAX_ITEMS, "b", "too large"),
    ],
)
def test_arithmetic_without_meaning(name: str, left: Any, right: Any, message: str) -> None:
    with pytest.raises(FaultError) as found:
        ARITHMETIC[name](left, right)
    assert str(found.value) == message


@pytest.mark.parametrize(
    ("value", "index", "entry"), [([1, 2], -1, 2), ("abc", 1, "b"), ({"k": 3}, "k", 3), ([1, 2], True, 2)]
)
def test_subscripts(value: Any, index: Any, entry: Any) -> None:
    assert subscript(value, index) == entry


@pytest.mark.parametrize(
    ("value", "index", "message"),
    [
        (1, 0, "cannot take entry int of int"),
        ({"k": 3}, 0, "cannot take entry int of dict"),
        ([1], "k", "cannot take entry str of list"),
        (None, "k", "cannot take entry str of null"),
    ],
)
def test_subscripts_without_meaning(value: Any, index: Any, message: str) -> None:
    with pytest.raises(FaultError) as found:
        subscript(value, index)
    assert str(found.value) == message


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("len", (["a"],), 1),
        ("len", ({"a": 1, "b": 2},), 2),
        ("abs", (-2.5,), 2.5),
        ("sum", ([1, 2.5, True],), 4.5),
        ("sum", ([],), 0),
        ("any", ("a",), True),
        ("any", ({"": 1},), False),
        ("all", ([],), True),
        ("all", ([1, 0],), False),
        ("min", ([3, 1, 2],), 1),
        ("max", (3, 1, 2), 3),
        ("max", ({"a": 1, "b": 0},), "b"),
        ("min", ("cab",), "a"),
    ],
)
def test_functions(name: str, arguments: tuple[Any, ...], value: Any) -> None:
    assert FUNCTIONS[name](*arguments) == value


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("len", (1,), "cannot compute len(int)"),
        ("abs", ("a",), "cannot compute abs(str)"),
        ("sum", (["a"],), "cannot compute sum with str"),
        ("any", (None,), "cannot compute any(null)"),
        ("all", (1.5,), "cannot compute all(float)"),
        ("min", ([],), "min of nothing"),
        ("max", (1,), "cannot compute max(int)"),
        ("max", (1, "a"), "cannot compute max: the values do not compare"),
    ],
)
def test_functions_without_meaning(name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(FaultError) as found:
        FUNCTIONS[name](*arguments)
    assert str(found.value) == message


def test_products_are_bounded() -> None:
    with pytest.raises(FaultError, match="too large"):
        ARITHMETIC["*"](2**60_000, 2**60_000)
    assert ARITHMETIC["*"](2**40_000, 2**40_000) == 2**80_000


def test_signs() -> None:
    assert (SIGNS["-"](True), SIGNS["+"](2.5)) == (-1, 2.5)
    with pytest.raises(FaultError, match=r"cannot compute -str"):
        SIGNS["-"]("a")
    with pytest.raises(FaultError, match=r"cannot compute \+list"):
        SIGNS["+"]([])


def test_membership() -> None:
    assert COMPARISONS["in"]("b", "abc")
    assert COMPARISONS["in"]("k", {"k": 1})
    assert COMPARISONS["not in"](2, [1, 3])


def test_kinds() -> None:
    values: list[Any] = [None, True, 1, 1.5, "a", [], {}]
    assert [kind(value) for value in values] == [
        "null", "bool", "int", "float", "str", "list", "dict",
    ]  # fmt: skip
