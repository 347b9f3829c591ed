"""What passes through a durable stream, and the two ports that a server is spoken to through.

A message holds whole lines of one sender. With it come the sender's name, how many lines it sent before, and
whether it is the last. A message that says nothing of that, from whatever program writes to the stream, is
taken as it comes: whether it comes twice is then between that program and the server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from possibly.errors import PossiblyError, UsageError

SCHEMES = ("nats", "redis")
MOST_BYTES = 256 << 10
"""Of the lines of one message, a quarter of what servers allow by default."""

Position = tuple[int, int]
"""Where a message stands in its stream; they only rise."""

START: Position = (0, 0)


class StreamAwayError(PossiblyError):
    """The server does not answer; it is worth trying again."""


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """`nats://HOST:PORT/NAME` or `redis://HOST:PORT/NAME`."""

    scheme: str
    host: str
    port: int
    name: str
    user: str = ""
    password: str = ""

    @staticmethod
    def of(text: str) -> StreamAddress:
        parts = urlsplit(text)
        try:
            port = parts.port or {"nats": 4222, "redis": 6379}[parts.scheme]
        except (KeyError, ValueError):
            raise UsageError(f"{text!r} is no address of a stream", hint=_HINT) from None
        name = unquote(parts.path.removeprefix("/"))
        if not name or not parts.hostname or not name.replace("-", "").replace("_", "").isalnum():
            raise UsageError(f"{text!r} names no stream of letters, digits, - and _", hint=_HINT)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return StreamAddress(parts.scheme, parts.hostname, port, name, user, password)

    def __str__(self) -> str:
        """Without the password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}/{self.name}"


_HINT = "nats://HOST:PORT/NAME or redis://HOST:PORT/NAME"


def is_stream(text: str) -> bool:
    return text.partition("://")[0] in SCHEMES


@dataclass(frozen=True, slots=True)
class Message:
    position: Position
    sender: str
    first: int | None
    """How many lines the sender sent before; None: it does not say."""
    lines: bytes
    is_last: bool = False


class Source(Protocol):
    """The reading end."""

    def fetch(self, seconds: float) -> list[Message]:
        """What has come, in the order of the stream; waits that long for the first."""

    def acknowledge(self, position: Position) -> None:
        """Everything up to there is safe with us."""

    def close(self) -> None: ...


class Target(Protocol):
    """The writing end."""

    def publish(self, sender: str, first: int, lines: bytes, is_last: bool) -> None:
        """Returns when the server has it on its disk."""

    def close(self) -> None: ...


def client_missing(extra: str) -> UsageError:
    return UsageError(
        f"{extra}:// needs a client that is not installed", hint=f"pip install 'possibly[{extra}]'"
    )
