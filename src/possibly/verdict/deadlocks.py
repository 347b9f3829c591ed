"""A deadlock that another order of a run reaches, as data: who waits for what and holds what."""

from __future__ import annotations

from dataclasses import dataclass

ASSUMED = "accesses to shared memory, which were not recorded, decide nothing"
LOCK, END, UNIT, ROOM, ITEM, SIGNAL = "lock", "end", "unit", "room", "item", "signal"
OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class Section:
    """A critical section."""

    lock: int
    """The string number of its tag; below zero, a unit of a semaphore."""
    thing: int
    """The string number of its tag."""
    acquire: int
    release: int | None
    """None if the lock was still held when the run ended."""


@dataclass(frozen=True, slots=True)
class Want:
    """A lock, a unit, room, an item or a signal of a primitive; the end of a process; what it resolves."""

    kind: str
    thing: int
    """The string number of its tag; of END, the process; of OUTCOME, the event that resolves it."""

    @property
    def is_lock(self) -> bool:
        """Whether a critical section would begin with it."""
        return self.kind == LOCK


@dataclass(frozen=True, slots=True)
class Request:
    """A process that waits for ever."""

    process: int
    event: int
    """What it would not have got past."""
    want: Want
    targets: tuple[int, ...]
    """The processes that it waits for."""
    holds: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Requests, each waiting for others of them, and the part of the run after which all wait."""

    requests: tuple[Request, ...]
    cut: tuple[int, ...]
    path: tuple[int, ...]
    """Events in an order that leads there."""
