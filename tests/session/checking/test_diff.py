"""Two runs compared, by runs that were made to differ in one thing each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from possibly.session.checking.diff import difference
from possibly.trace import Trace, TraceBuilder, write_trace
from possibly.views.cli.main import main

LINES: list[tuple[str, dict[str, Any]]] = [
    ("A", {"kind": "write", "write": {"x": 1}, "at": "a.py:1"}),
    ("B", {"set": {"y": 1}, "at": "a.py:2"}),
    ("A", {"set": {"z": 1}, "at": "a.py:3"}),
]


def run_of(lines: list[tuple[str, dict[str, Any]]]) -> Trace:
    builder = TraceBuilder("run.jsonl")
    builder.header([("A", {}), ("B", {})], {"x": 0})
    for process, fields in lines:
        builder.add(process, **fields)
    return builder.finish()


def test_the_same() -> None:
    assert difference(run_of(LINES), run_of(LINES)).is_empty


def test_another_order() -> None:
    found = difference(run_of(LINES), run_of([LINES[1], LINES[0], LINES[2]]))
    assert found.turn is not None
    assert (found.turn.after, found.turn.first.process, found.turn.second.process) == (0, "A", "B")
    assert not found.partings and not found.values


def test_another_value_and_an_event_less() -> None:
    other = run_of([LINES[0], ("B", {"set": {"y": 2}, "at": "a.py:2"})])
    found = difference(run_of(LINES), other)
    assert [(each.process, each.position, each.second is None) for each in found.partings] == [
        ("A", 2, True),
        ("B", 1, False),
    ]
    assert {name for name, _, _ in found.values} == {"B.y", "A.z"}


def test_a_race_of_one_run_and_a_process_of_one_run() -> None:
    racing = run_of([*LINES, ("B", {"kind": "write", "write": {"x": 1}, "at": "a.py:9"}), ("C", {})])
    found = difference(run_of(LINES), racing)
    assert found.races_second == ("x: a.py:1 and a.py:9",)
    assert (found.only_first, found.only_second) == ((), ("C",))


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trace(run_of(LINES), Path("one.jsonl"))
    write_trace(run_of([LINES[1], LINES[0], LINES[2]]), Path("two.jsonl"))
    assert main(["diff", "one.jsonl", "one.jsonl"]) == 0
    assert capsys.readouterr().out == "the runs are the same\n"
    assert main(["diff", "one.jsonl", "two.jsonl"]) == 1
    assert (
        "the same for 0 events, then the orders part:\n  one.jsonl: A write a.py:1  x = 1"
        in capsys.readouterr().out
    )
    assert main(["diff", "one.jsonl", "two.jsonl", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["order"]["second"]["process"] == "B"
    assert main(["diff", "one.jsonl", "gone.jsonl"]) == 2
