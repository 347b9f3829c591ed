"""A walk enters what can be reached, once; what it says of a way can be walked again."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.limits import Budget
from possibly.detection.prediction.graphs import Graph

Edges = dict[int, list[tuple[int, int]]]


def generated(seed: int) -> Edges:
    """From each place some numbered steps to others."""
    random = Random(seed)
    return {
        place: [(step, random.randrange(30)) for step in range(random.randrange(4))] for place in range(30)
    }


def reachable(edges: Edges) -> set[int]:
    seen = {0}
    while more := {after for place in seen for _, after in edges[place]} - seen:
        seen |= more
    return seen


@pytest.mark.parametrize("seed", range(40))
def test_it_finds_what_can_be_reached_and_nothing_else(seed: int) -> None:
    edges = generated(seed)
    for wanted in range(30):
        graph: Graph[int] = Graph(Budget(), 1_000)
        found = graph.found([0], edges.__getitem__, wanted.__eq__)
        assert (found == wanted) == (wanted in reachable(edges))
        assert graph.is_complete
        if found is not None:
            place = 0
            for step in graph.steps_to(found):
                place = dict(edges[place])[step]
            assert place == wanted


def test_the_last_that_follows_is_entered_first() -> None:
    edges: Edges = {0: [(1, 1), (2, 2)], 1: [(3, 3)], 2: [(4, 3)], 3: []}
    graph: Graph[int] = Graph(Budget(), 10)
    graph.found([0], edges.__getitem__, (3).__eq__)
    assert graph.steps_to(3) == [2, 4]


def test_a_walk_that_was_cut_off_says_so() -> None:
    graph: Graph[int] = Graph(Budget(), 5)
    assert graph.found([0], lambda place: [(0, place + 1)], (9).__eq__) is None
    assert not graph.is_complete
