"""How far threads and tasks know what the others did: vector clocks that go with messages (see `sharing`)."""

from __future__ import annotations

from _thread import allocate_lock
from itertools import count
from typing import Any

_lock = allocate_lock()
_numbers = count(1)
names: dict[int, str] = {}
_published: dict[str, dict[int, int]] = {}
"""What a sender knew at its send, a thread at its end, and whoever started a thread."""


class Known:
    """What one thread or task knows."""

    def __init__(self, name: str = "") -> None:
        self.index = next(_numbers)
        names[self.index] = name
        self.clock = {self.index: 1}
        self.task: Any = None
        """By whom the things that the thread makes are named."""

    def publish(self, name: str) -> None:
        """What was done so far comes before whatever follows that name."""
        stamp = self.stamp()
        with _lock:
            _published[name] = stamp

    def stamp(self) -> dict[int, int]:
        """What is known by now; what follows is later."""
        found = dict(self.clock)
        self.clock[self.index] += 1
        return found

    def learn(self, name: str) -> None:
        self.absorb(_published.get(name, {}))

    def absorb(self, stamp: dict[int, int]) -> None:
        for index, number in stamp.items():
            self.clock[index] = max(number, self.clock.get(index, 0))
