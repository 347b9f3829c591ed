"""`possibly coverage`, as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.trace.jsonl import write_trace
from possibly.views.cli.main import main
from tests.views.samples import mutex_trace

Capture = pytest.CaptureFixture[str]
EXCLUSION = "AG(!(P1.cs & P2.cs))"


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"run{number}.jsonl" for number in range(2)]
    for path in paths:
        write_trace(mutex_trace(), path)
    return [str(path) for path in paths]


def test_the_report_tells_what_is_missing(runs: list[str], capsys: Capture) -> None:
    assert main(["coverage", *runs, "--ctl", EXCLUSION]) == 1
    told = capsys.readouterr().out
    assert told.startswith("2 runs of 1 class of interleavings\n")
    assert f"  the same: {runs[0]}, {runs[1]}\n" in told
    assert f"  violated in 2 runs; first violated in {runs[0]}\n" in told
    assert f"  possible  P1.cs & P2.cs  (another order of {runs[0]})\n" in told


def test_a_pattern_and_json(runs: list[str], capsys: Capture) -> None:
    assert main(["coverage", str(Path(runs[0]).parent / "run*.jsonl"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["classes"], found["properties"]) == (2, [runs], [])


def test_bad_input(tmp_path: Path, capsys: Capture) -> None:
    assert main(["coverage", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
