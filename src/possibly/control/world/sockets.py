"""`socket.socket` between threads of the program, and in the hands of event loops.

A socket that is bound to this machine, or that connects to a server of the program, leads nowhere else: its
calls are operations under control. `accept`, `recv` and `connect` wait as the real ones do, with the
socket's time-out, or say at once that they cannot go on. All other sockets are the real ones: connecting
and binding them is noticed as something that is not under control (`runtime.outside`).
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from asyncio import selector_events
from functools import partial
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import Looked, reading, visible, writing
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.ends import End, add, change, pair
from possibly.control.world.listeners import (
    NET,
    Address,
    Listener,
    bound,
    bound_to,
    connected_by,
    ends,
    is_local,
    joined,
    leads_here,
    network_of,
    number_of,
    reached,
)  # fmt: skip
from possibly.control.world.processes.holding import let_go, whose
from possibly.probes import port
from possibly.probes.patching import Patches

Socket: Any = socket.socket
_FAMILIES = (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", socket.AF_INET))
_PEEK = getattr(socket, "MSG_PEEK", 0)


def address_of(sock: Any, address: Any) -> tuple[Address, str | None] | None:
    """The port or path on this machine, and the host; None for what is elsewhere."""
    if sock.family not in _FAMILIES or sock.type & 0xF != socket.SOCK_STREAM:
        return None
    if isinstance(address, tuple) and len(address) >= 2:
        return (number_of(address[1]), address[0]) if is_local(address[0]) else None
    if isinstance(address, str | bytes):
        return os.path.abspath(os.fsdecode(address)), None
    return None


def _done(kernel: Kernel, kind: str, thing: str, touched: Looked) -> None:
    """An operation that waits for nothing: a part of the turn, if there is no thread beside the loop."""
    if kernel.current.host is None or kernel.is_mixed:
        visible(kernel, kind, thing, touched)
    else:
        for access in touched():
            add(access)


# ---- servers ------------------------------------------------------------------------------------


def _bind(plain: Any) -> Any:
    def bind(self: Any, address: Any) -> Any:
        kernel = running.kernel
        found = address_of(self, address) if kernel is not None else None
        if kernel is None or found is None:
            return plain(self, address)
        _done(kernel, "bind", NET, partial(writing, NET))
        network = network_of(kernel)
        place, host = found
        bound[self] = network.open(network.free_port() if place == 0 else place, host)
        return None

    return bind


def _listen(plain: Any) -> Any:
    def listen(self: Any, *backlog: Any) -> Any:
        listener = bound_to(self)
        kernel = running.kernel
        if kernel is None or listener is None:
            return plain(self, *backlog)
        _done(kernel, "listen", NET, partial(writing, NET))
        listener.is_listening = True
        return None

    return listen


def _accept(plain: Any) -> Any:
    def accept(self: Any) -> Any:
        listener = bound_to(self)
        kernel = running.kernel
        if kernel is None or listener is None:
            return plain(self)
        touched = partial(writing, listener.name)
        _wait(kernel, self, "accept", listener.name, touched, listener.is_answered)
        return taken_from(listener, self)

    return accept


def taken_from(listener: Listener, sock: Any) -> tuple[Any, Any]:
    """The connection that has waited longest, as `accept` gives it."""
    if not listener.is_open:
        raise OSError(errno.EINVAL if sock.fileno() >= 0 else errno.EBADF, "Bad file descriptor")
    if not listener.backlog:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    end = listener.backlog.pop(0)
    return with_end(sock, end), end.other


def with_end(like: Any, end: End) -> Any:
    made = Socket(like.family, socket.SOCK_STREAM)
    if socket.getdefaulttimeout() is None:
        made.setblocking(True)
    ends[made] = end
    return made


# ---- clients ------------------------------------------------------------------------------------


def place_at(sock: Any, address: Any) -> Address | None:
    """Where on this machine a server of the program may be, if that is where the address leads."""
    kernel = running.kernel
    found = address_of(sock, address) if kernel is not None else None
    if kernel is None or found is None or not leads_here(kernel, found[0]):
        return None
    return found[0]


def _connect(plain: Any) -> Any:
    def connect(self: Any, address: Any) -> Any:
        place = place_at(self, address)
        kernel = running.kernel
        if kernel is None or place is None:
            return plain(self, address)
        _done(kernel, "connect", NET, partial(reading, NET))
        ends[self] = joined(kernel, reached(kernel, place))
        return None

    return connect


def _connect_ex(plain: Any) -> Any:
    def connect_ex(self: Any, address: Any) -> int:
        if place_at(self, address) is None:
            found: int = plain(self, address)
            return found
        try:
            self.connect(address)
        except OSError as error:
            return error.errno or errno.ECONNREFUSED
        return 0

    return connect_ex


def _is_of_program(frame: Any) -> bool:
    """Whether a socket that is made here is the program's: trio makes its sockets for it in `trio.socket`."""
    return port.is_user_file(frame.f_code.co_filename) or frame.f_globals.get("__name__") == "trio._socket"


