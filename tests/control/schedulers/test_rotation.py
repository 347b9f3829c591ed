"""All orders of a few tasks, with turns of each length, short ones first."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest

from possibly.control.schedulers.rotation import LONGEST, MOST, rotations


def choice(*enabled: str) -> Any:
    return SimpleNamespace(enabled=enabled)


@pytest.mark.parametrize("count", range(MOST + 3))
def test_how_many_there_are(count: int) -> None:
    tasks = tuple("abcdefg"[:count])
    found = list(rotations(tasks))
    expected = LONGEST * len(list(permutations(tasks))) if 2 <= count <= MOST else 0
    assert len(found) == expected
    assert [each.length for each in found] == sorted(each.length for each in found)


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_a_turn_has_its_length(length: int) -> None:
    rotation = next(each for each in rotations(("a", "b")) if each.length == length)
    chosen = [rotation.choose(choice("a", "b")) for _ in range(4 * length)]
    assert "".join(each or "" for each in chosen) == ("a" * length + "b" * length) * 2


def test_who_cannot_go_on_is_passed_over_and_strangers_go_first() -> None:
    rotation = next(rotations(("a", "b", "c")))
    assert rotation.choose(choice("c")) == "c"
    assert rotation.choose(choice("a", "x")) == "x"
    assert rotation.choose(choice()) is None
