"""Priorities: the highest goes on, and is lowered at so many steps as the depth says."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from possibly.control.schedulers.pct import Pct, Priorities


def choice(number: int, *tasks: str) -> Any:
    return SimpleNamespace(number=number, enabled=tasks, pending=tasks)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_running_task_changes_at_most_so_often(depth: int) -> None:
    for seed in range(20):
        priorities = Priorities(depth, 30, seed)
        chosen = [priorities.choose(choice(number, "a", "b", "c")) for number in range(30)]
        changes = sum(one != other for one, other in pairwise(chosen))
        assert changes <= depth - 1 and len(priorities.changes) == depth - 1


def test_there_are_no_more_changes_than_steps() -> None:
    assert len(Priorities(9, 2, 0).changes) == 2


def test_the_bound_of_the_paper() -> None:
    pct = Pct(3)
    pct.tasks, pct.steps = 4, 10
    assert pct.probability == 1 / (4 * 10**2)
