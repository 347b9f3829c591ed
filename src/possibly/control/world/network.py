"""Servers and connections of event loops on this machine: none of them leaves the program.

`create_server` and `create_connection` (so `start_server`, `open_connection`, and what is built upon them)
and their forms for paths of the file system. A port is open as long as its server listens. Connecting takes a
step; the server gets the connection in another. What leads elsewhere (another machine, a port that no server
of this program has, sockets that the program makes itself, TLS) is the real thing, is not under control, and
leaves the search open.
"""

from __future__ import annotations

import errno
import os
import socket
from asyncio import base_events, selector_events, tasks
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.transports import Link, attach
from possibly.control.world.wires import Wire
from possibly.probes.patching import Patches

NET = "_:network"
FIRST_PORT = 40_001
LOCAL = frozenset({None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "localhost.localdomain"})

Address = int | str
"""A port, or a path."""


class Network:
    """The servers of one execution."""

    def __init__(self) -> None:
        self.listeners: dict[Address, Listener] = {}
        self.known: set[Address] = set()
        """Where servers of this program have ever been."""
        self.connections = 0

    def free_port(self) -> int:
        port = FIRST_PORT
        while port in self.known:
            port += 1
        return port


_present: tuple[Kernel, Network] | None = None


def network_of(kernel: Kernel) -> Network:
    """Each execution has its own."""
    global _present
    if _present is None or _present[0] is not kernel:
        _present = kernel, Network()
    return _present[1]


class Listener:
    """What a server has instead of a socket."""

    type = socket.SOCK_STREAM
    proto = 0

    def __init__(self, address: Address, host: str | None) -> None:
        self.address = address
        self.family = socket.AF_INET if isinstance(address, int) else socket.AF_UNIX
        self._host = host or "127.0.0.1"
        self.serving: tuple[Any, Any, Any] | None = None
        """The loop, the factory of protocols, the server."""

    def getsockname(self) -> Any:
        return (self._host, self.address) if isinstance(self.address, int) else self.address

    def listen(self, backlog: int = 0) -> None:
        pass

    def fileno(self) -> int:
        return -1

    def close(self) -> None:
        pass

    def setsockopt(self, *_: Any) -> None:
        pass

    def getsockopt(self, *_: Any) -> int:
        return 0


class End:
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


# ---- servers ------------------------------------------------------------------------------------


def _create_server(plain: Any) -> Any:
    async def create_server(
        self: Any, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any
    ) -> Any:
        kernel = running.kernel
        hosts = host if isinstance(host, list | tuple) else [host]
        outside = options.get("sock") is not None or options.get("ssl") is not None
        if kernel is None or outside or not all(_is_local(each) for each in hosts):
            return await plain(self, protocol_factory, host, port, **options)
        kernel.add(Access(NET, True))
        network = network_of(kernel)
        return await _served(self, protocol_factory, port or network.free_port(), hosts[0], options)

    return create_server


def _create_unix_server(plain: Any) -> Any:
    async def create_unix_server(self: Any, protocol_factory: Any, path: Any = None, **options: Any) -> Any:
        outside = path is None or options.get("sock") is not None or options.get("ssl") is not None
        if running.kernel is None or outside:
            return await plain(self, protocol_factory, path, **options)
        running.kernel.add(Access(NET, True))
        return await _served(self, protocol_factory, os.path.abspath(os.fsdecode(path)), None, options)

    return create_unix_server


async def _served(
    loop: Any, factory: Any, address: Address, host: str | None, options: dict[str, Any]
) -> Any:
    kernel = running.kernel
    assert kernel is not None
    network = network_of(kernel)
    if address in network.listeners:
        raise OSError(errno.EADDRINUSE, f"error while attempting to bind on address {address!r}")
    listener = Listener(address, host)
    network.known.add(address)
    kind: Any = base_events.Server
    server = kind(loop, [listener], factory, None, options.get("backlog", 100), None)
    network.listeners[address] = listener
    if options.get("start_serving", True):
        server._start_serving()
        await tasks.sleep(0)
    return server


