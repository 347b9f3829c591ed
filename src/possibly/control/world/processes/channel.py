"""How a forked process asks the first one, which has the scheduler and all that processes share.

Law: one of all processes computes at a time. A forked process computes while a task of the first one, its
deputy, holds the baton and waits for it to ask. What it asks for is an operation of that task; when that is
done the process gets its answer and computes on. Memory that is not shared is its own: nobody else can tell
what happens there, and none of it is a step.
"""

from __future__ import annotations

import os
import pickle
import posix
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime.places import place_of
from possibly.control.runtime.spin import Stack, is_counted, is_same, stack_here

_LENGTH = struct.Struct("=q")


class Gone(Exception):
    """The other process has ended."""


class Channel:
    """One end of what joins two processes."""

    def __init__(self, sock: socket.socket) -> None:
        self._file = sock.detach()

    def send(self, *message: Any) -> None:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        left = memoryview(_LENGTH.pack(len(data)) + data)
        try:
            while left:
                left = left[posix.write(self._file, left) :]
        except OSError as error:
            raise Gone from error

    def receive(self) -> tuple[Any, ...]:
        size = _LENGTH.unpack(self._read(_LENGTH.size))[0]
        found: tuple[Any, ...] = pickle.loads(self._read(size))
        return found

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = posix.read(self._file, min(size, 1 << 20))
            except OSError as error:
                raise Gone from error
            if not part:
                raise Gone
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def send_file(self, number: int) -> None:
        """Gives the other process an open file of this one."""
        with _as_socket(self._file) as way:
            socket.send_fds(way, [b"."], [number])

    def receive_file(self) -> int:
        with _as_socket(self._file) as way:
            return int(socket.recv_fds(way, 1, 1)[1][0])

    def close(self) -> None:
        posix.close(self._file)


@contextmanager
def _as_socket(number: int) -> Iterator[socket.socket]:
    found = socket.socket(fileno=number)
    try:
        yield found
    finally:
        found.detach()


upward: Channel | None = None
"""To the first process, in all others."""


class States:
    """Where this process stood whenever it asked: where it is the same again, it would do the same again.

    It is so if it has changed nothing meanwhile and its variables are the same: whoever answers may then find
    that it waits in a loop (`spin`). What one instruction asks for several times is no loop. What other
    threads of this process do is not known here.
    """

    def __init__(self) -> None:
        self._known: list[tuple[str, Stack, int]] = []
        self._shown = -1
        self._effects = 0
        self._number = 0

    def number(self, place: str) -> int:
        """Of where it stands now; it was there before if it has the same number."""
        kernel = running.kernel
        if kernel is None:
            return self._new()
        trail, stack = kernel.current.trail, stack_here()
        shown = kernel.current.shown
        if trail.effects != self._effects or len(kernel.tasks) > 1 or self._stays(shown, stack):
            self._known.clear()
        known = (number for at, before, number in self._known if at == place and is_same(before, stack))
        found = next(known, None) or self._new()
        self._known.append((place, stack, found))
        trail.turn()  # its memory alone does not say what it does next
        self._effects, self._shown = trail.effects, shown
        return found

    def _stays(self, shown: int, stack: Stack) -> bool:
        """Whether the program is still at the instruction that asked last."""
        return shown == self._shown and is_counted(stack)

    def _new(self) -> int:
        self._number += 1
        return self._number


_states = States()


def ask(*message: Any, file: int | None = None) -> Any:
    """Asks the first process for something, with an open file perhaps, and waits for it to be done."""
    assert upward is not None
    place = place_of(sys._getframe(1))
    try:
        upward.send(*message, place, _states.number(place))
        if file is not None:
            upward.send_file(file)
        is_error, answer, time = upward.receive()
    except Gone:
        os._exit(1)
    if running.kernel is not None:
        task = running.kernel.current
        task.time = max(task.time, time)
    if is_error:
        raise answer
    return answer
