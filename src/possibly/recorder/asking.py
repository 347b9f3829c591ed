"""A log whose process waits, after each event, for whoever runs the program to let it go on.

Law: what a thread did is in the log's file before it asks, and it goes on only when it is told to. Every
process of the operating system that is recorded asks by itself, on a connection of its own: a line that
says that there is something new. The answers are lines too, until one of them lets it go on:

| answer | what is done |
| --- | --- |
| `{"go": true}` | goes on |
| `{"tell": "places"}` | tells where its tasks are: number (none for those of event loops), name, lines |
| `{"tell": "value", "of": …, "task": …}` | tells a variable as that task sees it |
| `{"go": "interrupt"}`, `{"go": "end"}` | goes on into a KeyboardInterrupt; ends at once |

If nobody is there any more, the program goes on as if it were recorded only.
"""

from __future__ import annotations

import _socket
import json
import os
import signal
from typing import Any

from possibly.recorder.entries import SYNC
from possibly.recorder.looking import LookingLog
from possibly.recorder.stopped import Stopped

PIECE = 1 << 16


class AskingLog(LookingLog):
    """A log whose threads ask at `address`, a socket in the file system, before they go on."""

    def __init__(self, folder: str, name: str, parent: str, address: str) -> None:
        self._address = address
        self._connection: _socket.socket | None = None
        self._is_alone = False
        """Nobody answers."""
        self._rest = b""
        self._used: set[int] = set()
        """Primitives that had a name if a global is bound to them."""
        super().__init__(folder, name, parent)

    def _start_flusher(self) -> None:
        """None: whoever has something new writes it."""

    def look_at_new(self) -> None:
        """Writes what is new and waits until whoever is asked lets the program go on."""
        if self._has_new_thing():
            self._name_things()
        self.flush()
        if self._is_alone:
            return
        try:
            self._ask()
        except OSError:
            self._is_alone = True
            self._close()

    def _has_new_thing(self) -> bool:
        """Whether a primitive is used for the first time: by now a global may be bound to it."""
        found = {each[4] for each in self.entries if each[0] == SYNC and type(each[4]) is int} - self._used
        self._used |= found
        return bool(found)

    def after_fork_in_child(self, name: str) -> None:
        """The child has a connection of its own."""
        self._close()
        super().after_fork_in_child(name)

    # ---- the connection -------------------------------------------------------------------------

    def _ask(self) -> None:
        if self._connection is None:
            self._connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            self._connection.connect(self._address)
        self._send({"new": self.key})
        while "go" not in (answer := self._answer()):
            self._send(self._told(answer))
        if answer["go"] == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        elif answer["go"] == "end":
            os._exit(128 + signal.SIGKILL)

    def _told(self, question: dict[str, Any]) -> dict[str, Any]:
        stopped = Stopped()
        if question["tell"] == "value":
            return {"value": stopped.value(question["of"], question["task"])}
        return {"places": [[each.number, each.name, each.places] for each in stopped.tasks]}

    def _send(self, fields: dict[str, Any]) -> None:
        assert self._connection is not None
        self._connection.sendall(json.dumps(fields).encode() + b"\n")

    def _answer(self) -> dict[str, Any]:
        assert self._connection is not None
        while b"\n" not in self._rest:
            data = self._connection.recv(PIECE)
            if not data:
                raise ConnectionResetError
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._rest = None, b""
