"""Groups of events that need each other, each after all that it needs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from possibly.order.tied import components

PLACES = st.tuples(st.integers(0, 2), st.integers(1, 4))


@given(st.lists(st.tuples(PLACES, PLACES), max_size=8), st.tuples(*[st.integers(0, 3)] * 3))
def test_a_group_is_what_needs_each_other(
    needs: list[tuple[tuple[int, int], tuple[int, int]]], start: tuple[int, ...]
) -> None:
    end = (4, 4, 4)
    inside = {(p, n) for p in range(3) for n in range(start[p] + 1, 5)}
    needs = [(f, e) for f, e in needs if f in inside and e in inside]
    found = list(components(start, end, needs))
    assert sorted(place for group in found for place in group) == sorted(inside)
    edges = set(needs) | {((p, n), (p, n - 1)) for p, n in inside if (p, n - 1) in inside}
    reach = {(place, place) for place in inside} | edges
    for middle in inside:
        reach |= {(a, b) for a in inside for b in inside if (a, middle) in reach and (middle, b) in reach}
    rank = {place: number for number, group in enumerate(found) for place in group}
    for a, b in reach:
        assert rank[b] <= rank[a], "what is needed stands before"
        assert (rank[a] == rank[b]) == ((b, a) in reach)
