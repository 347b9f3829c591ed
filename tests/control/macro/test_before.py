"""What must come before what: the closure of what was said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from possibly.control.macro.before import Before


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_it_is_the_closure(said: list[tuple[int, int]]) -> None:
    before = Before()
    for _ in range(8):
        before.event()
    for first, second in said:
        before.add(first, second)
    reach = {(n, n) for n in range(8)} | set(said)
    for middle in range(8):
        reach |= {(a, b) for a in range(8) for b in range(8) if (a, middle) in reach and (middle, b) in reach}
    for one in range(8):
        for other in range(8):
            assert before.holds(one, other) == ((one, other) in reach)


def test_an_event_comes_after_those_that_it_is_made_with() -> None:
    before = Before()
    first = before.event()
    second = before.event(first, None)
    assert before.holds(first, second) and not before.holds(second, first)
    assert before.after(first) == [second] and len(before) == 2
