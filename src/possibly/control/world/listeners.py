"""Where servers of this machine are, and how connections come to them; none of them leaves the program.

A port is open as long as its server listens. A server of an event loop gets a connection in a step of its
own; for one that threads serve it waits to be taken.
"""

from __future__ import annotations

import _socket
import errno
import os
import socket
from contextlib import closing
from typing import Any

from possibly.control.execution import Access, Outcome
from possibly.control.forking import outside
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.control.world import faults
from possibly.control.world.ends import End, change, tie, way_to
from possibly.control.world.flows import OF_MACHINES, OF_PATHS, Flow
from possibly.control.world.processes import channel
from possibly.control.world.processes.holding import Held
from possibly.control.world.tables import Table
from possibly.control.world.transports import Link, attach
from possibly.control.world.wires import Waiter, Wire, wake

NET = "_:network"
LOOPS = "connections of an event loop in a process that the program has started, which are not under control"
BLOCKING = "sockets that a process itself waits for are under control, and so are loops of the first process"
FIRST_PORT = 40_001
LOCAL = frozenset({None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "localhost.localdomain"})

Address = int | str
"""A port, or a path."""


class Network:
    """The servers of one execution."""

    def __init__(self) -> None:
        self.listeners: dict[Address, Listener] = {}
        self.places: dict[Address, Any] = {}
        """Where datagrams come to."""
        self.known: set[Address] = set()
        """Where servers of this program have ever been."""
        self.connections = 0

    def free_port(self) -> int:
        port = FIRST_PORT
        while port in self.known:
            port += 1
        return port

    def open(self, address: Address, host: str | None) -> Listener:
        """A place of its own for a server."""
        if address in self.listeners:
            raise OSError(errno.EADDRINUSE, f"error while attempting to bind on address {address!r}")
        self.known.add(address)
        found = self.listeners[address] = Listener(address, host)
        kernel = running.kernel
        if kernel is not None and faults.may_come(kernel, faults.NETWORK):
            faults.threaten_listener(kernel, found)
        return found


bound: Table[Listener] = Table()
"""Socket -> the place to which it is bound."""
ends: Table[End] = Table()
"""Socket -> its end of a connection."""


def bound_to(sock: Any) -> Listener | None:
    return bound.get(sock) if isinstance(sock, socket.socket) else None


def connected_by(sock: Any) -> End | None:
    return ends.get(sock) if isinstance(sock, socket.socket) else None


FORKED = "sockets that a process has which the program forks itself, which are not under control"


def _before_fork() -> None:
    """A copy of the process would have its own copy of all connections: nothing would come to it."""
    kernel = running.kernel
    if kernel is None or kernel.ending or outside.expected or not (bound or ends):
        return
    kernel.uncontrolled[FORKED] = "threads are under control, and so is a Pipe or Queue of multiprocessing"
    kernel.finish(Outcome.CUT_OFF, None)


os.register_at_fork(before=_before_fork)
_present: tuple[Kernel, Network] | None = None


def network_of(kernel: Kernel) -> Network:
    """Each execution has its own."""
    global _present
    if channel.upward is not None:  # what would come of it is not what really would
        channel.ask("leave", LOOPS, BLOCKING)
    if _present is None or _present[0] is not kernel:
        _present = kernel, Network()
    return _present[1]


def leads_here(kernel: Kernel, address: Address) -> bool:
    """Whether an address of this machine is the program's: it has had it, or nobody else has."""
    if address in network_of(kernel).known:
        return True
    if not _is_free(address):
        return False
    if isinstance(address, int):
        kernel.assumed[f"no other program of this machine listens at port {address}"] = None
    return True


def _is_free(address: Address) -> bool:
    if isinstance(address, str):
        return bool(address) and not os.path.exists(address)
    outside.expected += 1
    try:
        with closing(_socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as plain:
            plain.settimeout(1.0)
            return address > 0 and plain.connect_ex(("127.0.0.1", address)) == errno.ECONNREFUSED
    finally:
        outside.expected -= 1


class Listener:
    """What a server has instead of a socket."""

    type = socket.SOCK_STREAM
    proto = 0

    def __init__(self, address: Address, host: str | None) -> None:
        self.address = address
        self.name = name_for("listener")
        self.family = socket.AF_INET if isinstance(address, int) else socket.AF_UNIX
        self._host = host or "127.0.0.1"
        self.serving: tuple[Any, Any, Any] | None = None
        """The loop, the factory of protocols, the server."""
        self.is_listening = False
        """Connections wait until a thread takes them."""
        self.backlog: list[End] = []
        self.waiters: list[Waiter] = []
        self.refuses = False
        """Whoever comes next finds nobody, by a fault."""
        self.door = f"{self.name}.door"
        self.is_closed = False
        self.held: Held | None = None
        """Which processes have it, if not the first alone."""

    def getsockname(self) -> Any:
        return (self._host, self.address) if isinstance(self.address, int) else self.address

    @property
    def is_open(self) -> bool:
        return self.serving is not None or self.is_listening

    def is_answered(self) -> bool:
        """Whether who waits for a connection goes on: there is one, or there will be none."""
        return bool(self.backlog) or not self.is_open

    def is_readable(self) -> bool:
        return bool(self.backlog) or not self.is_open

    def is_writable(self) -> bool:
        return False

    def offer(self, end: End) -> None:
        """A connection waits to be taken."""
        change(self.name, *(() if self.backlog else ("accept",)))
        self.backlog.append(end)
        wake(self.waiters)

    def listen(self, backlog: int = 0) -> None:
        pass

    def fileno(self) -> int:
        return -1

    def touched_at_end(self) -> tuple[str, ...]:
        """What its closing writes."""
        return NET, self.name

    def close(self) -> None:
        pass

    def shut(self) -> None:
        """The socket that was bound to it is closed."""
        kernel = running.kernel
        assert kernel is not None
        self.is_listening, self.is_closed = False, True
        if self.serving is None:
            network_of(kernel).listeners.pop(self.address, None)
        change(self.name)
        for end in self.backlog:
            end.peer.lost(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))
        self.backlog.clear()

    def setsockopt(self, *_: Any) -> None:
        pass

    def getsockopt(self, *_: Any) -> int:
        return 0


