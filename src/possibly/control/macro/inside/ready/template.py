"""`python -m possibly.control.macro.inside.ready.template WIRE RANKS`: it is forked for each execution.

Law: a forked process is what a fresh interpreter would be that was started with the same words, folder,
environment and standard streams, but for the modules that are in memory already. It is asked for over the
socket that the first descriptor names, or, if it is a rank of MPI, by the process that `mpiexec` has started
for it (`rank`), which connects to the second and ends when the rank does. The template ends when nobody can
ask any more.
"""

from __future__ import annotations

import marshal
import os
import selectors
import signal
import socket
import sys
from importlib import import_module
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from possibly.control.macro.inside import files, start
from possibly.control.macro.program.wire import VARIABLE, ClosedError, Wire

USUAL = (
    "asyncio",
    "multiprocessing.connection",
    "multiprocessing.queues",
    "multiprocessing.synchronize",
    "queue",
    "threading",
)
"""What programs that pass messages import."""
OURS = ("pipes", "primitives", "processes", "queues", "tasks", "threads", "mpi.messages")
"""The files here that put the operations in place."""
LATER = (
    "possibly.control.macro.inside.watching",
    "possibly.control.loading.instrumented",
    "possibly.control.macro.inside.content",
)
"""What only programs with choices need: imported while the first execution is under way."""
HIGH = 200
"""Descriptors that are received are kept there until they get the numbers that they should have."""


def main() -> None:
    wire, ranks = map(int, sys.argv[1:])
    _Template(Wire(socket.socket(fileno=wire)), socket.socket(fileno=ranks)).serve()


class _Asked(NamedTuple):
    """What `rank` tells."""

    end: socket.socket
    words: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    numbers: list[int]
    given: list[int]
    """Descriptors, in the order of the numbers that they should have."""


class _Template:
    def __init__(self, wire: Wire, listening: socket.socket) -> None:
        self._wire = wire
        self._listening = listening
        self._ranks: dict[int, socket.socket] = {}
        """The ranks that live, and who stands for each."""
        self._coming: dict[str, list[_Asked]] = {}
        """Execution -> those who stand for its ranks, until all have come."""
        self._selector = selectors.DefaultSelector()
        for each in (wire.end, self._listening):
            self._selector.register(each, selectors.EVENT_READ)

    def serve(self) -> None:
        _import(*USUAL, *(f"possibly.control.macro.inside.{each}" for each in OURS))
        signal.signal(signal.SIGCHLD, self._reap)
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.fileobj is self._wire.end:
                        self._serve_controller()
                    elif key.fileobj is self._listening:
                        self._serve_rank(self._listening.accept()[0])
                    else:
                        self._end_rank(key.data)
        except ClosedError:
            for pid in list(self._ranks):
                os.kill(pid, signal.SIGKILL)
            os._exit(0)

    def _serve_controller(self) -> None:
        words, environment, folder, output = self._wire.receive()
        child = os.fork()
        if child == 0:
            self._leave()
            _redirect(output)
            _become(words, environment, folder)
        self._wire.send(child)
        _import(*LATER)
        files.ready()

    def _serve_rank(self, end: socket.socket) -> None:
        """Ranks that begin wait for each other busily: they begin when `mpiexec` has started all of them."""
        try:
            asked = _asked(end)
        except (OSError, ClosedError, ValueError, EOFError):
            end.close()
            return
        of_execution = self._coming.setdefault(asked.environment.get(VARIABLE, ""), [])
        of_execution.append(asked)
        if len(of_execution) >= int(asked.environment.get("PMI_SIZE", "1")):
            while of_execution:
                self._fork_rank(of_execution.pop())
            del self._coming[asked.environment.get(VARIABLE, "")]

    def _fork_rank(self, asked: _Asked) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # until it is known whose child it is
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            asked.end.close()
            self._leave()
            _hand_over(asked.given, asked.numbers)
            _become(asked.words, asked.environment, asked.folder)
        self._ranks[child] = asked.end
        self._selector.register(asked.end, selectors.EVENT_READ, child)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        for number in asked.given:
            os.close(number)

    def _end_rank(self, pid: int) -> None:
        """Whoever stands for a rank has gone: so does the rank."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # its number stays its own
        end = self._ranks.pop(pid, None)
        if end is not None:
            self._selector.unregister(end)
            end.close()
            os.kill(pid, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def _leave(self) -> None:
        """A forked process has nothing to do with this any more."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        coming = [asked for each in self._coming.values() for asked in each]
        for end in (self._wire.end, self._listening, *self._ranks.values(), *(each.end for each in coming)):
            end.close()
        for number in [number for each in coming for number in each.given]:
            os.close(number)

    def _reap(self, number: int, frame: FrameType | None) -> None:
        """What a child cost is added to what we cost, and whoever stands for it learns how it ended."""
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                end = self._ranks.pop(found[0], None)
                if end is not None:
                    self._selector.unregister(end)
                    _tell_end(end, found[1])
        except ChildProcessError:
            pass


def _tell_end(end: socket.socket, status: int) -> None:
    try:
        end.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
    except OSError:
        pass  # it has gone itself
    end.close()


def _asked(end: socket.socket) -> _Asked:
    head, given, _, _ = socket.recv_fds(end, 4, 8)
    length, told = int.from_bytes(head, "big"), bytearray()
    while len(told) < length:
        part = end.recv(length - len(told))
        if not part:
            raise ClosedError
        told += part
    words, environment, folder, numbers = marshal.loads(told)
    decoded = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
    return _Asked(end, tuple(words), decoded, folder, numbers, given)


def _hand_over(given: list[int], numbers: list[int]) -> None:
    import fcntl

    high = [fcntl.fcntl(each, fcntl.F_DUPFD, HIGH) for each in given]
    for each in given:
        os.close(each)
    for each, number in zip(high, numbers, strict=True):
        os.dup2(each, number)
        os.close(each)


def _import(*names: str) -> None:
    for name in names:
        import_module(name)


def _become(words: tuple[str, ...], environment: dict[str, str], folder: str) -> NoReturn:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    try:
        os.chdir(folder)
        sys.argv = [sys.argv[0], *words]
        start.main()
    except BaseException:  # noqa: BLE001 - nothing may return into the template
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


def _redirect(output: str) -> None:
    streams: list[tuple[str, int, tuple[int, ...]]] = [
        (os.devnull, os.O_RDONLY, (0,)),
        (output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, (1, 2)),
    ]
    for path, how, numbers in streams:
        opened: Any = os.open(path, how, 0o600)
        for number in numbers:
            os.dup2(opened, number)
        os.close(opened)


if __name__ == "__main__":
    main()
