"""`possibly check` from the outside: statuses, output, files."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from possibly.trace import load
from possibly.views.cli.main import main
from possibly.views.cli.recorded import check
from possibly.views.cli.recorded.check import combined, reordered, wants_colour
from tests.views.conftest import SAFE, TRUE
from tests.views.samples import mutex_trace

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("run")
HEADER = b'{"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}]}\n'


def checked(*words: str) -> int:
    return main(["check", *words])


# ---- exit status --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([0, 1, 2, 3], 2)],
)
def test_the_first_status_that_applies(statuses: list[int], expected: int) -> None:
    assert combined(statuses) == expected


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--ctl", TRUE], 0),
        (["--ctl", SAFE], 1),
        (["--ctl", TRUE, "--ltl", "G(!(P1.cs & P2.cs))"], 1),
        (["--ctl", "AG(P1.cs == P2.cs | P1.cs != P2.cs)", "--max-cuts", "2"], 3),
        (["--ctl", "AG(!P1.cs)", "--ctl", "AG(P1.cs == P2.cs | P1.cs != P2.cs)", "--max-cuts", "5"], 1),
        ([], 2),
        (["--ctl", "AG("], 2),
        (["--ctl", "AG(P1.missing)"], 2),
        (["--ctl", TRUE, "--engine", "magic"], 2),
        (["--ctl", TRUE, "--only", "nothing"], 2),
        (["--spec", "missing.spec"], 2),
    ],
)
def test_statuses(words: list[str], status: int, capsys: Capture) -> None:
    assert checked("run.jsonl", *words) == status
    captured = capsys.readouterr()
    assert bool(captured.err) == (status == 2)
    assert bool(captured.out) == (status != 2)


def test_a_formula_error_is_pointed_at(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", "AG(P1.sc)") == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("possibly: --ctl:1:4: no event ever sets P1.sc")
    assert lines[1] == "    AG(P1.sc)"
    assert lines[2] == "       ^"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"[]",
        b"{}",
        b"\xff\xfe\x00",
        HEADER + b'{"p"',
        HEADER.replace(b'"version": 1', b'"version": 2'),
        HEADER + b'{"p": "P", "set": ' + b"[" * 99_999,
        HEADER + b'{"p": "P", "after": ["x"]}\n',
    ],
)
def test_a_bad_trace_is_named_with_its_line(content: bytes, capsys: Capture) -> None:
    Path("bad.jsonl").write_bytes(content)
    assert checked("bad.jsonl", "--ctl", "AG(true)") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("possibly: bad.jsonl:")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.jsonl", ".", "a\0b"])
def test_a_trace_that_cannot_be_read(name: str, capsys: Capture) -> None:
    assert checked(name, "--ctl", "AG(true)") == 2
    assert "possibly: " in capsys.readouterr().err


def test_a_bad_trace_does_not_hide_the_others(capsys: Capture) -> None:
    Path("bad.jsonl").write_text("rubbish")
    assert checked("run.jsonl", "bad.jsonl", "run.jsonl", "--ctl", TRUE, "--json") == 2
    captured = capsys.readouterr()
    assert [json.loads(line)["trace"] for line in captured.out.splitlines()] == ["run.jsonl"] * 2
    assert captured.err.startswith("possibly: bad.jsonl:1")


# ---- output -------------------------------------------------------------------------------------


def test_json_has_the_keys_of_the_interface(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", SAFE, "--json") == 1
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == ["trace", "processes", "events", "properties"]
    assert (found["trace"], found["processes"], found["events"]) == ("run.jsonl", 2, 5)
    (answer,) = found["properties"]
    keys = "name language formula verdict class engine seconds cuts observed assumed faults witness"
    assert list(answer) == keys.split()
    assert answer["verdict"] == "violated"
    assert answer["formula"] == SAFE
    assert answer["observed"] is True
    assert answer["witness"] == {"cut": {"P1": 2, "P2": 2}, "path": ["P1:1", "P1:2", "P2:1", "P2:2"]}


def test_explained_json_has_explanation_and_notes(capsys: Capture) -> None:
    checked("run.jsonl", "--ctl", SAFE, "--json", "--explain")
    (answer,) = json.loads(capsys.readouterr().out)["properties"]
    assert len(answer["explanation"]["steps"]) == 4
    assert answer["notes"]


def test_an_undecided_property_says_how_to_decide_it(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", "AG(P1.cs == P2.cs | P1.cs != P2.cs)", "--max-cuts", "2") == 3
    assert "--max-cuts" in capsys.readouterr().out


def test_the_report_quotes_the_source(capsys: Capture) -> None:
    Path("peer.py").write_text("a\nb\nc\nself.critical = True\n")
    checked("run.jsonl", "--ctl", SAFE)
    assert "peer.py:4   self.critical = True" in capsys.readouterr().out


def test_the_last_line_is_a_command_that_says_the_same(capsys: Capture) -> None:
    checked("run.jsonl", "--ctl", TRUE, "--ctl", SAFE)
    last = capsys.readouterr().out.splitlines()[-1]
    words = shlex.split(last.removeprefix("  Show it again: "))
    assert words[0] == "possibly"
    assert main(words[1:]) == 1
    text = capsys.readouterr().out
    assert "VIOLATED  ctl2" in text
    assert "HOLDS" not in text
    assert text.splitlines()[-1] == last


def test_colours(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    checked("run.jsonl", "--ctl", SAFE, "--color", "always")
    assert "\x1b[31;1mVIOLATED" in capsys.readouterr().out
    checked("run.jsonl", "--ctl", SAFE)
    assert "\x1b" not in capsys.readouterr().out

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour("auto")
    assert not wants_colour("never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour("auto")
    assert wants_colour("always")
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour("auto")


# ---- files --------------------------------------------------------------------------------------


def test_the_failing_order_becomes_a_trace_that_fails_as_recorded(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", SAFE, "--write-order", "failing.jsonl") == 1
    assert capsys.readouterr().out.endswith("\n\nOrder that violates ctl1: failing.jsonl\n")
    assert checked("failing.jsonl", "--ctl", SAFE) == 1
    assert "The recorded order violates it already." in capsys.readouterr().out
    found = load("failing.jsonl")
    assert [found.name(event) for event in range(5)] == ["P1:1", "P1:2", "P2:1", "P2:2", "P1:3"]


def test_no_order_is_written_when_none_fails(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", TRUE, "--write-order", "failing.jsonl", "--json") == 0
    assert "failing.jsonl is not written" in capsys.readouterr().err
    assert not os.path.exists("failing.jsonl")


def test_all_events_are_kept_when_they_are_reordered() -> None:
    found = mutex_trace()
    assert reordered(found, ["P1:1", "P2:1"]) == [0, 3, 1, 2, 4]
    assert reordered(found, []) == [0, 1, 2, 3, 4]


def test_the_page_is_written_and_named(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", SAFE, "--html", "page.html") == 1
    assert capsys.readouterr().out.endswith("\nPage: page.html\n")
    assert "A failing order" in Path("page.html").read_text()


def test_a_page_that_cannot_be_written(capsys: Capture) -> None:
    assert checked("run.jsonl", "--ctl", SAFE, "--html", "missing/page.html") == 2
    assert "possibly: missing/page.html: No such file" in capsys.readouterr().err


def test_files_take_a_single_trace() -> None:
    assert checked("run.jsonl", "run.jsonl", "--ctl", SAFE, "--write-order", "o.jsonl") == 2
    assert not os.path.exists("o.jsonl")


def test_an_interrupted_check_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "checked", interrupted)
    assert checked("run.jsonl", "--ctl", SAFE, "--html", "page.html", "--write-order", "o.jsonl") == 130
    assert os.listdir() == ["run.jsonl"]
