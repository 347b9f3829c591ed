"""`select.poll` and `select.epoll` of a program: they tell what the real ones tell, and wait as steps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.control.runtime.running import explored, once
from tests.waiting import PATIENCE

HEAD = """
import os, select, socket, threading
a, b = socket.socketpair()
def poller(kind):
    return select.poll() if kind == "poll" else select.epoll()
def asked(p, kind, seconds):
    return p.poll(seconds * 1000 if kind == "poll" else seconds)
def started(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads: each.start()
    for each in threads: each.join()
"""
TOLD = """
p = poller(kind)
r, w = os.pipe()
names = {b.fileno(): "b", r: "r", w: "w"}
def told():
    names[b.fileno()] = "b"
    print(sorted((names[file], events) for file, events in asked(p, kind, 0)))
p.register(b)
told()
p.modify(b, select.POLLIN)
told()
a.send(b"x")
told()
b.recv(1)
p.register(r); p.register(w)
told()
os.write(w, b"x")
told()
p.unregister(w)
os.close(w)
told()
os.read(r, 1)
told()
a.shutdown(socket.SHUT_WR)
told()
for wrong in (lambda: p.unregister(w), lambda: p.modify(w, 1), lambda: p.register(10**6)):
    try: wrong()
    except (OSError, KeyError) as error: print(type(error).__name__)
"""


@pytest.mark.parametrize("kind", ["poll", "epoll"])
def test_what_is_told_is_what_the_real_one_tells(kind: str, tmp_path: Path) -> None:
    source = f"kind = {kind!r}\n{HEAD}{TOLD}"
    really = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=PATIENCE, check=True
    ).stdout
    assert once(tmp_path, source).output.decode() == really


WAITING = """
n = 0
def count():
    global n
    n += 1
def serve():
    p = poller(kind); p.register(b, select.POLLIN)
    while not asked(p, kind, 60): pass
    b.recv(1)
    count()
def call(): a.send(b"x")
"""
LATER = """
p = poller(kind); log = []
def serve(): log.append(len(asked(p, kind, 60)))
def call():
    p.register(b, select.POLLIN)
    a.send(b"x")
started(serve, call)
assert log == [1]
"""
ENDS = {
    "two count": (False, f"{WAITING}started(serve, call, count)\nassert n == 2\n"),
    "one counts": (True, f"{WAITING}started(serve, call)\nassert n == 1\n"),
    "nothing comes": (False, f"{WAITING}p = poller(kind); p.register(b, 1)\np.poll()\n"),
    "time is up": (True, f"{WAITING}p = poller(kind); p.register(b, 1)\nassert asked(p, kind, 5) == []\n"),
    "registered by another": (True, LATER),
}


@pytest.mark.parametrize("kind", ["poll", "epoll"])
@pytest.mark.parametrize("name", ENDS)
def test_waiting_is_a_step(name: str, kind: str, tmp_path: Path) -> None:
    holds, program = ENDS[name]
    found = explored(tmp_path, f"kind = {kind!r}\n{HEAD}{program}")
    assert found.holds is holds, found.open


def test_what_tells_of_changes_only_is_named(tmp_path: Path) -> None:
    edges = "p = select.epoll(); p.register(b, select.EPOLLIN | select.EPOLLET)\np.poll(0)\n"
    found = explored(tmp_path, HEAD + edges)
    assert not found.complete
    assert any("EPOLLET" in each for each in found.open)
