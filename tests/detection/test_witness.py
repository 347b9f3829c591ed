from __future__ import annotations

from random import Random

import pytest

from possibly.detection.witness import changes, free_path
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.trace.notation import trace
from tests.generate import random_trace


def fewest(lattice: Lattice, target: int) -> int:
    """The fewest changes of process on any path to the target, by trying all paths."""
    bounds = lattice.unpack(target)

    def least(cut: int, last: tuple[int, ...]) -> int:
        if cut == target:
            return 0
        found = [10**6]
        for move in lattice.moves(cut):
            following = cut + move.delta
            if all(a <= b for a, b in zip(lattice.unpack(following), bounds, strict=True)):
                change = bool(last) and not set(last) & set(move.processes)
                found.append(change + least(following, move.processes))
        return min(found)

    return least(lattice.initial, ())


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_path_has_the_fewest_changes(seed: int, joint: bool) -> None:
    random = Random(seed)
    lattice = Lattice(Computation(random_trace(random, events=7, joint=joint)))
    levels = [sorted(level) for level in lattice.levels()]
    targets = random.choice(levels)
    path = free_path(lattice, targets)
    end = lattice.initial + sum(move.delta for move in path)
    assert end in targets
    assert changes(path) == min(fewest(lattice, target) for target in targets)


def test_path_without_steps_leads_to_the_initial_cut() -> None:
    lattice = Lattice(Computation(trace("P: a | Q: b")))
    assert free_path(lattice, [lattice.initial]) == ()


def test_path_is_found_when_the_effort_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.witness.EFFORT", 3)
    lattice = Lattice(Computation(trace("P: a b c d | Q: e f g | R: h i")))
    path = free_path(lattice, [lattice.final])
    assert sum(move.delta for move in path) == lattice.final and len(path) == 9
