"""`possibly export`: every format, to a file and to standard output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.trace import load, same_run
from possibly.views.cli.main import main
from tests.views.samples import mutex_trace

pytestmark = pytest.mark.usefixtures("run")


@pytest.mark.parametrize(
    ("form", "start"), [("dot", "digraph "), ("shiviz", "send m1\n"), ("jsonl", '{"format"')]
)
def test_text_goes_to_standard_output_or_to_a_file(
    form: str, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "run.jsonl", "--to", form]) == 0
    text = capsys.readouterr().out
    assert text.startswith(start)
    assert main(["export", "run.jsonl", "--to", form, "-o", "out"]) == 0
    assert Path("out").read_text() == text
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("form", "name"), [("jsonl", "o.jsonl.gz"), ("jsonl", "o.jsonl.zst"), ("columns", "o.columns")]
)
def test_our_own_forms_load_as_the_same_run(form: str, name: str) -> None:
    assert main(["export", "run.jsonl", "--to", form, "-o", name]) == 0
    assert same_run(load(name), mutex_trace())


def test_columns_need_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "run.jsonl", "--to", "columns"]) == 2
    assert "name a file with -o FILE" in capsys.readouterr().err


def test_a_bad_trace_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.jsonl").write_text("rubbish")
    assert main(["export", "bad.jsonl", "--to", "dot", "-o", "out"]) == 2
    assert capsys.readouterr().err.startswith("possibly: bad.jsonl:1")
    assert not os.path.exists("out")


TIMED = """\
{"format":"possibly-trace","version":1,"processes":[{"name":"P","init":{"cs":0}},{"name":"Q","init":{"cs":0}}]}
{"p":"P","set":{"cs":1},"t":1.0}
{"p":"Q","set":{"cs":1},"t":3.0}
{"p":"P","set":{"cs":0},"t":2.0}
"""
APART = "AG(!(P.cs == 1 & Q.cs == 1))"


@pytest.mark.parametrize("form", ["jsonl", "columns", "parquet"])
def test_what_times_tell_is_in_what_is_written(form: str) -> None:
    Path("timed.jsonl").write_text(TIMED)
    assert main(["check", "timed.jsonl", "--ctl", APART]) == 1
    written = ["export", "timed.jsonl", "--to", form, "-o", "out", "--times"]
    assert main([*written, "--skew", "0.5"]) == 0
    assert main(["check", "out", "--ctl", APART, "--ctl", "AG(Q.cs == 1 -> Q.time - P.time == 1)"]) == 0
    assert main([*written, "--skew", "1.5"]) == 0
    assert main(["check", "out", "--ctl", APART]) == 1
