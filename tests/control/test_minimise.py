"""Failing schedules with the fewest switches, against all interleavings."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.control.causality import Causality, canonical
from possibly.control.execution import Execution, Outcome
from possibly.control.minimise import (
    BAD,
    _breadth_first,
    _greedy,
    cost,
    decisive,
    fails_alike,
    fewest_turns,
    minimised,
    switches,
)
from possibly.control.schedulers.bounded import preemptions
from possibly.control.schedulers.random import RandomWalk
from tests.control.bugs import BUGS
from tests.control.programs import random_program
from tests.control.toy import Script, Toy, interleavings

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def all_executions(program: Toy, most: int) -> list[Execution] | None:
    found = []
    for execution in interleavings(program):
        found.append(execution)
        if len(found) > most:
            return None
    return found


def test_reordering_gives_the_fewest_switches_of_the_trace() -> None:
    compared = 0
    for seed in range(40 * MANY):
        program = random_program(Random(f"turns {seed}"))
        every = all_executions(program, 200)
        if every is None:
            continue
        fewest: dict[object, int] = {}
        for execution in every:
            form = canonical(execution)
            fewest[form] = min(fewest.get(form, 10**6), switches(execution.steps))
        for execution in every[:20]:
            if "step" not in (execution.failure or {}):
                again = program.execute(Script(fewest_turns(execution)))
                assert canonical(again) == canonical(execution), seed
                assert switches(again.steps) == fewest[canonical(execution)], seed
                compared += 1
    assert compared > 60 * MANY


def test_the_greedy_order_is_an_order_of_the_trace() -> None:
    for seed in range(40 * MANY):
        program = random_program(Random(f"greedy {seed}"))
        execution = program.execute(RandomWalk(seed).plan())
        order = Causality(execution.steps)
        all_steps = (1 << len(execution.steps)) - 1
        greedy, exact = _greedy(order, all_steps), _breadth_first(order, all_steps)
        assert exact is not None and len(greedy) >= len(exact)
        schedule = tuple(task for task, count in greedy for _ in range(count))
        assert canonical(program.execute(Script(schedule))) == canonical(execution), seed


@pytest.mark.large
def test_what_is_left_has_the_fewest_preemptions_of_all_failures() -> None:
    compared = 0
    for seed in range(90 * MANY):
        program = random_program(Random(f"minimal {seed}"))
        every = all_executions(program, 200)
        failing = [e for e in every or () if e.outcome in BAD]
        if not failing:
            continue
        worst = max(failing, key=cost)
        same = fails_alike(worst)
        simplest = minimised(program, worst, budget=500)
        assert same(simplest), seed
        assert preemptions(decisive(simplest)) == min(cost(e)[0] for e in failing if same(e)), seed
        compared += 1
    assert compared > 8 * MANY


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.__name__ != "starvation"])
def test_the_classic_bugs_need_few_switches(bug) -> None:  # type: ignore[no-untyped-def]
    program, explorer = bug(False), RandomWalk(1)
    execution = program.execute(explorer.plan())
    while execution.outcome not in BAD:
        execution = program.execute(explorer.plan())
    simplest = minimised(program, execution)
    assert simplest.outcome in BAD and cost(simplest) <= cost(execution)
    most = {"three_preemptions": 6, "peterson": 2, "barrier_twice": 3}
    assert preemptions(decisive(simplest)) <= most.get(bug.__name__, 2)
    assert Outcome.CUT_OFF is not simplest.outcome
