"""Datagrams between sockets and event loops of the program.

What is sent to a place of this machine is there at once, in the order in which it was sent, as on a real
loopback; a protocol of an event loop gets each in a turn of its own. To a place that nobody has it gets lost.
With `--faults network` a datagram may also get lost, come twice, or come after the next one.
"""

from __future__ import annotations

import errno
import os
import socket
from asyncio import base_events, tasks, transports
from functools import partial
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.world import faults, libraries
from possibly.control.world.ends import change
from possibly.control.world.listeners import NET, Names, is_local, network_of, number_of
from possibly.control.world.processes.holding import Held
from possibly.control.world.sockets import close
from possibly.control.world.tables import Table
from possibly.control.world.wires import Waiter, Wire, wake
from possibly.probes.patching import Patches

Address = int | str
"""A port, or a path."""
NOBODY = "datagrams to a place of this machine that the program does not have get lost"
LARGEST = 65_507
"""Bytes of a datagram."""
places: Table[Place] = Table()
"""Socket -> the place from which it sends and at which it receives."""


class Place:
    """Where datagrams come to."""

    def __init__(self, kernel: Kernel, address: Address, host: str) -> None:
        self.address, self.host = address, host
        self.name = name_for("datagrams")
        kernel.labels[self.name] = f"datagrams to {address or 'a socket without a name'}"
        self.queue: list[tuple[bytes, Any]] = []
        self._threats: dict[int, list[Task]] = {}
        """What may go wrong with each of these, by its identity."""
        self.peer: Any = None
        """The only one with which it speaks, if it is connected."""
        self.is_closed = False
        self.waiters: list[Waiter] = []
        self.link: Link | None = None
        """The transport that gets what comes, if an event loop does."""
        self.held: Held | None = None
        """Which processes have it, if not the first alone."""

    def touched_at_end(self) -> tuple[str, ...]:
        """What its closing writes."""
        return NET, self.name

    def shut(self) -> None:
        kernel = running.kernel
        self.is_closed = True
        if kernel is not None and network_of(kernel).places.get(self.address) is self:
            del network_of(kernel).places[self.address]

    def mine(self) -> Any:
        return (self.host, self.address) if isinstance(self.address, int) else self.address

    def is_readable(self) -> bool:
        return bool(self.queue) or self.is_closed

    def is_writable(self) -> bool:
        return True

    def receive(self, data: bytes, sender: Any) -> None:
        if self.is_closed or (self.peer is not None and self.peer != sender):
            return
        if self.link is not None:
            self.link.expect(data, sender)
            return
        change(self.name, *(() if self.queue else ("recv",)))
        item = (data, sender)
        self.queue.append(item)
        wake(self.waiters)
        kernel = running.kernel
        if kernel is not None and faults.may_come(kernel, faults.NETWORK):
            self._threaten(kernel, item)

    def _threaten(self, kernel: Kernel, item: tuple[bytes, Any]) -> None:
        def at() -> int:
            return next((i for i, each in enumerate(self.queue) if each is item), -1)

        def swap() -> None:
            i = at()
            self.queue[i], self.queue[i + 1] = self.queue[i + 1], item

        def lose() -> None:
            del self.queue[at()]

        def is_there() -> bool:
            return at() >= 0

        what = f"a datagram to {self.address}"
        wrong: list[tuple[str, Any, Any]] = [
            (f"loss of {what}", lose, is_there),
            (f"{what} comes twice", partial(self.queue.append, item), is_there),
            (f"{what} comes after the next", swap, lambda: 0 <= at() < len(self.queue) - 1),
        ]
        broken = (Access(self.name, True),)
        self._threats[id(item)] = [
            faults.possible(kernel, label, broken, act, can) for label, act, can in wrong
        ]

    def taken(self, kernel: Kernel) -> tuple[bytes, Any]:
        item = self.queue.pop(0)
        if all(each is not item for each in self.queue):
            for task in self._threats.pop(id(item), ()):
                if not task.ended:
                    kernel.withdraw(task)
        return item


def address_of(sock: Any, address: Any) -> tuple[Address, str] | None:
    """The port or path on this machine, and the host; None for what is elsewhere."""
    if isinstance(address, tuple) and len(address) >= 2:
        host = address[0]
        return (number_of(address[1]), host or "0.0.0.0") if is_local(host) else None
    if isinstance(address, str | bytes):
        return os.path.abspath(os.fsdecode(address)), ""
    return None


