"""What docs/recording.md says in a sentence, tried by a program of a few lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from possibly.views.cli.main import main
from tests.views.console import ROOT

TEXT = re.sub(r"\s+", " ", (ROOT / "docs/recording.md").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recorded(folder: Path, source: str, *options: str) -> list[dict[str, Any]]:
    """The lines of the trace of a program in two threads, a then b, header and all."""
    begin = "import threading, possibly\n"
    end = "for f in (a, b):\n  t = threading.Thread(target=f, name=f.__name__); t.start(); t.join()\n"
    (folder / "program.py").write_text(begin + source + end, encoding="utf-8")
    assert main(["run", *options, "-o", "run.jsonl", "program.py"]) == 0
    return [json.loads(line) for line in (folder / "run.jsonl").read_text(encoding="utf-8").splitlines()]


def verdict(formula: str, capfd: pytest.CaptureFixture[str]) -> str:
    capfd.readouterr()
    main(["check", "run.jsonl", "--ctl", formula, "--json"])
    found: str = json.loads(capfd.readouterr().out)["properties"][0]["verdict"]
    return found


def test_a_later_send_takes_the_place_of_the_first(folder: Path) -> None:
    assert "a later send with the same key takes the place of the first" in TEXT
    source = "def a(): possibly.send('k'); possibly.send('k')\ndef b(): possibly.receive('k')\n"
    lines = recorded(folder, source)
    sent = [line["msg"] for line in lines if line.get("kind") == "send"]
    assert [line["msg"] for line in lines if line.get("kind") == "receive"] == sent[1:]


def test_calls_of_a_function_that_is_called_too_often_are_unknown(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "of a function that is called more than 10,000 times nothing is kept then" in TEXT
    source = "def hot(): pass\ndef cold(): pass\ndef a():\n  for _ in range(10_001): hot()\ndef b(): cold()\n"
    assert not [line for line in recorded(folder, source) if line.get("fn") == "hot"]
    assert verdict("AG(!inside(a, hot))", capfd) == "unknown"
    assert verdict("AG(!inside(b, cold))", capfd) == "violated"


def test_first_values(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "the first value that the program gave it before its second process started" in TEXT
    assert "a local variable has no value before it is assigned" in TEXT
    source = "x = 1\nx = 2\ndef a():\n  global x\n  x = 3\n  y = 5\ndef b(): pass\n"
    assert recorded(folder, source, "--watch", "x", "--watch", "y")[0]["shared"] == {"x": 1}
    assert verdict("x == 1 & !defined(a.y)", capfd) == "holds"


def test_what_is_cut_off_is_unknown_but_its_length(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "their lengths are known, and a formula that reads anything else of them is *unknown*" in TEXT
    recorded(folder, "items = list(range(1_001))\ndef a(): pass\nb = a\n", "--watch", "items")
    assert verdict("AG(len(items) == 1001)", capfd) == "holds"
    assert verdict("AG(items[3] == 3)", capfd) == "unknown"


def test_only_the_order_of_what_races_is_recorded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "a formula that reads such a variable is *unknown*" in TEXT
    source = "x = 0\ndef a():\n  global x\n  x = 1\ndef b():\n  global x\n  x = 2\n"
    end = "ts = [threading.Thread(target=f) for f in (a, b)]\nfor t in ts: t.start()\nfor t in ts: t.join()\n"
    recorded(folder, source + end, "--record", "named")
    assert verdict("AG(x <= 2)", capfd) == "unknown"
    recorded(folder, source + end)
    assert verdict("AG(x <= 2)", capfd) == "holds"


def test_what_tasks_share_is_recorded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "what tasks share, with its values, whether a lock protects it or not" in TEXT
    assert "Of a variable that one line touches more than 10,000 times" in TEXT
    source = "x = y = z = 0\nlock = threading.Lock()\ndef a():\n  global x, y\n  with lock: x = x + 1\n"
    recorded(folder, source + "  for _ in range(10_001): y = y + 1\ndef b(): a(); z\n")
    assert verdict("AG(x <= 2) & EF(x == 2)", capfd) == "holds"
    for name in ("y", "z"):
        assert main(["check", "run.jsonl", "--ctl", f"AG({name} <= 2)"]) == 2
        assert f"`possibly run --watch {name} program.py` records it" in capfd.readouterr().err
