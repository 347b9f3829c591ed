"""What a history of operations shows, as data: an order for each part, or the shortest bad prefix."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from possibly.trace.histories.model import Operation, Value

State: TypeAlias = Hashable
"""Of a model of an object."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix of a part that cannot be linearised, while all shorter ones can."""

    key: Value
    operations: tuple[Operation, ...]
    """Of the part, called before the prefix ends; as they stand in the history."""
    length: int
    """Calls and returns of the whole history that the prefix consists of; the last is a return."""
    stuck: Operation
    """The operation whose return is the last event."""
    reached: tuple[Operation, ...]
    """An order of the operations without that return."""
    state: State
    """After that order."""


@dataclass(frozen=True, slots=True)
class Linearized:
    """The answer. `holds` is None if it was not decided."""

    holds: bool | None
    orders: dict[Value, tuple[Operation, ...]]
    """For each part that has one."""
    prefix: Prefix | None
    configurations: int
    reason: str | None = None
    shortest: bool = True
    """No prefix is shorter in any part; False if a limit was met on the way to know that."""
