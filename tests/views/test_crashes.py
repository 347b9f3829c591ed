"""A command that is killed at any moment, and a disk that is full: what was there before is intact.

What is left is the old file, or a new one that the command which reads it accepts. `make soak` kills each a
hundred times.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

POSSIBLY = [sys.executable, "-m", "possibly"]
TIMES = 5 * int(os.environ.get("POSSIBLY_CASES", "0")) or 1
PROGRAM = """\
import threading
n, log = 0, []
def work(k):
    global n
    for _ in range(2):
        n += 1
        log.append(k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
EVENTS = '{"format":"possibly-trace","version":1,"processes":[{"name":"P","init":{"x":0}}]}\n' + "".join(
    f'{{"p":"P","set":{{"x":{number}}}}}\n' for number in range(20_000)
)
ASKED = ["--ctl", "AG(P.x >= 0)"]
COMMANDS = {
    # the command, the file that it writes, and how that is read
    "run": (["run", "-o", "out.jsonl", "program.py"], "out.jsonl", ["check", "--ctl", "AG(true)"]),
    "explore --resume": (
        ["explore", "--executions", "60", "--resume", "out.tree", "program.py"],
        "out.tree",
        ["explore", "--executions", "2", "--resume", "out.tree", "program.py"],
    ),
    "explore -o": (
        ["explore", "--executions", "20", "--ctl", "AG(n != 2)", "-o", "out.schedule", "program.py"],
        "out.schedule",
        ["replay"],
    ),
    "watch": (["watch", *ASKED, "-o", "out.jsonl", "-"], "out.jsonl", ["check", *ASKED]),
    "export": (["export", "--to", "parquet", "-o", "out.pq", "events.jsonl"], "out.pq", ["check", *ASKED]),
    "check --html": (["check", *ASKED, "--html", "out.html", "events.jsonl"], "out.html", None),
    "view": (["view", "events.jsonl", "-o", "out.html"], "out.html", None),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "events.jsonl").write_text(EVENTS)
    return tmp_path


def started(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    with open(folder / "events.jsonl", "rb") as events:
        return subprocess.Popen(
            [*POSSIBLY, *words], cwd=folder, stdin=events, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip


def ended(words: list[str], folder: Path) -> tuple[int, str]:
    process = started(words, folder)
    said = process.communicate()[1].decode()
    return process.returncode, said


def is_whole(name: str, folder: Path) -> bool:
    """Whether what a command wrote is complete."""
    _, output, reading = COMMANDS[name]
    if reading is None:
        return (folder / output).read_text().rstrip().endswith("</html>")
    status, said = ended(reading if output in reading else [*reading, output], folder)
    assert "Traceback" not in said
    return status != 2


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.large("explore -o", "check --html")
def test_a_command_that_is_killed_leaves_what_was_there(name: str, folder: Path) -> None:
    words, output, _ = COMMANDS[name]
    begun = time.monotonic()
    assert ended(words, folder)[0] in (0, 1, 3)
    lasts, whole, chance = time.monotonic() - begun, (folder / output).read_bytes(), random.Random(name)
    assert is_whole(name, folder)
    for number in range(TIMES):
        is_new = number % 2 and "resume" not in name
        if is_new:
            (folder / output).unlink()
        process = started(words, folder)
        time.sleep(lasts * chance.random())
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if is_new and not (folder / output).exists():
            (folder / output).write_bytes(whole)
        assert is_whole(name, folder), number


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system with room for the inputs and little more."""
    disk = folder / "disk"
    disk.mkdir()
    size = len(EVENTS) + 40_000
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], capture_output=True)
    if made.returncode:
        pytest.skip("a file system can be mounted by root alone")
    try:
        for each in ("program.py", "events.jsonl"):
            shutil.copy(folder / each, disk)
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.large("explore -o", "explore --resume")
def test_a_full_disk_gets_a_sentence_and_loses_nothing(name: str, small_disk: Path) -> None:
    words, output, _ = COMMANDS[name]
    (small_disk / "filling").write_bytes(b"x")
    (small_disk / output).write_bytes(b"the old one")
    is_read = "resume" in name
    if is_read:
        (small_disk / output).unlink()
    with open(small_disk / "filling", "ab", buffering=0) as filling:
        try:
            while filling.write(b"x" * 512):
                pass
        except OSError:
            pass
    status, said = ended(words, small_disk)
    assert status == 2 and "No space left" in said and "Traceback" not in said, said
    assert is_read or (small_disk / output).read_bytes() == b"the old one"
    assert [each.name for each in small_disk.iterdir() if each.name.endswith(".tmp")] == []
