"""What docs/exploring.md says in a sentence, tried by a program of a few lines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore
from tests.views.console import ROOT

TEXT = re.sub(r"\s+", " ", (ROOT / "docs/exploring.md").read_text(encoding="utf-8"))
BEGIN = "import os, sys, threading, time\n"
BOTH = """
threads = [threading.Thread(target=f, args=(n,)) for n in (1, 2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
SLEEPS = """
thread = threading.Thread(target=time.sleep, args=({},), daemon=True)
thread.start()
thread.join(timeout=5)
assert {} thread.is_alive()
"""
HOLDS, OPEN = "", "open"
TRIED = [
    ("`Timer(60, f).cancel()` never comes too late", HOLDS, """
        late = []
        timer = threading.Timer(60, late.append, (1,))
        timer.start(); timer.cancel(); timer.join()
        assert not late
        """),
    ("one who sleeps for ten seconds does not wake before one who sleeps for three", HOLDS, """
        woken = []
        def f(n):
            time.sleep(10 if n == 1 else 3)
            woken.append(n)
        """ + BOTH + "assert woken == [2, 1]"),
    ("sleeps of two tasks that end within a second of each other may end in either order", "assertion", """
        woken = []
        def f(n):
            time.sleep(1.5 if n == 1 else 1)
            woken.append(n)
        """ + BOTH + "assert woken == [2, 1]"),
    ("does not run out while the thread has something to do or sleeps for three seconds", HOLDS,
     SLEEPS.format(3, "not")),
    ("but may if it sleeps for four", "assertion", SLEEPS.format(4, "not")),
    ("and does if it sleeps for seven", HOLDS, SLEEPS.format(7, "")),
    ("Standard input is empty", HOLDS, "assert sys.stdin.read() == ''"),
    ("is put back at its end", HOLDS, """
        assert open("kept").read() == "old"
        def f(n):
            with open("kept", "a") as file: file.write("new")
        """ + BOTH + "os.remove('kept')"),
    ("What `exec` and `eval` execute is instrumented like a file", "assertion", """
        total = 0
        def f(n): exec("total = total + 1", globals())
        """ + BOTH + "assert total == 2"),
    ("What `exec` and `eval` execute is instrumented like a file", HOLDS, """
        total, lock = 0, threading.Lock()
        def f(n):
            global total
            with lock: total = eval("total + 1")
        """ + BOTH + "assert total == 2"),
    ("an exception that nobody catches (in any thread", "exception", "def f(n): n / (n - 1)" + BOTH),
    ("an exit status other than 0", "exit", "sys.exit(4)"),
    ("a correct busy-waiting program is covered completely", HOLDS, """
        done = False
        def f(n):
            global done
            done = True
        thread = threading.Thread(target=f, args=(1,))
        thread.start()
        while not done: pass
        """),
    ("an endless one is reported as a *livelock*", "livelock", """
        done = False
        def f(n):
            while not done: pass
        thread = threading.Thread(target=f, args=(1,))
        thread.start()
        thread.join()
        """),
    ("and commands of the shell: a program that uses any of these gets no complete verdict", OPEN,
     "def f(n): os.system('true')" + BOTH),
]  # fmt: skip


def explored(source: str, folder: Path, **options: str) -> Exploration:
    (folder / "kept").write_text("old", encoding="utf-8")
    path = folder / "program.py"
    parts = [dedent(part) for part in source.partition(BOTH)]
    path.write_text(BEGIN + "".join(parts), encoding="utf-8")
    with script((str(path),)) as program:
        return explore(program, Options(executions=200, minimise=0, explain=False, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(("told", "outcome", "source"), TRIED, ids=[told[:40] for told, *_ in TRIED])
def test_it_is_so(
    told: str, outcome: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told in TEXT
    monkeypatch.chdir(tmp_path)
    found = explored(source, tmp_path)
    assert (found.failure.kind if found.failure else OPEN if found.open else HOLDS) == outcome, found.open
    assert found.complete == (outcome == HOLDS)
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize(("keys", "executions"), [("(1, 1.0)", 2), ("(1, 2)", 1), ("('1', 1)", 1)])
def test_keys_that_are_equal_are_one_and_another_item_is_another(
    keys: str, executions: int, tmp_path: Path
) -> None:
    assert "keys that are equal (`1`, `True`, `1.0`) are one" in TEXT
    source = f"items = {{1: 0, 2: 0, '1': 0}}\ndef f(n): items[{keys}[n - 1]] = n" + BOTH
    assert explored(source, tmp_path, join="none").executions == executions


def test_threads_are_called_as_they_are_called_without_us(tmp_path: Path) -> None:
    """In an interpreter of its own: this one has made threads."""
    assert "what `threading` counts starts where it did" in TEXT
    (tmp_path / "program.py").write_text(
        "import threading\nassert threading.Thread().name == 'Thread-1', threading.Thread().name",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "possibly", "explore", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
