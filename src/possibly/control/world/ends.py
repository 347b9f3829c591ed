"""The ends of a connection that belong to a socket rather than to an event loop.

What is sent to such an end is there at once, as on a real loopback: it waits in the end until somebody takes
it. Whoever reads gets all that is there, up to what was asked for, as from a real stream. The first thing
that is sent to an end which is closed is lost; then the sender is told.
"""

from __future__ import annotations

from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.world.flows import OF_PATHS, Flow
from possibly.control.world.processes.holding import Held
from possibly.control.world.wires import Item, Receive, Waiter, Wire, wake


def change(thing: str, *opened: str) -> None:
    """The running step changes a thing; operations of these kinds could not be done on it just before."""
    kernel = running.kernel
    if kernel is not None and not kernel.ending:
        kernel.add(Access(thing, True))
        kernel.opened(*((kind, thing) for kind in opened))


def way_to(label: str, loop: Any = None) -> Any:
    """The way to the receiving end: to threads all is there at once, unless it may come otherwise."""
    kernel = running.kernel
    is_open = kernel is not None and (kernel.split or "network" in kernel.faults)
    return Wire(loop, label) if loop is not None or is_open else Direct()


class Direct:
    """A way to an end at which all is there at once."""

    def send(self, what: Item | str, receive: Receive) -> None:
        receive(what)

    def touch(self) -> None:
        pass


class End:
    """One end: what has come to it, and the way to the other."""

    def __init__(self, label: str, mine: Any, other: Any, flow: Flow) -> None:
        self.name = name_for("socket")
        self.mine, self.other = mine, other
        self.chunks: list[bytes] = []
        self.is_over = False
        """The other end will write no more."""
        self.error: Exception | None = None
        self.is_closed = False
        self.has_ended = False
        """This end has said that it will write no more."""
        self.was_told = False
        """It has written to an end that is closed."""
        self.peer: Any = None
        self.is_secret = False
        """What it sends and gets is encrypted, anew in each execution."""
        self.out: Any = Direct()
        self.flow = flow
        self.waiters: list[Waiter] = []
        self.held: Held | None = None
        """Which processes have it, if not the first alone."""
        kernel = running.kernel
        if kernel is not None:
            kernel.labels[self.name] = label

    # ---- what comes -----------------------------------------------------------------------------

    def receive(self, item: Item) -> None:
        self._change()
        if item is None:
            self.is_over = True
        elif not self.is_closed:
            self.chunks.append(item)
        wake(self.waiters)

    def lost(self, error: Exception | None) -> None:
        """The other end is gone."""
        self._change()
        self.error, self.is_over = error, True
        wake(self.waiters)

    def _change(self) -> None:
        change(self.name, *(() if self.is_readable() else ("recv",)))

    def is_readable(self) -> bool:
        return bool(self.chunks) or self.is_over or self.is_closed

    def is_writable(self) -> bool:
        return self.can_send(1)

    def taken(self, size: int, peek: bool = False) -> bytes:
        """Up to so many bytes of what is there; nothing if there will be no more."""
        if self.error is not None and not self.chunks:
            raise self.error
        whole = b"".join(self.chunks)
        if not peek:
            self.peer.flow.take(min(size, len(whole)))
            self.chunks = [whole[size:]] if whole[size:] else []
        return whole[:size]

    def reset(self) -> None:
        """The connection breaks: this end is told now, the other one later."""
        error = ConnectionResetError(104, "Connection reset by peer")
        peer = self.peer
        self.has_ended = True
        self.out.send("reset", lambda _: peer.lost(error))
        self.lost(error)

    def can_break(self) -> bool:
        return not self.is_closed and self.error is None

    @property
    def fragile(self) -> str:
        """The thing that is written where the connection breaks at this end."""
        return self.name

    receives_in = None
    """No loop: threads find it out."""

    # ---- what goes ------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        if self.has_ended or self.was_told or self.error is not None:
            raise BrokenPipeError(32, "Broken pipe")
        peer = self.peer
        if getattr(peer, "is_closed", False):
            self.was_told = True
        elif data:
            self.flow.put(len(data))
            self.out.send(data, peer.receive)

    def send_what_fits(self, data: bytes) -> int:
        """Sends as much as there is room for; returns how much."""
        is_taken = not getattr(self.peer, "is_closed", False)
        piece = data[: max(self.flow.free(), 0)] if is_taken else data
        if piece or not data:
            self.send(piece)
        return len(piece)

    def can_send(self, size: int) -> bool:
        """Whether one who has so much to send need not wait: there is room, or nobody who takes it."""
        is_over = self.has_ended or self.was_told or self.is_closed or self.error is not None
        return is_over or getattr(self.peer, "is_closed", False) or self.flow.has_room_for(size)

    def end(self) -> None:
        """No more will be written."""
        if not self.has_ended and not self.is_closed:
            self.has_ended = True
            peer = self.peer
            self.out.send(None, peer.receive)

    def touched_at_end(self) -> tuple[str, ...]:
        """What its closing writes."""
        return getattr(self.peer, "name", self.name), self.name

    def close(self) -> None:
        if self.is_closed:
            return
        if self.chunks:  # what nobody has read is told as a reset
            peer, error = self.peer, ConnectionResetError(104, "Connection reset by peer")
            self.has_ended = True
            self.out.send("reset", lambda _: peer.lost(error))
        self.end()
        self._change()
        self.is_closed = True
        self.peer.flow.take(self.peer.flow.load)

    shut = close


def tie(one: Any, other: Any) -> None:
    """The two are the ends of one connection."""
    one.peer, other.peer = other, one


def pair() -> tuple[End, End]:
    """The ends of a connection between two sockets without names."""
    one, other = (
        End("one of a pair of sockets", "", "", Flow(OF_PATHS)),
        End("the other", "", "", Flow(OF_PATHS)),
    )
    tie(one, other)
    one.out, other.out = way_to("to the other"), way_to("to the one")
    return one, other
