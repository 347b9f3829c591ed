"""Faults and split data: every moment at which they may come is explored, and what stands them is covered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Exploration, Options
from tests.control.runtime.running import explored

PROTOCOL = """\
import asyncio
class Kept(asyncio.Protocol):
    def __init__(self, got, done): self.got, self.done = got, done
    def data_received(self, data):
        self.got.append(data)
        if len(b"".join(self.got)) == 4: self.done.set()
async def main():
    loop, got, done = asyncio.get_running_loop(), [], asyncio.Event()
    server = await loop.create_server(lambda: Kept(got, done), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
    {writes}
    await done.wait()
    assert {claim}, got
    transport.close()
    server.close()
asyncio.run(main())
"""
TWICE = 'transport.write(b"ab"); transport.write(b"cd")'
SOCKETS = """\
import socket, threading
def serve():
    connection, _ = listener.accept()
    {read}
    connection.sendall(data)
    connection.close()
listener = socket.create_server(("127.0.0.1", 0))
server = threading.Thread(target=serve)
server.start()
client = socket.create_connection(listener.getsockname())
client.sendall(b"ab")
got = b"".join(iter(lambda: client.recv(9), b""))
server.join()
assert got == b"ab", got
"""


def holds(tmp_path: Path, source: str, **how: object) -> Exploration:
    found = explored(tmp_path, source, Options(minimise=0), **how)
    assert found.holds, found.open or (found.failure and found.failure.message)
    return found


def fails(tmp_path: Path, source: str, **how: object) -> Exploration:
    found = explored(tmp_path, source, Options(minimise=0), **how)
    assert found.holds is False, found.open
    return found


@pytest.mark.parametrize("got", [[b"ab", b"cd"], [b"a", b"b", b"cd"], [b"ab", b"c", b"d"], [b"abcd"]])
def test_what_is_sent_comes_whole_or_cut_or_as_one(got: list[bytes], tmp_path: Path) -> None:
    fails(tmp_path, PROTOCOL.format(writes=TWICE, claim=f"got != {got}"), split=True)


def test_without_splitting_it_comes_as_it_was_written(tmp_path: Path) -> None:
    holds(tmp_path, PROTOCOL.format(writes=TWICE, claim="got == [b'ab', b'cd']"))


def test_nothing_gets_lost_by_splitting(tmp_path: Path) -> None:
    claim = "b''.join(got) == b'abcd'"
    found = holds(tmp_path, PROTOCOL.format(writes=TWICE, claim=claim), split=True)
    assert any("--split" in each for each in found.assumed)


def test_threads_get_parts_too(tmp_path: Path) -> None:
    fails(tmp_path, SOCKETS.format(read="data = connection.recv(9)"), split=True)


@pytest.mark.large
def test_threads_that_read_on_get_the_whole(tmp_path: Path) -> None:
    whole = "data = b''\n    while len(data) < 2: data += connection.recv(9)"
    holds(tmp_path, SOCKETS.format(read=whole), split=True)


CANCELLED = """\
import asyncio
pool = ["connection"]
async def request():
    taken = pool.pop()
    try: await asyncio.sleep(0.1)
    {back}: pool.append(taken)
async def main():
    await asyncio.wait([asyncio.create_task(request())])
    assert pool
asyncio.run(main())
"""
NEVER = "except ValueError: pass\n    if True"


def test_a_task_may_be_cancelled(tmp_path: Path) -> None:
    how = {"faults": frozenset({"cancel"}), "at_most": 1}
    holds(tmp_path, CANCELLED.format(back=NEVER))
    fails(tmp_path, CANCELLED.format(back=NEVER), **how)
    found = holds(tmp_path, CANCELLED.format(back="finally"), **how)
    assert any("at most 1 fault (cancel" in each for each in found.assumed)


COUNTED = """\
from multiprocessing import Process
from multiprocessing.sharedctypes import RawArray
def move(places):
    places[0] -= 1
    places[1] += 1
places = RawArray("i", [1, 0])
process = Process(target=move, args=(places,))
process.start()
process.join()
assert {claim}
"""


def test_a_process_may_crash_between_any_two_steps(tmp_path: Path) -> None:
    how = {"faults": frozenset({"crash"}), "at_most": 1}
    holds(tmp_path, COUNTED.format(claim="sum(places) == 1"))
    fails(tmp_path, COUNTED.format(claim="sum(places) == 1"), **how)
    holds(tmp_path, COUNTED.format(claim="process.exitcode or sum(places) == 1"), **how)


ASKED = """\
import asyncio
async def answer(reader, writer):
    try: await reader.readline(); writer.write(b"yes\\n")
    except OSError: pass
    writer.close()
async def ask(port):
    async with asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"?\\n")
            return await reader.readline()
        finally: writer.close()
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for _ in range({tries}):
        try: got = await ask(port)
        except {caught}: continue
        if got: break
    else: raise AssertionError("no answer")
