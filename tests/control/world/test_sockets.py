"""Sockets between threads: what really happens is among what is explored, and is decided."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.brute import brute_force, reduced
from tests.control.runtime.running import explored
from tests.sampling import FACTOR
from tests.waiting import PATIENCE

HEAD = """\
import select, selectors, socket, sys, threading, time
lengths = iter(map(float, sys.argv[1:]))
def pause(): time.sleep(next(lengths, 0))
log = []
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
def started(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads: each.start()
    for each in threads: each.join()
"""
TAIL = "print(log)\n"
PROGRAMS = {
    "what is sent in two parts": """
def serve():
    sock, _ = server.accept()
    pause()
    log.append(sock.recv(100))
    sock.close()
def call():
    with socket.create_connection(server.getsockname()) as sock:
        sock.sendall(b"ab")
        pause()
        sock.sendall(b"cd")
        sock.shutdown(socket.SHUT_WR)
        try: sock.recv(1)
        except ConnectionError: pass
started(serve, call)
""",
    "a time-out": """
def serve():
    sock, _ = server.accept()
    sock.settimeout(0.01)
    try: log.append(sock.recv(100))
    except TimeoutError: log.append("late")
    sock.close()
def call():
    sock = socket.create_connection(server.getsockname())
    pause()
    try: sock.sendall(b"ab")
    except ConnectionError: pass
    sock.close()
started(serve, call)
""",
    "one of two": """
one, other = socket.socketpair()
third, fourth = socket.socketpair()
def first(): pause(); other.send(b"1")
def second(): pause(); fourth.send(b"2")
def wait():
    with selectors.DefaultSelector() as chosen:
        chosen.register(one, selectors.EVENT_READ)
        chosen.register(third, selectors.EVENT_READ)
        log.append(len(chosen.select()))
    log.append(len(select.select([one, third], [], [])[0]))
started(first, second, wait)
""",
    "a file of a socket": """
def serve():
    sock, _ = server.accept()
    with sock, sock.makefile("rwb") as file:
        log.append(file.readline())
        file.write(b"bye\\n")
def call():
    with socket.create_connection(server.getsockname()) as sock:
        sock.sendall(b"he")
        pause()
        sock.sendall(b"llo\\n")
        log.append(sock.makefile().read())
started(serve, call)
""",
}
LENGTHS = list(itertools.product(("0", "0.03"), repeat=2))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_really_happens_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name] + TAIL)
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for lengths in LENGTHS[1:3]:
        real = subprocess.run(
            [sys.executable, str(path), *lengths], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.returncode == 0, real.stderr
        assert real.stdout in found


SERVER = """\
import threading, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *given): pass
server = HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.serve_forever)
thread.start()
assert urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read() == b"ok"
server.shutdown(); thread.join(); server.server_close()
"""


@pytest.mark.large
def test_a_server_of_the_standard_library_is_covered(tmp_path: Path) -> None:
    found = explored(tmp_path, SERVER)
    assert found.complete, found.open


LOOP = """\
import asyncio, socket
async def handle(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()
def call(port):
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(b"ab\\n")
        return sock.makefile("rb").read()
async def main():
    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
"""
THREAD = (
    LOOP
    + """\
        assert await asyncio.to_thread(call, port) == b"AB\\n"
asyncio.run(main())
"""
)
TAKEN_OVER = (
    LOOP
    + """\
        loop = asyncio.get_running_loop()
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=sock)
        writer.write(b"cd\\n")
        assert await reader.read() == b"CD\\n"
        writer.close()
asyncio.run(main())
"""
)


def test_threads_and_loops_speak_with_each_other(tmp_path: Path) -> None:
    found = explored(tmp_path, THREAD, Options(executions=20))
    assert found.complete, found.open or found.failure


def test_a_loop_goes_on_with_a_socket_that_is_connected(tmp_path: Path) -> None:
    found = explored(tmp_path, TAKEN_OVER)
    assert found.complete, found.open


DEADLOCK = """\
import socket, threading
one, other = socket.socketpair()
threading.Thread(target=lambda: one.recv(1)).start()
other.recv(1)
"""


def test_who_waits_for_each_other_is_a_deadlock(tmp_path: Path) -> None:
    found = explored(tmp_path, DEADLOCK)
    assert found.failure is not None and found.failure.kind == "deadlock"


SHARED = """\
import socket, threading
from select import select
a, o = socket.socketpair()
L, M, N = [], [], []
def job(function):
    try: return function()
    except OSError as error: return type(error).__name__
def first(L=L):
    {0}
def second(L=M):
    {1}
def third(L=N):
    {2}
threads = [threading.Thread(target=each) for each in (first, second, third)]
for t in threads: t.start()
for t in threads: t.join()
print(L, M, N)
"""
CALLS = """\
{0}.send(b'a')
{0}.send(b'bc')
{0}.recv(1)
{0}.recv(9)
{0}.recv(9)
{0}.recv(1, 2)
{0}.shutdown(1)
{0}.close()
[len(each) for each in select([{0}], [], [], 0)]
[len(each) for each in select([{0}], [], [])]
[len(each) for each in select([], [{0}], [], 0)]
""".splitlines()


def _calls(random: Random, name: str, number: int) -> str:
    chosen = [random.choice(CALLS).format(name) for _ in range(number)]
    return "; ".join(f"L.append(job(lambda: {each}))" for each in chosen) or "pass"


@pytest.mark.parametrize("seed", range(3 * FACTOR))
def test_all_that_can_come_of_calls_is_found(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    lengths = ("a", 1), ("o", 1), (random.choice("ao"), 1)
    if random.random() < 0.7:
        lengths = ("a", 2), ("o", 2), ("a", 0)
    path = tmp_path / "program.py"
    path.write_text(SHARED.format(*(_calls(random, *each) for each in lengths)))
    expected = brute_force(path, 60, memory=False)
    if expected is not None:
        assert reduced(path)[0] == expected
