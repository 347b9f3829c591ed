"""Real servers for the tests of durable streams, each on a free port of its own, and a network to cut."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest

COMMANDS = {"nats": "nats-server", "redis": "redis-server"}
SCHEMES = [
    pytest.param(
        scheme, marks=pytest.mark.skipif(shutil.which(command) is None, reason=f"{command} is not installed")
    )
    for scheme, command in COMMANDS.items()
]


def until(is_so: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Waits for something that has to happen; the limit is for tests that fail."""
    pause, end = threading.Event(), monotonic() + seconds
    while not is_so():
        assert monotonic() < end, f"{what} did not happen"
        pause.wait(0.01)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Server:
    """A server that can be killed and started again with what it has on its disk."""

    def __init__(self, scheme: str, folder: Path) -> None:
        self.scheme, self.port = scheme, free_port()
        self._folder = folder / scheme
        self._folder.mkdir()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def address(self, port: int | None = None, name: str = "run") -> str:
        return f"{self.scheme}://127.0.0.1:{port or self.port}/{name}"

    def start(self) -> None:
        port, folder = str(self.port), str(self._folder)
        words = {
            "nats": ["nats-server", "-js", "-a", "127.0.0.1", "-p", port, "-sd", folder],
            "redis": ["redis-server", "--port", port, "--dir", folder, "--appendonly", "yes", "--save", ""],
        }[self.scheme]
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self._answers, "an answer of the server")

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as found:
            found.settimeout(1)
            if self.scheme == "redis":
                found.sendall(b"PING\r\n")
            return bool(found.recv(1) in b"+I")
        return False

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


class Network:
    """A way to a port that can be cut: connections break, and new ones are refused."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._sockets: list[socket.socket] = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._server.accept()
                if self._is_cut:
                    here.close()
                    continue
                there = socket.create_connection(("127.0.0.1", self._to))
                self._sockets += [here, there]
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        self._shut(one, other)

    @staticmethod
    def _shut(*sockets: socket.socket) -> None:
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def cut(self) -> None:
        self._is_cut = True
        self._shut(*self._sockets)
        self._sockets.clear()

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        self.cut()
        self._shut(self._server)
