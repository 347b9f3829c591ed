"""Which server an address means: the one place that knows both."""

from __future__ import annotations

from possibly.session.watching.streams.messages import Position, Source, StreamAddress, Target


def source_of(address: StreamAddress, consumer: str, after: Position) -> Source:
    """The stream from after a position on, as a durable consumer of that name."""
    if address.scheme == "nats":
        from possibly.session.watching.streams.nats_stream import NatsSource

        return NatsSource(address, consumer, after)
    from possibly.session.watching.streams.redis_stream import RedisSource

    return RedisSource(address, consumer, after)


def target_of(address: StreamAddress) -> Target:
    if address.scheme == "nats":
        from possibly.session.watching.streams.nats_stream import NatsTarget

        return NatsTarget(address)
    from possibly.session.watching.streams.redis_stream import RedisTarget

    return RedisTarget(address)
