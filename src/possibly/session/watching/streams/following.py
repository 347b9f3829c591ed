"""The monitor's loop on a durable stream: take in, save, acknowledge.

Law: what is acknowledged is in a checkpoint, and a checkpoint has all of a message or nothing. Messages up to
the position of the checkpoint, and lines up to the number that a sender is known by, are left out; so after
whatever fault the run is that of an undisturbed monitor. A gap in a sender's numbers is an error of its
connection: the stream has forgotten lines that nobody had read.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from time import monotonic, sleep
from typing import Any

from possibly.errors import PossiblyError, TraceError
from possibly.session.watching.intake import Connection, Intake
from possibly.session.watching.streams.checkpoint import Checkpoint
from possibly.session.watching.streams.messages import (
    START,
    Message,
    Position,
    Source,
    StreamAddress,
    StreamAwayError,
)
from possibly.session.watching.streams.servers import source_of

LATENCY = 0.05
"""Seconds that a message waits for others at most."""
EVERY = 1.0
"""Seconds between checkpoints while messages come."""
AGAIN = 0.5
PIECE = 64 << 10
"""Bytes of small messages that are taken in together."""


@dataclass(slots=True)
class Senders:
    """How far each sender has come. All of it is in a checkpoint."""

    position: Position = START
    connections: dict[str, Connection] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Of senders that number their lines: how many there are."""
    over: set[str] = field(default_factory=set)

    def connection(self, sender: str) -> Connection:
        if sender not in self.connections:
            self.connections[sender] = Connection(f"sender {sender}")
        return self.connections[sender]


class StreamLoop:
    """Reads until the announced senders are over, or a signal comes."""

    def __init__(
        self,
        address: StreamAddress,
        consumer: str,
        intake: Intake,
        checkpoint: Checkpoint,
        complain: Callable[[PossiblyError], Any],
        *,
        announced: int | None = None,
        stop_when_settled: bool = False,
    ) -> None:
        self._address, self._consumer = address, consumer
        self.intake, self._checkpoint, self._complain = intake, checkpoint, complain
        self._announced, self._stop = announced, stop_when_settled
        self.is_interrupted = False
        self.senders = Senders()
        self._saved: Position = START
        self._saved_at = monotonic()
        self._is_away = False
        self._restore()

    # ---- checkpoints ----------------------------------------------------------------------------

    def _restore(self) -> None:
        state = self._checkpoint.load()
        if state is not None:
            self.senders, intake = state
            self.intake.restore(intake)
            self._saved = self.senders.position

    def save(self) -> None:
        if self.senders.position > self._saved:
            self._checkpoint.save((self.senders, self.intake.state()))
            self._saved, self._saved_at = self.senders.position, monotonic()

    # ---- the loop -------------------------------------------------------------------------------

    def run(self) -> None:
        with self._signals():
            while not self._is_over():
                try:
                    self._follow(source_of(self._address, self._consumer, self.senders.position))
                except StreamAwayError as error:
                    self._away(error)
        self.save()

    def _follow(self, source: Source) -> None:
        self._is_away = False
        try:
            while not self._is_over():
                messages = source.fetch(LATENCY)
                for _, some in groupby(messages, attrgetter("sender")):
                    self._take(list(some))
                if not messages or monotonic() - self._saved_at > EVERY:
                    self.save()
                    source.acknowledge(self._saved)
            self.save()
            source.acknowledge(self._saved)
        finally:
            source.close()

    def _away(self, error: StreamAwayError) -> None:
        if not self._is_away:
            self._complain(StreamAwayError(f"{error.message}; trying again"))
        self._is_away = True
        self.save()
        sleep(AGAIN)

    def _is_over(self) -> bool:
        if self.is_interrupted:
            return True
        if self._announced is not None and len(self.senders.over) >= self._announced:
            return True
        return self._stop and self.intake.run.has_begun and self.intake.run.is_settled

    # ---- messages -------------------------------------------------------------------------------

    def _take(self, messages: list[Message]) -> None:
        """Messages of one sender that came together are taken in together: small ones cost less so."""
        messages = [each for each in messages if each.position > self.senders.position]
        if not messages:
            return
        known = len(self.intake.refused)
        sender = messages[0].sender
        connection = self.senders.connection(sender)
        for lines in self._gathered(messages, connection):
            if not connection.is_broken:
                self.intake.feed(connection, lines)
        if any(each.is_last for each in messages):
            self.senders.over.add(sender)
        self.senders.position = messages[-1].position
        for error in self.intake.refused[known:]:
            self._complain(error)

    def _gathered(self, messages: list[Message], connection: Connection) -> Iterator[bytes]:
        """Their new lines, in pieces; what comes before a gap is handed out before that is told."""
        waiting: list[bytes] = []
        size = 0
        for message in messages:
            if size > PIECE or self._is_missing(message):
                yield b"".join(waiting)
                waiting, size = [], 0
            lines = _whole(self._fresh(message, connection))
            waiting.append(lines)
            size += len(lines)
        yield b"".join(waiting)

    def _is_missing(self, message: Message) -> bool:
        """Whether lines before those of the message never came."""
        return message.first is not None and message.first > self.senders.lines.get(message.sender, 0)

    def _fresh(self, message: Message, connection: Connection) -> bytes:
        """The lines of a message that have not come before."""
        if message.first is None:
            return message.lines
        known = self.senders.lines.get(message.sender, 0)
        if self._is_missing(message):
            missing = TraceError(f"lines {known + 1} to {message.first} are missing in the stream")
            self.intake.refuse(connection, missing)
            return b""
        texts = (
            message.lines.removesuffix(b"\n").split(b"\n")[known - message.first :] if message.lines else []
        )
        self.senders.lines[message.sender] = known + len(texts)
        return b"\n".join(texts)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def interrupt(*_: object) -> None:
            self.is_interrupted = True

        try:
            before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not in the main thread
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _whole(lines: bytes) -> bytes:
    """Lines with the end of the last one."""
    return lines + b"\n" if lines and not lines.endswith(b"\n") else lines
