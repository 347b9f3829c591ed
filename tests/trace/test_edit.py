"""More order in a trace: exactly the pairs that were asked for, and what was known before."""

from __future__ import annotations

import os
import random

import pytest

from possibly.order.computation import Computation
from possibly.trace.edit import with_order
from possibly.trace.notation import trace as trace_of
from tests.generate import random_trace

CASES = 100 * int(os.environ.get("POSSIBLY_CASES", "1"))


def test_the_second_comes_after_the_first() -> None:
    trace = trace_of("p: a b | q: c d")
    ordered = with_order(trace, [(0, 3)])
    assert Computation(ordered).happened_before(0, 3)
    assert not Computation(trace).happened_before(0, 3)
    assert [list(ordered.after(e)) for e in range(4)] == [[], [], [], [0]]


def test_nothing_to_add_is_the_same_trace() -> None:
    trace = trace_of("p: a | q: b")
    assert with_order(trace, []) is trace


@pytest.mark.parametrize("pair", [(1, 0), (1, 1), (-1, 1), (0, 2)])
def test_order_goes_forward(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="cannot come after"):
        with_order(trace_of("p: a | q: b"), [pair])


def test_the_order_is_the_closure_of_both() -> None:
    for case in range(CASES):
        chance = random.Random(case)
        trace = random_trace(chance, joint=False)
        count = len(trace)
        if count < 2:
            continue
        pairs = [tuple(sorted(chance.sample(range(count), 2))) for _ in range(chance.randrange(1, 4))]
        found = Computation(with_order(trace, [(a, b) for a, b in pairs]))
        plain = Computation(trace)
        above = {e: {e} for e in range(count)}
        for e in range(count):
            for f in range(e):
                if plain.happened_before(f, e) or (f, e) in pairs:
                    above[e] |= above[f]
        for e in range(count):
            assert {f for f in range(count) if f == e or found.happened_before(f, e)} == above[e]
            assert len(list(found.trace.after(e))) == len(set(found.trace.after(e)))
