"""A long order is told step by step only where somebody asks, and then as a short one is."""

from __future__ import annotations

import pytest

from possibly.order.computation import Computation
from possibly.verdict.explain import steps_along
from tests.generate import random_trace


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
