"""The methods of `socket.socket`, which lead into the simulated network (`sockets`) when a program uses one.

That is loaded then: programs without sockets do not wait for it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world.waiting import polling, selecting
from possibly.probes.patching import Patches

METHODS = (
    "bind listen accept connect connect_ex recv recv_into recvfrom recvfrom_into send sendall sendto "
    "shutdown _real_close getsockname getpeername"
).split()
asked: Callable[[str, Any, tuple[Any, ...], dict[str, Any]], Any] | None = None
"""In started processes, which ask the first one: does a method there (`processes.lent`)."""
_inside: dict[tuple[str, bool], Any] = {}
"""Method, whether of datagrams -> what it is in the simulated network."""


def _wakes_trio(frame: FrameType) -> bool:
    """Whether trio uses a socket for its own sake: to be woken."""
    return str(frame.f_globals.get("__name__", "")).startswith("trio._core.")


def install(patches: Patches) -> None:
    kind: Any = socket.socket
    for name in METHODS:
        patches.put(kind, name, _door(name, getattr(kind, name)))
    selecting.install(patches)
    polling.install(patches)
    patches.put(socket, "socketpair", _door("socketpair", socket.socketpair))


def _door(name: str, plain: Any) -> Any:
    def method(*given: Any, **options: Any) -> Any:
        kernel = running.kernel
        if kernel is not None and _wakes_trio(sys._getframe(1)):
            return plain(*given, **options)
        if kernel is None or kernel.ending:  # nobody's, or we tell of what is over
            return plain(*given, **options)
        if asked is not None:
            return asked(name, plain, given, options)
        return _simulated(name, plain, given)(*given, **options)

    method.__name__ = name
    return method


def _simulated(name: str, plain: Any, given: tuple[Any, ...]) -> Any:
    """What a method is in the simulated network, of streams or of datagrams."""
    is_datagram = name != "socketpair" and given[0].type & 0xF == socket.SOCK_DGRAM
    found = _inside.get((name, is_datagram))
    if found is None:
        import asyncio  # noqa: F401 - first: what is put in its place belongs to the same network

        from possibly.control.world import datagrams, sockets

        makers = datagrams.SIMULATED if is_datagram else sockets.SIMULATED
        found = _inside[name, is_datagram] = makers[name](plain) if name in makers else plain
    return found
