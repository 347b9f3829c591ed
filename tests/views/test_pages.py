"""The page that the commands write: which order it draws, and which commands stand in it."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from possibly.records import replace
from possibly.verdict.model import Report, Truth, Verdict
from possibly.views.cli.drawing.pages import commands_for, computation_of
from possibly.views.cli.main import main, parser
from tests.views.samples import HOLDS, VIOLATED, mutex_trace, report_of

SPEC = "mutex.spec"


def arguments(*words: str) -> argparse.Namespace:
    return parser().parse_args(["check", "run.jsonl", *words])


def commands(given: argparse.Namespace, verdict: Verdict) -> dict[str, str]:
    return dict(commands_for(given, "run.jsonl", verdict, several=False))


def test_a_property_of_a_file_is_confirmed_by_its_name() -> None:
    assert commands(arguments("--spec", SPEC), VIOLATED) == {
        "Show it again": "possibly check run.jsonl --spec mutex.spec",
        "Write the failing order as a trace": "possibly check run.jsonl --spec mutex.spec "
        "--write-order failing.jsonl",
        "Confirm it on the program": "possibly confirm --spec mutex.spec run.jsonl mutex PROGRAM",
    }


def test_a_formula_of_the_command_line_is_confirmed_as_it_was_given() -> None:
    found = commands(arguments("--spec", SPEC, "--ctl", VIOLATED.formula), VIOLATED)
    assert (
        found["Confirm it on the program"] == "possibly confirm run.jsonl 'ctl: AG(!(P1.cs & P2.cs))' PROGRAM"
    )


def test_what_holds_is_only_shown_again() -> None:
    assert list(commands(arguments("--ltl", HOLDS.formula), HOLDS)) == ["Show it again"]


def test_every_command_of_a_page_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands(arguments("--ctl", VIOLATED.formula), VIOLATED).values():
        words = command.replace("'", "").split()
        assert words[0] == "possibly"
        with pytest.raises(SystemExit) as asked:
            main([words[1], "--help"])
        assert asked.value.code == 0


def test_the_order_is_the_given_one_unless_only_tasks_have_witnesses() -> None:
    trace = mutex_trace()
    task = replace(VIOLATED, language="tl")
    holding = replace(HOLDS, truth=Truth.HOLDS)
    assert computation_of(trace, report_of(VIOLATED), "causal").order == "causal"
    assert computation_of(trace, report_of(task, holding), "causal").order == "sync"
    assert computation_of(trace, report_of(task, VIOLATED), "causal").order == "causal"
    assert computation_of(trace, Report("run.jsonl", 2, 5, ()), "sync").order == "sync"
