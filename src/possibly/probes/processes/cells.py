"""Numbers that all processes of a run share: how often a primitive between processes was released, and such.

They lie in files of the folder that the recording writes to, mapped into memory by whoever needs them; a cell
is known by its file and its place there. Who may change a cell is for its owner to say: mostly whoever holds
the primitive that it counts for, else `alone` keeps others out.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from possibly.probes import port

folder = ""
"""Where the files are; set with the listener."""
ROOM = 4_096
"""Cells in a file."""

_made: dict[str, int] = {}
"""Log of a process -> how many cells it has made."""
_mapped: dict[str, Any] = {}


def new() -> str:
    """The name of a cell that holds 0."""
    owner = port.token().partition(":")[0]
    number = _made[owner] = _made.get(owner, -1) + 1
    return f"{owner}.{number // ROOM}/{number % ROOM}"


def value(name: str) -> int:
    memory, place = _place(name)
    found: int = memory[place]
    return found


def add(name: str, amount: int = 1) -> int:
    """The new value."""
    memory, place = _place(name)
    memory[place] += amount
    found: int = memory[place]
    return found


def _place(name: str) -> tuple[Any, int]:
    file, _, place = name.partition("/")
    memory = _mapped.get(file)
    if memory is None:
        memory = _mapped[file] = memoryview(_opened(file)).cast("q")
    return memory, int(place)


def _opened(file: str) -> Any:
    try:
        handle = os.open(_path(file), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # the run is over, and its folder gone: nobody else counts any more
        return mmap.mmap(-1, 8 * ROOM)
    try:
        os.ftruncate(handle, 8 * ROOM)
        return mmap.mmap(handle, 8 * ROOM)
    finally:
        os.close(handle)


@contextmanager
def alone(name: str) -> Iterator[None]:
    """No other thread or process is in here for a cell of the same file."""
    try:
        import fcntl

        handle = os.open(_path(name.partition("/")[0]), os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        yield
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _path(file: str) -> str:
    return os.path.join(folder, f"{file}.cells")
