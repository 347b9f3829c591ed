"""Messages whose receivers come late or never."""

from __future__ import annotations

import pytest

from possibly.errors import TraceError
from possibly.trace.deliveries import Deliveries


def test_a_receiver_that_never_comes_is_known_with_its_line() -> None:
    deliveries = Deliveries()
    deliveries.sent_to(["late", "never"], {}, 0, 0, 7)
    deliveries.awaits("never", 9)
    deliveries.arrived("late", 3)
    assert deliveries.unknown() == ("never", 7)
    deliveries.arrived("never", 4)
    assert deliveries.unknown() is None
    assert list(deliveries.to) == [3, 4]


def test_a_broadcast_to_late_receivers_is_received_by_each_once() -> None:
    deliveries = Deliveries()
    deliveries.sent(0, "m", 0)
    deliveries.sent_to(["early", "late"], {"early": 0}, 0, 0, None)
    deliveries.arrived("late", 1)
    deliveries.received(0, "m", 1, "late", 5)
    deliveries.received(0, "m", 0, "early", 6)
    assert list(deliveries.receive) == [6, 5]
    with pytest.raises(TraceError, match="a second time"):
        deliveries.received(0, "m", 1, "late", 7)
