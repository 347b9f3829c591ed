"""Lines from several connections at once: bytes in, headers and events handed to the watched run.

Here belongs what a connection may say and how much of it, no sockets. A connection begins with the header
of a trace file, its `"token"` beside the other fields where one is asked for; then come events, one a line.
Events wait in their connection until the headers of as many connections as were announced are there.

Law: memory is bounded. A line has a longest length, a connection that has not shown the token a short one,
and nothing is read from a connection while its events wait for headers. A bad line is named by connection
and number and ends its connection; no later line of its processes is believed, from whatever connection,
as the places of the events after it are not known. Whoever does not show the token is sent away, and the
run does not count that as an error of its own.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from possibly.errors import PossiblyError, TraceError
from possibly.session.watch import WatchedRun, header_checked
from possibly.trace.intern import decoded, quoted, shown

LONGEST_LINE = 1 << 20
LONGEST_HEADER = 1 << 16
"""Bytes of a line, and of the first one, which comes from somebody unknown."""


@dataclass(slots=True)
class Connection:
    """One sender: its unread bytes, and how far it has come."""

    name: str
    needs_token: bool = False
    line: int = 0
    buffer: bytearray = field(default_factory=bytearray)
    scanned: int = 0
    """Bytes of the buffer in which there is no newline."""
    is_known: bool = False
    """It has shown the token, or needs none: what it says counts, errors too."""
    has_header: bool = False
    is_broken: bool = False
    processes: set[str] = field(default_factory=set)


class Intake:
    """Feeds a watched run from connections."""

    def __init__(
        self,
        run: WatchedRun,
        *,
        connections: int = 1,
        token: str = "",
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self.run = run
        self.told = told
        """Called after every line that was taken."""
        self.expected = connections
        self.headers = 0
        self.token = token
        self.refused: list[TraceError] = []
        """What was wrong so far, in the order in which it was found."""
        self._held: list[Connection] = []
        """Those whose events wait for the headers of others."""
        self._broken: set[str] = set()

    def feed(self, connection: Connection, data: bytes) -> None:
        """Bytes have arrived."""
        connection.buffer += data
        self._read(connection)

    def is_held(self, connection: Connection) -> bool:
        """Whether nothing should be read from it now."""
        return connection.has_header and not self.run.has_begun

    def end(self, connection: Connection) -> None:
        """The connection is over; a last line without a newline is a line."""
        if connection.buffer and not connection.is_broken and not self.is_held(connection):
            connection.buffer += b"\n"
            self._read(connection)

    def _read(self, connection: Connection) -> None:
        try:
            for text in self._lines(connection):
                self._take(connection, text)
                self.told()
        except PossiblyError as error:
            self._break(connection)
            placed = TraceError(
                error.message,
                file=connection.name,
                line=connection.line,
                column=error.column,
                hint=error.hint,
            )
            self.refused.append(placed)
            if connection.is_known:
                self.run.errors.append(placed)

    def _break(self, connection: Connection) -> None:
        connection.is_broken = True
        connection.buffer.clear()
        self._broken |= connection.processes

    def _lines(self, connection: Connection) -> Iterator[bytes]:
        buffer = connection.buffer
        while not connection.is_broken and not self.is_held(connection):
            end = buffer.find(b"\n", connection.scanned)
            longest = LONGEST_LINE if connection.has_header else LONGEST_HEADER
            if (end if end >= 0 else len(buffer)) > longest:
                connection.line += 1
                raise TraceError(f"the line is longer than {longest:,} bytes")
            if end < 0:
                connection.scanned = len(buffer)
                return
            text = bytes(buffer[:end])
            del buffer[: end + 1]
            connection.scanned = 0
            connection.line += 1
            yield text

    def _take(self, connection: Connection, text: bytes) -> None:
        if not text.strip():
            return
        fields = _object(text)
        if not connection.has_header:
            self._header(connection, fields)
            return
        if fields.get("format") is not None:
            raise TraceError("a second header in one connection")
        process = fields.get("p")
        if isinstance(process, str):
            connection.processes.add(process)
            if process in self._broken:
                raise TraceError(f"an earlier line of process {quoted(process)} was refused")
        self.run.arrive(fields, connection.line)

    def _header(self, connection: Connection, fields: Mapping[str, Any]) -> None:
        if connection.needs_token:
            token = fields.get("token")
            if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self.token.encode()):
                raise TraceError('the header needs the "token" of this monitor')
        connection.is_known = True
        header_checked(fields)
        self.run.header({key: value for key, value in fields.items() if key != "token"})
        connection.has_header = True
        self.headers += 1
        if self.run.has_begun:
            return
        if self.headers < self.expected:
            self._held.append(connection)
            return
        self.run.begin()
        held, self._held = self._held, []
        for waiting in held:
            self._read(waiting)


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = decoded(text.decode())
    except UnicodeDecodeError as error:
        raise TraceError("the text is not UTF-8", column=error.start + 1) from None
    if type(found) is not dict:
        raise TraceError(f"a line must be a JSON object, found {shown(found)}")
    return found
