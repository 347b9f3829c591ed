"""Redis Streams: one stream that all senders append to, and a group that reads it.

The group begins after the monitor's own checkpoint whenever it connects, so that entries which were delivered
and not acknowledged come again, in order and before what is new. How safe an entry is that the server has
taken is the server's setting: with `appendonly yes` it outlives the server's process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possibly.session.watching.streams.messages import (
    Message,
    Position,
    StreamAddress,
    StreamAwayError,
    client_missing,
)

if TYPE_CHECKING:
    from redis import Redis

PATIENCE = 30.0
AT_ONCE = 200
CONSUMER = "monitor"


def _client(address: StreamAddress) -> Redis:
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise client_missing("redis") from None
    return Redis(
        host=address.host,
        port=address.port,
        username=address.user or None,
        password=address.password or None,
        socket_timeout=PATIENCE,
        socket_connect_timeout=PATIENCE,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )


class _Connection:
    def __init__(self, address: StreamAddress) -> None:
        self.address = address
        self.client = _client(address)

    def ask(self, *words: Any) -> Any:
        from redis.exceptions import RedisError

        try:
            return self.client.execute_command(*words)  # type: ignore[no-untyped-call]
        except (OSError, RedisError) as error:
            raise StreamAwayError(f"{self.address} does not answer: {error}") from error

    def close(self) -> None:
        self.client.close()


class RedisSource:
    def __init__(self, address: StreamAddress, consumer: str, after: Position) -> None:
        self._connection = _Connection(address)
        self._group = consumer
        self._unacknowledged: list[Position] = []
        self._begin(f"{after[0]}-{after[1]}")

    def _begin(self, after: str) -> None:
        name = self._connection.address.name
        try:
            self._connection.ask("XGROUP", "CREATE", name, self._group, after, "MKSTREAM")
        except StreamAwayError as error:
            if "BUSYGROUP" not in error.message:  # the group is there
                raise
            self._connection.ask("XGROUP", "SETID", name, self._group, after)

    def fetch(self, seconds: float) -> list[Message]:
        words = ("XREADGROUP", "GROUP", self._group, CONSUMER, "COUNT", AT_ONCE)
        wait = "BLOCK", max(1, int(1000 * seconds))
        found = self._connection.ask(*words, *wait, "STREAMS", self._connection.address.name, ">")
        return [self._message(*entry) for _, entries in found or () for entry in entries]

    def _message(self, identifier: bytes, fields: dict[bytes, bytes]) -> Message:
        milliseconds, _, number = identifier.partition(b"-")
        position = int(milliseconds), int(number)
        self._unacknowledged.append(position)
        first = fields.get(b"first", b"")
        return Message(
            position,
            fields.get(b"sender", b"anybody").decode(errors="replace"),
            int(first) if first.isdigit() else None,
            fields.get(b"lines", b""),
            b"last" in fields,
        )

    def acknowledge(self, position: Position) -> None:
        safe = [each for each in self._unacknowledged if each <= position]
        self._unacknowledged = [each for each in self._unacknowledged if each > position]
        if safe:
            names = (f"{first}-{second}" for first, second in safe)
            self._connection.ask("XACK", self._connection.address.name, self._group, *names)

    def close(self) -> None:
        self._connection.close()


class RedisTarget:
    def __init__(self, address: StreamAddress) -> None:
        self._connection = _Connection(address)

    def publish(self, sender: str, first: int, lines: bytes, is_last: bool) -> None:
        fields: list[Any] = ["sender", sender, "first", first, "lines", lines]
        self._connection.ask(
            "XADD", self._connection.address.name, "*", *fields, *(["last", 1] if is_last else [])
        )

    def close(self) -> None:
        self._connection.close()
