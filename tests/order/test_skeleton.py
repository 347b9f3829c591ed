"""The skeletal representation has the cuts of the slice, and F is what its definition says."""

from __future__ import annotations

import os
from random import Random

from possibly.order.skeleton import first_needing, skeleton
from possibly.order.slice import whole
from possibly.records import replace
from tests.order.test_kernels import random_slice

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 150


def test_f_is_the_first_event_that_no_cut_contains_without_e() -> None:
    for seed in range(CASES):
        part = random_slice(Random(seed), 7)
        cuts, lengths = list(part.cuts()), part.computation.lengths
        found = {(e, j): y for e, j, y in first_needing(part)}
        assert len(found) == sum(lengths) * len(lengths)
        for (e, j), y in found.items():
            without = [cut[j] for cut in cuts if cut[e[0]] < e[1]]
            assert y == max(without, default=0) + 1, (seed, e, j)


def test_its_edges_have_the_cuts_of_the_slice() -> None:
    several = 0
    for seed in range(CASES):
        part = random_slice(Random(seed), 7)
        if part.least is None or part.greatest is None:
            continue
        edges = tuple(skeleton(part))
        bare = replace(whole(part.computation), low=part.least, high=part.greatest, edges=edges)
        assert set(bare.cuts()) == set(part.cuts()), seed
        assert len(edges) <= sum(part.computation.lengths) * len(part.computation.lengths)
        several += len(edges) > 2
    assert several > CASES // 4
