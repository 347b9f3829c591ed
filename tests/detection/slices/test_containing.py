"""Approximate slices contain every cut that satisfies the formula, and often little more."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices import by_projection, by_values, closure
from possibly.detection.slices.closure import slice_of
from possibly.detection.slices.containing import wider_slice
from tests.detection.slices.test_by_test import Case, counters
from tests.generate import CTL, random_formula, random_trace
from tests.sampling import sampled


@pytest.mark.parametrize("batch", range(6))
def test_every_satisfying_cut_is_inside(batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + sampled(90)):
        random = Random(seed)
        trace = random_trace(random, events=random.randint(1, 6))
        text = random_formula(random, trace, CTL, random.randint(1, 3)).text
        case = Case(trace, text)
        found = wider_slice(case.slicing, case.formula)
        plain = Exhaustive(case.lattice, case.predicates, Budget())
        satisfying = {cut for cut in case.cuts() if plain.at(case.formula, case.lattice.pack(cut))}
        inside = set(found.cuts())
        assert satisfying <= inside, (seed, text)
        assert not found.exact and found.lean is None
        seen["smaller than everything"] += len(inside) < len(case.cuts())
        seen["tight"] += inside == satisfying
    assert min(seen.values()) > sampled(30), seen


@pytest.mark.parametrize(
    ("text", "least", "greatest"),
    [
        ("A[P0.x >= 0 U P0.x * P1.x == 16 & P0.x == 4 & P2.x == 4]", (0, 0, 0), (19, 20, 19)),
        ("AF(P0.x * P1.x == 17) & P2.x == 1", (0, 0, 1), (20, 20, 16)),
        ("AX(P0.x * P1.x == 17) & P2.x == 1", (0, 0, 1), (20, 20, 16)),
        ("E[P0.x == 7 U P1.x == 2]", (0, 2, 0), (20, 17, 20)),
    ],
)
def test_operators_that_slices_do_not_know(
    text: str, least: tuple[int, ...], greatest: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `possibly slice` gives them where there are too many cuts to visit."""
    monkeypatch.setattr(closure, "FEW_CUTS", 100)
    monkeypatch.setattr(by_values, "MOST_COMBINATIONS", 0)
    monkeypatch.setattr(by_projection, "FEW_CUTS", 0)
    case = Case(counters(3, 20, messages=False), text)
    found = slice_of(case.slicing, case.formula)
    assert (found.exact, found.least, found.greatest) == (False, least, greatest)
