"""AG(p -> AF q) on-line: after every event what the definition says of the run so far."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random
from typing import Any

import pytest

from possibly.detection.online.monitor import Monitor, open_vocabulary
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.growing.computation import Growing
from tests.detection.online.arrivals import SoFar, growing_like, lines_of
from tests.generate import random_trace
from tests.sampling import sampled
from tests.twins import needs_kernels


def test_the_value_is_that_of_the_run_so_far() -> None:
    seen: Counter[bool] = Counter()
    for seed in range(sampled(60)):
        random = Random(seed)
        run = random_trace(random, events=random.randint(1, 8))
        growing = growing_like(run)
        name = random.choice(run.processes).name
        first, second = (f"{name}.x {random.choice(['==', '!='])} {random.randint(0, 2)}" for _ in range(2))
        formula = bind(parse(f"AG({first} -> AF({second}))", "ctl"), open_vocabulary(growing)).formula
        so_far, monitor = SoFar(growing), Monitor(growing, formula)
        assert monitor.is_restless and not monitor.wants_steps
        for line in lines_of(run, random):
            growing.arrive(line)
            value = so_far.holds(formula)
            assert monitor.standing.value == value and not monitor.standing.is_final, (seed, first, second)
            seen[value] += 1
    assert min(seen[True], seen[False]) > sampled(20), seen


@needs_kernels
def test_many_lines_at_once() -> None:
    growing = Growing([("P", {"asked": False, "done": False}), ("Q", {})])
    text = "AG(P.asked -> AF P.done)"
    monitor = Monitor(growing, bind(parse(text, "ctl"), open_vocabulary(growing)).formula)
    lines: list[Any] = [{"p": "P", "set": {"asked": True}}, {"p": "Q"}]
    assert growing.arrive_many(lines) == 2 and not monitor.standing.value
    assert growing.arrive_many([{"p": "P", "set": {"asked": False, "done": True}}]) == 1
    assert monitor.standing.value and monitor.size == 0
    assert pickle.loads(pickle.dumps(monitor)).standing == monitor.standing


@pytest.mark.parametrize("text", ["AG(P.x == 1 -> AF Q.x == 1)", "AG(P.x == 1 -> AF(P.x == 2 & s == 1))"])
def test_two_processes_are_another_question(text: str) -> None:
    from possibly.errors import FormulaError

    growing = Growing([("P", {}), ("Q", {})], {"s": 0})
    with pytest.raises(FormulaError):
        Monitor(growing, bind(parse(text, "ctl"), open_vocabulary(growing)).formula)
