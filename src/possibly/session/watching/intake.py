"""Lines from several connections at once: bytes in, headers and events handed to the watched run.

Here belongs what a connection may say and how much of it, no sockets. A connection begins with the header
of a trace file, its `"token"` beside the other fields where one is asked for; then come events, one a line.
Events wait in their connection until the headers of as many connections as were announced are there.

Law: memory is bounded. A line has a longest length, a connection that has not shown the token a short one,
and nothing is read from a connection while its events wait for headers. A bad line is named by connection
and number and ends its connection; no later line of its processes is believed, from whatever connection,
as the places of the events after it are not known. Whoever does not show the token is sent away, and the
run does not count that as an error of its own.

Lines that arrive together are decoded together and taken in as many at once as the run can; what it leaves is
taken line by line, which alone says what is wrong.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from possibly.errors import PossiblyError, TraceError
from possibly.session.watching.watch import WatchedRun, header_checked
from possibly.trace.intern import decoded, quoted, shown

LONGEST_LINE = 1 << 20
LONGEST_HEADER = 1 << 16
"""Bytes of a line, and of the first one, which comes from somebody unknown."""
ENOUGH = 1 << 18
"""Bytes after which the faster decoder is worth its import."""


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
    wants_answers: bool = False
    """It waits after its lines until it is told that they were taken in, and what came of them."""
    answered: int = 0
    """Lines of which it was told so."""


class Intake:
    """Feeds a watched run from connections."""

    def __init__(
        self,
        run: WatchedRun,
        *,
        connections: int = 1,
        token: str = "",
        told: Callable[[], None] = lambda: None,
        one_by_one: bool = False,
    ) -> None:
        self.run = run
        self.told = told
        """Called after every line that was taken, or many at once."""
        self.expected = connections
        self.headers = 0
        self.token = token
        self.refused: list[TraceError] = []
        """What was wrong so far, in the order in which it was found."""
        self._held: list[Connection] = []
        """Those whose events wait for the headers of others."""
        self._broken: set[str] = set()
        self.one_by_one = one_by_one
        """Take every line by itself, so that the run can end after any of them."""
        self._bytes = 0

    @cached_property
    def _decode_line(self) -> Callable[[bytes], Any] | None:
        """A decoder that accepts less than the careful one, with equal results, and is worth its import."""
        try:
            import msgspec
        except ImportError:
            return None
        self._refused = msgspec.MsgspecError, RecursionError, ValueError
        return msgspec.json.Decoder().decode

    def state(self) -> tuple[Any, ...]:
        """All that is known, for a checkpoint; the connections are kept by whoever has them."""
        return self.headers, self._held, self._broken, self.run.state()

    def restore(self, state: tuple[Any, ...]) -> None:
        self.headers, self._held, self._broken, run = state
        self.run.restore(run)

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
            while texts := self._lines(connection):
                self._take_all(connection, texts)
        except PossiblyError as error:
            self.refuse(connection, error)

    def refuse(self, connection: Connection, error: PossiblyError) -> None:
        """Nothing more is believed of the connection."""
        self._break(connection)
        placed = TraceError(
            error.message, file=connection.name, line=connection.line, column=error.column, hint=error.hint
        )
        self.refused.append(placed)
        if connection.is_known:
            self.run.errors.append(placed)

    def _break(self, connection: Connection) -> None:
        connection.is_broken = True
        connection.buffer.clear()
        self._broken |= connection.processes

    def _lines(self, connection: Connection) -> list[bytes]:
        """The lines that may be read now: one while headers are missing, then all."""
        if connection.is_broken or self.is_held(connection):
            return []
        buffer, scanned = connection.buffer, connection.scanned
        has_header = connection.has_header
        end = buffer.rfind(b"\n", scanned) if has_header else buffer.find(b"\n", scanned)
        longest = LONGEST_LINE if has_header else LONGEST_HEADER
        connection.scanned = 0 if end >= 0 else len(buffer)
        if end < 0:
            self._check_length(connection, len(buffer), longest)
            return []
        texts = bytes(buffer[:end]).split(b"\n")
        del buffer[: end + 1]
        for number, text in enumerate(texts if end > longest else ()):
            if len(text) > longest:
                self._take_all(connection, texts[:number])
                self._check_length(connection, len(text), longest)
        self._check_length(connection, end if not has_header else 0, longest)
        return texts

    def _check_length(self, connection: Connection, length: int, longest: int) -> None:
        if length > longest:
            connection.line += 1
            raise TraceError(f"the line is longer than {longest:,} bytes")

    def _take_all(self, connection: Connection, texts: list[bytes]) -> None:
        """By turns: lines that can be taken in at once, and one that cannot."""
        is_fast = connection.has_header and not self._broken and not self.one_by_one
        lines = self._decode(texts) if is_fast else []
        at = 0
        while at < len(texts):
            if lines and not self._broken:
                count = self.run.arrive_many(lines, texts, at)
                self._note(connection, lines, at, count)
                at += count
                if at == len(texts):
                    break
            connection.line += 1
            self._take(connection, texts[at])
            self.told()
            at += 1

    def _note(self, connection: Connection, lines: list[Any], at: int, count: int) -> None:
        """Those lines were taken in."""
        if count:
            connection.line += count
            connection.processes.update({fields["p"] for fields in lines[at : at + count]})
            self.told()

    def _decode(self, texts: list[bytes]) -> list[Any]:
        """What the lines say; None where only the careful way can tell."""
        self._bytes += sum(map(len, texts))
        if self._bytes < ENOUGH or self._decode_line is None:
            return [_plain(text) for text in texts]
        decode, refused, found = self._decode_line, self._refused, []
        for text in texts:
            try:
                found.append(decode(text))
            except refused:
                found.append(None)
        return found

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
        connection.wants_answers = fields.get("answers") is True
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


def _plain(text: bytes) -> Any:
    try:
        return decoded(text.decode())
    except (UnicodeDecodeError, TraceError):
        return None


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = decoded(text.decode())
    except UnicodeDecodeError as error:
        raise TraceError("the text is not UTF-8", column=error.start + 1) from None
    if type(found) is not dict:
        raise TraceError(f"a line must be a JSON object, found {shown(found)}")
    return found