def _opened(kernel: Kernel, sock: Any, address: Address, host: str) -> Place:
    """A place of its own; any free one if that is not said."""
    network = network_of(kernel)
    if address == 0:
        address = network.free_port()
    if address in network.places:
        raise OSError(errno.EADDRINUSE, "Address already in use")
    place = Place(kernel, address, host)
    if address:
        network.known.add(address)
        network.places[address] = place
    if sock is not None:
        places[sock] = place
    return place


def _place_of(kernel: Kernel, sock: Any) -> Place:
    """That of a socket, which gets one when it sends for the first time."""
    found = places.get(sock)
    if found is None:
        kernel.visible("bind", NET, writing(NET))
        is_path = sock.family not in (socket.AF_INET, socket.AF_INET6)
        found = _opened(kernel, sock, "" if is_path else 0, "127.0.0.1")
    return found


def _deliver(kernel: Kernel, data: bytes, sender: Place, address: Any, found: tuple[Address, str]) -> None:
    if len(data) > LARGEST:
        raise OSError(errno.EMSGSIZE, "Message too long")
    target = network_of(kernel).places.get(found[0])
    if target is None:
        kernel.assumed[NOBODY] = None
        return
    mine = sender.mine()
    if isinstance(mine, tuple) and mine[0] == "0.0.0.0":
        mine = ("127.0.0.1", mine[1])
    target.receive(data, mine)


# ---- sockets ------------------------------------------------------------------------------------


def _bind(plain: Any) -> Any:
    def bind(self: Any, address: Any) -> Any:
        kernel, found = running.kernel, address_of(self, address)
        if kernel is None or found is None:
            return plain(self, address)
        kernel.visible("bind", NET, writing(NET))
        _opened(kernel, self, *found)
        return None

    return bind


def _connect(plain: Any) -> Any:
    def connect(self: Any, address: Any) -> Any:
        kernel, found = running.kernel, address_of(self, address)
        if kernel is None or found is None:
            return plain(self, address)
        _place_of(kernel, self).peer = (found[1], found[0]) if isinstance(address, tuple) else found[0]
        return None

    return connect


def _sendto(plain: Any) -> Any:
    def sendto(self: Any, data: Any, *given: Any) -> Any:
        kernel, address = running.kernel, given[-1]
        found = address_of(self, address)
        if kernel is None or found is None:
            return plain(self, data, *given)
        return _sent(kernel, self, bytes(data), address, found)

    return sendto


def _send(plain: Any) -> Any:
    def send(self: Any, data: Any, *flags: Any) -> Any:
        kernel, place = running.kernel, places.get(self)
        if kernel is None or place is None or place.peer is None:
            return plain(self, data, *flags)
        found = address_of(self, place.peer)
        assert found is not None
        return _sent(kernel, self, bytes(data), place.peer, found)

    return send


def _sent(kernel: Kernel, sock: Any, data: bytes, address: Any, found: tuple[Address, str]) -> int:
    sender = _place_of(kernel, sock)
    target = network_of(kernel).places.get(found[0])
    thing = target.name if target is not None else NET
    kernel.visible("send", thing, (*(writing(thing) if target else ()), *reading(NET)))
    kernel.tell({"value": repr(data[:60])})
    _deliver(kernel, data, sender, address, found)
    return len(data)


def _taken(sock: Any, kernel: Kernel, place: Place, size: int, peek: bool) -> tuple[bytes, Any]:
    patience, thing = sock.gettimeout(), place.name
    if patience == 0.0:
        kernel.visible("try recv", thing, writing(thing))
        if not place.is_readable():
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    elif not kernel.visible("recv", thing, writing(thing), None, place.is_readable, patience):
        raise TimeoutError("timed out")
    if not place.queue:
        raise OSError(errno.EBADF, "Bad file descriptor")
    data, sender = place.queue[0] if peek else place.taken(kernel)
    kernel.tell({"value": repr(data[:60])})
    return data[:size], sender


def _recvfrom(plain: Any, only_data: bool) -> Any:
    def recvfrom(self: Any, size: int, flags: int = 0) -> Any:
        kernel, place = running.kernel, places.get(self)
        if kernel is None or place is None:
            return plain(self, size, flags)
        found = _taken(self, kernel, place, size, bool(flags & getattr(socket, "MSG_PEEK", 0)))
        return found[0] if only_data else found

    return recvfrom


