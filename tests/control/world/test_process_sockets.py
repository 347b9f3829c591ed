"""Sockets of processes and processes of processes: what really happens is explored, and decided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored
from tests.waiting import PATIENCE

HEAD = """\
import multiprocessing, os, select, socket, sys, time
lengths = list(map(float, sys.argv[1:]))
def pause(number): time.sleep(lengths[number] if lengths else 0)
def forked(function, *given):
    child = os.fork()
    if not child:
        function(*given)
        os._exit(0)
    return child
def process(function, *given):
    made = multiprocessing.get_context("fork").Process(target=function, args=given)
    made.start()
    return made
def read_all(connection):
    found = b""
    while data := connection.recv(1 << 20): found += data
    return found
"""
PROGRAMS = {
    "two who send to one server": """
listener = socket.create_server(("127.0.0.1", 0))
def client(number):
    pause(number)
    with socket.create_connection(listener.getsockname()) as connection: connection.sendall(b"%d" % number)
children = [forked(client, each) for each in range(2)]
print([listener.accept()[0].recv(9) for _ in children])
""",
    "a pair of sockets": """
one, other = socket.socketpair()
def answer(number):
    one.close()
    pause(number)
    other.sendall(b"x")
child = forked(answer, 0)
other.close()
one.settimeout(0.1)
try: print(one.recv(9))
except TimeoutError: print("late")
os.waitpid(child, 0)
""",
    "datagrams of two": """
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(("127.0.0.1", 0))
def send(number):
    pause(number)
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"%d" % number, here.getsockname())
children = [process(send, each) for each in range(2)]
print([here.recv(9) for _ in children])
for each in children: each.join()
""",
    "whichever can be read first": """
pairs = [socket.socketpair() for _ in range(2)]
def send(number):
    pause(number)
    pairs[number][1].sendall(b"x")
children = [forked(send, each) for each in range(2)]
ready = select.select([mine for mine, _ in pairs], [], [])[0]
print([mine in ready for mine, _ in pairs])
for each in children: os.waitpid(each, 0)
""",
    "a server that is not there yet": """
place = ("127.0.0.1", 47_311)
def serve(number):
    pause(number)
    with socket.create_server(place, reuse_port=True): pause(number)
child = forked(serve, 0)
pause(1)
try:
    socket.create_connection(place).close()
    print("served")
except ConnectionRefusedError: print("refused")
os.waitpid(child, 0)
""",
    "a process of a process": """
out, into = os.pipe()
def inner(number):
    pause(number)
    os.write(into, b"inner")
def outer():
    child = forked(inner, 0)
    pause(1)
    os.write(into, b"outer")
    os.waitpid(child, 0)
child = forked(outer)
os.close(into)
found = b""
while data := os.read(out, 99): found += data
print(found)
os.waitpid(child, 0)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.large("two who send to one server")
def test_what_really_happens_is_among_what_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name])
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for lengths in (("0", "0.2"), ("0.2", "0")):
        real = subprocess.run(
            [sys.executable, str(path), *lengths], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.returncode == 0, real.stderr
        assert real.stdout in found


WRONG = {
    "assertion": """
listener = socket.create_server(("127.0.0.1", 0))
def client(number):
    with socket.create_connection(listener.getsockname()) as connection: connection.sendall(b"%d" % number)
children = [forked(client, each) for each in range(2)]
assert [listener.accept()[0].recv(1) for _ in children] == [b"0", b"1"]
""",
    "deadlock": """
one, other = socket.socketpair()
child = forked(lambda: other.recv(1))
one.recv(1)
""",
    "exception": """
def outer(): forked(lambda: 1 / 0)
process(outer).join()
""",
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_goes_wrong_is_found(kind: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + WRONG[kind])
    assert found.failure is not None and found.failure.kind == kind, found.open


RIGHT = {
    "each connection has a process": """
listener = socket.create_server(("127.0.0.1", 0))
def answer(connection): connection.sendall(connection.recv(9).upper())
def serve():
    connection, _ = listener.accept()
    child = process(answer, connection)
    connection.close()
    child.join()
server = process(serve)
with socket.create_connection(listener.getsockname()) as connection:
    connection.sendall(b"x")
    assert read_all(connection) == b"X"
server.join()
""",
    "the last to close ends the connection": """
one, other = socket.socketpair()
def close(): one.close()
child = forked(close)
one.close()
assert other.recv(1) == b""
os.waitpid(child, 0)
""",
    "one that is killed lets go": """
one, other = socket.socketpair()
def hang():
    other.close()
    one.recv(1)
child = process(hang)
one.close()
child.terminate()
assert other.recv(1) == b""
child.join()
assert child.exitcode == -15
""",
    "the codes of inner processes": """
def inner(): os._exit(7)
def outer():
    child = forked(inner)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    made = process(sys.exit, 3)
    made.join()
    assert made.exitcode == 3
os.waitpid(forked(outer), 0)
""",
    "both kinds of pipes": """
mine, other = multiprocessing.Pipe()
out, into = os.pipe()
def send():
    other.send(1)
    os.write(into, b"2")
child = process(send)
assert mine.recv() == 1 and os.read(out, 1) == b"2"
child.join()
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name])
    assert found.complete, (found.failure, found.open)


def test_an_event_loop_of_such_a_process_is_named(tmp_path: Path) -> None:
    source = """
import asyncio
async def main(): await asyncio.start_server(print, "127.0.0.1", 0)
process(lambda: asyncio.run(main())).join()
"""
    found = explored(tmp_path, HEAD + source)
    assert found.holds is None
    assert any("event loop in a process" in each for each in found.open), found.open
