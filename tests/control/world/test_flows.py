"""Who sends more than a connection holds waits until enough is taken, as on the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

THREADS = """\
import socket, threading
{pair}
def talk(mine):
    for order in {order!r}:
        if order == "send": mine.sendall(bytes({size}))
        else:
            left = {size}
            while left: left -= len(mine.recv(1 << 20))
thread = threading.Thread(target=talk, args=(other,))
thread.start()
talk(one)
thread.join()
"""
PAIRS = {
    "a pair": "one, other = socket.socketpair()",
    "a connection": 'server = socket.create_server(("127.0.0.1", 0))\n'
    "one = socket.create_connection(server.getsockname())\nother, _ = server.accept()",
}
LOOP = """\
import asyncio
async def talk(reader, writer):
    writer.write(bytes({size}))
    await writer.drain()
    await reader.readexactly({size})
    writer.close()
async def main():
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    await talk(*await asyncio.open_connection(*server.sockets[0].getsockname()))
    server.close()
asyncio.run(main())
"""


@pytest.mark.parametrize("name", PAIRS)
def test_both_send_much_before_they_read(name: str, tmp_path: Path) -> None:
    for size, holds in ((8_000_000, False), (1_000, True)):
        source = THREADS.format(pair=PAIRS[name], order=["send", "take"], size=size)
        found = explored(tmp_path, source)
        assert found.holds is holds, (found.failure, found.open)
        assert holds or (found.failure is not None and found.failure.kind == "deadlock")


def test_protocols_are_asked_to_pause(tmp_path: Path) -> None:
    for size, holds in ((10_000_000, False), (100_000, True)):
        found = explored(tmp_path, LOOP.format(size=size))
        assert found.holds is holds, (found.failure, found.open)


def test_a_sender_goes_on_when_enough_is_taken(tmp_path: Path) -> None:
    source = """\
import socket, threading
one, other = socket.socketpair()
def send():
    one.sendall(bytes(1_000_000))
    one.close()
threading.Thread(target=send).start()
got = 0
while data := other.recv(1 << 20): got += len(data)
assert got == 1_000_000
"""
    found = explored(tmp_path, source)
    assert found.complete, (found.failure, found.open)


def test_one_that_does_not_wait_sends_what_fits(tmp_path: Path) -> None:
    source = """\
import socket
one, other = socket.socketpair()
one.setblocking(False)
sent = one.send(bytes(1_000_000))
assert 0 < sent < 1_000_000
try: one.send(b"x")
except BlockingIOError: pass
else: raise AssertionError
"""
    assert explored(tmp_path, source).complete
