"""The sockets of the on-line monitor: a loop that reads whoever sends, one thread, no surprises.

Here belongs how bytes come in: TCP on the loopback interface alone, a Unix socket that only its user may
open, or standard input. What they mean is the intake's.

The loop ends when standard input or the announced number of connections is over, when every verdict is
final and that was asked for, or when a signal asks for it (Ctrl-C, a terminate): signals only set a flag
and wake the loop, so no line is taken in by half.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

from possibly.errors import PossiblyError, UsageError
from possibly.session.watching.intake import Connection, Intake
from possibly.session.watching.paths_live import Told

PIECE = 1 << 16
MOST_CONNECTIONS = 500
"""At once; more wait in the queue of the system."""
IDLE = 0.2
"""Seconds without a line after which there is time for other work."""
SILENCE = 30.0
"""Seconds that a connection may take to send its header."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: `host` and `port`, or the `path` of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    @staticmethod
    def of(text: str) -> Address:
        """`HOST:PORT`, `PORT` or `unix:PATH`."""
        if text.startswith("unix:"):
            return Address(path=text.removeprefix("unix:"))
        host, _, port = text.rpartition(":")
        host = host.strip("[]") or "127.0.0.1"
        if not port.isdigit() or int(port) > 65535:
            raise UsageError(f"{text!r} is no address", hint="PORT, HOST:PORT or unix:PATH")
        return Address(host, int(port))

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@contextmanager
def listening(address: Address) -> Iterator[tuple[socket.socket, Address]]:
    """A socket that listens, and the address it has got."""
    if not address.path and address.host not in LOOPBACK:
        raise UsageError(
            f"{address.host} is not this machine: the monitor listens on the loopback interface alone",
            hint="from other machines use a tunnel, such as ssh -R",
        )
    try:
        found = _opened(address)
    except OSError as error:
        raise PossiblyError(f"cannot listen on {address}: {error.strerror or error}") from None
    try:
        name = found.getsockname()
        yield found, address if address.path else Address(name[0], name[1])
    finally:
        found.close()
        if address.path:
            with suppress(OSError):
                os.unlink(address.path)


def _opened(address: Address) -> socket.socket:
    if address.path:
        return _unix(address.path)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    return socket.create_server((address.host, address.port), family=family)


def _unix(path: str) -> socket.socket:
    with suppress(OSError):
        if stat.S_ISSOCK(os.stat(path).st_mode) and not _answers(path):
            os.unlink(path)  # left over by a monitor that was killed
    found = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        found.bind(path)
    except OSError:
        found.close()
        raise
    finally:
        os.umask(before)
    found.listen()
    return found


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def _send_back(receiver: socket.socket, lines: list[dict[str, Any]]) -> None:
    """A sender that does not read what it asked for, or is gone, must not hold up the others."""
    with suppress(OSError):
        receiver.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


