"""Servers and connections of event loops on this machine: none of them leaves the program.

`create_server` and `create_connection` (so `start_server`, `open_connection`, and what is built upon them)
and their forms for paths of the file system. A port is open as long as its server listens. Connecting takes a
step; the server gets the connection in another. TLS is spoken on such a connection as on any other. What
leads elsewhere (another machine, a port that no server of this program has) is the real thing, is not under
control, and leaves the search open.
"""

from __future__ import annotations

import os
from asyncio import base_events, selector_events, tasks
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.world import datagrams, readers, secure, sockets
from possibly.control.world.ends import End
from possibly.control.world.listeners import (
    NET,
    Address,
    Listener,
    adopted,
    bound_to,
    connected_by,
    is_local,
    joined,
    leads_here,
    network_of,
    number_of,
    reached,
)  # fmt: skip
from possibly.control.world.processes import awaited
from possibly.control.world.transports import Link
from possibly.probes.patching import Patches

# ---- servers ------------------------------------------------------------------------------------

WIRED = "_possibly_wired"
"""Of a loop that has servers or connections inside the program."""


def _create_server(plain: Any) -> Any:
    async def create_server(
        self: Any, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any
    ) -> Any:
        kernel = running.kernel
        hosts = host if isinstance(host, list | tuple) else [host]
        outside = not all(is_local(each) for each in hosts)
        sock = options.get("sock")
        if kernel is None or outside or (sock is not None and bound_to(sock) is None):
            return await plain(self, protocol_factory, host, port, **options)
        protocol_factory = secure.for_server(self, protocol_factory, options)
        kernel.add(Access(NET, True))
        if sock is not None:
            return await _serving(self, protocol_factory, bound_to(sock), options)
        network = network_of(kernel)
        return await _served(self, protocol_factory, port or network.free_port(), hosts[0], options)

    return create_server


def _create_unix_server(plain: Any) -> Any:
    async def create_unix_server(self: Any, protocol_factory: Any, path: Any = None, **options: Any) -> Any:
        sock = options.get("sock")
        outside = (path is None and sock is None) or options.get("ssl") is not None
        if running.kernel is None or outside or (sock is not None and bound_to(sock) is None):
            return await plain(self, protocol_factory, path, **options)
        running.kernel.add(Access(NET, True))
        if sock is not None:
            return await _serving(self, protocol_factory, bound_to(sock), options)
        return await _served(self, protocol_factory, os.path.abspath(os.fsdecode(path)), None, options)

    return create_unix_server


async def _served(
    loop: Any, factory: Any, address: Address, host: str | None, options: dict[str, Any]
) -> Any:
    kernel = running.kernel
    assert kernel is not None
    return await _serving(loop, factory, network_of(kernel).open(address, host), options)


async def _serving(loop: Any, factory: Any, listener: Any, options: dict[str, Any]) -> Any:
    setattr(loop, WIRED, True)
    kind: Any = base_events.Server
    server = kind(loop, [listener], factory, None, options.get("backlog", 100), None)
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
        end = connected_by(options.get("sock"))
        is_known = kernel is not None and is_local(host) and leads_here(kernel, number_of(port))
        if kernel is None or (end is None and not is_known):
            return await plain(self, protocol_factory, host, port, **options)
        factory, opened = secure.for_client(self, protocol_factory, host, options)
        if end is not None:
            return await opened(await _continued(self, factory, end))
        return await opened(await _connected(self, factory, number_of(port)))

    return create_connection


def _create_unix_connection(plain: Any) -> Any:
    async def create_unix_connection(
        self: Any, protocol_factory: Any, path: Any = None, **options: Any
    ) -> Any:
        kernel = running.kernel
        outside = path is None or options.get("ssl") is not None
        end = connected_by(options.get("sock"))
        if kernel is not None and end is not None:
            return await _continued(self, protocol_factory, end)
        address = "" if outside else os.path.abspath(os.fsdecode(path))
        if kernel is None or outside or not leads_here(kernel, address):
            return await plain(self, protocol_factory, path, **options)
        return await _connected(self, protocol_factory, address)

    return create_unix_connection


def _connect_accepted_socket(plain: Any) -> Any:
    async def connect_accepted_socket(self: Any, protocol_factory: Any, sock: Any, **options: Any) -> Any:
        end = connected_by(sock)
        if running.kernel is None or end is None:
            return await plain(self, protocol_factory, sock, **options)
        return await _continued(self, secure.for_server(self, protocol_factory, options), end)

    return connect_accepted_socket


async def _continued(loop: Any, factory: Any, end: End) -> tuple[Link, Any]:
    setattr(loop, WIRED, True)
    await tasks.sleep(0)
    protocol = factory()
    return adopted(loop, protocol, end), protocol


async def _connected(loop: Any, factory: Any, address: Address) -> tuple[Link, Any]:
    """The client's end; the server's comes to it some time later."""
    setattr(loop, WIRED, True)
    await tasks.sleep(0)
    kernel = running.kernel
    assert kernel is not None
    kernel.add(Access(NET, False))
    listener = reached(kernel, address)
    protocol = factory()
    client: Link = joined(kernel, listener, loop, protocol)
    protocol.connection_made(client)
    return client, protocol


def install(patches: Patches) -> None:
    sockets.install_for_loops(patches)
    datagrams.install_for_loops(patches)
    readers.install(patches)
    awaited.install(patches)
    base: Any = base_events.BaseEventLoop
    selecting: Any = selector_events.BaseSelectorEventLoop
    patches.put(base, "create_server", _create_server(base.create_server))
    patches.put(base, "create_connection", _create_connection(base.create_connection))
    plain = base.connect_accepted_socket
    patches.put(base, "connect_accepted_socket", _connect_accepted_socket(plain))
    patches.put(selecting, "_start_serving", _start_serving(selecting._start_serving))
    patches.put(selecting, "_stop_serving", _stop_serving(selecting._stop_serving))
    try:
        from asyncio import unix_events
    except ImportError:
        return
    unix: Any = unix_events._UnixSelectorEventLoop
    patches.put(unix, "create_unix_server", _create_unix_server(unix.create_unix_server))
    patches.put(unix, "create_unix_connection", _create_unix_connection(unix.create_unix_connection))