def _socketpair(plain: Any) -> Any:
    def socketpair(*given: Any, **options: Any) -> tuple[Any, Any]:
        one, other = plain(*given, **options)
        by_user = _is_of_program(sys._getframe(2))
        if running.kernel is not None and by_user and one.type & 0xF == socket.SOCK_STREAM:
            ends[one], ends[other] = pair()
        return one, other

    return socketpair


# ---- data ---------------------------------------------------------------------------------------


def _wait(kernel: Kernel, sock: Any, kind: str, thing: str, touched: Looked, ready: Any) -> None:
    """Returns when it can be done, or raises what the real one raises."""
    patience = sock.gettimeout()
    if patience == 0.0:
        _done(kernel, f"try {kind}", thing, touched)
        if not ready():
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    elif not visible(kernel, kind, thing, touched, ready, patience):
        raise TimeoutError("timed out")


def _recv(plain: Any) -> Any:
    def recv(self: Any, size: int, flags: int = 0) -> bytes:
        end = connected_by(self)
        kernel = running.kernel
        if kernel is None or end is None:
            found: bytes = plain(self, size, flags)
            return found
        _wait(kernel, self, "recv", end.name, partial(end.touched_by_taking, size), end.is_readable)
        _check_open(end)
        got = end.taken(size, bool(flags & _PEEK))
        _tell(kernel, end, got)
        return got

    return recv


