"""What leads outside is left open by name, and never told as a failure of the program."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

CLIENT = """\
import asyncio
async def ask(reader, writer, word):
    async def send():
        writer.write(word)
        await writer.drain()
    await asyncio.wait_for(send(), 5)
    return await reader.read(100)
async def main():
    reader, writer = await asyncio.open_connection("localhost", {port})
    assert await ask(reader, writer, b"a") == b"a"
    task = asyncio.create_task(ask(reader, writer, b"b"))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    writer.close()
asyncio.run(main())
"""


@pytest.fixture
def port() -> Iterator[int]:
    """A server of another program that says what it hears."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        yield server.getsockname()[1]


def _serve(server: socket.socket) -> None:
    try:
        while True:
            threading.Thread(target=_answer, args=(server.accept()[0],), daemon=True).start()
    except OSError:
        pass  # it is closed


def _answer(connection: socket.socket) -> None:
    with connection, suppress(ConnectionError):  # an execution may be ended in the middle
        while word := connection.recv(100):
            connection.sendall(word)


def test_a_client_of_a_server_outside_is_left_open_by_name(port: int, tmp_path: Path) -> None:
    found = explored(tmp_path, CLIENT.format(port=port), Options(executions=6))
    assert found.holds is None and found.failure is None
    assert any("socket.connect" in what for what in found.open)
