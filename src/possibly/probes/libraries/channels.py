"""Channels in memory of `trio` and `anyio`: a send is a message to the receive that gets the value.

Both have `send`, `send_nowait`, `receive` and `receive_nowait`. A value travels in an envelope, so that it is
the same message whether it waits in the buffer, with its sender, or is handed over.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches


class Envelope:
    """A value on its way."""

    __slots__ = ("message", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.message = 0

    def tell(self, channel: int) -> None:
        if not self.message:
            self.message = port.number()
            port.before("put", self.message, (channel, 0))


_numbers: dict[int, int] = {}
"""What both ends of a channel have in common, by its identity -> its number."""


def _number(end: Any) -> int:
    found = _numbers.get(id(end._state))
    if found is None:
        found = _numbers[id(end._state)] = port.number()
    return found


def _opened(end: Any, found: Any) -> Any:
    if type(found) is not Envelope:
        return found
    if found.message:
        port.after("get", found.message, _number(end))
    return found.value


def install_anyio(patches: Patches) -> None:
    """Of any loop: what is imported with it knows nothing of `asyncio`."""
    module: Any = sys.modules["anyio.streams.memory"]
    install(patches, module.MemoryObjectSendStream, module.MemoryObjectReceiveStream)


def install(patches: Patches, sending: Any, receiving: Any) -> None:
    send, send_nowait = sending.send, sending.send_nowait
    receive, receive_nowait = receiving.receive, receiving.receive_nowait

    def told_send_nowait(self: Any, value: Any) -> None:
        given = value if type(value) is Envelope else Envelope(value)
        try:
            send_nowait(self, given)
        except BaseException:
            if given is value:  # it waits for a receiver
                given.tell(_number(self))
            raise
        given.tell(_number(self))

    async def told_send(self: Any, value: Any) -> None:
        await send(self, Envelope(value))

    def told_receive_nowait(self: Any) -> Any:
        return _opened(self, receive_nowait(self))

    async def told_receive(self: Any) -> Any:
        return _opened(self, await receive(self))

    patches.put(sending, "send_nowait", told_send_nowait)
    patches.put(sending, "send", told_send)
    patches.put(receiving, "receive_nowait", told_receive_nowait)
    patches.put(receiving, "receive", told_receive)
