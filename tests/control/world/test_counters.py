"""`os.eventfd`: threads that wait for a counter, under every schedule."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored

pytestmark = pytest.mark.skipif(not hasattr(os, "eventfd"), reason="this system has no such files")

HEAD = "import os, threading\n"
WRITES = "threading.Thread(target=lambda: (os.eventfd_write(fd, 1), os.eventfd_write(fd, 2))).start()\n"
OUTCOMES = {
    "all at once or one after the other": (
        "fd = os.eventfd(0)\n" + WRITES + "n = os.eventfd_read(fd)\nprint(n)",
        {"1", "3"},
    ),
    "one by one": (
        "fd = os.eventfd(0, os.EFD_SEMAPHORE)\n" + WRITES + "print(sum(os.eventfd_read(fd) for _ in '123'))",
        {"3"},
    ),
    "without waiting": (
        "fd = os.eventfd(0, os.EFD_NONBLOCK)\n"
        + WRITES
        + "try: print(os.eventfd_read(fd))\nexcept BlockingIOError: print('none')",
        {"none", "1", "3"},
    ),
    "as a file": (
        "import sys\nfd = os.eventfd(5)\n"
        "threading.Thread(target=lambda: os.write(fd, (2).to_bytes(8, sys.byteorder))).start()\n"
        "print(int.from_bytes(os.read(fd, 8), sys.byteorder))",
        {"5", "7"},
    ),
    "a number that is used again": (
        "fd = os.eventfd(5)\nos.close(fd)\nother = os.open('x', os.O_CREAT | os.O_RDWR)\n"
        "print(fd == other, os.write(other, b'ab'))",
        {"True 2"},
    ),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_comes_of_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, wanted = OUTCOMES[name]
    path = tmp_path / "program.py"
    path.write_text(HEAD + program)
    found = {output.decode().strip() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    assert found == wanted


def test_one_that_nobody_writes_is_a_deadlock(tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + "fd = os.eventfd(0)\nos.eventfd_read(fd)", Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "deadlock"


def test_one_that_processes_share_is_named(tmp_path: Path) -> None:
    source = "fd = os.eventfd(1)\nif not os.fork():\n    os.eventfd_read(fd)\n    os._exit(0)\nos.wait()"
    found = explored(tmp_path, HEAD + source, Options(minimise=0))
    assert found.holds is not True and any("os.eventfd" in each for each in found.open), found.open
