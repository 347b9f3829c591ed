"""Larger programs that pass messages: the planted order is found, the corrected form is covered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from possibly.control.macro.program.launch import mpiexec
from possibly.views.cli.main import main
from tests.control.macro.test_real import needs_mpi
from tests.waiting import PATIENCE

MOST = 6 if "POSSIBLY_CASES" not in os.environ else 1_000
"""Executions of a corrected form; the lock service has 74."""
EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = {
    "actors/bank.py": ("G audit_is_right", "Auditor put into"),
    "map-reduce/words.py": ("G nothing_is_lost", "reducer get from results <- master#4"),
    "lock-service/leases.py": ("G one_writer", "store get from Store.inbox <- client-a#2"),
    "matrix-product/product.py": ("rank0.missing == 0 is false", "rank0 got rank1#2 and not rank3#1"),
}
"""What is false, and what the way there tells."""
each_program = pytest.mark.parametrize(
    "program", [pytest.param(each, marks=needs_mpi if "product" in each else ()) for each in PROGRAMS]
)


@each_program
@pytest.mark.parametrize("variant", ["wrong", "right"])
def test_a_planted_order_is_found(
    program: str, variant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "program.tree.json"
    limits = ["--first"] if variant == "wrong" else ["--executions", str(MOST)]
    how = ["--mpi", "4", "--buffered"] if "product" in program else ["--macro"]
    status = main(["explore", *how, *limits, "--tree", str(tree), str(EXAMPLES / program), variant])
    told = capsys.readouterr().out
    if variant == "right":
        assert status == 0 or (status == 3 and "open branches" in told), told
    else:
        assert status == 1
        assert all(each in told for each in PROGRAMS[program]), told


@each_program
def test_a_plain_run_looks_right(program: str) -> None:
    ranks = [mpiexec(), "-n", "4"] if "product" in program else []
    words = [*ranks, sys.executable, str(EXAMPLES / program), "right"]
    assert subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE).stdout
