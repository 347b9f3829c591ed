"""The search that joins states finds what the search by classes finds, and what all schedules show."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS
from possibly.control.joining.unseen import unread_lists
from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.generated import program
from tests.control.joining.judged import results
from tests.control.runtime.brute import brute_force

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
pytestmark = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")


@pytest.mark.parametrize("seed", range(12 * CASES) if CASES > 1 else (0, 1, 2, 4))
def test_what_is_joined_ends_as_what_is_not(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    path = tmp_path / "program.py"
    path.write_text(program(random, random.choice((2, 2, 3, 3, 4))))
    plain = results(path, Dpor, 200)
    if plain is None:
        return
    joined = results(path, Joining, unread=unread_lists)
    assert joined is not None
    assert joined[0] == plain[0]
    assert joined[1].is_complete


@pytest.mark.parametrize("seed", range(1000, 1000 + 3 * CASES))
def test_what_is_joined_ends_as_all_schedules_do(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(Random(seed), 2, 1))
    expected = brute_force(path, 150)
    joined = results(path, Joining, unread=unread_lists)
    if expected is not None and joined is not None:
        assert joined[0] == expected
