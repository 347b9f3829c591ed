"""Extremes of a sum over a box are those of all its cuts."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from possibly.detection.solver.sums import Total
from possibly.detection.sums.bounds import SumBounds

LENGTHS = (3, 4)
CHANGES = st.dictionaries(st.tuples(st.integers(0, 1), st.integers(1, 3)), st.integers(-5, 5))
LOW = st.tuples(*[st.integers(0, length) for length in LENGTHS])


@given(CHANGES, st.integers(-3, 3), LOW, LOW)
def test_extremes(
    changes: dict[tuple[int, int], int], start: int, one: tuple[int, int], other: tuple[int, int]
) -> None:
    low, high = tuple(map(min, one, other)), tuple(map(max, one, other))
    bounds = SumBounds(Total(start=start, changes=changes), LENGTHS)
    cuts = list(product(*[range(a, b + 1) for a, b in zip(low, high, strict=True)]))
    values = {cut: start + sum(n for (p, at), n in changes.items() if at <= cut[p]) for cut in cuts}
    for cut in cuts:
        assert bounds.at(cut) == values[cut]
    for sign, best in ((1, min(values.values())), (-1, max(values.values()))):
        value, point = bounds.extreme(low, high, sign)
        assert value == best and values[point] == best
