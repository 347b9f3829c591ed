"""Datagrams between sockets and loops of the program: what really happens is explored, and is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

HEAD = """\
import asyncio, select, socket, socketserver, threading
def opened():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    return made
"""
THREADS = """
server = opened()
def send(word):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mine: mine.sendto(word, server.getsockname())
threads = [threading.Thread(target=send, args=(each,)) for each in (b"a", b"b")]
for each in threads: each.start()
got = [server.recvfrom(9)[0] for _ in threads]
for each in threads: each.join()
"""
ECHO = """
server = opened()
def serve():
    {waits}
    data, sender = server.recvfrom(9)
    server.sendto(data.upper(), sender)
thread = threading.Thread(target=serve)
thread.start()
client = opened()
client.connect(server.getsockname())
client.send(b"ab")
assert client.recv(9) == b"AB" and client.getpeername() == server.getsockname()
thread.join()
"""
LOOP = """
class Sink(asyncio.DatagramProtocol):
    def __init__(self): self.got, self.all = [], asyncio.get_running_loop().create_future()
    def datagram_received(self, data, sender):
        self.got.append(data)
        if len(self.got) == 2: self.all.set_result(None)
async def send(address, word):
    await asyncio.sleep(0)
    make = asyncio.get_running_loop().create_datagram_endpoint
    mine, _ = await make(asyncio.DatagramProtocol, remote_addr=address)
    mine.sendto(word)
    mine.close()
async def main():
    make = asyncio.get_running_loop().create_datagram_endpoint
    link, sink = await make(Sink, local_addr=("127.0.0.1", 0))
    address = link.get_extra_info("sockname")
    await asyncio.gather(send(address, b"a"), send(address, b"b"))
    await sink.all
    link.close()
    got = sink.got
    {claim}
asyncio.run(main())
"""
SERVER = """
class Handler(socketserver.BaseRequestHandler):
    def handle(self): self.request[1].sendto(self.request[0] * 2, self.client_address)
server = socketserver.UDPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.serve_forever)
thread.start()
client = opened()
client.sendto(b"a", server.server_address)
assert client.recv(9) == b"aa"
server.shutdown(); thread.join(); server.server_close()
"""
ORDERED, ANY = "assert got == [b'a', b'b']", "assert sorted(got) == [b'a', b'b']"


@pytest.mark.parametrize("source", [THREADS + ORDERED, LOOP.format(claim=ORDERED)], ids=["threads", "loop"])
def test_those_of_two_senders_come_in_either_order(source: str, tmp_path: Path) -> None:
    assert explored(tmp_path, HEAD + source).holds is False


RIGHT = {
    "threads": THREADS + ANY,
    "a loop": LOOP.format(claim=ANY),
    "an answer": ECHO.format(waits="pass"),
    "select": ECHO.format(waits="assert select.select([server], [], []) == ([server], [], [])"),
    "socketserver": SERVER,
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.large("threads")
def test_what_is_right_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name])
    assert found.complete, (found.failure, found.open)


SEQUENCE = """
server, client = opened(), opened()
for word in (b"a", b"b"): client.sendto(word, server.getsockname())
server.settimeout(5)
got = []
try:
    while True: got.append(server.recv(9))
except TimeoutError: pass
assert got != {got!r}
"""


@pytest.mark.parametrize("got", [[b"b"], [b"a", b"a", b"b"], [b"b", b"a"]], ids=["lost", "twice", "late"])
def test_faults_lose_them_repeat_them_and_change_their_order(got: list[bytes], tmp_path: Path) -> None:
    source = HEAD + SEQUENCE.format(got=got)
    if got == [b"a", b"a", b"b"]:
        source = source.replace("assert got !=", "assert sorted(got) !=")
    assert explored(tmp_path, source).complete
    assert explored(tmp_path, source, faults=frozenset({"network"}), at_most=1).holds is False


def test_to_nobody_it_gets_lost(tmp_path: Path) -> None:
    source = """
client = opened()
client.sendto(b"a", ("127.0.0.1", 9))
client.settimeout(1)
try: client.recv(9)
except TimeoutError: pass
"""
    found = explored(tmp_path, HEAD + source)
    assert found.complete and any("get lost" in each for each in found.assumed), found.open
