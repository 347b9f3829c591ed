"""`socket`: stream sockets between recorded processes. A received byte comes after the send that sent it.

A stream is known by the addresses of its two ends, a `socketpair` by a name of its own. Bytes are counted
in each
direction; one process of the operating system must do all the sending, and one all the receiving, of a
direction.
"""

from __future__ import annotations

import socket
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


def _ends(self: Any) -> tuple[str, str] | None:
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


def _told_send(plain: Any, whole: bool) -> Any:
    def send(self: Any, data: Any, *flags: int) -> Any:
        ends = _ends(self)
        if ends is None:
            return plain(self, data, *flags)
        stream = f"socket:{ends[0]}>{ends[1]}"
        start = _counts.get(f"out {stream}", 0)
        port.before("stream", stream, start)
        found = plain(self, data, *flags)
        _counts[f"out {stream}"] = start + (len(memoryview(data).cast("B")) if whole else found)
        port.after("streamed", stream, _counts[f"out {stream}"])
        return found

    return send


def _told_receive(plain: Any) -> Any:
    def receive(self: Any, *arguments: Any) -> Any:
        found = plain(self, *arguments)
        ends = _ends(self)
        count = found if isinstance(found, int) else len(found)
        if ends is not None and count and not (arguments[1:] and arguments[-1] & socket.MSG_PEEK):
            stream = f"socket:{ends[1]}>{ends[0]}"
            _counts[f"in {stream}"] = _counts.get(f"in {stream}", 0) + count
            port.after("read", stream, _counts[f"in {stream}"])
        return found

    return receive
