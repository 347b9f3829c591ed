"""Sends that are under way: MPI goes on with one only while it is called.

A rank that waits for the controller does not call it; so what fits into no buffer, and messages that are more
than MPI keeps for a receiver, would stay where they are, and so would their receivers. Hence a rank asks for
its sends while it waits (`gate.is_busy`).
"""

from __future__ import annotations

from collections import deque
from typing import Any

_sent: deque[Any] = deque()
"""Requests of sends that MPI has not done yet, some with the buffer that it reads."""


def keep(sent: Any) -> None:
    """A send is under way: MPI goes on with it only while it is called, which `is_sending` does."""
    _sent.append(sent)


def is_sending() -> bool:
    """Lets MPI go on with all sends that are under way, by asking for the oldest; whether one is left."""
    while _sent and (_sent[0][0] if isinstance(_sent[0], tuple) else _sent[0]).Test():
        _sent.popleft()
    return bool(_sent)
