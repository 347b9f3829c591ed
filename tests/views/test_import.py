"""`possibly import`: the traces it writes, and their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.trace import load
from possibly.views.cli.main import main
from possibly.views.cli.recorded.import_ import output_names


@pytest.mark.parametrize(
    ("output", "labels", "expected"),
    [
        ("run.jsonl", [""], ["run.jsonl"]),
        ("run.jsonl", ["", ""], ["run-1.jsonl", "run-2.jsonl"]),
        ("a.b/run.jsonl.gz", ["good", "bad"], ["a.b/run-good.jsonl.gz", "a.b/run-bad.jsonl.gz"]),
        ("run", ["x", "x", ""], ["run-x", "run-x-2", "run-3"]),
        ("run.jsonl", ["../../etc/passwd", "a/b c"], ["run-etc_passwd.jsonl", "run-a_b_c.jsonl"]),
        ("run.jsonl", ["..", ""], ["run-1.jsonl", "run-2.jsonl"]),
        ("-", ["a", "b"], ["-", "-"]),
    ],
)
def test_a_file_an_execution(output: str, labels: list[str], expected: list[str]) -> None:
    assert output_names(output, labels) == expected


LOG = 'send m\nP1 {"P1": 1}\nreceive m\nP2 {"P1": 1, "P2": 1}\n'


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.log").write_text(LOG)
    return "run.log"


def test_a_log_becomes_a_trace(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "shiviz", log, "-o", "run.jsonl"]) == 0
    assert capsys.readouterr().out == "Trace: run.jsonl\n"
    found = load("run.jsonl")
    assert [process.name for process in found.processes] == ["P1", "P2"]
    assert list(found.after(1)) == [0]
    assert main(["check", "run.jsonl", "--ctl", 'AG(at(P2, "receive m") -> at(P1, "send m"))']) == 0


def test_several_executions_become_several_traces(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(log).write_text(f"=== good ===\n{LOG}=== bad ===\n{LOG}")
    words = ["import", "shiviz", log, "-o", "run.jsonl", "--delimiter", "^=== (?<trace>.*) ===$"]
    assert main(words) == 0
    assert capsys.readouterr().out == "Trace: run-good.jsonl\nTrace: run-bad.jsonl\n"
    assert len(load("run-good.jsonl")) == len(load("run-bad.jsonl")) == 2


def test_a_parser_expression(log: str) -> None:
    Path(log).write_text('P1 {"P1": 1} start\nP1 {"P1": 2} stop\n')
    words = ["import", "shiviz", log, "-o", "-", "--parser", r"(?<host>\S+) (?<clock>{.*}) (?<event>.*)"]
    assert main(words) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run.log", "--parser", "("], "parser expression"),
        (["run.log", "--parser", "(?<event>.*)"], "group"),
        (["run.log", "--delimiter", "["], "delimiter expression"),
        (["missing.log"], "missing.log: No such file"),
        (["bad.log"], "bad.log:2: "),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_cannot_be_imported(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.log").write_text('event\nP1 {"P2": 1}\n')
    assert main(["import", "shiviz", *words, "-o", "run.jsonl"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("run.jsonl").exists()


def test_any_log_with_an_event_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    log = ["started", "who=a does=send m=1", "who=b does=receive m=1 x=2"]
    (tmp_path / "run.log").write_text("\n".join(log))
    words = [
        "--process",
        "who",
        "--send",
        "does=s*",
        "--receive",
        "does=r*",
        "--message",
        "m",
        "--set",
        "x=x",
    ]
    assert main(["import", "lines", "run.log", "-o", "run.jsonl", *words]) == 0
    assert "1 of 3 lines have no process" in capsys.readouterr().err
    trace = load("run.jsonl")
    assert [trace.event(number).kind for number in range(len(trace))] == ["send", "receive"]
    assert trace.event(1).set == {"x": 2}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lines"], "--process FIELD"),
        (["lines", "--process", "p", "--set", "x"], "'x' is not of the form --set NAME=FIELD"),
        (["lines", "--process", "p", "--delimiter", "x"], "--delimiter is for shiviz"),
        (["shiviz", "--process", "p", "--to", "q"], "--process, --to: only for lines"),
    ],
)
def test_options_that_do_not_fit(
    words: list[str], sentence: str, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", words[0], log, "-o", "x.jsonl", *words[1:]]) == 2
    assert sentence in capsys.readouterr().err
