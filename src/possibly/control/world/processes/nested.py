"""A process that a started process starts, as that one has it: the first process has its deputy.

The way on which the new process asks is handed to the first process, which adopts it. It does not die with
its parent, as no process does.
"""

from __future__ import annotations

import posix
import socket

from possibly.control.forking import outside
from possibly.control.world.processes import channel, life
from possibly.control.world.processes.channel import Channel

_plain_fork = posix.fork


class Nested:
    """One that this process has started, which is not the first."""

    def __init__(self, name: str, daemon: bool = False, is_awaited: bool = False) -> None:
        self.name, self._how = name, (daemon, is_awaited)
        self.pid = self.number = self.sentinel = 0
        self.returncode: int | None = None

    def fork(self) -> bool:
        """Whether this is the new process."""
        channel.ask("step", "fork", "_:fork", ())
        mine, other = socket.socketpair()
        outside.expected += 1
        try:
            self.pid = _plain_fork()
        finally:
            outside.expected -= 1
        if self.pid == 0:
            mine.close()
            life.be_born(Channel(other), is_nested=True)
            return True
        other.close()
        self.sentinel = mine.fileno()
        asked = ("adopt", self.name, *self._how, self.pid)
        self.number, self.name = channel.ask(*asked, file=self.sentinel)
        mine.detach()  # it is waited for by this number
        return False

    def poll(self) -> int | None:
        self.returncode = channel.ask("call", self.number, "poll", ())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        self.returncode = channel.ask("call", self.number, "wait", (timeout,))
        return self.returncode

    def receive(self, number: int) -> None:
        channel.ask("call", self.number, "receive", (int(number),))