def _recv_into(plain: Any) -> Any:
    def recv_into(self: Any, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        if connected_by(self) is None:
            found: int = plain(self, buffer, nbytes, flags)
            return found
        view = memoryview(buffer).cast("B")
        data = self.recv(nbytes or len(view), flags)
        view[: len(data)] = data
        return len(data)

    return recv_into


def _recvfrom(plain: Any) -> Any:
    def recvfrom(self: Any, size: int, flags: int = 0) -> Any:
        if connected_by(self) is None:
            return plain(self, size, flags)
        return self.recv(size, flags), None

    return recvfrom


def _send(plain: Any, whole: bool) -> Any:
    def send(self: Any, data: Any, flags: int = 0) -> Any:
        end = connected_by(self)
        kernel = running.kernel
        if kernel is None or end is None:
            return plain(self, data, flags)
        given = bytes(data)
        _done(kernel, "send", getattr(end.peer, "name", end.name), end.touched_by_sending)
        _check_open(end)
        _tell(kernel, end, given)
        sent = end.send_what_fits(given)
        while sent < len(given) and (whole or not sent):
            _wait_for_room(kernel, self, end, len(given) - sent)
            sent += end.send_what_fits(given[sent:])
        return None if whole else sent

    return send


def _wait_for_room(kernel: Kernel, sock: Any, end: End, size: int) -> None:
    patience = sock.gettimeout()
    if patience == 0.0:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    def touched() -> tuple[Access, ...]:
        return (Access(end.flow.name, True), *end.touched_by_sending())

    if not visible(kernel, "send", end.flow.name, touched, lambda: end.can_send(size), patience):
        raise TimeoutError("timed out")


def _tell(kernel: Kernel, end: End, data: bytes) -> None:
    if not end.is_secret:
        kernel.tell({"value": repr(data[:60])})


def _check_open(end: End) -> None:
    if end.is_closed:
        raise OSError(errno.EBADF, "Bad file descriptor")


# ---- the end ------------------------------------------------------------------------------------


def _shutdown(plain: Any) -> Any:
    def shutdown(self: Any, how: int) -> Any:
        end = connected_by(self)
        kernel = running.kernel
        if kernel is None or end is None:
            listener = bound_to(self)
            if kernel is None or listener is None:
                return plain(self, how)
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        thing = getattr(end.peer, "name", end.name)
        reads, writes = how != socket.SHUT_WR, how != socket.SHUT_RD
        own = writing(end.over) if reads else ()
        _done(kernel, "shutdown", thing, lambda: (*own, *(end.touched_by_ending() if writes else ())))
        _check_open(end)
        if writes:
            end.end()
        if reads:
            change(end.over)
            end.is_over = True
        return None

    return shutdown


def _real_close(plain: Any) -> Any:
    def _real_close(self: Any, *given: Any) -> None:
        kernel = running.kernel
        place: Any = ends.get(self) or bound.get(self)
        if kernel is not None and not kernel.ending and place is not None and not place.is_closed:
            close(kernel, place)
        plain(self, *given)

    return _real_close


def close(kernel: Kernel, place: Any) -> None:
    """This process has an end of a connection, or a port, no more."""
    if place.held is not None:
        let_go(whose(), place.held)
        return
    if isinstance(place, End):
        _done(kernel, "close", getattr(place.peer, "name", place.name), place.touched_by_closing)
    else:
        touched = place.touched_at_end()
        _done(kernel, "close", touched[0], lambda: tuple(Access(each, True) for each in touched))
    place.shut()


def _name(plain: Any, own: bool) -> Any:
    def name(self: Any) -> Any:
        end, listener = ends.get(self), bound.get(self)
        if end is not None:
            return end.mine if own else end.other
        return listener.getsockname() if listener is not None and own else plain(self)

    return name


# ---- in the hands of event loops -------------------------------------------------------------------


async def _until(loop: Any, waiting: Any, ready: Any, touched: Looked) -> None:
    kernel = running.kernel
    while not ready():
        for access in touched() if kernel is not None else ():
            add(Access(access.thing, False))
        future = loop.create_future()
        waiting.waiters.append((loop, future))
        await future
    for access in touched() if kernel is not None else ():
        add(access)


def _sock_connect(plain: Any) -> Any:
    async def sock_connect(self: Any, sock: Any, address: Any) -> Any:
        from asyncio import tasks

        place = place_at(sock, address)
        kernel = running.kernel
        if kernel is None or place is None:
            return await plain(self, sock, address)
        await tasks.sleep(0)
        kernel.add(Access(NET, False))
        ends[sock] = joined(kernel, reached(kernel, place))
        return None

    return sock_connect


def _sock_accept(plain: Any) -> Any:
    async def sock_accept(self: Any, sock: Any) -> Any:
        listener = bound_to(sock)
        if running.kernel is None or listener is None:
            return await plain(self, sock)
        touched = partial(writing, listener.name)
        await _until(self, listener, listener.is_answered, touched)
        made, address = taken_from(listener, sock)
        made.setblocking(False)
        return made, address

    return sock_accept


def _sock_recv(plain: Any) -> Any:
    async def sock_recv(self: Any, sock: Any, size: int) -> Any:
        end = connected_by(sock)
        if running.kernel is None or end is None:
            return await plain(self, sock, size)
        await _until(self, end, end.is_readable, partial(end.touched_by_taking, size))
        return end.taken(size)

    return sock_recv


def _sock_recv_into(plain: Any) -> Any:
    async def sock_recv_into(self: Any, sock: Any, buffer: Any) -> Any:
        if connected_by(sock) is None:
            return await plain(self, sock, buffer)
        view = memoryview(buffer).cast("B")
        data = await self.sock_recv(sock, len(view))
        view[: len(data)] = data
        return len(data)

    return sock_recv_into


def _sock_sendall(plain: Any) -> Any:
    async def sock_sendall(self: Any, sock: Any, data: Any) -> Any:
        end = connected_by(sock)
        if running.kernel is None or end is None:
            return await plain(self, sock, data)
        given = bytes(data)
        for access in end.touched_by_sending():
            add(access)
        sent = end.send_what_fits(given)
        while sent < len(given):
            room = partial(writing, end.flow.name)
            await _until(self, end.flow, partial(end.can_send, len(given) - sent), room)
            sent += end.send_what_fits(given[sent:])
        return None

    return sock_sendall


def install_for_loops(patches: Patches) -> None:
    selecting: Any = selector_events.BaseSelectorEventLoop
    for name, wrap in (
        ("sock_connect", _sock_connect),
        ("sock_accept", _sock_accept),
        ("sock_recv", _sock_recv),
        ("sock_recv_into", _sock_recv_into),
        ("sock_sendall", _sock_sendall),
    ):
        patches.put(selecting, name, wrap(getattr(selecting, name)))


SIMULATED: dict[str, Any] = {
    "bind": _bind,
    "listen": _listen,
    "accept": _accept,
    "connect": _connect,
    "connect_ex": _connect_ex,
    "recv": _recv,
    "recv_into": _recv_into,
    "recvfrom": _recvfrom,
    "send": lambda plain: _send(plain, False),
    "sendall": lambda plain: _send(plain, True),
    "shutdown": _shutdown,
    "_real_close": _real_close,
    "getsockname": lambda plain: _name(plain, True),
    "getpeername": lambda plain: _name(plain, False),
    "socketpair": _socketpair,
}
"""Method of `socket.socket` -> what makes the one under control of it (see `doors`)."""
