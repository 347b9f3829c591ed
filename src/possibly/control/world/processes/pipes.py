"""Pipes of the system (`os.pipe`) between threads and processes of the program.

Each has two numbers of open files, as it really has; what goes through it is kept by the first process, which
also knows who has its ends. Reading waits for data or for the end of all writers, writing for room.
"""

from __future__ import annotations

import errno
import io
import os
import posix
from typing import Any

from possibly.control.execution import Access
from possibly.control.models import files
from possibly.control.models.locks import label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import visible
from possibly.control.world.processes import channel
from possibly.control.world.processes.holding import Held, let_go, whose
from possibly.control.world.processes.queues import ROOM
from possibly.control.world.processes.shared import Shared, makers, objects

numbers: dict[int, tuple[Ends, bool]] = {}
"""Number of an open file of this process -> a pipe, and whether it is the end that writes."""
_plain: dict[str, Any] = {name: getattr(posix, name) for name in "read write close dup dup2".split()}
_plain_open = io.open


class Bytes:
    """In the first process: what is in a pipe, and who has its ends."""

    def __init__(self) -> None:
        self.data = b""
        self.name = name_for("pipe")
        label(self.name, "pipe")
        self.ends = {True: f"{self.name}.writers", False: f"{self.name}.readers"}
        """Whether it writes -> the thing that is written when nobody has that end any more."""
        self.held = {writes: self._end(writes) for writes in (True, False)}
        """Whether it writes -> that end."""

    def write(self, data: bytes, waits: bool) -> int:
        kernel = running.kernel
        assert kernel is not None
        ready = (lambda: not self.held[False] or self._free(data) > 0) if waits else None
        touched = (Access(self.name, True), Access(self.ends[False], False))
        kernel.visible("put", self.name, touched, None, ready)
        if not self.held[False]:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        piece = data[: self._free(data)]
        if data and not piece:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        if not self.data:
            kernel.opened(("get", self.name))
        self.data += piece
        return len(piece)

    def _free(self, data: bytes) -> int:
        """How much of this fits: what is short does as a whole, or not at all."""
        room = ROOM - len(self.data)
        return room if room >= min(len(data), 4096) else 0

    def read(self, size: int, waits: bool) -> bytes:
        kernel = running.kernel
        assert kernel is not None
        visible(kernel, "get", self.name, self._touched_by_reading, self.is_readable if waits else None)
        if not self.is_readable():
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        if not self.is_writable():
            kernel.opened(("put", self.name))
        found, self.data = self.data[:size], self.data[size:]
        kernel.tell({"value": repr(found[:60])})
        return found

    def _touched_by_reading(self) -> tuple[Access, ...]:
        """Who finds something does not see whether more will come."""
        over = () if self.data else (Access(self.ends[True], False),)
        return (Access(self.name, True), *over)

    def touched_by_looking(self, reads: bool, writes: bool) -> tuple[Access, ...]:
        over = [Access(self.ends[True], False)] if reads and not self.data else []
        over += [Access(self.ends[False], False)] if writes else []
        return (Access(self.name, False), *over)

    def is_readable(self) -> bool:
        return bool(self.data) or not self.held[True]

    def is_writable(self) -> bool:
        return not self.held[False] or len(self.data) < ROOM

    def _end(self, writes: bool) -> Held:
        def gone() -> None:
            was_shut = not self.data if writes else len(self.data) >= ROOM
            if running.kernel is not None and was_shut:
                running.kernel.opened(("get" if writes else "put", self.ends[writes]))

        return Held(self.ends[writes], gone=gone)

    def close(self, writes: bool) -> None:
        let_go(whose(), self.held[writes])

    def watched(self) -> Bytes:
        return self


makers["bytes"] = Bytes


class Ends(Shared):
    """A pipe, as this process has it."""

    word = "bytes"

    def __init__(self) -> None:
        super().__init__()
        self._files = {True: 0, False: 0}

    def watched(self) -> Bytes:
        """In the first process: what is in it."""
        found: Bytes = objects[self._number]
        return found

    def opened(self, number: int, writes: bool) -> None:
        numbers[number] = self, writes
        self._files[writes] += 1

    def closed(self, number: int, writes: bool) -> None:
        del numbers[number]
        self._files[writes] -= 1
        if not self._files[writes]:
            self._call("close", writes)


