"""The ends of a connection, as protocols of `asyncio` know them.

What differs from a real one: whoever writes to an end that is closed is not told, and an end that closes is
told so at once, also if it has not sent all.
"""

from __future__ import annotations

import errno
from asyncio import protocols, transports
from typing import Any

from possibly.control.execution import Access
from possibly.control.world import libraries, secure
from possibly.control.world.flows import PIECE, Flow
from possibly.control.world.wires import Item, Wire


class Link(transports.Transport):
    """One end: writes to its wire, and gets what comes on the other one."""

    _start_tls_compatible = True

    def __init__(
        self, loop: Any, protocol: Any, out: Wire, back: Wire, flow: Flow, extra: dict[str, Any]
    ) -> None:
        super().__init__(extra)
        self._loop = loop
        self._protocol = protocol
        self.out = out
        self.back = back
        self._closing = False
        self._ended = False
        """It has said that it will write no more."""
        self._has_all = False
        """Nothing will come any more; what is sent nevertheless gets lost."""
        self.peer: Any = None
        self.server: Any = None
        self.flow = flow
        self._is_held = False
        """The protocol was asked to pause."""
        self.set_write_buffer_limits()

    # ---- writing ------------------------------------------------------------------------------------

    def write(self, data: Any) -> None:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self._ended:
            raise RuntimeError("Cannot call write() after write_eof()")
        if data and not self._closing:
            for begin in range(0, len(data), PIECE):
                self._send(bytes(data[begin : begin + PIECE]))
            self._hold()

    def _hold(self) -> None:
        """More is on its way than fits: the protocol is asked to pause."""
        if not self._is_held and self.get_write_buffer_size() > self._high:
            self._is_held = True
            self.flow.relieve = self._relieve
            self._protocol.pause_writing()

    def _relieve(self) -> None:
        """Something has been taken at the other end: this one hears of it some time later."""
        if self._is_held and self.get_write_buffer_size() <= self._low:
            self.flow.relieve = None
            Wire(self._loop, "room for more").send("there is", lambda _: self._resume())

    def _resume(self) -> None:
        self._is_held = False
        if not self._closing:
            self._protocol.resume_writing()

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        if not self._ended and not self._closing:
            self._ended = True
            self._send(None)

    def can_write_eof(self) -> bool:
        return True

    def _send(self, item: Item) -> None:
        peer = self.peer
        if peer is not None:
            self.flow.put(len(item or b""))
            self.out.is_secret = secure.is_secret(self._protocol)
            self.out.send(item, peer.receive)

    # ---- reading ------------------------------------------------------------------------------------

    def receive(self, item: Item) -> None:
        """Something arrives."""
        self.peer.flow.take(len(item or b""))
        if self._closing or self._has_all:
            return
        libraries.uses(self._protocol)
        self._has_all = item is None
        if item is None:
            if not self._protocol.eof_received():
                self.close()
        elif isinstance(self._protocol, protocols.BufferedProtocol):
            self._fill(item)
        else:
            self._protocol.data_received(item)

    def _fill(self, data: bytes) -> None:
        while data:
            buffer = self._protocol.get_buffer(len(data))
            size = min(len(buffer), len(data))
            buffer[:size] = data[:size]
            self._protocol.buffer_updated(size)
            data = data[size:]

    def pause_reading(self) -> None:
        self.back.touch()
        self.back.is_paused = True

    def resume_reading(self) -> None:
        self.back.touch()
        self.back.is_paused = False

    def is_reading(self) -> bool:
        self.back.touch()
        return not self.back.is_paused and not self._closing

    # ---- the end ------------------------------------------------------------------------------------

    def close(self) -> None:
        self._lose(None, None)

    def abort(self) -> None:
        self._lose(None, ConnectionResetError("Connection reset by peer"))

    def _force_close(self, error: Exception | None) -> None:
        """What TLS does where it fails."""
        self._lose(error, ConnectionResetError("Connection reset by peer"))

    def lost(self, error: Exception | None) -> None:
        """The other end is gone."""
        self._lose(error, None, silently=True)

    def _lose(self, mine: Exception | None, theirs: Exception | None, silently: bool = False) -> None:
        if self._closing:
            return
        self.back.touch()
        self._closing = True
        peer = self.peer
        if theirs is not None and peer is not None:
            self.out.send(repr(theirs), lambda _: peer.lost(theirs))
        elif not self._ended and not silently:
            self._send(None)
        self._loop.call_soon(self._tell_lost, mine)

    def _tell_lost(self, error: Exception | None) -> None:
        self._protocol.connection_lost(error)
        if self.server is not None:
            detach(self.server, self)
            self.server = None

    def reset(self) -> None:
        """The connection breaks: this end is told now, the other one later."""
        error = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        self._lose(error, error)

    def can_break(self) -> bool:
        return self._protocol is not None and not self._closing

    def half_close(self) -> None:
        """Nothing comes any more, as behind a proxy that has ended this direction; the other one goes on."""
        self.receive(None)

    def can_end(self) -> bool:
        return self.can_break() and not self._has_all

    @property
    def fragile(self) -> tuple[Access, ...]:
        """What is touched where the connection breaks at this end, at least."""
        return (Access(self.back.end, True),)

    @property
    def receives_in(self) -> Any:
        """The loop in which this end is told."""
        return self._loop

    def refuse(self) -> None:
        """Nobody is there for a connection that was made."""
        self._closing = True
        peer = self.peer
        if peer is not None:
            error = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
            self.out.send("reset", lambda _: peer.lost(error))

    def is_closing(self) -> bool:
        self.back.touch()
        return self._closing

    # ---- what else is asked -------------------------------------------------------------------------

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def get_write_buffer_size(self) -> int:
        return max(0, -self.flow.free())

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = (65_536 if low is None else 4 * low) if high is None else high
        self._low = self._high // 4 if low is None else low


def attach(server: Any, link: Link) -> None:
    """The server counts its connections: by number up to Python 3.12, then by transport."""
    link.server = server
    try:
        server._attach(link)
    except TypeError:
        server._attach()


def detach(server: Any, link: Link) -> None:
    try:
        server._detach(link)
    except TypeError:
        server._detach()