asyncio.run(main())
"""


@pytest.mark.parametrize("caught", ["(TimeoutError, ConnectionRefusedError)", "ConnectionError"])
def test_connections_are_refused_reset_and_slow(caught: str, tmp_path: Path) -> None:
    """Each handler leaves out what another fault does: a reset, and an outage."""
    holds(tmp_path, ASKED.format(tries=2, caught=caught))
    fails(tmp_path, ASKED.format(tries=2, caught=caught), faults=frozenset({"network"}), at_most=1)


IN_TWO_BY_LOOP = """\
import asyncio
async def answer(reader, writer):
    try:
        writer.write(b"one, "); writer.write(b"two.")
        writer.close()
    except OSError: pass
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        {read}
    except (OSError, asyncio.IncompleteReadError): return
    assert said == b"one, two.", said
    writer.close(); server.close()
asyncio.run(main())
"""
IN_TWO_BY_THREADS = """\
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def answer():
    try:
        there, _ = server.accept()
        with there:
            there.sendall(b"one, two.")
    except OSError: pass
thread = threading.Thread(target=answer, daemon=True)
thread.start()
def ask():
    said = b""
    try:
        with socket.create_connection(server.getsockname()) as here:
            {read}
    except OSError: return b"one, two."
    return said
assert ask() == b"one, two."
"""
IN_TWO = {
    "loop": (IN_TWO_BY_LOOP, "said = await reader.read()", "said = await reader.readexactly(9)"),
    "threads": (
        IN_TWO_BY_THREADS,
        "while piece := here.recv(100): said += piece",
        "while len(said) < 9: said += here.recv(100) or exit()",
    ),
}


@pytest.mark.parametrize("kind", IN_TWO)
def test_who_reads_up_to_the_end_takes_a_part_for_the_whole(kind: str, tmp_path: Path) -> None:
    """A connection that is half closed looks like one that the other end has closed, without any error."""
    source, up_to_the_end, so_many = IN_TWO[kind]
    network = frozenset({"network"})
    holds(tmp_path, source.format(read=up_to_the_end))
    found = fails(tmp_path, source.format(read=up_to_the_end), faults=network, at_most=1)
    assert found.failure is not None
    names = found.failure.execution.names
    faults = [names[step.task] for step in found.failure.execution.steps if step.operation.kind == "fault"]
    assert faults == ["half-close of connection 1 at the client"]
    if kind == "threads" or "POSSIBLY_CASES" in os.environ:  # 700 executions of a loop
        holds(tmp_path, source.format(read=so_many), faults=network, at_most=1)


SENT_IN_TWO = """\
import socket, threading
here, there = socket.socketpair()
def send():
    there.sendall(b"a"); there.sendall(b"b"); there.close()
thread = threading.Thread(target=send)
thread.start()
said = []
while piece := here.recv(100): said.append(piece)
thread.join()
assert {claim}
"""


def test_a_thread_that_sends_twice_touches_the_same_each_time(tmp_path: Path) -> None:
    """In which number what it sends comes to the other end is not known as it sends."""
    holds(tmp_path, SENT_IN_TWO.format(claim='b"".join(said) == b"ab"'), split=True)
    for said in ("[b'a', b'b']", "[b'ab']"):
        fails(tmp_path, SENT_IN_TWO.format(claim=f"said != {said}"), split=True)


def test_the_first_failing_schedule_has_the_fewest_faults(tmp_path: Path) -> None:
    source = ASKED.format(tries=1, caught="OSError")
    found = fails(tmp_path, source, faults=frozenset({"network"}), at_most=2)
    assert found.failure is not None
    kinds = [step.operation.kind for step in found.failure.execution.steps]
    assert kinds.count("fault") == 1
