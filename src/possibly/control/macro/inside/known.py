"""How far each thread knows what the others did: vector clocks that go with messages (see `sharing`)."""

from __future__ import annotations

from _thread import allocate_lock
from itertools import count
from typing import Any

_lock = allocate_lock()
_numbers = count(1)
_published: dict[str, dict[int, int]] = {}
"""What a sender knew at its send, a thread at its end, and whoever started a thread."""


class Known:
    """What one thread knows."""

    def __init__(self) -> None:
        self.index = next(_numbers)
        self.clock = {self.index: 1}
        self.task: Any = None
        """By whom the things that the thread makes are named."""

    def publish(self, name: str) -> None:
        """What was done so far comes before whatever follows that name."""
        with _lock:
            _published[name] = dict(self.clock)
        self.clock[self.index] += 1

    def learn(self, name: str) -> None:
        for index, number in _published.get(name, {}).items():
            self.clock[index] = max(number, self.clock.get(index, 0))
