"""Of all that is waited for, locks alone have sections."""

from __future__ import annotations

from possibly.verdict import deadlocks
from possibly.verdict.deadlocks import LOCK, Want


def test_a_lock_is_a_lock() -> None:
    kinds = {value for name, value in vars(deadlocks).items() if name.isupper() and name != "ASSUMED"}
    assert len(kinds) == 7
    assert [kind for kind in kinds if Want(kind, 1).is_lock] == [LOCK]
