"""How much of what a program can do was seen: weights of a tree, and species that were met."""

from __future__ import annotations

from collections import Counter

import pytest

from possibly.control.coverage import species, unseen


@pytest.mark.parametrize(
    ("met", "least"),
    [([], 0), ([5], 1), ([1], 1), ([2, 2], 2), ([1, 1], 3), ([1, 1, 2], 3), ([1, 1, 1, 1, 2], 8)],
)
def test_how_many_classes_there_are_at_least(met: list[int], least: int) -> None:
    found = species(dict(enumerate(met)))
    assert found == least and found >= len(met)


def test_classes_met_once_say_how_likely_a_new_one_is() -> None:
    assert unseen({}, 0) == 1.0
    assert unseen(dict(Counter(map(ord, "aabbc"))), 5) == 1 / 5
    assert unseen(dict(Counter(map(ord, "aabb"))), 4) == 0.0
    assert unseen(dict(Counter(map(ord, "abcd"))), 4) == 1.0
