"""Sockets that processes have which the program starts: the first process has the network, and they ask it.

Each socket of such a process stands for one in the first process, whose methods are called there by its
deputy: so whatever can be done between threads can be done between processes. A process has those that its
parent had when it was forked; a connection or a port is closed when the last process lets go of it.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world import ends, listeners
from possibly.control.world.processes import channel, pipes
from possibly.control.world.processes.holding import Held, let_go, whose
from possibly.control.world.processes.shared import kept
from possibly.control.world.tables import Table
from possibly.probes import port

Socket: Any = socket.socket
known: Table[int] = Table()
"""Socket of this process -> the number of what it stands for."""
INTO = {"recv_into": "recv", "recvfrom_into": "recvfrom"}
FREE = frozenset("_real_close getsockname getpeername shutdown".split())
"""Methods that do not bring a socket into the network."""


# ---- in the first process ---------------------------------------------------------------------------


class Lent:
    """A socket of the first process that stands for those of others."""

    def __init__(self, family: int, kind: int, proto: int = 0) -> None:
        self.sock = Socket(family, kind, proto)

    def do(self, method: str, patience: float | None, given: tuple[Any, ...]) -> Any:
        self.sock.settimeout(patience)
        found = getattr(self.sock, method)(*given)
        _hold(self.sock)
        return (_lent(found[0]), found[1]) if method == "accept" else found

    def leave(self) -> None:
        """The process that asks closes it."""
        place = place_of(self.sock)
        if place is None or place.held is None:
            self.sock.close()
        else:
            let_go(whose(), place.held)

    def watched(self) -> Any:
        return place_of(self.sock)


def place_of(sock: Any) -> Any:
    """What a socket of the first process has in the network: an end of a connection, a port, a place."""
    return next((table[sock] for table in _tables() if sock in table), None)


def _lent(sock: Any) -> int:
    found = Lent.__new__(Lent)
    found.sock = sock
    _hold(sock)
    return kept(found)


def _hold(sock: Any) -> None:
    """From now on it is counted who has it."""
    place = place_of(sock)
    if place is not None and place.held is None and not place.is_closed:
        place.held = Held(*place.touched_at_end(), gone=lambda: _close(sock))


def _close(sock: Any) -> None:
    place = place_of(sock)
    if place is not None and running.kernel is not None:
        place.held = None
        place.shut()


def lend() -> None:
    """Before a process is forked, which will have all sockets that the first one has."""
    mine = [(table, sock) for table in _tables() for sock in table if sock.fileno() >= 0]
    for table, sock in mine:
        if sock not in known:
            stand_in = Socket(sock.family, sock.type)
            table[stand_in] = table[sock]
            known[sock] = _lent(stand_in)


def _tables() -> list[Any]:
    datagrams = sys.modules.get("possibly.control.world.datagrams")
    return [listeners.ends, listeners.bound, *([] if datagrams is None else [datagrams.places])]


def new(*kind: int) -> Any:
    """The number of a new socket of this family and kind; of two that are joined unless it is given."""
    if kind:
        return kept(Lent(*kind))
    one, other = (Socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(2))
    listeners.ends[one], listeners.ends[other] = ends.pair()
    return _lent(one), _lent(other)


# ---- in all others ----------------------------------------------------------------------------------


def begin() -> Any:
    """What the copy of the network has is not the network; returns what does methods of sockets."""
    for table in _tables():
        table.clear()
    return _asked


def _asked(name: str, plain: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A method of a socket of this process, done by the first one."""
    if name == "socketpair":
        return _pair(plain, given, options)
    sock, *arguments = given
    if sock not in known and name in FREE:
        return plain(*given, **options)
    if name in INTO:
        return _into(sock, INTO[name], *arguments, **options)
    if name == "_real_close":
        _call(sock, "leave")
        del known[sock]
        return plain(*given)
    if name in ("send", "sendall", "sendto"):
        arguments[0] = bytes(arguments[0])
    found = _call(sock, "do", name, sock.gettimeout(), (*arguments, *options.values()))
    return _here(sock, *found) if name == "accept" else found


def _call(sock: Any, method: str, *given: Any) -> Any:
    if sock not in known:
        known[sock] = channel.ask("socket", int(sock.family), int(sock.type) & 0xF, sock.proto)
    return channel.ask("call", known[sock], method, given)


def _here(like: Any, number: int, address: Any) -> tuple[Any, Any]:
    """A connection that was taken, as a socket of this process."""
    made = Socket(like.family, socket.SOCK_STREAM)
    if socket.getdefaulttimeout() is None:
        made.setblocking(True)
    known[made] = number
    return made, address


def _into(sock: Any, method: str, buffer: Any, nbytes: int = 0, flags: int = 0) -> Any:
    view = memoryview(buffer).cast("B")
    found = getattr(sock, method)(nbytes or len(view), flags)
    data = found if method == "recv" else found[0]
    view[: len(data)] = data
    return len(data) if method == "recv" else (len(data), found[1])


def _pair(plain: Any, given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    one, other = plain(*given, **options)
    if port.is_user_file(sys._getframe(3).f_code.co_filename) and one.type & 0xF == socket.SOCK_STREAM:
        known[one], known[other] = channel.ask("socket")
    return one, other


def select(files: list[tuple[int, bool, bool]], timeout: float | None) -> list[tuple[int, int]] | None:
    """Which of these files (number, to read, to write) are ready, and for what; None if one is outside."""
    numbers = {sock.fileno(): number for sock, number in known.items() if sock.fileno() >= 0}
    numbers |= {file: way._number for file, (way, _) in pipes.numbers.items()}
    if any(file not in numbers for file, _, _ in files):
        return None
    wanted = [(numbers[file], reads, writes) for file, reads, writes in files]
    found: list[tuple[int, int]] = channel.ask("select", wanted, timeout)
    return found