def _start_serving(plain: Any) -> Any:
    def start_serving(self: Any, protocol_factory: Any, sock: Any, *given: Any, **options: Any) -> None:
        kernel = running.kernel
        if kernel is None or not isinstance(sock, Listener):
            plain(self, protocol_factory, sock, *given, **options)
            return
        kernel.add(Access(NET, True))
        sock.serving = self, protocol_factory, given[1]

    return start_serving


def _stop_serving(plain: Any) -> Any:
    def stop_serving(self: Any, sock: Any) -> None:
        kernel = running.kernel
        if kernel is None or not isinstance(sock, Listener):
            plain(self, sock)
            return
        kernel.add(Access(NET, True))
        sock.serving = None
        network_of(kernel).listeners.pop(sock.address, None)

    return stop_serving


# ---- connections --------------------------------------------------------------------------------


def _create_connection(plain: Any) -> Any:
    async def create_connection(
        self: Any, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any
    ) -> Any:
        kernel = running.kernel
        outside = options.get("sock") is not None or options.get("ssl") is not None or not _is_local(host)
        if kernel is None or outside or _number(port) not in network_of(kernel).known:
            return await plain(self, protocol_factory, host, port, **options)
        return await _connected(self, protocol_factory, _number(port))

    return create_connection


def _create_unix_connection(plain: Any) -> Any:
    async def create_unix_connection(
        self: Any, protocol_factory: Any, path: Any = None, **options: Any
    ) -> Any:
        kernel = running.kernel
        outside = path is None or options.get("sock") is not None or options.get("ssl") is not None
        address = "" if outside else os.path.abspath(os.fsdecode(path))
        if kernel is None or outside or address not in network_of(kernel).known:
            return await plain(self, protocol_factory, path, **options)
        return await _connected(self, protocol_factory, address)

    return create_unix_connection


async def _connected(loop: Any, factory: Any, address: Address) -> tuple[Link, Any]:
    """The client's end; the server's comes to it some time later."""
    await tasks.sleep(0)
    kernel = running.kernel
    assert kernel is not None
    kernel.add(Access(NET, False))
    network = network_of(kernel)
    listener = network.listeners.get(address)
    if listener is None or listener.serving is None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, f"Connect call failed {address!r}")
    network.connections += 1
    return _linked(loop, factory(), listener, network.connections)


def _linked(loop: Any, protocol: Any, listener: Listener, number: int) -> tuple[Link, Any]:
    assert listener.serving is not None
    there = Wire(listener.serving[0], f"connection {number}, to the server")
    back = Wire(loop, f"connection {number}, to the client")
    mine, other = _client_name(listener, number), listener.getsockname()
    client = Link(loop, protocol, there, back, _extra(listener, mine, other))
    server = Link(there.loop, None, back, there, _extra(listener, other, mine))
    client.peer, server.peer = server, client
    there.send("the connection", lambda: _accepted(listener, client, server))
    protocol.connection_made(client)
    return client, protocol


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
    return {"sockname": mine, "peername": other, "socket": End(listener.family, mine, other)}


def _client_name(listener: Listener, number: int) -> Any:
    return ("127.0.0.1", 50_000 + number) if isinstance(listener.address, int) else ""


def _is_local(host: Any) -> bool:
    return host in LOCAL or (isinstance(host, str) and host.startswith("127."))


def _number(port: Any) -> int:
    return int(port) if isinstance(port, int) or (isinstance(port, str) and port.isdecimal()) else -1


def install(patches: Patches) -> None:
    base: Any = base_events.BaseEventLoop
    selecting: Any = selector_events.BaseSelectorEventLoop
    patches.put(base, "create_server", _create_server(base.create_server))
    patches.put(base, "create_connection", _create_connection(base.create_connection))
    patches.put(selecting, "_start_serving", _start_serving(selecting._start_serving))
    patches.put(selecting, "_stop_serving", _stop_serving(selecting._stop_serving))
    try:
        from asyncio import unix_events
    except ImportError:
        return
    unix: Any = unix_events._UnixSelectorEventLoop
    patches.put(unix, "create_unix_server", _create_unix_server(unix.create_unix_server))
    patches.put(unix, "create_unix_connection", _create_unix_connection(unix.create_unix_connection))
