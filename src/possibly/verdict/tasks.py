"""Why a formula of the task logic is unsatisfied, as data: which tasks, which parts, which local states.

Here belongs what a witness of a task formula has beside the way to its slice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Value = Any


@dataclass(frozen=True, slots=True)
class TaskPart:
    """A sub-formula at the failing slice."""

    text: str
    value: str
    """`satisfied`, `unsatisfied` or `undefined`."""
    reads: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    """For `t:(...)`: its visible variables, each with every value that it can have there."""
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class StateFact:
    """A local state of the failing slice."""

    task: str
    count: int
    """How many events the task has executed."""
    stack: str
    """As in `/IN.put/START.append`."""
    values: Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """The nearest cut (slice and assignment) that makes the formula unsatisfied."""

    tasks: Mapping[str, str]
    """The assignment: the task of each task variable."""
    parts: tuple[TaskPart, ...] = ()
    states: tuple[StateFact, ...] = ()
    """The local states of the assigned tasks."""
    subnet: tuple[str, ...] = ()
    """The events that lead to these local states: all that happened before one of them."""
    failing: int | None = None
    """How many cuts fail in all; None where they were not counted."""
    slices: int | None = None
    """How many slices fail under some assignment."""
    all_slices: int | None = None