def _recv_into(plain: Any, only_size: bool) -> Any:
    def recv_into(self: Any, buffer: Any, nbytes: int = 0, flags: int = 0) -> Any:
        if places.get(self) is None:
            return plain(self, buffer, nbytes, flags)
        view = memoryview(buffer).cast("B")
        data, sender = self.recvfrom(nbytes or len(view), flags)
        view[: len(data)] = data
        return len(data) if only_size else (len(data), sender)

    return recv_into


def _real_close(plain: Any) -> Any:
    def _real_close(self: Any, *given: Any) -> None:
        kernel, place = running.kernel, places.get(self)
        if kernel is not None and place is not None and not kernel.ending and not place.is_closed:
            close(kernel, place)
        plain(self, *given)

    return _real_close


def _name(plain: Any, own: bool) -> Any:
    def name(self: Any) -> Any:
        place = places.get(self)
        if place is None:
            return plain(self)
        if not own and place.peer is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return place.mine() if own else place.peer

    return name


SIMULATED: dict[str, Any] = {
    "bind": _bind,
    "connect": _connect,
    "sendto": _sendto,
    "send": _send,
    "sendall": _send,
    "recv": lambda plain: _recvfrom(plain, True),
    "recvfrom": lambda plain: _recvfrom(plain, False),
    "recv_into": lambda plain: _recv_into(plain, True),
    "recvfrom_into": lambda plain: _recv_into(plain, False),
    "_real_close": _real_close,
    "getsockname": lambda plain: _name(plain, True),
    "getpeername": lambda plain: _name(plain, False),
}
"""Method of a socket of datagrams -> what makes the one under control of it (see `doors`)."""


# ---- event loops --------------------------------------------------------------------------------


class Link(transports.DatagramTransport):
    """What a protocol of datagrams has."""

    def __init__(self, loop: Any, protocol: Any, place: Place) -> None:
        names = Names(socket.AF_INET if isinstance(place.address, int) else 1, place.mine(), place.peer)
        super().__init__({"sockname": place.mine(), "peername": place.peer, "socket": names})
        self._loop, self._protocol, self._place = loop, protocol, place
        self._closing = False
        self._back = Wire(loop, f"datagrams to {place.address}")

    def sendto(self, data: Any, addr: Any = None) -> None:
        kernel, address = running.kernel, self._place.peer if addr is None else addr
        found = address_of(None, address)
        if kernel is None or found is None or self._closing:
            return
        kernel.add(Access(NET, False))
        _deliver(kernel, bytes(data), self._place, address, found)

    def expect(self, data: bytes, sender: Any) -> None:
        """A datagram is on its way to the loop."""
        self._back.send(data, partial(self._receive, sender))

    def _receive(self, sender: Any, data: bytes) -> None:
        if not self._closing:
            libraries.uses(self._protocol)
            self._protocol.datagram_received(data, sender)

    def close(self) -> None:
        kernel = running.kernel
        if not self._closing and kernel is not None:
            self._closing = True
            self._back.touch()
            kernel.add(Access(NET, True))
            self._place.shut()
            self._loop.call_soon(self._protocol.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self._closing

    def get_protocol(self) -> Any:
        return self._protocol

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_write_buffer_size(self) -> int:
        return 0


def _create_datagram_endpoint(plain: Any) -> Any:
    async def create_datagram_endpoint(
        self: Any, protocol_factory: Any, local_addr: Any = None, remote_addr: Any = None, **options: Any
    ) -> Any:
        kernel, sock = running.kernel, options.get("sock")
        here = [address_of(None, each) for each in (local_addr, remote_addr) if each is not None]
        outside = not all(here) or (sock is not None and sock not in places) or not (here or sock)
        if kernel is None or outside:
            return await plain(self, protocol_factory, local_addr, remote_addr, **options)
        await tasks.sleep(0)
        kernel.add(Access(NET, True))
        local = address_of(None, local_addr) or ("" if isinstance(remote_addr, str) else 0, "127.0.0.1")
        place = places[sock] if sock is not None else _opened(kernel, None, *local)
        if remote_addr is not None:
            place.peer = tuple(remote_addr[:2]) if isinstance(remote_addr, tuple | list) else remote_addr
        protocol = protocol_factory()
        place.link = Link(self, protocol, place)
        for data, sender in place.queue:
            place.link.expect(data, sender)
        protocol.connection_made(place.link)
        return place.link, protocol

    return create_datagram_endpoint


def install_for_loops(patches: Patches) -> None:
    base: Any = base_events.BaseEventLoop
    plain = base.create_datagram_endpoint
    patches.put(base, "create_datagram_endpoint", _create_datagram_endpoint(plain))