class Names:
    """What a transport gives for its socket: its addresses and nothing else."""

    type = socket.SOCK_STREAM
    proto = socket.IPPROTO_TCP

    def __init__(self, family: int, mine: Any, other: Any) -> None:
        self.family = family
        self._mine, self._other = mine, other

    def getsockname(self) -> Any:
        return self._mine

    def getpeername(self) -> Any:
        return self._other

    def fileno(self) -> int:
        return -1

    def setsockopt(self, *_: Any) -> None:
        pass

    def getsockopt(self, *_: Any) -> int:
        return 0


def reached(kernel: Kernel, address: Address) -> Listener:
    """The server at an address."""
    listener = network_of(kernel).listeners.get(address)
    if listener is None and isinstance(address, str) and not os.path.exists(address):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")
    if listener is None or not listener.is_open or _is_refused(kernel, listener):
        raise ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed {address!r}")
    return listener


def _is_refused(kernel: Kernel, listener: Listener) -> bool:
    """Whether a fault keeps a connection from being made; the next one is."""
    if faults.NETWORK not in kernel.faults:
        return False
    kernel.add(Access(listener.door, True))
    found, listener.refuses = listener.refuses, False
    return found


def joined(kernel: Kernel, listener: Listener, loop: Any = None, protocol: Any = None) -> Any:
    """The client's end of a new connection: that of a loop, or of a socket; the server gets the other."""
    network = network_of(kernel)
    network.connections += 1
    number = network.connections
    mine, other = _client_name(listener, number), listener.getsockname()
    room = OF_MACHINES if listener.family == socket.AF_INET else OF_PATHS
    label = f"connection {number}, to the client"
    back: Any = way_to(label, loop)
    client: Any = End(label, mine, other, Flow(room)) if loop is None else None
    if listener.serving is None:
        there: Any = way_to(f"connection {number}, to the server")
        server: Any = End(f"connection {number}, to the server", other, mine, Flow(room))
        server.out = back
    else:
        there = Wire(listener.serving[0], f"connection {number}, to the server")
        server = Link(there.loop, None, back, there, Flow(room), _extra(listener, other, mine))
    if client is None:
        client = Link(loop, protocol, there, back, Flow(room), _extra(listener, mine, other))
    else:
        client.out = there
    tie(client, server)
    if faults.may_come(kernel, faults.NETWORK):
        faults.threaten_connection(kernel, number, client, server)
    if listener.serving is None:
        listener.offer(server)
    else:
        there.send("the connection", lambda _: _accepted(listener, client, server))
    return client


def adopted(loop: Any, protocol: Any, end: End) -> Link:
    """A connection that a socket has had goes on as that of an event loop."""
    back = Wire(loop, "a connection that a socket began")
    names = {"sockname": end.mine, "peername": end.other}
    family = socket.AF_INET if isinstance(end.mine, tuple) else socket.AF_UNIX
    extra = {**names, "socket": Names(family, end.mine, end.other)}
    link = Link(loop, protocol, end.out, back, end.flow, extra)
    peer = end.peer
    tie(link, peer)
    peer.out = back
    for item in [*end.chunks, *([None] if end.is_over else [])]:
        back.send(item, link.receive)
    protocol.connection_made(link)
    return link


def _accepted(listener: Listener, client: Link, link: Link) -> None:
    """The server gets the connection, unless it has gone meanwhile."""
    kernel = running.kernel
    if kernel is not None:
        kernel.add(Access(NET, False))
    if listener.serving is None:
        link.refuse()
        return
    _, factory, server = listener.serving
    protocol = factory()
    link.set_protocol(protocol)
    if server is not None:
        attach(server, link)
    protocol.connection_made(link)


def _extra(listener: Listener, mine: Any, other: Any) -> dict[str, Any]:
    return {"sockname": mine, "peername": other, "socket": Names(listener.family, mine, other)}


def _client_name(listener: Listener, number: int) -> Any:
    return ("127.0.0.1", 50_000 + number) if isinstance(listener.address, int) else ""


def is_local(host: Any) -> bool:
    return host in LOCAL or (isinstance(host, str) and host.startswith("127."))


def number_of(port: Any) -> int:
    return int(port) if isinstance(port, int) or (isinstance(port, str) and port.isdecimal()) else -1
