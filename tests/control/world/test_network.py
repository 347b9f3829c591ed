"""Servers and connections inside the program: what really happens is among what is explored, and is decided.

Each program is run for real, with pauses of several lengths, and its results must be among those that the
exploration shows, in which every pause may be of any length.
"""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored
from tests.waiting import PATIENCE

HEAD = """\
import asyncio, sys
lengths = iter(map(float, sys.argv[1:]))
async def pause(): await asyncio.sleep(next(lengths, 0))
log = []
async def serve(handle):
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]
"""
TAIL = "asyncio.run(main())\nprint(log)\n"
PROGRAMS = {
    "what is written in two parts": """
async def handle(reader, writer):
    log.append(await reader.read(100))
    writer.close()
async def main():
    server, port = await serve(handle)
    reader, writer = await asyncio.open_connection("localhost", port)
    writer.write(b"ab")
    await pause()
    writer.write(b"cd")
    log.append(await reader.read())
    writer.close()
    server.close()
""",
    "two clients": """
async def handle(reader, writer):
    log.append((await reader.readline()).decode().strip())
    writer.write(b"ok")
    writer.close()
async def client(port, name):
    await pause()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(name + b"\\n")
    assert await reader.read() == b"ok"
    writer.close()
    await writer.wait_closed()
async def main():
    server, port = await serve(handle)
    async with server:
        await asyncio.gather(client(port, b"a"), client(port, b"b"))
""",
    "one side ends": """
async def handle(reader, writer):
    log.append(await reader.read())
    writer.write(b"bye")
    writer.write_eof()
    writer.close()
async def main():
    server, port = await serve(handle)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello")
    await pause()
    writer.write_eof()
    log.append(await reader.read())
    log.append(reader.at_eof())
    writer.close()
    server.close()
""",
    "nobody listens any more": """
async def handle(reader, writer): writer.close()
async def client(port):
    await pause()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        log.append(await reader.read())
        writer.close()
    except ConnectionError as error:
        log.append("refused or reset")
async def main():
    server, port = await serve(handle)
    task = asyncio.create_task(client(port))
    await pause()
    server.close()
    await task
""",
    "a protocol of its own": """
class Upper(asyncio.Protocol):
    def connection_made(self, transport): self.transport = transport
    def data_received(self, data): self.transport.write(data.upper())
    def connection_lost(self, error): log.append(error)
class Client(asyncio.Protocol):
    def __init__(self): self.done = asyncio.get_running_loop().create_future()
    def connection_made(self, transport): transport.write(b"ab")
    def data_received(self, data): self.done.set_result(data)
async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upper, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport, client = await loop.create_connection(Client, "127.0.0.1", port)
    await pause()
    log.append(await client.done)
    transport.close()
    server.close()
    while len(log) < 2: await asyncio.sleep(0.01)
""",
}
LENGTHS = list(itertools.product(("0", "0.02"), repeat=2))
MANY = "POSSIBLY_CASES" in os.environ


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_really_happens_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name] + TAIL)
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for lengths in LENGTHS if MANY else LENGTHS[1:3]:
        real = subprocess.run(
            [sys.executable, str(path), *lengths], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.returncode == 0, real.stderr
        assert real.stdout in found


def test_both_ways_of_a_message_in_two_parts_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS["what is written in two parts"] + TAIL)
    found = {output.decode().strip() for _, _, output in reduced(path)[0]}
    assert found == {"[b'ab', b'']", "[b'abcd', b'']"}


UNIX = """\
import asyncio
async def handle(reader, writer):
    writer.write(await reader.readexactly(2))
    writer.close()
async def main():
    server = await asyncio.start_unix_server(handle, "here.sock")
    reader, writer = await asyncio.open_unix_connection("here.sock")
    writer.write(b"xy")
    assert await reader.read() == b"xy"
    writer.close()
    server.close()
asyncio.run(main())
"""
ELSEWHERE = """\
import asyncio
async def main():
    try:
        await asyncio.open_connection("127.0.0.1", {port})
    except OSError:
        pass
asyncio.run(main())
"""


def test_a_port_that_nobody_has_refuses(tmp_path: Path) -> None:
    source = ELSEWHERE.format(port=1).replace("OSError", "ConnectionRefusedError")
    found = explored(tmp_path, source)
    assert found.holds and "no other program of this machine listens at port 1" in found.assumed


def test_paths_are_addresses_too(tmp_path: Path) -> None:
    found = explored(tmp_path, UNIX)
    assert found.complete, found.open


def test_what_leads_elsewhere_leaves_the_verdict_open(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = explored(tmp_path, ELSEWHERE.format(port=listener.getsockname()[1]))
    assert found.holds is None
    assert any("socket" in reason for reason in found.open)


def test_a_port_is_taken_once(tmp_path: Path) -> None:
    source = HEAD + (
        "async def main():\n    server, port = await serve(print)\n"
        "    await asyncio.start_server(print, '127.0.0.1', port)\nasyncio.run(main())\n"
    )
    found = explored(tmp_path, source)
    assert found.failure is not None and "OSError" in found.failure.message
