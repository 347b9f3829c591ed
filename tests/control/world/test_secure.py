"""TLS on connections inside the program is spoken as on any other, and is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

SOURCE = """\
import asyncio, ssl
def context(kind):
    made = ssl.SSLContext(kind)
    made.set_ciphers("AECDH:@SECLEVEL=0")  # which needs no certificate
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    return made
serving, calling = context(ssl.PROTOCOL_TLS_SERVER), context(ssl.PROTOCOL_TLS_CLIENT)
calling.check_hostname, calling.verify_mode = False, ssl.CERT_NONE
total = 0
async def handle(reader, writer):
    global total
    before = total
    {given}
    writer.write(b"ok\\n")
    writer.close()
async def call(port, number):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=calling)
    writer.write(b"%d\\n" % number)
    assert await reader.readline() == b"ok\\n"
    writer.close()
async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=serving)
    port = server.sockets[0].getsockname()[1]
    await asyncio.gather(*(call(port, each) for each in {numbers}))
    server.close()
    assert total == sum({numbers})
asyncio.run(main())
"""


def test_what_goes_wrong_is_found(tmp_path: Path) -> None:
    source = SOURCE.format(given="total = before + int(await reader.readline())", numbers=[1, 2])
    found = explored(tmp_path, source)
    assert found.failure is not None and found.failure.kind == "assertion", found.open


def test_what_is_right_is_covered(tmp_path: Path) -> None:
    found = explored(tmp_path, SOURCE.format(given="total += int(await reader.readline())", numbers=[1]))
    assert found.complete, (found.failure, found.open)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_connection_begins_to_speak_it(is_told: bool, tmp_path: Path) -> None:
    """A client that does not wait until it is told to may come too early."""
    plain = SOURCE.replace(", ssl=serving", "").replace(", ssl=calling", "")
    begins = 'writer.write(b"go\\n"); ' * is_told + "await writer.start_tls(serving)"
    follows = "await reader.readline(); " * is_told + "await writer.start_tls(calling)"
    source = plain.replace("before = total\n", begins + "\n").replace(
        'writer.write(b"%d', f'{follows}; writer.write(b"%d'
    )
    found = explored(tmp_path, source.format(given="total += int(await reader.readline())", numbers=[1]))
    assert (found.failure is None) is is_told, (found.failure, found.open)


BLOCKING = """\
import socket, ssl, threading
def context(kind):
    made = ssl.SSLContext(kind)
    made.set_ciphers("AECDH:@SECLEVEL=0")  # which needs no certificate
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    return made
serving, calling = context(ssl.PROTOCOL_TLS_SERVER), context(ssl.PROTOCOL_TLS_CLIENT)
calling.check_hostname, calling.verify_mode = False, ssl.CERT_NONE
listener = socket.create_server(("127.0.0.1", 0))
{listens}
def serve():
    connection, _ = listener.accept()
    {accepts}
    with connection: connection.sendall(connection.recv(9)[::-1])
thread = threading.Thread(target=serve)
thread.start()
{connects}
with client:
    {sends}
    assert client.recv(9) == b"dcba"
thread.join()
"""
WAYS = {
    "connections": (
        "",
        "connection = serving.wrap_socket(connection, server_side=True)",
        "client = calling.wrap_socket(socket.create_connection(listener.getsockname()))",
    ),
    "a server, and a client that is yet to connect": (
        "listener = serving.wrap_socket(listener, server_side=True)",
        "",
        "client = calling.wrap_socket(socket.socket()); client.connect(listener.getsockname())",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_sockets_that_block_speak_it(way: str, tmp_path: Path) -> None:
    parts = dict(zip(("listens", "accepts", "connects"), WAYS[way], strict=True))
    found = explored(tmp_path, BLOCKING.format(**parts, sends='client.sendall(b"abcd")'))
    assert found.complete, (found.failure, found.open)


def test_what_they_send_comes_piece_by_piece(tmp_path: Path) -> None:
    parts = dict(zip(("listens", "accepts", "connects"), WAYS["connections"], strict=True))
    found = explored(tmp_path, BLOCKING.format(**parts, sends='client.sendall(b"ab"); client.sendall(b"cd")'))
    assert found.failure is not None and found.failure.kind == "assertion", found.open
