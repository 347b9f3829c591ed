"""Trace files for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.trace import write_trace
from tests.views.samples import mutex_trace

SAFE = "AG(!(P1.cs & P2.cs))"
TRUE = "EF(P2.cs)"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample run as `run.jsonl` in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.jsonl"
    write_trace(mutex_trace(), path)
    return path
