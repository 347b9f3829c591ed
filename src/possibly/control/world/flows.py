"""How much is on its way in one direction of a connection: who sends more than fits waits, or is told.

Law: a direction holds what a real one of this machine holds when nobody reads, measured. What does not fit
into a socket of a thread waits with it; what does not fit into a transport of an event loop stays there, and
its protocol is asked to pause until enough has been taken.

Only where so much has been sent that it may not fit do senders and receivers touch the flow itself: small
talk depends on nothing but itself.
"""

from __future__ import annotations

from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.world.wires import Waiter, wake

OF_MACHINES, OF_PATHS = 3_900_000, 212_992
"""Bytes that are on their way at most, between addresses of the internet, and between paths or in a pair."""
PIECE = 262_144
"""Bytes that a transport of an event loop reads at a time."""


class Flow:
    """What is on its way in one direction."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.load = 0
        self.waiters: list[Waiter] = []
        self.relieve: Any = None
        """Is called when something has been taken, if the sender is a transport that has paused."""
        self.name = name_for("flow")
        self._total = 0
        kernel = running.kernel
        if kernel is not None:
            kernel.labels[self.name] = "room in the connection"

    def free(self) -> int:
        return self.room - self.load

    def has_room_for(self, size: int) -> bool:
        """Whether somebody who has so much to send, and has found no room, goes on."""
        return self.free() >= min(size, self.room // 2)

    def put(self, size: int) -> None:
        self.load += size
        self._total += size
        self._touch()

    def take(self, size: int) -> None:
        was_full = self.load > self.room // 2
        self.load -= min(size, self.load)
        kernel = running.kernel
        if was_full and kernel is not None and not kernel.ending:
            self._touch()
            kernel.opened(("send", self.name))
            self._tell()

    def _tell(self) -> None:
        if self.load <= self.room // 2:
            wake(self.waiters)
        if self.relieve is not None:
            self.relieve()

    def _touch(self) -> None:
        kernel = running.kernel
        if self._total > self.room // 2 and kernel is not None and kernel.in_step:
            kernel.add(Access(self.name, True))
