"""Happened-before of an execution, against the definition executed literally."""

from __future__ import annotations

import os
from itertools import pairwise
from random import Random

from possibly.control.causality import Causality, canonical, meet, members, split
from possibly.control.execution import Access, Execution
from possibly.control.schedulers.random import RandomWalk
from tests.control.programs import random_program
from tests.control.toy import Script

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def executions(name: str, number: int) -> list[Execution]:
    return [
        random_program(Random(f"{name} {seed}")).execute(RandomWalk(seed).plan())
        for seed in range(number * MANY)
    ]


def pasts(execution: Execution) -> list[set[int]]:
    """By the definition: dependent steps in their order, closed transitively."""
    steps = execution.steps
    found: list[set[int]] = []
    for number, step in enumerate(steps):
        past = {number}
        created = next(n for n, other in enumerate(steps) if step.task in other.pending) - 1
        for earlier in range(number):
            other = steps[earlier]
            if (
                other.task == step.task
                or earlier == created
                or meet(other.operation.footprint, step.operation.footprint)
            ):
                past |= found[earlier]
        found.append(past)
    return found


def test_pasts_and_futures_are_those_of_the_definition() -> None:
    for execution in executions("past", 60):
        order, wanted = Causality(execution.steps), pasts(execution)
        assert [set(members(mask)) for mask in order.past] == wanted
        for number in range(order.size):
            assert set(members(order.future[number])) == {n for n in range(order.size) if number in wanted[n]}


def test_a_shared_beginning_need_not_be_gone_through_again() -> None:
    for seed in range(40 * MANY):
        program = random_program(Random(f"shared {seed}"))
        one = program.execute(RandomWalk(seed).plan())
        shared = Random(seed).randint(0, len(one.steps))
        other = program.execute(Script(one.schedule[:shared]))
        fresh, reused = Causality(other.steps), Causality(other.steps, Causality(one.steps), shared)
        for name in "accessed creator direct last of_task own past size steps written".split():
            assert getattr(fresh, name) == getattr(reused, name), (seed, name)


def test_equivalent_executions_have_one_canonical_form_and_others_another() -> None:
    """Two neighbouring steps are exchanged, where both orders are possible."""
    alike = different = 0
    for seed in range(60 * MANY):
        program = random_program(Random(f"form {seed}"))
        execution = program.execute(RandomWalk(seed).plan())
        schedule = execution.schedule
        for number, (one, two) in enumerate(pairwise(execution.steps)):
            if one.task == two.task or two.task not in one.enabled:
                continue
            begun = (*schedule[:number], two.task)
            if one.task not in program.execute(Script(begun)).steps[number + 1].enabled:
                continue
            if meet(one.operation.footprint, two.operation.footprint):
                other = program.execute(Script((*begun, one.task)))
                assert canonical(other) != canonical(execution), seed
                different += 1
            else:
                other = program.execute(Script((*begun, one.task, *schedule[number + 2 :])))
                assert canonical(other) == canonical(execution), seed
                alike += 1
    assert alike > 50 * MANY and different > 10 * MANY


def test_footprints_meet_where_one_writes() -> None:
    read, write, other = Access("x", False), Access("x", True), Access("y", True)
    assert meet((read,), (write,)) and meet((write,), (read, other)) and meet((write,), (write,))
    assert not meet((read,), (read,)) and not meet((write,), (other,)) and not meet((), (write,))
    assert split((read, other, write)) == ((), ("y", "x"))
