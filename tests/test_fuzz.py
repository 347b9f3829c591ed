"""Everything that reads what strangers write: all seeds, and some mutations (`make fuzz` tries many)."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from fuzz.__main__ import SEEDS, fault_of, seeds_of
from fuzz.mutations import LARGEST, mutated
from fuzz.targets import TARGETS

CASES = 10 * int(os.environ.get("POSSIBLY_CASES", "1"))


@pytest.mark.parametrize("name", TARGETS)
def test_strangers_get_an_answer_or_a_sentence(name: str, tmp_path: Path) -> None:
    seeds, chance = seeds_of(name), random.Random(f"test {name}")
    for data in [*seeds, *(mutated(chance, seeds) for _ in range(CASES))]:
        assert fault_of(name, data, tmp_path) is None, data


def test_every_seed_belongs_to_a_target() -> None:
    assert {path.name for path in SEEDS.iterdir()} == set(TARGETS)


def test_a_target_that_fails_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(data: bytes, folder: Path) -> None:
        raise KeyError(data)

    monkeypatch.setitem(TARGETS, "trace", fails)
    assert "KeyError" in (fault_of("trace", b"x", tmp_path) or "")


def test_mutations_are_small_and_differ() -> None:
    chance = random.Random(1)
    found = {mutated(chance, [b'{"a": 1}\n', b"x" * LARGEST]) for _ in range(200)}
    assert len(found) > 100 and max(map(len, found)) <= LARGEST
