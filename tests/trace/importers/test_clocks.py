"""The order of a trace is that of its clocks; clocks that make no sense are told with the line."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.errors import TraceError
from possibly.order.computation import Computation
from possibly.trace.importers.clocks import Record, causes_first, clock_of, trace_of_clocks


def records(*clocks: tuple[str, dict[str, int]]) -> list[Record]:
    return [
        Record(host, clock, f"{host}{clock[host]}", {}, line)
        for line, (host, clock) in enumerate(clocks, start=1)
    ]


GOOD = (
    ("a", {"a": 1}), ("b", {"b": 1}), ("b", {"b": 2, "a": 1}), ("c", {"c": 1, "b": 2, "a": 1}),
    ("a", {"a": 2, "c": 1, "b": 2}), ("c", {"c": 2, "b": 2, "a": 1}),
)  # fmt: skip


def knows(one: tuple[str, dict[str, int]], other: tuple[str, dict[str, int]]) -> bool:
    """Whether the first is known by the second."""
    host, clock = one
    return other[1].get(host, 0) >= clock[host] and one != other


@pytest.mark.parametrize("order", list(permutations(range(len(GOOD))))[::37])
def test_one_event_is_before_another_if_that_knows_it(order: tuple[int, ...]) -> None:
    trace = trace_of_clocks(records(*(GOOD[number] for number in order)), None)
    computation = Computation(trace, "sync")
    number = {trace.event(e).label: e for e in range(len(trace))}
    for one in GOOD:
        for other in GOOD:
            if one != other:
                first, second = (number[f"{host}{clock[host]}"] for host, clock in (one, other))
                assert computation.happened_before(first, second) == knows(one, other)


BAD = {
    "a second event": [("a", {"a": 1}), ("a", {"a": 1})],
    "there is no event 1": [("a", {"a": 2})],
    "forgets event": [("b", {"b": 1}), ("a", {"a": 1, "b": 1}), ("a", {"a": 2})],
    "does not exist": [("a", {"a": 1, "b": 1})],
    "claim to know each other": [("a", {"a": 1, "b": 1}), ("b", {"b": 1, "a": 1})],
    "but not event": [("c", {"c": 1}), ("b", {"b": 1, "c": 1}), ("a", {"a": 1, "b": 1})],
}


@pytest.mark.parametrize("message", BAD)
def test_clocks_that_make_no_sense(message: str) -> None:
    with pytest.raises(TraceError, match=message):
        trace_of_clocks(records(*BAD[message]), None)


@pytest.mark.parametrize(
    "found", [[], {}, {"a": 0}, {"b": 1}, {"a": "1"}, {"a": -1}, {"a": True}, {"a": 1.0}]
)
def test_what_is_no_clock_of_the_host(found: object) -> None:
    with pytest.raises(TraceError):
        clock_of(found, "a")


@given(st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=8, max_size=8))
def test_causes_come_first_and_else_the_smallest(earlier: list[list[int]]) -> None:
    found = list(causes_first(earlier))
    place = {number: at for at, number in enumerate(found)}
    for number in found:
        assert all(place[cause] < place[number] for cause in earlier[number])
    for number in set(range(8)) - set(found):
        assert set(earlier[number]) - set(found), "it is on a cycle or after one"