class Loop:
    """Reads until the run is over. `has_time` is called whenever nothing has come for a while."""

    def __init__(
        self,
        intake: Intake,
        has_time: Callable[[], None],
        complain: Callable[[PossiblyError], Any],
        *,
        stop_when_settled: bool = False,
        announced: int | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.intake = intake
        self.has_time = has_time
        self.complain = complain
        self.stop_when_settled = stop_when_settled
        self.announced = announced
        """Connections after whose end the run is over."""
        self.is_interrupted = False
        self._clock = clock
        self._selector = selectors.SelectSelector()
        self._open: dict[int, tuple[Any, Connection]] = {}
        self._since: dict[int, float] = {}
        """When connections were made that have not sent their header yet."""
        self._server: socket.socket | None = None
        self._told: list[Told] = []
        self.intake.run.tellers.append(self._told.append)
        self._number = 0
        self._over = 0

    # ---- the two ways of running ----------------------------------------------------------------

    def read_file(self, descriptor: int, name: str) -> None:
        """One stream, to its end."""
        connection = Connection(name)
        with self._signals():
            self._selector.register(descriptor, selectors.EVENT_READ)
            while not self._is_over() and not connection.is_broken:
                if not self._ready():
                    continue
                data = os.read(descriptor, PIECE)
                self._feed(connection, data)
                if not data:
                    break

    def serve(self, server: socket.socket, *, needs_token: bool) -> None:
        """Whoever connects, until the announced connections are over or a signal comes."""
        self._server = server
        server.setblocking(False)
        with self._signals():
            self._selector.register(server, selectors.EVENT_READ)
            while not self._is_over():
                self._send_the_silent_away()
                for key in self._ready():
                    if key.fileobj is server:
                        self._accept(server, needs_token)
                    elif key.fd in self._open:
                        self._receive(key.fd)
        for each, _ in self._open.values():
            each.close()

    def _is_over(self) -> bool:
        if self.is_interrupted:
            return True
        if self.announced is not None and self._over >= self.announced and not self._open:
            return True
        return self.stop_when_settled and self.intake.run.has_begun and self.intake.run.is_settled

    # ---- reading --------------------------------------------------------------------------------

    def _ready(self) -> list[selectors.SelectorKey]:
        """What can be read now; nothing if time passed, or a signal came."""
        found = [key for key, _ in self._selector.select(IDLE)]
        if self._wake is not None and any(key.fileobj is self._wake for key in found):
            with suppress(BlockingIOError):
                self._wake.recv(PIECE)
            found = [key for key in found if key.fileobj is not self._wake]
        if not found:
            self.has_time()
        return found

    def _accept(self, server: socket.socket, needs_token: bool) -> None:
        try:
            accepted, peer = server.accept()
        except OSError:
            return  # it left before we came
        accepted.setblocking(False)
        self._number += 1
        name = f"connection {self._number}"
        if isinstance(peer, tuple):
            name += f" ({peer[0]}:{peer[1]})"
        self._open[accepted.fileno()] = accepted, Connection(name, needs_token)
        self._since[accepted.fileno()] = self._clock()
        self._selector.register(accepted, selectors.EVENT_READ)
        if len(self._open) >= MOST_CONNECTIONS:
            self._selector.unregister(server)

    def _receive(self, descriptor: int) -> None:
        accepted, connection = self._open[descriptor]
        try:
            data = accepted.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""  # it was cut off: what it sent so far counts
        had_begun = self.intake.run.has_begun
        self._feed(connection, data)
        self._answer()
        if connection.has_header:
            self._since.pop(descriptor, None)
        if not data or connection.is_broken:
            self._close(descriptor)
        elif self.intake.is_held(connection):
            self._selector.unregister(accepted)  # the rest waits in the system until the headers are there
        if not had_begun and self.intake.run.has_begun:
            self._release()

    def _send_the_silent_away(self) -> None:
        """Whoever connects and says nothing must not keep others out."""
        for descriptor, since in list(self._since.items()):
            if self._clock() - since > SILENCE:
                self._close(descriptor)

    def _release(self) -> None:
        registered = {key.fd for key in self._selector.get_map().values()}
        for descriptor, (accepted, connection) in list(self._open.items()):
            if connection.is_broken:
                self._close(descriptor)
            elif descriptor not in registered:
                self._selector.register(accepted, selectors.EVENT_READ)

    def _feed(self, connection: Connection, data: bytes) -> None:
        known = len(self.intake.refused)
        if data:
            self.intake.feed(connection, data)
        else:
            self.intake.end(connection)
        for error in self.intake.refused[known:]:
            self.complain(error)

    def _answer(self) -> None:
        """What was told goes back to those that wait for answers; a stop is for all of them.

        Lines that were held until the last header came are taken in when another connection sends.
        """
        told, self._told[:] = list(self._told), []
        for sender, connection in list(self._open.values()):
            if not connection.wants_answers:
                continue
            wanted = [each for each in told if each.stops or each.task in connection.processes]
            lines: list[dict[str, Any]] = [{"told": asdict(each)} for each in wanted]
            if connection.line > connection.answered:
                connection.answered = connection.line
                lines.append({"taken": connection.line})
            _send_back(sender, lines)

    def _close(self, descriptor: int) -> None:
        accepted, connection = self._open.pop(descriptor)
        self._since.pop(descriptor, None)
        with suppress(KeyError):
            self._selector.unregister(accepted)
        accepted.close()
        self._over += connection.has_header
        if self._server is not None and len(self._open) == MOST_CONNECTIONS - 1:
            self._selector.register(self._server, selectors.EVENT_READ)

    # ---- signals --------------------------------------------------------------------------------

    _wake: socket.socket | None = None

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C and terminate end the loop between two pieces."""

        def interrupt(*_: object) -> None:
            self.is_interrupted = True

        wake, end = socket.socketpair()
        wake.setblocking(False)
        end.setblocking(False)
        self._wake = wake
        self._selector.register(wake, selectors.EVENT_READ)
        numbers = (signal.SIGINT, signal.SIGTERM)
        try:
            before = {number: signal.signal(number, interrupt) for number in numbers}
            descriptor = signal.set_wakeup_fd(end.fileno(), warn_on_full_buffer=False)
        except ValueError:  # not in the main thread: whoever runs us there ends us otherwise
            before, descriptor = {}, -1
        try:
            yield
        finally:
            if before:
                signal.set_wakeup_fd(descriptor)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._selector.close()
            wake.close()
            end.close()