def keep_only(files: tuple[int, ...]) -> None:
    """In a started process, which is to have no open files but these; what it is given becomes its own."""
    known = {file: numbers[file] for file in files if file in numbers}
    channel.ask("keep", [(way._number, writes) for way, writes in known.values()])
    for file in [each for each in numbers if each not in known]:
        _plain["close"](file)
    numbers.clear()
    numbers.update(known)
    ends = list(known.values())
    for way, _ in ends:
        way._files = {writes: ends.count((way, writes)) for writes in (True, False)}


# ---- in place of the functions of `os` ------------------------------------------------------------


def begin() -> dict[str, Any]:
    """What takes the place of functions of `os`, from now on."""
    files.pipes = numbers
    return {"read": _read, "write": _write, "close": _close, "dup": _dup, "dup2": _dup2, "fdopen": opened}


def piped(plain_pipe: Any) -> tuple[int, int]:
    """What `os.pipe` returns to code of the program."""
    found: tuple[int, int] = plain_pipe()
    made = Ends()
    made.opened(found[0], False)
    made.opened(found[1], True)
    return found


def _known(number: Any) -> tuple[Ends, bool] | None:
    kernel = running.kernel
    found = numbers.get(number) if numbers and isinstance(number, int) else None
    return found if found is not None and kernel is not None and not kernel.ending else None


def _read(fd: int, length: int, /) -> bytes:
    known = _known(fd)
    if known is None or known[1]:
        found: bytes = _plain["read"](fd, length)
        return found
    data: bytes = known[0]._call("read", length, os.get_blocking(fd))
    return data


def _write(fd: int, data: Any, /) -> int:
    known = _known(fd)
    if known is None or not known[1]:
        found: int = _plain["write"](fd, data)
        return found
    given, sent, waits = bytes(data), 0, os.get_blocking(fd)
    while sent < len(given):
        sent += known[0]._call("write", given[sent:], waits)
        if not waits:
            break
    return sent


def _close(fd: int, /) -> None:
    known = _known(fd)
    if known is not None:
        known[0].closed(fd, known[1])
    _plain["close"](fd)


def _dup(fd: int, /) -> int:
    found: int = _plain["dup"](fd)
    known = _known(fd)
    if known is not None:
        known[0].opened(found, known[1])
    return found


def _dup2(fd: int, fd2: int, inheritable: bool = True) -> int:
    before, known = _known(fd2), _known(fd)
    if before is not None:
        before[0].closed(fd2, before[1])
    found: int = _plain["dup2"](fd, fd2, inheritable)
    if known is not None:
        known[0].opened(fd2, known[1])
    return found


class Raw(io.RawIOBase):
    """An open file that is an end of a pipe."""

    def __init__(self, number: int, closefd: bool = True) -> None:
        self._number, self._closes = number, closefd
        self.name = number
        self.mode = "wb" if self.writable() else "rb"

    def fileno(self) -> int:
        return self._number

    def readable(self) -> bool:
        return self._number in numbers and not numbers[self._number][1]

    def writable(self) -> bool:
        return self._number in numbers and numbers[self._number][1]

    def readinto(self, buffer: Any) -> int | None:
        try:
            data = _read(self._number, len(buffer))
        except BlockingIOError:
            return None
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int | None:
        try:
            return _write(self._number, data)
        except BlockingIOError:
            return None

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._closes:
                _close(self._number)


def file_of(
    number: int, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
    newline: Any = None, closefd: bool = True, **_: Any,
) -> Any:  # fmt: skip
    """What `open` gives for an end of a pipe."""
    raw = Raw(number, closefd)
    if buffering == 0:
        return raw
    size = io.DEFAULT_BUFFER_SIZE if buffering < 2 else buffering
    buffered: Any = io.BufferedWriter(raw, size) if raw.writable() else io.BufferedReader(raw, size)
    if "b" in mode:
        return buffered
    made: Any = io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)
    made.mode = mode
    return made


def opened(
    fd: int, mode: str = "r", buffering: int = -1, encoding: Any = None, *given: Any, **options: Any
) -> Any:
    if _known(fd) is None:
        return _plain_open(fd, mode, buffering, encoding, *given, **options)
    return file_of(fd, mode, buffering, encoding, *given, **options)
