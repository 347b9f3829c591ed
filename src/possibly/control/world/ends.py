"""The ends of a connection that belong to a socket rather than to an event loop.

What is sent to such an end is there at once, as on a real loopback: it waits in the end until somebody takes
it. Whoever reads gets all that is there, up to what was asked for, as from a real stream. The first thing
that is sent to an end which is closed is lost; then the sender is told.

Law: an end is several things, so that only what can tell the difference depends on it. Whatever comes is a
thing by its number; whoever has taken less than was asked for has seen that the next one was not there, and
only who finds nothing sees whether there will be more (`over`). Takers of one end go one by one (`head`), so
do those who send from it (`sending`); `closed` is what senders ask of the other end.
"""

from __future__ import annotations

from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.world.flows import OF_PATHS, Flow
from possibly.control.world.processes.holding import Held
from possibly.control.world.wires import Item, Receive, Waiter, Wire, wake

Touched = tuple[Access, ...]


def change(thing: str, *opened: str) -> None:
    """The running step changes a thing; operations of these kinds could not be done on it just before."""
    kernel = running.kernel
    if kernel is not None and not kernel.ending:
        kernel.add(Access(thing, True))
        kernel.opened(*((kind, thing) for kind in opened))


def add(access: Access) -> None:
    """The running step touches this too."""
    kernel = running.kernel
    if kernel is not None and not kernel.ending:
        kernel.add(access)


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
        self.head, self.sending = f"{self.name}.head", f"{self.name}.sending"
        self.over, self.closed = f"{self.name}.over", f"{self.name}.closed"
        self.chunks: list[bytes] = []
        self.came = 0
        """So many have come in all."""
        self.is_over = False
        """The other end will write no more."""
        self.is_cut = False
        """What is sent to it gets lost, which nobody tells the sender."""
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

    def item(self, number: int) -> str:
        return f"{self.name}#{number}"

    def receive(self, item: Item) -> None:
        if self.is_cut:
            return
        self._change(self.over if item is None else self.item(self.came))
        if item is None:
            self.is_over = True
        else:
            self.came += 1
            if not self.is_closed:
                self.chunks.append(item)
        wake(self.waiters)

    def lost(self, error: Exception | None) -> None:
        """The other end is gone."""
        self._change(self.over)
        self.error, self.is_over = error, True
        wake(self.waiters)

    def _change(self, thing: str) -> None:
        change(thing, *(() if self.is_readable() else ("recv",)))

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
            self._drop(size)
        return whole[:size]

    def _drop(self, size: int) -> None:
        while self.chunks and len(self.chunks[0]) <= size:
            size -= len(self.chunks.pop(0))
        if self.chunks:
            self.chunks[0] = self.chunks[0][size:]

    def touched_by_taking(self, size: int) -> Touched:
        """What whoever takes up to so many bytes now can tell the difference of."""
        if not self.chunks:
            return Access(self.head, True), *self._seen_if_empty()
        numbers, left = [], size
        for number, chunk in enumerate(self.chunks, self._first()):
            if left > 0:
                numbers.append(number)
            left -= len(chunk)
        found = (Access(self.head, True), *(Access(self.item(each), True) for each in numbers))
        return (*found, Access(self.item(self.came), False)) if left > 0 else found

    def touched_by_looking(self, reads: bool, writes: bool) -> Touched:
        """What whoever asks whether it is ready can tell the difference of."""
        found = (Access(self.head, False), *self._seen_if_empty(), Access(self.item(self._first()), False))
        of_peer = (self.peer.closed,) if isinstance(self.peer, End) else ()
        sent = (self.sending, self.over, self.closed, *of_peer, self.flow.name)
        wanted = (*(found if reads else ()), *(Access(each, False) for each in (sent if writes else ())))
        return tuple(dict.fromkeys(wanted))

    def _seen_if_empty(self) -> Touched:
        return tuple(Access(each, False) for each in (self.item(self.came), self.over, self.closed))

    def _first(self) -> int:
        """The number of the next that will be taken."""
        return self.came - len(self.chunks)

    def reset(self) -> None:
        """The connection breaks: this end is told now, the other one later."""
        error = ConnectionResetError(104, "Connection reset by peer")
        peer = self.peer
        change(self.sending)
        self.has_ended = True
        self.out.send("reset", lambda _: peer.lost(error))
        self.lost(error)

    def can_break(self) -> bool:
        return not self.is_closed and self.error is None

    def half_close(self) -> None:
        """Nothing comes any more, as behind a proxy that has ended this direction; the other one goes on."""
        self.receive(None)
        self.is_cut = True

    def can_end(self) -> bool:
        return self.can_break() and not self.is_over

    @property
    def fragile(self) -> Touched:
        """What is touched where the connection breaks at this end, at least."""
        return Access(self.over, True), Access(self.peer.out.end, True), Access(self.closed, False)

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

    def touched_by_sending(self) -> Touched:
        asked = Access(self.over, False), Access(self.closed, False)
        found: Touched = (Access(self.sending, True), *asked)
        if not isinstance(self.peer, End):
            return found
        found = (*found, Access(self.peer.closed, False))
        if not isinstance(
            self.out, Direct
        ):  # it comes there in a step of its own, in which number nobody knows
            return found
        return *found, Access(self.peer.item(self.peer.came), True)

    def touched_by_ending(self) -> Touched:
        found = Access(self.sending, True), Access(self.closed, False)
        is_told = not self.has_ended and isinstance(self.peer, End)
        return (*found, Access(self.peer.over, True)) if is_told else found

    def touched_by_closing(self) -> Touched:
        """Whether there is something that nobody has read is told to the other end."""
        written = tuple(Access(each, True) for each in (self.closed, self.head))
        told = (Access(self.peer.over, True),) if self.chunks and isinstance(self.peer, End) else ()
        return (*written, *self.touched_by_ending(), *told, Access(self.item(self._first()), False))

    def touched_at_end(self) -> tuple[str, ...]:
        """What its closing may write."""
        of_peer = (self.peer.over,) if isinstance(self.peer, End) else ()
        return (self.name, self.closed, self.head, self.sending, *of_peer)

    def close(self) -> None:
        if self.is_closed:
            return
        for access in self.touched_by_closing():
            add(access)
        if self.chunks:  # what nobody has read is told as a reset
            peer, error = self.peer, ConnectionResetError(104, "Connection reset by peer")
            self.has_ended = True
            self.out.send("reset", lambda _: peer.lost(error))
        self.end()
        self._change(self.closed)
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
