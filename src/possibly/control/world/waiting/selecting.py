"""`select` and `selectors` on sockets and pipes that lead nowhere else: waiting for one is one operation.

A selector with anything real in it is the real one. `socketserver` looks every half second whether it is to
end: under control it waits for that too, so that nothing needs to be looked at again and again.
"""

from __future__ import annotations

import select
import selectors
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import visible
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.waiting import outward
from possibly.probes.patching import Patches

Wanted = tuple[int, bool, bool]
"""Number of an open file, whether to read, whether to write."""
asked: Callable[[list[Wanted], float | None], list[tuple[int, int]] | None] | None = None
"""In started processes, which ask the first one: what `selected` is there (`processes.lent`)."""


def places() -> dict[int, Any]:
    """Number of an open file -> the place at which it ends, under control: a connection, a port, a pipe."""
    listeners = sys.modules.get("possibly.control.world.listeners")
    datagrams = sys.modules.get("possibly.control.world.datagrams")
    pipes = sys.modules.get("possibly.control.world.processes.pipes")
    found = {} if pipes is None else {file: way.watched() for file, (way, _) in pipes.numbers.items()}
    tables = () if listeners is None else (listeners.bound, listeners.ends)
    for table in (*tables, *(() if datagrams is None else (datagrams.places,))):
        found |= {sock.fileno(): place for sock, place in table.items() if sock.fileno() >= 0}
    return found


def selected(
    kernel: Kernel, wanted: list[tuple[Any, bool, bool]], timeout: float | None, more: Any = None
) -> list[tuple[int, int]]:
    """Which of these (place, to read, to write) are ready for what, when one is or the time is up."""

    def touched() -> tuple[Access, ...]:
        found = [access for each in wanted for access in touched_by_looking(*each)]
        return tuple(dict.fromkeys([*found, *(() if more is None else (Access(more[0], False),))]))

    def ready() -> list[tuple[int, int]]:
        now = [_possible(*each) for each in wanted]
        return [(index, events) for index, events in enumerate(now) if events]

    def can_go() -> bool:
        return bool(ready()) or (more is not None and more[1]())

    thing = next((place.name for place, _, _ in wanted), more[0] if more is not None else "select")
    now = timeout is not None and timeout <= 0
    visible(kernel, "select", thing, touched, None if now else can_go, None if now else timeout)
    return ready()


def touched_by_looking(place: Any, reads: bool, writes: bool) -> tuple[Access, ...]:
    """What tells whether the place is ready: of a connection its parts, else all of it."""
    if hasattr(place, "touched_by_looking"):
        found: tuple[Access, ...] = place.touched_by_looking(reads, writes)
        return found
    flow = getattr(place, "flow", None) if writes else None
    return (Access(place.name, False), *(() if flow is None else (Access(flow.name, False),)))


def _possible(place: Any, reads: bool, writes: bool) -> int:
    readable, writable = reads and place.is_readable(), writes and place.is_writable()
    return (selectors.EVENT_READ if readable else 0) | (selectors.EVENT_WRITE if writable else 0)


def _found(kernel: Kernel, files: list[Wanted], timeout: Any, more: Any = None) -> Any:
    """Which of these files are ready, and for what; None if one of them leads outside."""
    if asked is not None:
        return asked(files, None if more is not None else timeout)
    inside = places()
    if any(file not in inside for file, _, _ in files):
        return None
    wanted = [(inside[file], reads, writes) for file, reads, writes in files]
    return selected(kernel, wanted, None if more is not None else timeout, more)


def _select(plain: Any) -> Any:
    def chosen(self: Any, timeout: Any = None) -> Any:
        kernel = running.kernel
        keys = list(self.get_map().values()) if kernel is not None else []
        if kernel is None or not keys:
            return plain(self, timeout)
        files = [(key.fd, *_events(key.events)) for key in keys]
        found = _found(kernel, files, timeout, _server())
        if found is None:
            return outward.waited(kernel, lambda seconds: plain(self, seconds), timeout)
        return [(keys[index], events) for index, events in found]

    return chosen


def _events(events: int) -> tuple[bool, bool]:
    return bool(events & selectors.EVENT_READ), bool(events & selectors.EVENT_WRITE)


def _plain_select(plain: Any) -> Any:
    def chosen(rlist: Any, wlist: Any, xlist: Any, timeout: Any = None) -> Any:
        kernel = running.kernel
        reads, writes = list(rlist), list(wlist)
        files = [(number(each), True, False) for each in reads]
        files += [(number(each), False, True) for each in writes]
        has_closed = any(number < 0 for number, _, _ in files)  # who selects one is told so
        if kernel is None or not files or has_closed:
            return plain(rlist, wlist, xlist, timeout)
        found = _found(kernel, files, timeout)
        if found is None:
            return outward.waited(kernel, lambda seconds: plain(rlist, wlist, xlist, seconds), timeout)
        ready = [index for index, _ in found]
        return (
            [each for index, each in enumerate(reads) if index in ready],
            [each for index, each in enumerate(writes, len(reads)) if index in ready],
            [],
        )

    chosen.__module__, chosen.__name__ = "select", "select"  # what else it is given is looked at by that
    return chosen


def number(file: Any) -> int:
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
