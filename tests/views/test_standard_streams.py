"""`-` is standard input where a run or a log is read, and standard output where something is written."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from possibly.views.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN, SPANS = EXAMPLES / "mutex" / "run.jsonl", EXAMPLES / "otlp" / "spans.json"
READS = {
    "check": (["check", "-", "--ctl", "EF(P1.critical & P2.critical)"], "HOLDS"),
    "check spec": (["check", str(RUN), "--spec", "-"], "HOLDS"),
    "slice": (["slice", "-", "P1.critical", "--json"], '"least"'),
    "dot": (["export", "-", "--to", "dot"], "digraph"),
    "promela": (["export", "-", "--to", "promela", "-o", "-"], "proctype"),
    "shiviz": (["export", "-", "--to", "shiviz", "-o", "-"], "P1"),
    "jsonl": (["export", "-", "--to", "jsonl", "-o", "-"], '"format":"possibly-trace"'),
    "suggest": (["suggest", "-"], "pattern "),
    "coverage": (["coverage", "-"], "1 run of 1 class"),
    "view": (["view", "-", "-o", "-"], "<!DOCTYPE html>"),
    "diff": (["diff", "-", str(RUN)], "the runs are the same"),
    "import": (["import", "otlp", "-", "-o", "-"], '"format":"possibly-trace"'),
    "html": (["check", "-", "--ctl", "EF(P1.critical)", "--html", "-"], "<!DOCTYPE html>"),
    "order": (["check", "-", "--ctl", "AG(!P1.critical)", "--write-order", "-"], '"format":"possibly-trace"'),
    "linearizable": (["linearizable", "-", "--model", "register"], "NOT LINEARIZABLE"),
}
STALE = EXAMPLES / "histories" / "stale.log"
GIVEN = {
    "linearizable": STALE.read_text(encoding="utf-8"),
    "check spec": "ctl a = EF(P1.critical)\n",
    "import": SPANS.read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("name", READS)
def test_a_command_reads_standard_input_and_writes_standard_output(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words, shown = READS[name]
    given = GIVEN.get(name, RUN.read_text(encoding="utf-8")).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
    assert main(words) in (0, 1)
    assert shown in capfd.readouterr().out
    assert not Path("-").exists()


def test_what_cannot_be_told_from_commands_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUN.read_bytes()), encoding="utf-8"))
    assert main(["debug", "-"]) == 2
    assert "name the file of the trace" in capsys.readouterr().err
