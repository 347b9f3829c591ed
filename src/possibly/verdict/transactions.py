"""What orders transactions, as data: the cycles of an anomaly are made of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edge:
    """The first comes before the second."""

    first: int
    second: int
    kind: str
    why: str = ""
