"""Signals that come to the first thread from elsewhere: what really happens is explored, and decided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored
from tests.waiting import PATIENCE

SENT = """\
import os, signal, sys, threading, time
pause = float(sys.argv[1]) if sys.argv[1:] else 0
def send():
    time.sleep(pause)
    os.kill(os.getpid(), signal.SIGUSR1)
a = b = 0
seen = []
def handler(number, frame): {handler}
signal.signal(signal.SIGUSR1, handler)
thread = threading.Thread(target=send)
thread.start()
{program}
thread.join()
"""
LIMITED = """\
import signal, sys, time
class Late(Exception): pass
def late(number, frame): raise Late
signal.signal(signal.SIGALRM, late)
def limited(seconds, work):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try: return work()
    except Late: return "late"
    finally: signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_what_really_happens_is_explored(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    program = "a = 1\ntime.sleep(0.1)\nb = 1\ntime.sleep(0.1)\nthread.join()\nprint(seen)"
    path.write_text(SENT.format(handler="seen.append((a, b))", program=program))
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for pause in ("0", "0.05", "0.15"):
        real = subprocess.run(
            [sys.executable, str(path), pause], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.stdout in found


WRONG = {
    "between two statements": SENT.format(
        handler="seen.append((a, b))", program="a = 1\nb = 1\nassert (1, 0) not in seen"
    ),
    "two are one": SENT.format(
        handler="seen.append(1)",
        program="other = threading.Thread(target=send)\nother.start()\nthread.join()\nother.join()\n"
        "time.sleep(0)\nassert len(seen) == 2",
    ),
    "just before it is waited for": SENT.format(
        handler="seen.append(1)", program="while not seen: signal.pause()"
    ),
    "an exception between two statements": LIMITED
    + "done = []\ndef work():\n    done.append(1)\n    time.sleep(1)\n    done.append(2)\n"
    "limited(1.5, work)\nassert done == [1, 2]",
    "while a lock is held": SENT.format(
        handler="\n    with lock: pass", program="lock = threading.Lock()\nwith lock: pass"
    ).replace("a = b = 0", "lock = threading.Lock()"),
}
RIGHT = {
    "one that is known of has been handled": SENT.format(
        handler="seen.append(1)", program="thread.join()\nassert seen"
    ),
    "a flag": SENT.format(handler="seen.append(1)", program="while not seen: time.sleep(0.1)"),
    "a time-out that never comes": LIMITED + "assert limited(60, lambda: 1) == 1",
    "a time-out that comes": LIMITED + "assert limited(2, lambda: time.sleep(9)) == 'late'",
    "again and again": "import signal, time\nbeats = []\n"
    "signal.signal(signal.SIGALRM, lambda *_: beats.append(1))\nsignal.setitimer(signal.ITIMER_REAL, 5, 5)\n"
    "time.sleep(12)\nassert signal.alarm(0) and 1 <= len(beats) <= 2",
    "an event loop": SENT.format(
        handler="seen.append(1)",
        program="import asyncio\nasync def main():\n    while not seen: await asyncio.sleep(2)\n"
        "asyncio.run(main())",
    ),
    "the end of a child": "import os, signal, time\nseen = []\n"
    "def reap(*_): seen.append(os.waitpid(-1, os.WNOHANG)[0])\nsignal.signal(signal.SIGCHLD, reap)\n"
    "if (child := os.fork()) == 0: os._exit(0)\nwhile not seen: time.sleep(1)\nassert seen == [child]",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_is_found(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, WRONG[name])
    assert found.failure is not None, found.open
    assert found.failure.kind in ("assertion", "deadlock", "lost wake-up", "livelock")


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, RIGHT[name])
    assert found.complete, (found.failure, found.open)


def test_one_from_outside_is_a_fault(tmp_path: Path) -> None:
    handles = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(a - b))"
    source = f"import signal, sys\na = b = 0\n{handles}\na = 1\nb = 1\n"
    assert explored(tmp_path, source).complete
    found = explored(tmp_path, source, faults=frozenset({"signal"}), at_most=1)
    assert found.failure is not None and found.failure.kind == "exit"


IN_SECTION = """\
import os, signal, threading
lock = threading.Lock()
def handle(number, frame):
    with lock: pass
signal.signal(signal.SIGUSR1, handle)
thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR1))
thread.start()
with lock: pass
thread.join()
"""


def test_a_handler_waits_for_the_lock_that_its_own_thread_holds(tmp_path: Path) -> None:
    found = explored(tmp_path, IN_SECTION)
    assert found.failure is not None and found.failure.kind == "deadlock"
