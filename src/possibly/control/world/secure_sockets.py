"""TLS on blocking sockets inside the program: `ssl.SSLContext.wrap_socket` of a socket under control.

The protocol is that of `ssl` itself, between two memories; what it wants to have sent or to read goes through
the socket, as steps under control. What is sent is encrypted anew in each execution: so it is not shown.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches

RECORD = 1 << 14


class Protocol:
    """What an `SSLSocket` asks for what it sends and reads, in place of the one that has a real socket."""

    def __init__(self, sock: Any, context: ssl.SSLContext, options: dict[str, Any]) -> None:
        from possibly.control.world.listeners import connected_by

        self._sock = sock
        end = connected_by(sock)
        if end is not None:
            end.is_secret = True
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object: Any = context.wrap_bio(self._incoming, self._outgoing, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._object, name)

    def do_handshake(self) -> None:
        self._until_done(self._object.do_handshake)

    def read(self, *given: Any) -> Any:
        return self._until_done(lambda: self._object.read(*given))

    def write(self, data: Any) -> int:
        written: int = self._until_done(lambda: self._object.write(data))
        return written

    def shutdown(self) -> Any:
        self._until_done(self._object.unwrap)
        return self._sock

    def _until_done(self, act: Callable[[], Any]) -> Any:
        """Does what the protocol is to do, sending and reading as it wants to."""
        while True:
            try:
                found = act()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
                continue
            except BaseException:
                self._flush()
                raise
            self._flush()
            return found

    def _flush(self) -> None:
        if self._outgoing.pending:
            socket.socket.sendall(self._sock, self._outgoing.read())

    def _fill(self) -> None:
        try:
            data = socket.socket.recv(self._sock, RECORD)
        except BlockingIOError:
            raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "The operation did not complete") from None
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()


def _wrap_socket(plain: Any) -> Any:
    def wrap_socket(
        self: Any,
        sock: Any,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: Any = None,
        session: Any = None,
    ) -> Any:
        told = (server_side, do_handshake_on_connect, suppress_ragged_eofs, server_hostname, session)
        if running.kernel is None or not _is_inside(sock):
            return plain(self, sock, *told)
        made = _taken_over(sock, self)
        made.server_side, made.server_hostname, made._session = server_side, server_hostname, session
        made.do_handshake_on_connect, made.suppress_ragged_eofs = (
            do_handshake_on_connect,
            suppress_ragged_eofs,
        )
        if made._connected:
            _begin(made)
        return made

    return wrap_socket


def _real_connect(plain: Any) -> Any:
    """Of a socket that was wrapped before it connects."""

    def real_connect(self: Any, address: Any, is_told: bool) -> Any:
        from possibly.control.world.sockets import place_at

        if running.kernel is None or place_at(self, address) is None:
            return plain(self, address, is_told)
        found = 0
        if is_told:
            found = socket.socket.connect_ex(self, address)
        else:
            socket.socket.connect(self, address)
        if not found:
            self._connected = True
            _begin(self)
        return found if is_told else None

    return real_connect


def _begin(made: Any) -> None:
    """The socket is connected: both sides agree, now unless that is to be later."""
    options = {
        "server_side": made.server_side,
        "server_hostname": made.server_hostname,
        "session": made._session,
    }
    try:
        made._sslobj = Protocol(made, made._context, options)
        if made.do_handshake_on_connect:
            made.do_handshake()
    except BaseException:
        made.close()
        raise


def _is_inside(sock: Any) -> bool:
    from possibly.control.world.listeners import bound_to, connected_by  # which load what event loops need

    return connected_by(sock) is not None or bound_to(sock) is not None


def _taken_over(sock: Any, context: ssl.SSLContext) -> Any:
    """A socket of `ssl` that has what the given one had: a connection, or the port of a server."""
    from possibly.control.world.listeners import bound, ends

    kind: Any = context.sslsocket_class
    made = kind.__new__(kind)
    socket.socket.__init__(made, sock.family, sock.type, sock.proto, sock.fileno())
    made.settimeout(sock.gettimeout())
    tables: tuple[Any, ...] = (ends, bound)
    for table in tables:
        if sock in table:
            table[made] = table[sock]
            del table[sock]
    made._connected = made in ends
    sock.detach()
    made._context, made._closed, made._sslobj = context, False, None
    return made


def install(patches: Patches) -> None:
    kind: Any = ssl.SSLSocket
    patches.put(kind, "_real_connect", _real_connect(kind._real_connect))
    patches.put(ssl.SSLContext, "wrap_socket", _wrap_socket(ssl.SSLContext.wrap_socket))
