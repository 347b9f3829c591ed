"""NATS JetStream: a stream with a subject for each sender, and a durable consumer that reads all of them.

The consumer begins after the monitor's own checkpoint whenever it connects: what was delivered and not
acknowledged comes at once and in order, not after some waiting time and behind what is new. Acknowledgements
(of all messages up to one) tell the server, and whoever looks at it, what is safe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from possibly.session.watching.streams.messages import (
    Message,
    Position,
    StreamAddress,
    StreamAwayError,
    client_missing,
)

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext

PATIENCE = 15.0
"""Seconds for an answer of the server."""
AT_ONCE = 200
"""Messages of one fetch."""
FIRST, LAST = "Possibly-First", "Possibly-Last"

T = TypeVar("T")


class _Connection:
    """A client that is asked from plain code; every failure is a server that is away."""

    def __init__(self, address: StreamAddress) -> None:
        self.address = address
        self._loop = asyncio.new_event_loop()
        self._lost = asyncio.Event()
        try:
            self.client: Client = self.ask(self._connected())
            self.stream: JetStreamContext = self.client.jetstream(timeout=PATIENCE)
            self.ask(self._created())
        except StreamAwayError:
            self._loop.close()
            raise

    def ask(self, question: Coroutine[Any, Any, T]) -> T:
        from nats.errors import Error

        try:
            return self._loop.run_until_complete(self._answer(question))
        except (OSError, TimeoutError, Error) as error:
            reason = str(error) or type(error).__name__
            raise StreamAwayError(f"{self.address} does not answer: {reason}") from None

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    async def _answer(self, question: Coroutine[Any, Any, T]) -> T:
        """The answer, or an error as soon as the connection breaks."""
        asked, lost = asyncio.ensure_future(question), asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait({asked, lost}, timeout=2 * PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            raise ConnectionError("the connection is lost" if lost.done() else "it takes too long")
        finally:
            for each in (asked, lost):
                each.cancel()
            await asyncio.gather(asked, lost, return_exceptions=True)

    async def _connected(self) -> Client:
        import nats

        async def silent(error: Exception) -> None:
            """Whoever asks is told by an exception."""

        async def lost() -> None:
            self._lost.set()

        server, user = f"nats://{self.address.host}:{self.address.port}", self.address.user
        return await nats.connect(
            server,
            user=user or None,
            password=self.address.password or None,
            allow_reconnect=False,
            connect_timeout=int(PATIENCE),
            error_cb=silent,
            closed_cb=lost,
            disconnected_cb=lost,
        )

    async def _created(self) -> None:
        from nats.js.errors import NotFoundError

        try:
            await self.stream.stream_info(self.address.name)
        except NotFoundError:
            await self.stream.add_stream(name=self.address.name, subjects=[f"{self.address.name}.>"])

    def close(self) -> None:
        if not self._lost.is_set():
            with suppress(StreamAwayError):
                self.ask(self.client.close())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


def _connection(address: StreamAddress) -> _Connection:
    try:
        import nats  # noqa: F401
    except ImportError:
        raise client_missing("nats") from None
    return _Connection(address)


class NatsSource:
    def __init__(self, address: StreamAddress, consumer: str, after: Position) -> None:
        self._connection = _connection(address)
        self._unacknowledged: dict[int, Msg] = {}
        try:
            self._messages = self._connection.ask(self._subscribed(consumer, after[0]))
        except StreamAwayError:
            self._connection.close()
            raise

    async def _subscribed(self, consumer: str, after: int) -> JetStreamContext.PullSubscription:
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
        from nats.js.errors import NotFoundError

        stream, name = self._connection.stream, self._connection.address.name
        try:
            await stream.delete_consumer(name, consumer)
        except NotFoundError:
            pass
        settings = ConsumerConfig(
            durable_name=consumer,
            ack_policy=AckPolicy.ALL,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE if after else DeliverPolicy.ALL,
            opt_start_seq=after + 1 if after else None,
            max_ack_pending=-1,
            ack_wait=3600,
        )
        await stream.add_consumer(name, settings)
        return await stream.pull_subscribe_bind(consumer, name)

    def fetch(self, seconds: float) -> list[Message]:
        if self._connection.is_lost:
            raise StreamAwayError(f"{self._connection.address} went away")
        found = self._connection.ask(self._fetched(seconds))
        return [self._message(each) for each in found]

    async def _fetched(self, seconds: float) -> list[Msg]:
        try:
            return await self._messages.fetch(AT_ONCE, timeout=seconds)
        except TimeoutError:
            return []

    def _message(self, message: Msg) -> Message:
        number = message.metadata.sequence.stream
        self._unacknowledged[number] = message
        headers = message.headers or {}
        first = headers.get(FIRST, "")
        return Message(
            (number, 0),
            message.subject.removeprefix(f"{self._connection.address.name}."),
            int(first) if first.isdecimal() else None,
            message.data,
            LAST in headers,
        )

    def acknowledge(self, position: Position) -> None:
        known = [number for number in self._unacknowledged if number <= position[0]]
        if known:
            last = self._unacknowledged[max(known)]
            for number in known:
                del self._unacknowledged[number]
            self._connection.ask(last.ack())

    def close(self) -> None:
        self._connection.close()


class NatsTarget:
    def __init__(self, address: StreamAddress) -> None:
        self._connection = _connection(address)

    def publish(self, sender: str, first: int, lines: bytes, is_last: bool) -> None:
        if self._connection.is_lost:
            raise StreamAwayError(f"{self._connection.address} went away")
        headers = {FIRST: str(first)} | ({LAST: "1"} if is_last else {})
        subject = f"{self._connection.address.name}.{sender}"
        self._connection.ask(self._connection.stream.publish(subject, lines, headers=headers))

    def close(self) -> None:
        self._connection.close()
