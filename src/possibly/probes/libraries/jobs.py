"""Functions that a library calls in threads which it keeps: each is a process of its own.

Two jobs of one thread have nothing to do with each other, as in a pool (`thread_pools`).
"""

from __future__ import annotations

from typing import Any

from possibly.probes import port
from possibly.probes.thread_pools import name_of


class Job:
    """One call, from where it is asked for to its end."""

    def __init__(self, function: Any) -> None:
        self._process = port.new_process(name_of(function))
        self._thread = 0
        port.before("spawn", self._process)

    def begin(self) -> None:
        """The running thread does it from now on."""
        self._thread = port.me()
        port.become(self._process)
        port.after("start", self._process)

    def end(self) -> None:
        port.before("end", self._process)
        port.become(self._thread)
        port.after("join", self._process)
