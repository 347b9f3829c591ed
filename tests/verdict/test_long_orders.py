"""A long order is told step by step only where somebody asks, and then as a short one is."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from possibly import check
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from possibly.verdict.explain import settled_steps, steps_along
from possibly.views.text.report import Layout, step_lines
from tests.generate import random_trace
from tests.sampling import sampled


def test_a_long_order_is_told_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from random import Random

    for seed in range(30):
        computation = Computation(random_trace(Random(seed), 12))
        steps = list(computation.steps)
        whole, state = steps_along(computation, steps)
        monkeypatch.setattr("possibly.verdict.explain.LONG", -1)
        told, again = steps_along(computation, steps)
        monkeypatch.undo()
        assert isinstance(whole, tuple) and not isinstance(told, tuple)
        assert tuple(told) == whole and told[-3:] == whole[-3:] and state == again
        assert len(told) == len(whole) and [told[at] for at in range(len(told))] == list(whole)
        assert told[-1] == whole[-1]


@pytest.mark.parametrize("seed", range(3))
def test_what_comes_before_all_others_in_every_order(seed: int) -> None:
    random = Random(seed)
    for _ in range(sampled(60)):
        computation = Computation(random_trace(random, events=9))
        steps = list(computation.steps)[: random.randint(0, 9)]

        def is_settled(count: int, steps: list[int] = steps, computation: Computation = computation) -> bool:
            pairs = product(steps[:count], steps[count:])
            return all(computation.happened_before(first, second) for first, second in pairs)

        plain = max((count for count in range(1, len(steps)) if is_settled(count)), default=0)
        assert settled_steps(computation, steps) == plain


def test_the_finished_first_half_is_left_out() -> None:
    builder = TraceBuilder()
    builder.header(processes=[(name, {"x": 0}) for name in "PQR"])
    for number in range(20):
        for name in "PQR":
            builder.add(name, set={"x": number % 3} if name != "R" else {})
    for name in "PQR":
        builder.add(name, meet="all")
    builder.add("P", set={"x": 7})
    builder.add("Q", set={"x": 8})
    explanation = check(builder.finish(), ctl="AG(!(P.x == 7 & Q.x == 8))").verdict.explanation
    assert explanation is not None
    first, *others = step_lines(explanation, Layout())
    assert first.startswith("    ... 58 steps left out, which come before all others in every order")
    assert len(others) == 3 + 2
