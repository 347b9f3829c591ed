"""Operators of model files mean what they mean in Python, on whole numbers within bounds, or fail."""

from __future__ import annotations

import ast
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.models.operations import (
    BINARY,
    COMPARISONS,
    FUNCTIONS,
    MOST_BITS,
    MOST_ITEMS,
    UNARY,
    index_within,
    item,
    known,
    nested,
    reading,
)
from possibly.models.slots import NOTHING, Failure

NUMBERS = st.integers(-(2**60), 2**60)
MEANT: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


@given(NUMBERS, NUMBERS)
def test_arithmetic_is_that_of_python(left: int, right: int) -> None:
    for kind, meant in MEANT.items():
        if right or kind not in (ast.FloorDiv, ast.Mod):
            assert BINARY[kind](left, right) == meant(left, right)
    assert UNARY[ast.USub](left) == -left and UNARY[ast.UAdd](left) == left


def test_what_has_no_meaning_fails() -> None:
    for kind in (ast.FloorDiv, ast.Mod):
        with pytest.raises(Failure, match="division by zero"):
            BINARY[kind](1, 0)
    with pytest.raises(Failure, match="no arithmetic"):
        BINARY[ast.Sub]("a", 1)
    with pytest.raises(Failure, match="cannot compare"):
        COMPARISONS[ast.Lt]("a", 1)
    with pytest.raises(Failure, match="cannot search"):
        COMPARISONS[ast.In](1, 2)
    with pytest.raises(Failure):
        FUNCTIONS["max"](())


def test_numbers_and_tuples_stay_within_their_bounds() -> None:
    largest = 2**MOST_BITS - 1
    assert BINARY[ast.Add](largest, 0) == largest
    with pytest.raises(Failure, match=f"more than {MOST_BITS} bits"):
        BINARY[ast.Add](largest, 1)
    assert len(BINARY[ast.Mult]((0,), MOST_ITEMS)) == MOST_ITEMS
    with pytest.raises(Failure):
        BINARY[ast.Mult]((0,), MOST_ITEMS + 1)


@given(st.integers(-5, 5), st.integers(0, 4))
def test_an_index_is_one_of_a_list_of_that_size(index: int, size: int) -> None:
    items = list(range(size))
    try:
        expected = items[index]
    except IndexError:
        with pytest.raises(Failure, match="is outside"):
            index_within(index, size, "a")
    else:
        assert index_within(index, size, "a") == expected
        assert item(tuple(items), index) == expected


def test_arrays_are_tuples_in_tuples() -> None:
    assert nested(range(6), (2, 3)) == ((0, 1, 2), (3, 4, 5))
    assert nested([7], ()) == 7


def test_a_variable_without_a_value_fails_with_its_name() -> None:
    assert reading(1, "x")([0, 5]) == 5 and known(0, "x") == 0
    with pytest.raises(Failure, match="x has no value yet"):
        reading(0, "x")([NOTHING])
    with pytest.raises(Failure, match="x has no value yet"):
        known(NOTHING, "x")


def test_each_comparison_has_its_opposite() -> None:
    pairs = ((ast.Eq, ast.NotEq), (ast.Lt, ast.GtE), (ast.LtE, ast.Gt), (ast.Is, ast.IsNot))
    for one, other in pairs:
        for left in range(3):
            for right in range(3):
                assert COMPARISONS[one](left, right) != COMPARISONS[other](left, right)
    assert COMPARISONS[ast.In](1, (1, 2)) and COMPARISONS[ast.NotIn](3, (1, 2))
