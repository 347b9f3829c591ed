"""`select` and `selectors` on sockets that lead nowhere else: waiting for one of them is one operation.

A selector with anything real in it is the real one. `socketserver` looks every half second whether it is to
end: under control it waits for that too, so that nothing needs to be looked at again and again.
"""

from __future__ import annotations

import select
import selectors
import socket
import sys
from functools import partial
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.control.world import outward
from possibly.probes.patching import Patches


def _simulated() -> dict[int, Any]:
    """Number of the file -> socket."""
    listeners = sys.modules.get("possibly.control.world.listeners")
    if listeners is None:
        return {}
    datagrams = sys.modules.get("possibly.control.world.datagrams")
    known = (*listeners.bound, *listeners.ends, *(datagrams.places if datagrams is not None else ()))
    return {sock.fileno(): sock for sock in known if sock.fileno() >= 0}


def _things(sock: Any) -> tuple[str, bool, bool]:
    """The thing that tells whether a socket can be read, and whether it can be read and written now."""
    from possibly.control.world.listeners import bound, ends

    end = ends.get(sock)
    if end is not None:
        return end.name, end.is_readable(), end.can_send(1)
    if sock.type & 0xF == socket.SOCK_DGRAM:
        from possibly.control.world.datagrams import places

        return places[sock].name, places[sock].is_readable(), True
    listener = bound[sock]
    return listener.name, bool(listener.backlog) or not listener.is_open, False


def _fillings(sock: Any) -> tuple[str, ...]:
    """The thing that tells whether there is room for what a socket sends."""
    from possibly.control.world.listeners import ends

    end = ends.get(sock)
    return (end.flow.name,) if end is not None else ()


def _wait(kernel: Kernel, wanted: list[tuple[Any, bool, bool]], timeout: Any, more: Any = None) -> list[int]:
    """Which of these (socket, to read, to write) are ready, when one is or the time is up."""
    names = {_things(sock)[0]: None for sock, _, _ in wanted}
    names |= {each: None for sock, _, writes in wanted if writes for each in _fillings(sock)}
    if more is not None:
        names[more[0]] = None

    def ready() -> list[int]:
        found = []
        for index, (sock, reads, writes) in enumerate(wanted):
            _, readable, writable = _things(sock)
            if (reads and readable) or (writes and writable):
                found.append(index)
        return found

    def can_go() -> bool:
        return bool(ready()) or (more is not None and more[1]())

    footprint = tuple(Access(name, False) for name in names)
    thing = next(iter(names), "select")
    now = timeout is not None and timeout <= 0
    kernel.visible("select", thing, footprint, None, None if now else can_go, None if now else timeout)
    return ready()


def _select(plain: Any) -> Any:
    def chosen(self: Any, timeout: Any = None) -> Any:
        kernel = running.kernel
        known = _simulated() if kernel is not None else {}
        keys = list(self.get_map().values()) if kernel is not None else []
        if kernel is None or not keys:
            return plain(self, timeout)
        if any(key.fd not in known for key in keys):
            return outward.waited(kernel, lambda seconds: plain(self, seconds), timeout)
        wanted = [(known[key.fd], *_events(key.events)) for key in keys]
        server = _server()
        if server is not None:
            timeout = None
        found = _wait(kernel, wanted, timeout, server)
        return [(keys[index], keys[index].events & _possible(known[keys[index].fd])) for index in found]

    return chosen


def _events(events: int) -> tuple[bool, bool]:
    return bool(events & selectors.EVENT_READ), bool(events & selectors.EVENT_WRITE)


def _possible(sock: Any) -> int:
    _, readable, writable = _things(sock)
    return (selectors.EVENT_READ if readable else 0) | (selectors.EVENT_WRITE if writable else 0)


def _plain_select(plain: Any) -> Any:
    def chosen(rlist: Any, wlist: Any, xlist: Any, timeout: Any = None) -> Any:
        kernel = running.kernel
        known = _simulated() if kernel is not None else {}
        reads, writes = list(rlist), list(wlist)
        files = [_number(each) for each in (*reads, *writes)]
        if kernel is None or not files:
            return plain(rlist, wlist, xlist, timeout)
        if any(each not in known for each in files):
            return outward.waited(kernel, lambda seconds: plain(rlist, wlist, xlist, seconds), timeout)
        wanted = [(known[_number(each)], True, False) for each in reads]
        wanted += [(known[_number(each)], False, True) for each in writes]
        found = _wait(kernel, wanted, timeout)
        return (
            [reads[i] for i in found if i < len(reads)],
            [writes[i - len(reads)] for i in found if i >= len(reads)],
            [],
        )

    chosen.__module__, chosen.__name__ = "select", "select"  # what else it is given is looked at by that
    return chosen


def _number(file: Any) -> int:
    return file if isinstance(file, int) else int(file.fileno())


# ---- servers of `socketserver` -----------------------------------------------------------------------


def _server() -> Any:
    """If `socketserver` waits: what its end writes, and how to know of it."""
    frame: Any = sys._getframe(2)
    for _ in range(4):
        if frame is not None and frame.f_code.co_name == "serve_forever" and "self" in frame.f_locals:
            server = frame.f_locals["self"]
            if hasattr(server, "_BaseServer__shutdown_request"):
                return _ending(server), partial(getattr, server, "_BaseServer__shutdown_request")
        frame = frame.f_back if frame is not None else None
    return None


def _ending(server: Any) -> str:
    found: str | None = server.__dict__.get("_possibly_ending")
    if found is None:
        found = server._possibly_ending = name_for("server")
    return found


def _shutdown(plain: Any) -> Any:
    def shutdown(self: Any) -> None:
        kernel = running.kernel
        if kernel is None:
            plain(self)
            return
        thing = _ending(self)
        kernel.visible("shutdown", thing, (Access(thing, True),))
        plain(self)

    return shutdown


def _made(plain: Any) -> Any:
    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        plain(self, *given, **options)
        if running.kernel is not None:
            _ending(self)

    return __init__


def install_for_servers(patches: Patches) -> None:
    kind: Any = sys.modules["socketserver"].BaseServer
    patches.put(kind, "shutdown", _shutdown(kind.shutdown))
    patches.put(kind, "__init__", _made(kind.__init__))


def install(patches: Patches) -> None:
    for name in ("SelectSelector", "PollSelector", "EpollSelector", "DevpollSelector", "KqueueSelector"):
        kind: Any = getattr(selectors, name, None)
        if kind is not None:
            patches.put(kind, "select", _select(kind.select))
    patches.put(select, "select", _plain_select(select.select))
    patches.when_imported("socketserver", install_for_servers)
