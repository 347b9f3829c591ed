"""From a failure to a test: it fails with the program as it is, and passes when that is cured."""

from __future__ import annotations

import os
import runpy
import tempfile
from pathlib import Path

import pytest

from possibly.views.cli.main import main

LOST = """\
import threading
total = 0
def work():
    global total
    WORK
lock = threading.Lock()
people = [threading.Thread(target=work) for _ in range(2)]
for each in people: each.start()
for each in people: each.join()
assert total == 2
"""
BAD = "total = total + 1"
GOOD = "with lock: total = total + 1"
ORDER = """\
import queue, threading
box = queue.Queue()
people = [threading.Thread(target=box.put, args=(n,), name=f"w{n}") for n in (1, 2)]
for each in people: each.start()
got = [box.get(), box.get()]
for each in people: each.join()
assert WORK == [1, 2]
"""


def passes() -> bool:
    """What the test says, with a folder of its own as pytest gives it."""
    folder = Path(tempfile.mkdtemp(dir=os.curdir)).resolve()
    test = runpy.run_path("test_program.py")["test_program"]
    try:
        test(folder)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "bad", "good", "options", "kept"),
    [
        (LOST, BAD, GOOD, [], "program.schedule"),
        (ORDER, "got", "sorted(got)", ["--macro"], "program.tree.json"),
    ],
)
@pytest.mark.large("text1-got-sorted(got)-options1-program.tree.json")
def test_a_test_fails_until_the_program_is_cured(
    text: str, bad: str, good: str, options: list[str], kept: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    program = Path("program.py")
    program.write_text(text.replace("WORK", bad))
    assert main(["explore", *options, "program.py"]) == 1
    assert main(["replay", kept, "--as-test"]) == 0
    assert not passes()
    program.write_text("# another line\n" + text.replace("WORK", bad))
    assert not passes()
    program.write_text(text.replace("WORK", good))
    assert passes()


def test_what_cannot_be_a_test_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(ORDER.replace("WORK", "sorted(got)"))
    assert main(["explore", "--macro", "program.py"]) == 0
    assert main(["replay", "program.tree.json", "--as-test"]) == 2
    assert "there is nothing to test" in capsys.readouterr().err
    assert main(["replay", "program.tree.json", "-o", "x.py"]) == 2
    assert "give --as-test too" in capsys.readouterr().err
