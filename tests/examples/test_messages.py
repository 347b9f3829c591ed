"""Larger programs that pass messages: the planted order is found, the corrected form is covered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from possibly.views.cli.main import main

MOST = 6 if "POSSIBLY_CASES" not in os.environ else 1_000
"""Executions of a corrected form; the lock service has 74."""
EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = {
    "actors/bank.py": ("G audit_is_right", "Auditor put into"),
    "map-reduce/words.py": ("G nothing_is_lost", "reducer get from main.queue2 <- master#4"),
    "lock-service/leases.py": ("G one_writer", "store get from main.queue3 <- client-a#2"),
}
"""What is false, and what the way there tells."""


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("variant", ["wrong", "right"])
def test_a_planted_order_is_found(
    program: str, variant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "program.tree.json"
    limits = ["--first"] if variant == "wrong" else ["--executions", str(MOST)]
    status = main(["explore", "--macro", *limits, "--tree", str(tree), str(EXAMPLES / program), variant])
    told = capsys.readouterr().out
    if variant == "right":
        assert status == 0 or (status == 3 and "open branches" in told), told
    else:
        assert status == 1
        assert all(each in told for each in PROGRAMS[program]), told


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_plain_run_looks_right(program: str) -> None:
    words = [sys.executable, str(EXAMPLES / program), "right"]
    assert subprocess.run(words, capture_output=True, check=True, timeout=60).stdout
