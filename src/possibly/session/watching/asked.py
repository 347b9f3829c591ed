"""A recorded program whose processes wait after each event until a monitor has heard of it.

Here belongs the other end of `recorder.asking`: the socket on which all processes of the program ask, and
what they are told. While one of them is asked questions, or nobody answers it, all others wait as well, each
at its next event.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from possibly.recorder.merging.streaming import Streaming
from possibly.session.watching.paths_live import Told

NAME = "ask"
"""Of the socket, in the folder of the logs."""
GO = {"continue": True, "quit": "interrupt", "kill": "end"}
"""What lets a process go on, by how."""

Asker = Callable[[Told, "Asked"], str]
"""Says how a process goes on that waits there: `continue`, `quit` or `kill`."""


class Asked:
    """A process that waits, and what it can be asked."""

    def __init__(self, connection: socket.socket, name: Callable[[str, int], str]) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        self._name = name
        self.key = ""
        """Of its log."""

    def read(self) -> Mapping[str, Any] | None:
        """What it says; None if it is gone."""
        try:
            line = self._lines.readline()
        except OSError:
            return None
        found: Mapping[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return found

    def _say(self, fields: Mapping[str, Any]) -> None:
        with suppress(OSError):
            self._connection.sendall(json.dumps(fields).encode() + b"\n")

    def go(self, how: str) -> None:
        self._say({"go": GO[how]})

    def _tasks(self) -> list[tuple[str, int | str, list[str]]]:
        """Each task with its name in the run, what it is called by over there, and its places."""
        self._say({"tell": "places"})
        told = self.read() or {"places": []}
        return [
            (
                name if number is None else self._name(self.key, number),
                name if number is None else number,
                places,
            )
            for number, name, places in told["places"]
        ]

    def places(self) -> Mapping[str, list[str]]:
        """Where each task is, the innermost place first."""
        return {name: places for name, _, places in self._tasks()}

    def value(self, text: str, task: str) -> str:
        """A variable as that task sees it."""
        key = next((key for name, key, _ in self._tasks() if name == task), None)
        self._say({"tell": "value", "of": text, "task": key})
        return str((self.read() or {"value": "the process is gone"})["value"])


class Askers:
    """All processes of a program that ask, and the monitor's word for them."""

    def __init__(self, folder: str, streaming: Streaming, ask: Asker) -> None:
        self.address = os.path.join(folder, NAME)
        self._streaming = streaming
        self._ask = ask
        self._heard: list[Told] = []
        self._selector = selectors.DefaultSelector()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(self.address)
        self._server.listen(128)
        self._selector.register(self._server, selectors.EVENT_READ)

    def hear(self, told: Mapping[str, Any]) -> None:
        """The monitor has told us something."""
        self._heard.append(Told(**{**told, "events": tuple(told["events"])}))

    def attend(self, seconds: float) -> None:
        """Serves whoever asks within that time, and takes in what was written without a question."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                connection, _ = self._server.accept()
                asked = Asked(connection, self._streaming.process_name)
                self._selector.register(connection, selectors.EVENT_READ, asked)
            else:
                self._serve(key.fileobj, key.data)
        self._streaming.poll()

    def _serve(self, connection: Any, asked: Asked) -> None:
        question = asked.read()
        if question is None:
            self._selector.unregister(connection)
            connection.close()
            return
        asked.key = question["new"]
        self._streaming.poll()
        heard, self._heard[:] = list(self._heard), []
        asked.go(max((self._ask(each, asked) for each in heard), key=list(GO).index, default="continue"))

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()
