"""A client for the debug adapter: that of debugpy, with the adapter as a process of its own."""

from __future__ import annotations

import queue
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from debugpy.common.messaging import JsonIOStream, JsonMessageChannel

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[3]


class Client:
    """What an editor does."""

    def __init__(self, stream: Any) -> None:
        self.events: queue.Queue[Any] = queue.Queue()
        self.channel = JsonMessageChannel(stream, self)
        self.channel.start()

    def event(self, event: Any) -> None:
        """Every event that comes in."""
        self.events.put((event.event, event.body))

    def ask(self, command: str, **arguments: Any) -> Any:
        return self.channel.request(command, arguments)

    def wait(self, name: str) -> Any:
        """The next event of that name."""
        while True:
            found, body = self.events.get(timeout=PATIENCE)
            if found == name:
                return body

    def launch(self, **arguments: Any) -> Any:
        """Until the first stop."""
        capabilities = self.ask("initialize", adapterID="possibly", linesStartAt1=True)
        self.wait("initialized")
        self.ask("launch", **arguments)
        self.ask("configurationDone")
        return capabilities

    def go(self, command: str, thread: int = 1, **arguments: Any) -> Any:
        """Moves, and says why it stopped."""
        self.ask(command, threadId=thread, **arguments)
        return self.wait("stopped")

    def lines(self) -> dict[str, int]:
        """Where each thread stands."""
        found = {}
        for thread in self.ask("threads")["threads"]:
            frames = self.ask("stackTrace", threadId=thread["id"])["stackFrames"]
            found[thread["name"]] = frames[0]["line"]
        return found

    def variables(self, thread: int, scope: int) -> dict[str, str]:
        (frame, *_) = self.ask("stackTrace", threadId=thread)["stackFrames"]
        reference = self.ask("scopes", frameId=frame["id"])["scopes"][scope]["variablesReference"]
        rows = self.ask("variables", variablesReference=reference)["variables"]
        return {row["name"]: row["value"] for row in rows}

    def evaluate(self, text: str, context: str = "watch") -> str:
        return str(self.ask("evaluate", expression=text, context=context)["result"])


def started(*words: str, folder: Path = ROOT) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "possibly", "dap", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder)


@contextmanager
def connected(folder: Path = ROOT, over_socket: bool = False) -> Iterator[Client]:
    """An adapter with a client that talks to it."""
    process = started(*(["--port", "0"] if over_socket else []), folder=folder)
    assert process.stdin and process.stdout and process.stderr
    if over_socket:
        port = int(process.stderr.readline().rsplit(b":", 1)[1])
        stream = JsonIOStream.from_socket(socket.create_connection(("127.0.0.1", port)), "adapter")
    else:
        stream = JsonIOStream.from_process(process, "adapter")
    client = Client(stream)
    try:
        yield client
        client.ask("disconnect")
    finally:
        status = process.wait(timeout=PATIENCE)
        client.channel.wait()
        stream.close()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
    assert status == 0
