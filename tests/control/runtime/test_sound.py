"""The reduction shows every result that some schedule has, on generated programs, and no other."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.control.runtime.brute import brute_force, reduced
from tests.control.runtime.generated import async_program, program

CASES = 2 * int(os.environ.get("POSSIBLY_CASES", "1"))
SEEDS = [seed for seed in range(1, 10_000) if seed not in (4, 8)][:CASES]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.large("1")
def test_all_results_are_found(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(Random(seed), threads=2))
    expected = brute_force(path, 150)
    if expected is None:
        return  # too many schedules to go through one by one
    found, executions = reduced(path)
    assert found == expected
    assert executions >= len(found)


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.large("1")
def test_all_results_with_sleeps_and_time_outs_are_found(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(Random(seed), threads=2, sleeps=True))
    slack = (0.0, 1.0, 0.5, 4.0)[seed % 4]
    expected = brute_force(path, 150, slack)
    if expected is not None:
        assert reduced(path, slack=slack)[0] == expected


@pytest.mark.parametrize("seed", range(2 * int(os.environ.get("POSSIBLY_CASES", "1"))))
def test_all_results_of_a_loop_are_found(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(async_program(Random(seed)))
    expected = brute_force(path, 150)
    if expected is not None:
        assert reduced(path)[0] == expected
