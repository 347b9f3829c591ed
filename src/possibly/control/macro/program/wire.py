"""How a controlled process and its controller speak: whole objects over a local socket.

A message is a tuple whose first item says what it is. Where both ends are ours objects are pickled, for the
socket lies in a folder that only the user can enter. A program that is not Python writes lines of JSON, and
is answered so (`lines`, and the chapter on the protocol in the manual); its first byte tells.
"""

from __future__ import annotations

import pickle
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from possibly.control.macro.program.lines import Lines

VARIABLE = "POSSIBLY_MACRO"
"""The environment variable that holds the settings of a controlled process."""
_LENGTH = struct.Struct("!Q")


class ClosedError(Exception):
    """The other end has gone."""


class Wire:
    """One end of a connection."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._buffer = bytearray()
        self._lines: Lines | None = None
        """Of a program that is not Python."""

    @staticmethod
    def to(path: str) -> Wire:
        end = socket.socket(socket.AF_UNIX)
        end.connect(path)
        return Wire(end)

    def fileno(self) -> int:
        return self.end.fileno()

    def send(self, *message: Any) -> None:
        data = pickle.dumps(message, protocol=5) if self._lines is None else self._lines.written(message)
        try:
            self.end.sendall(data if self._lines is not None else _LENGTH.pack(len(data)) + data)
        except OSError:
            raise ClosedError from None

    def receive(self) -> tuple[Any, ...]:
        """The next message; waits for it."""
        while True:
            found = self.next()
            if found is not None:
                return found
            self.fill()

    def fill(self) -> None:
        """Reads what is there; waits if nothing is."""
        try:
            data = self.end.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            raise ClosedError
        self._buffer += data

    def next(self) -> tuple[Any, ...] | None:
        """A message that has arrived already, or None."""
        if self._lines is None and self._buffer[:1] == b"{":
            from possibly.control.macro.program.lines import Lines

            self._lines = Lines()
        if self._lines is not None:
            return self._lines.read(self._buffer)
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        end = _LENGTH.size + length
        if len(self._buffer) < end:
            return None
        found: tuple[Any, ...] = pickle.loads(memoryview(self._buffer)[_LENGTH.size : end])
        del self._buffer[:end]
        return found

    def close(self) -> None:
        self.end.close()
