"""Properties on executions: what was not kept is unknown, and what never happens is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.views.cli.main import main

LARGE = """
import threading

jobs = list(range(1399))


def work():
    jobs.append(1399)


thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
COUNTING = """
import threading

n = 0


def count():
    global n
    n = n + 1


threads = [threading.Thread(target=count) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("program.py")


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("AG(!(1350 in jobs))", 3),
        ("AG(jobs[1300] != 1300)", 3),
        ("AG(sum(jobs) > 0)", 3),
        ("AG(len(jobs) < 1400)", 1),
        ("AG(len(jobs) < 1401)", 0),
    ],
)
def test_values_that_were_cut_off_decide_nothing(
    program: Path, formula: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(LARGE)
    assert main(["explore", "--json", "--ctl", formula, "program.py"]) == status
    reasons = json.loads(capsys.readouterr().out)["open"]
    assert bool(reasons) == (status == 3)
    assert all("too large" in each["what"] and "len(...)" in each["remedy"] for each in reasons)


@pytest.mark.parametrize(
    ("formula", "is_vacuous"), [("AG(n > 1000 -> n < 0)", True), ("AG(n == 2 -> n > 1)", False)]
)
def test_a_left_side_that_is_never_true_is_told(
    program: Path, formula: str, is_vacuous: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(COUNTING)
    assert main(["explore", "--ctl", formula, "program.py"]) == 0
    told = "warning: ctl1 holds without effect: n > 1000 is true in no order of any execution"
    assert (told in capsys.readouterr().out) == is_vacuous


def test_a_property_that_holds_in_the_recorded_order_of_a_race_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "run.jsonl"
    rows: list[dict[str, object]] = [
        {"format": "possibly-trace", "version": 1, "shared": {"n": 0}},
        {"p": "a", "write": {"n": 1}},
        {"p": "b", "read": ["n"], "write": {"n": 2}},
    ]
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["check", str(trace), "--ctl", "AF(n == 2)"]) == 0
    assert "Nothing orders the accesses to n: they were kept in their recorded order." in _text(capsys)
    rows[2]["after"] = ["a:1"]
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["check", str(trace), "--ctl", "AF(n == 2)"]) == 0
    assert "Nothing orders" not in _text(capsys)


@pytest.mark.parametrize(
    "order, told",
    [
        ("causal", "Nothing orders the accesses to n: they were kept in their recorded order."),
        ("predictive", "In another order some read of n may see another value than it did."),
    ],
)
def test_it_says_so_too_where_the_race_decides_what_a_value_becomes(
    order: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both tasks add one to `n`, and what comes of it is looked at in `total` alone."""
    trace = tmp_path / "run.jsonl"
    rows: list[dict[str, object]] = [
        {"format": "possibly-trace", "version": 1, "shared": {"n": 0, "total": 0}},
        {"p": "a", "read": ["n"]},
        {"p": "a", "write": {"n": 1}},
        {"p": "b", "read": ["n"]},
        {"p": "b", "write": {"n": 2}},
        {"p": "main", "read": ["n"], "write": {"total": 2}, "after": ["a:2", "b:2"]},
    ]
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["check", str(trace), "--order", order, "--ctl", "AG(done(main) -> total == 2)"]
    assert main(words) == 0
    assert told in _text(capsys)
    assert main([*words, "--json"]) == 0
    field = {"causal": "raced", "predictive": "noticed"}[order]
    assert json.loads(capsys.readouterr().out)["properties"][0][field] == ["n"]
    for row in rows[3:5]:
        row["after"] = ["a:2"]
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(words) == 0
    assert "order" not in _text(capsys).replace("The recorded order satisfies it too.", "")


def _text(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())
