"""Linear formulas on sliced reorderings, against every way to divide the events of small runs into slices."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.limits import Budget
from possibly.detection.prediction.orders import is_unnoticed
from possibly.detection.prediction.regular import RegularSearch
from possibly.logic.parser import parse
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.detection.prediction.test_sliced import random_trace, sliced
from tests.detection.prediction.test_walks import bound, telling_formula, word
from tests.logic.ltl.test_progression import holds, random_formula
from tests.sampling import FACTOR, sampled

CASES = sampled(20)
BATCHES = range(9 if FACTOR > 1 else 1)
STATES = ("x == 1", "y == 1", "P.n == 1", "done(Q)", "x == y", "P.n <= x")


def is_true(trace: Trace, order: tuple[int, ...], text: str, states: tuple[str, str]) -> bool:
    return holds(word(trace, tuple((event,) for event in order), states), parse(text, "ltl"))


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("slices", [1, 2, 3])
def test_just_what_some_sliced_reordering_makes_true(slices: int, batch: int) -> None:
    random, kinds = Random(f"regular {slices} {batch}"), set()
    for _ in range(CASES):
        trace = random_trace(random, 8 - slices)
        states = random.choice(STATES), random.choice(STATES)
        whole = [order for order in sliced(trace, slices - 1) if len(order) == len(trace)]
        words = [word(trace, tuple((event,) for event in order), states) for order in whole]
        text = random_formula(random, 3) if slices == 1 else telling_formula(random, words, words[0])
        search = RegularSearch(trace, bound(trace, text, states), Budget())
        found = search.found(slices)
        assert found is not None or not any(holds(each, parse(text, "ltl")) for each in words)
        assert search.is_complete
        if found is not None:
            assert sorted(found.order) == list(range(len(trace)))
            assert is_unnoticed(trace, found.order[: found.decided])
            assert is_true(trace, found.order, text, states)
        kinds.add(found is None)
    assert FACTOR == 1 or kinds == {True, False}


def rounds(count: int) -> Trace:
    """P goes up and down, Q looks at a flag of its own; both write a variable that nobody reads."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {"n": 0}), ("Q", {"n": 0})], shared={"x": 0, "y": 0})
    for number in range(count):
        builder.add_fields({"p": "P", "write": {"x": 1}})
        builder.add_fields({"p": "P", "write": {"x": 0}})
        builder.add_fields({"p": "Q", "read": ["y"], "set": {"n": number % 2}})
        builder.add_fields({"p": "Q", "write": {"y": 1}})
        builder.add_fields({"p": "Q", "write": {"y": 0}})
    return builder.finish()


def test_a_long_run_is_a_few_passes() -> None:
    """Something that is over is found after something that came later, three slices apart."""
    trace = rounds(60)
    states = "x == 1", "y == 1"
    search = RegularSearch(trace, bound(trace, "F(a & b & F(!a & F(a & b)))", states), Budget())
    found = search.found(3)
    assert found is not None and is_unnoticed(trace, found.order[: found.decided])
    assert RegularSearch(trace, bound(trace, "F(a & F(P.n == 1))", states), Budget()).found(2) is None
