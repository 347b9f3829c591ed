"""Addresses of streams."""

from __future__ import annotations

import pytest

from possibly.errors import UsageError
from possibly.session.watching.streams.messages import StreamAddress, is_stream


def test_an_address() -> None:
    found = StreamAddress.of("nats://ann:se%40cret@10.0.0.1:4333/orders-2")
    assert (found.host, found.port, found.name, found.user) == ("10.0.0.1", 4333, "orders-2", "ann")
    assert found.password == "se@cret" and str(found) == "nats://10.0.0.1:4333/orders-2"
    assert StreamAddress.of("redis://localhost/run").port == 6379
    assert str(StreamAddress.of("nats://[::1]/run")) == "nats://[::1]:4222/run"


@pytest.mark.parametrize(
    "text", ["nats://host", "nats:///run", "nats://host:99999/run", "kafka://host/run", "redis://host/a.b"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError):
        StreamAddress.of(text)


def test_what_is_a_stream() -> None:
    assert is_stream("nats://x") and is_stream("redis://x")
    assert not is_stream("7007") and not is_stream("unix:nats") and not is_stream("-")
