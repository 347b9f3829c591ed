"""A variable has one name, recorded, checked, explored and in the debugger, under a lock or not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from possibly.views.cli.main import main

PROGRAM = """\
import threading
class Box:
    def __init__(self):
        self.n, self.items = 0, []
        self.lock = threading.Lock()
    def add(self, what):
        with self.lock:
            self.n += 1
            self.items.append(what)
box = Box()
threads = [threading.Thread(target=box.add, args=(name,), name=name) for name in ("one", "two")]
for each in threads: each.start()
for each in threads: each.join()
"""
HOLDS, FAILS = "AG(box.n <= 2 & len(box.items) <= 2)", "AG(box.n < 2 | len(box.items) < 2)"
TYPED = "step F(box.n == 2 & len(box.items) == 2) min\neval box.n + len(box.items)\nquit\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("box.py").write_text(PROGRAM, encoding="utf-8")


def test_what_is_recorded_is_checked_by_its_name() -> None:
    for formula, status in ((HOLDS, 0), (FAILS, 1)):
        assert main(["run", "-o", "box.jsonl", "--ctl", formula, "box.py"]) == status
        assert main(["check", "box.jsonl", "--ctl", formula]) == status


def test_what_is_explored_has_it_too() -> None:
    for formula, status in ((HOLDS, 0), (FAILS, 1)):
        assert main(["explore", "--time", "600", "--ctl", formula, "box.py"]) == status


def test_and_the_debugger_of_a_program_and_of_its_run(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["run", "-o", "box.jsonl", "box.py"]) == 0
    for target in ("box.py", "box.jsonl"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TYPED.encode())))
        capsys.readouterr()
        assert main(["debug", target]) == 0
        assert "(possibly) eval box.n + len(box.items)\n4\n" in capsys.readouterr().out
