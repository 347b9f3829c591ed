"""A break that a monitor finds among several processes stops the one that made the event, where it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.views.test_live import PROMPT, Terminal
from tests.waiting import PATIENCE

POSSIBLY = [sys.executable, "-m", "possibly"]
PROGRAM = """\
import multiprocessing
import sys


def take(box):
    amount = 5
    box.put(amount)


def put(box):
    box.put(7)


def taker(box, go):
    go.get()
    take(box)


def putter(box, go):
    put(box)


def other(box, go):
    box.put(0)


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    box, go = multiprocessing.Queue(), multiprocessing.Queue()
    works = (taker, putter, other)
    made = [multiprocessing.Process(target=each, args=(box, go), name=each.__name__) for each in works]
    for each in made:
        each.start()
    box.get(), box.get()
    go.put(1)
    print("took", box.get())
    for each in made:
        each.join()
"""
SPEC = """\
watch seen = put; take { print("from", $1.pid, $2.pid); break }
never race = put & take
"""
ALONE = """\
import threading

def {name}():
    pass

thread = threading.Thread(target={name}, name="worker")
thread.start()
thread.join()
"""


@contextmanager
def monitor(folder: Path, connections: int) -> Iterator[subprocess.Popen[str]]:
    command = [*POSSIBLY, "watch", "unix:m.sock", "--connections", str(connections), "--spec", "rules.spec"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stderr is not None and "listening" in watching.stderr.readline()
        try:
            yield watching
        finally:
            watching.kill()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_one_of_three_processes_stops_where_the_monitor_says_so(tmp_path: Path, method: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "rules.spec").write_text(SPEC)
    words = ["run", "--live", "--send", "unix:m.sock", "--spec", "rules.spec", "program.py", method]
    with monitor(tmp_path, 1) as watching, Terminal(tmp_path, *words) as terminal:
        told = terminal.until(PROMPT)
        assert "possibly: seen at taker:3: from putter taker" in told
        assert "break of seen at taker:3: putter:2, taker:3" in told
        assert "> taker  program.py:5 in take    def take(box):" in told
        assert "took" not in told, "the others have not gone on"
        assert "program.py:16 in taker    take(box)" in terminal.ask("where taker")
        assert terminal.ask("print box").startswith("box = <multiprocessing.queues.Queue")
        assert "no variable is called amount" in terminal.ask("print amount"), "the body has not begun"
        assert terminal.ask("vars") == terminal.ask("waits")
        terminal.say(b"continue\n")
        assert "took 5" in terminal.until("never put & take")
        assert terminal.status() == 0
        out, _ = watching.communicate(timeout=PATIENCE)
    assert "MATCHED   seen" in out and "HOLDS     race" in out


def test_who_quits_there_interrupts_that_process(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(ALONE.format(name="take"))
    (tmp_path / "rules.spec").write_text("watch seen = take { break }\n")
    words = ["run", "--live", "--send", "unix:m.sock", "--spec", "rules.spec", "program.py"]
    with monitor(tmp_path, 1), Terminal(tmp_path, *words) as terminal:
        terminal.until(PROMPT)
        terminal.say(b"quit\n")
        assert "KeyboardInterrupt" in terminal.until("MATCHED")


def test_programs_of_their_own_have_names_and_hear_of_each_other(tmp_path: Path) -> None:
    """Two recorded programs with threads of one name; what both do together is told to the later one."""
    (tmp_path / "rules.spec").write_text("never race = put & take\nwatch both = put & take { break }\n")
    with monitor(tmp_path, 2) as watching:
        running = []
        for name in ("put", "take"):
            (tmp_path / f"{name}.py").write_text(ALONE.format(name=name))
            words = ["run", "--live", "--send", "unix:m.sock", "--name", name, "--calls", name, f"{name}.py"]
            running.append(
                subprocess.Popen(
                    [*POSSIBLY, *words],
                    cwd=tmp_path,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=os.environ,
                    start_new_session=True,  # no terminal
                )
            )
        said = [each.communicate(timeout=PATIENCE)[1] for each in running]
        out, _ = watching.communicate(timeout=PATIENCE)
    assert any("race at " in each and "break of both at " in each for each in said), said
    assert "VIOLATED  race" in out and "put/worker:" in out and "take/worker:" in out
