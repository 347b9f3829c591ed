"""Lane arithmetic agrees with a plain loop."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.trace.columns import lanes
from possibly.trace.columns.lanes import is_ascending, is_within


@st.composite
def columns(draw: st.DrawFn, least: int | None = None) -> array[int]:
    code = draw(st.sampled_from("bhiq"))
    greatest = (1 << 8 * array(code).itemsize - 1) - 1
    low = -greatest - 1 if least is None else least
    items = st.integers(max(-2, low), 9) | st.integers(low, greatest)
    return array(code, draw(st.lists(items, max_size=12)))


@given(columns(), st.integers(-1, 300) | st.integers(0, 1 << 64), st.booleans())
def test_ranges(column: array[int], bound: int, or_none: bool) -> None:
    expected = all(0 <= item < bound or (or_none and item == -1) for item in column)
    assert is_within(column, bound, or_none=or_none) == expected
    assert is_within(memoryview(column), bound, or_none=or_none) == expected


@given(columns(least=0), st.booleans())
def test_ascent(column: array[int], is_sorted: bool) -> None:
    items = array(column.typecode, sorted(column)) if is_sorted else column
    assert is_ascending(items) == (list(items) == sorted(items))


@pytest.mark.parametrize("place", [0, 1, 2, 3, 4, 5, 6])
def test_chunks_meet_without_a_gap(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "_CHUNK", 3)
    column = array("h", [5] * 7)
    assert is_within(column, 6)
    assert is_ascending(column)
    column[place] = 6
    assert not is_within(column, 6)
    assert is_ascending(column) == (place == 6)
