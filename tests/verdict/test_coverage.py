"""How many executions a search will take, as far as can be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.verdict.coverage import Coverage


def coverage(executions: int, left: int, explored: float, complete: bool = False) -> Coverage:
    return Coverage(executions, executions, 0, left, explored, complete)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0.0001, 1))
def test_there_are_at_least_those_that_are_known(executions: int, left: int, explored: float) -> None:
    assert coverage(executions, left, explored).estimate >= executions + left


@pytest.mark.parametrize(
    ("found", "estimate"),
    [
        (coverage(10, 5, 1.0, True), 10),
        (coverage(10, 5, 0.0), 10),
        (coverage(10, 1, 0.5), 20),
        (coverage(10, 30, 0.5), 40),
    ],
)
def test_the_part_that_was_seen_says_how_much_is_left(found: Coverage, estimate: int) -> None:
    assert found.estimate == estimate
