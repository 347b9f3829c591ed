"""`--races` of `check` and `run`: as text and JSON, of this order and of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from possibly.views.cli.main import main

LINES: list[dict[str, Any]] = [
    {
        "format": "possibly-trace",
        "version": 1,
        "processes": [{"name": "P"}, {"name": "Q"}],
        "shared": {"x": 0},
    },
    {"p": "P", "kind": "write", "write": {"x": 1}, "at": "a.py:1"},
    {"p": "P", "kind": "acquire", "tag": "L"},
    {"p": "P", "kind": "release", "tag": "L"},
    {"p": "Q", "kind": "acquire", "tag": "L", "after": ["P:3"]},
    {"p": "Q", "kind": "release", "tag": "L"},
    {"p": "Q", "kind": "write", "write": {"x": 2}, "at": "a.py:9"},
]
ORDERED = [{**line, "after": ["P:1"]} if line.get("at") == "a.py:9" else line for line in LINES]
PROGRAM = """\
import threading

lock = threading.Lock()
total = 0


def first():
    global total
    total = 1
    with lock:
        pass


def second():
    global total
    with lock:
        pass
    total = 2


threads = [threading.Thread(target=work, name=work.__name__) for work in (first, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


APPENDING = """
import threading

items = []


def add(n):
    items.append(n)


threads = [threading.Thread(target=add, args=(n,)) for n in (1, 2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("racy", LINES), ("ordered", ORDERED)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_a_race_of_another_order_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--races", "racy.jsonl"]) == 1
    assert capsys.readouterr().out == (
        "RACE  x\n"
        "    P            P:1            write  a.py:1\n"
        "    Q            Q:3            write  a.py:9\n"
        "  Another order of the run brings them together, after 2 of 6 events: a lock around both, or a join "
        "between, keeps them apart.\n"
    )


def test_as_json_with_the_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--races", "--json", "racy.jsonl"]) == 1
    (race,) = json.loads(capsys.readouterr().out)["races"]
    assert race["path"] == ["Q:1", "Q:2"] and race["variable"] == "x"
    assert [each["event"] for each in race["accesses"]] == ["P:1", "Q:3"]


def test_what_no_order_brings_together_is_no_race(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--races", "ordered.jsonl", "--ctl", "AG(x <= 2)"]) == 0
    assert "no races in this run" in capsys.readouterr().out


def test_a_window_keeps_what_came_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--races", "--window", "4", "--json", "racy.jsonl"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "trace": "racy.jsonl",
        "races": [],
        "notes": [],
        "window": 4,
    }


def test_a_real_program(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "program.py").write_text(PROGRAM)
    assert main(["run", "--races", "--record", "all", "program.py"]) == 1
    assert "RACE  total" in capfd.readouterr().out  # of this order, or of another, by who was first


def test_single_operations_that_nothing_orders_are_a_note_and_no_race(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "program.py").write_text(APPENDING)
    assert main(["run", "--races", "program.py"]) == 0
    told = capfd.readouterr().out
    assert "NOTE  items[]" in told and "no races in this run: all other conflicting" in told
