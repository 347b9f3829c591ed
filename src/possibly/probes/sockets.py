"""`socket`: stream and datagram sockets between recorded processes.

A received byte of a stream comes after the send that sent it. A stream is known by the addresses of its two
ends, a `socketpair` by a name of its own. Bytes are counted in each direction; one process of the operating
system must do all the sending, and one all the receiving, of a direction.

A received datagram comes after the `sendto` that sent it. It is known by the ports, its content, and how
often that passed before; where equal ones got lost, it is taken for an older one, which gives less order,
never too much. Other families than the Internet's are not recorded.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches

_counts: dict[str, int] = {}
"""Stream with its direction -> bytes that passed here."""


def install(patches: Patches) -> None:
    kind: Any = socket.socket
    for name in ("send", "sendall"):
        patches.put(kind, name, _told_send(getattr(kind, name), name == "sendall"))
    for name in ("recv", "recv_into"):
        patches.put(kind, name, _told_receive(getattr(kind, name)))
    patches.put(socket, "socketpair", _told_pair(socket.socketpair))
    patches.put(kind, "sendto", _told_sendto(kind.sendto))
    for name in ("recvfrom", "recvfrom_into"):
        patches.put(kind, name, _told_receive_from(getattr(kind, name)))


class Paired(socket.socket):
    """An end of a socketpair, which has no address to be known by."""

    __slots__ = ("ends",)
    ends: tuple[str, str]


def _told_pair(plain: Any) -> Any:
    def socketpair(*arguments: Any, **options: Any) -> tuple[Paired, Paired]:
        if port.called_by_library():
            found: tuple[Paired, Paired] = plain(*arguments, **options)
            return found
        name = port.token()
        made = [
            Paired(each.family, each.type, each.proto, each.detach()) for each in plain(*arguments, **options)
        ]
        made[0].ends, made[1].ends = (f"{name}a", f"{name}b"), (f"{name}b", f"{name}a")
        return made[0], made[1]

    return socketpair


def ends(self: Any) -> tuple[str, str] | None:
    """What the stream of a socket is known by: this end and the other one."""
    if port.listener is port.QUIET or self.type != socket.SOCK_STREAM:
        return None
    found: tuple[str, str] | None = getattr(self, "ends", None)
    if found is not None:
        return found
    try:
        here, there = self.getsockname(), self.getpeername()
    except OSError:
        return None
    return (repr(here), repr(there)) if here and there else None


_of_loops: set[tuple[str, str]] = set()
"""Ends whose bytes an event loop sends and receives for its tasks."""


def carries_stream(found: tuple[str, str]) -> None:
    """The socket belongs to a stream of `asyncio`, whose tasks tell what they write and read."""
    _of_loops.add(found)
    _counts.pop(f"out {_stream(*found)}", None)
    _counts.pop(f"in {_stream(*reversed(found))}", None)


def _stream(here: str, there: str) -> str:
    return f"socket:{here}>{there}"


def _told_ends(self: Any) -> tuple[str, str] | None:
    found = ends(self)
    return None if found in _of_loops and port.called_by_library(3) else found


@contextmanager
def sending(found: tuple[str, str], count: int) -> Iterator[None]:
    """So many bytes are sent inside."""
    stream = _stream(*found)
    start = _counts.get(f"out {stream}", 0)
    port.before("stream", stream, start)
    yield
    _counts[f"out {stream}"] = start + count
    port.after("streamed", stream, start + count)


def has_read(found: tuple[str, str], count: int) -> None:
    """So many bytes have been received by now."""
    stream = _stream(*reversed(found))
    if count > _counts.get(f"in {stream}", 0):
        _counts[f"in {stream}"] = count
        port.after("read", stream, count)


def _told_send(plain: Any, whole: bool) -> Any:
    def send(self: Any, data: Any, *flags: int) -> Any:
        if self.type == socket.SOCK_DGRAM:
            _tell_datagram(self, data, _peer(self))
        found = _told_ends(self)
        if found is None:
            return plain(self, data, *flags)
        stream = _stream(*found)
        start = _counts.get(f"out {stream}", 0)
        port.before("stream", stream, start)
        sent = plain(self, data, *flags)
        _counts[f"out {stream}"] = start + (len(memoryview(data).cast("B")) if whole else sent)
        port.after("streamed", stream, _counts[f"out {stream}"])
        return sent

    return send


def _told_receive(plain: Any) -> Any:
    def receive(self: Any, *arguments: Any) -> Any:
        received = plain(self, *arguments)
        if self.type == socket.SOCK_DGRAM:
            _receive_datagram(self, arguments, received, _peer(self))
        found = _told_ends(self)
        count = received if isinstance(received, int) else len(received)
        if found is not None and count and not (arguments[1:] and arguments[-1] & socket.MSG_PEEK):
            has_read(found, _counts.get(f"in {_stream(*reversed(found))}", 0) + count)
        return received

    return receive


# ---- datagrams ----------------------------------------------------------------------------------

_INTERNET = (socket.AF_INET, socket.AF_INET6)


def _peer(self: Any) -> Any:
    try:
        return self.getpeername()
    except OSError:
        return None


def _datagram(sender: int, receiver: int, data: Any, way: str) -> str:
    """A name for a datagram: both ends count equal ones."""
    key = f"datagram:{sender}>{receiver}:{sha256(data).hexdigest()[:24]}"
    number = _counts[f"{way} {key}"] = _counts.get(f"{way} {key}", 0) + 1
    return f"{key}:{number}"


def _is_told(self: Any) -> bool:
    """A loop sends and receives for its tasks: whose datagram it is, is not known."""
    is_datagram = self.type == socket.SOCK_DGRAM and self.family in _INTERNET
    return is_datagram and port.listener is not port.QUIET and not port.called_by_library(4)


def _tell_datagram(self: Any, data: Any, target: Any) -> None:
    if target is None or not _is_told(self):
        return
    if self.getsockname()[1] == 0:
        self.bind(("", 0))  # as sending does, a moment later
    port.before("put", _datagram(self.getsockname()[1], target[1], data, "out"))


def _receive_datagram(self: Any, arguments: tuple[Any, ...], received: Any, sender: Any) -> None:
    is_peek = any(type(each) is int and each & socket.MSG_PEEK for each in arguments[1:])
    if sender is None or is_peek or not _is_told(self):
        return
    data = memoryview(arguments[0])[:received] if isinstance(received, int) else received
    port.after("get", _datagram(sender[1], self.getsockname()[1], data, "in"))


def _told_sendto(plain: Any) -> Any:
    def sendto(self: Any, data: Any, *rest: Any) -> Any:
        _tell_datagram(self, data, rest[-1])
        return plain(self, data, *rest)

    return sendto


def _told_receive_from(plain: Any) -> Any:
    def receive(self: Any, *arguments: Any) -> Any:
        found = plain(self, *arguments)
        _receive_datagram(self, arguments, *found)
        return found

    return receive
