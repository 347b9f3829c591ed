"""Branches that are explored elsewhere: every class once, whoever executes it and in whatever order."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from possibly.control.causality import canonical
from possibly.control.cluster.branch import branches_of, give_back, graft, grown_of, leaf_at
from possibly.control.execution import Execution, Outcome, Scheduler
from possibly.control.forking.zygote import Knowledge
from possibly.control.schedulers.dpor import Dpor
from possibly.control.tree import Node
from tests.control.programs import FAMILIES, random_program
from tests.control.schedulers.test_dpor import is_foreseen
from tests.control.toy import Toy, classes_by_prefixes

AWAY = 4
"""So many turns are under way at a time."""
MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
FEW = 64 if MANY == 1 else 1_000
"""Classes of the programs that are explored here: leaves that are drawn take their time."""
NUMBERS = [
    (family, n, traces) for family, numbers in FAMILIES for n, traces in numbers.items() if traces <= FEW
]


class Elsewhere:
    """A toy as a worker sees a program; it remembers what was executed."""

    grown = repeat = False
    claims = ()

    def __init__(self, program: Toy) -> None:
        self.program = program
        self.under_way: list[Execution] = []
        self.executed: list[Execution] = []
        self.extra: dict[str, Any] = {}

    def begin(self, plan: Scheduler, fresh: bool) -> None:
        assert not fresh
        self.under_way.append(self.program.execute(plan))

    def end(self) -> Execution:
        self.executed.append(self.under_way.pop(0))
        return self.executed[-1]

    def agrees(self) -> bool:
        return not self.under_way

    def knowledge(self) -> Knowledge:
        return Knowledge()


def explored(program: Toy, seed: int) -> tuple[Dpor, list[Execution]]:
    """A search by branches only: leaves are drawn, several are away at a time, and come back in any order."""
    random, explorer, worker = Random(seed), Dpor(), Elsewhere(program)
    tree = explorer.tree
    learnt: list[Execution] = []
    away: list[tuple[list[Node], bytes]] = []
    while tree.root.open:
        while tree.root.todo and len(away) < AWAY:
            leaves = [
                leaf for _ in range(random.randint(1, 3)) if (leaf := tree.any_leaf(random)) is not None
            ]
            orders = tuple(
                branches_of(leaves, explorer, random.choice([0.0, 9.0]), random.randint(1, 5), False)
            )
            away.append((leaves, pickle.dumps(orders)))
        leaves, order = away.pop(random.randrange(len(away)))
        worker.executed.clear()
        found = pickle.loads(pickle.dumps(grown_of(worker, pickle.loads(order))))  # type: ignore[arg-type]
        counted = 0
        for leaf, grown in zip(leaves, found, strict=True):
            if grown is None:
                give_back(tree, leaf)
                continue
            graft(explorer, leaf, grown)
            learnt += worker.executed[counted : counted + grown.executions]
            counted += grown.executions
            if grown.odd is not None:
                prefix, execution, _ = grown.odd
                explorer.learn(execution, tree.hand_out(leaf_at(tree, prefix)))
                learnt.append(execution)
        assert len(learnt) < 10_000
    return explorer, learnt


@pytest.mark.parametrize(("family", "n", "traces"), NUMBERS)
def test_the_families_take_exactly_the_optimal_number(
    family: Callable[[int], Toy], n: int, traces: int
) -> None:
    explorer, executions = explored(family(n), n)
    assert (len(executions), explorer.tree.executions) == (traces, traces)
    assert len({canonical(execution) for execution in executions}) == traces
    assert explorer.tree.is_complete


def test_every_class_of_generated_programs_is_executed_once() -> None:
    optimal = 0
    for seed in range(25 * MANY):
        program = random_program(Random(f"branches {seed}"))
        wanted = classes_by_prefixes(program, 250)
        if wanted is None:
            continue
        _, executions = explored(program, seed)
        found = Counter(canonical(e) for e in executions if e.outcome is not Outcome.CUT_OFF)
        assert found.keys() == wanted.keys(), seed
        if is_foreseen(program, wanted):
            assert len(executions) == len(wanted), seed
            optimal += 1
    assert optimal > 3 * MANY
