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


PIPE = """\
import os, select, threading
reader, writer = os.pipe()
def write():
    os.write(writer, b"a")
    os.write(writer, b"b")
    os.close(writer)
task = threading.Thread(target=write)
task.start()
{look}
task.join()
"""
SEEN = {
    "a piece": ("seen = os.read(reader, 9)", "b'a'"),
    "all of it": ("seen = os.read(reader, 9)", "b'ab'"),
    "the end at once": ("while seen := os.read(reader, 9): last = seen", "b''"),
    "nothing yet": ("seen = bool(select.select([reader], [], [], 0)[0])", "False"),
    "data": ("poll = select.poll(); poll.register(reader); seen = poll.poll()[0][1]", "select.POLLIN"),
    "data and the end": (
        "poll = select.poll(); poll.register(reader); seen = poll.poll()[0][1]",
        "select.POLLIN | select.POLLHUP",
    ),
}


@pytest.mark.parametrize("what", SEEN)
def test_everything_that_a_pipe_can_show_is_seen(what: str, tmp_path: Path) -> None:
    look, seen = SEEN[what]
    found = explored(tmp_path, PIPE.format(look=f"{look}\nassert seen != {seen}, seen"))
    assert found.holds is False, found.open


def test_who_finds_data_in_a_pipe_does_not_see_whether_it_ends(tmp_path: Path) -> None:
    whole = PIPE.format(look="os.read(reader, 1); os.read(reader, 1); assert os.read(reader, 1) == b''")
    found = explored(
        tmp_path,
        whole.replace('os.write(writer, b"a")\n    os.write(writer, b"b")', 'os.write(writer, b"ab")'),
    )
    assert found.complete, found.open or found.failure
    assert found.executions - found.restarts <= 2


@pytest.mark.parametrize("seen", ["[one]", "[one, two]"])
def test_what_is_registered_beside_a_poll_that_need_not_wait_is_seen_or_not(
    seen: str, tmp_path: Path
) -> None:
    program = f"""\
import os, select, threading
(one, first), (two, second) = os.pipe(), os.pipe()
os.write(first, b"x"); os.write(second, b"y")
poll = select.poll()
poll.register(one)
task = threading.Thread(target=poll.register, args=(two,))
task.start()
assert [each for each, _ in poll.poll()] != {seen}
task.join()
"""
    assert explored(tmp_path, program).holds is False
