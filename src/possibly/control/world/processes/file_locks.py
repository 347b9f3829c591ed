"""Locks of files (`fcntl.flock`, `fcntl.lockf`): who would wait for one lets others go on.

The lock itself is the real one, so that whatever gives it back (unlocking, closing the file, the end of a
process) does so. Waiting for it is an operation on the file, which can be done as soon as the system would
give the lock: that is asked without taking it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Callable
from typing import Any

from possibly.control.models.files import thing_of
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import writing
from possibly.control.runtime.places import place_of
from possibly.control.world.processes import channel
from possibly.probes.patching import Patches

_plain_flock, _plain_lockf = fcntl.flock, fcntl.lockf
NOBODY = -1
"""The number of no process: all locks are in its way."""
_holding: set[tuple[int, int]] = set()
"""Process and number of the open file with which it holds a lock: it may ask for another kind of it."""


def install(patches: Patches) -> None:
    patches.put(fcntl, "flock", _locking(_plain_flock, False))
    patches.put(fcntl, "lockf", _locking(_plain_lockf, True))


def _locking(plain: Callable[..., Any], of_process: bool) -> Any:
    def lock(fd: Any, operation: int, *part: Any) -> Any:
        kernel = running.kernel
        if kernel is None or kernel.quiet or kernel.ending:
            return plain(fd, operation, *part)
        number = fd if isinstance(fd, int) else fd.fileno()
        path = os.readlink(f"/proc/self/fd/{number}")
        waits = not operation & (fcntl.LOCK_NB | fcntl.LOCK_UN)
        is_mine = (os.getpid(), number) in _holding
        wanted = operation & ~fcntl.LOCK_NB
        step(path, wanted, of_process, waits and not is_mine, os.getpid())
        found = plain(fd, operation if operation & fcntl.LOCK_UN else operation | fcntl.LOCK_NB, *part)
        (_holding.discard if operation & fcntl.LOCK_UN else _holding.add)((os.getpid(), number))
        return found

    lock.__module__, lock.__name__ = "fcntl", plain.__name__
    return lock


def step(path: str, operation: int, of_process: bool, waits: bool, process: int) -> None:
    """Asking for a lock, or giving it back, is a step; one that waits can be done when it is free."""
    if channel.upward is not None:
        channel.ask("lock", path, operation, of_process, waits, process)
        return
    kernel = running.kernel
    assert kernel is not None
    thing = thing_of(path)
    is_free = _free_for_process if of_process else _is_free
    ready = (lambda: is_free(path, operation, process)) if waits else None
    kind = "release" if operation & fcntl.LOCK_UN else "lock"
    kernel.visible(kind, thing, writing(thing), place_of(sys._getframe(1)), ready)
    if kind == "release" and not is_free(path, fcntl.LOCK_SH, NOBODY):
        kernel.opened(("lock", thing))  # else others could have shared it just before


def _is_free(path: str, operation: int, process: int) -> bool:
    """Whether one who opens the file now would get the lock."""
    try:
        number = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        _plain_flock(number, operation | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    finally:
        os.close(number)
    return True


def _free_for_process(path: str, operation: int, process: int) -> bool:
    """Whether no other process holds a lock of the file that is in the way, by what the system tells."""
    found = os.stat(path)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with open("/proc/locks") as told:
        locks = [line.split()[1:] for line in told if "->" not in line]
    return not any(
        kind == "POSIX" and where == place and int(holder) != process and (how == "WRITE" or is_exclusive)
        for kind, _, how, holder, where, *_ in locks
        for is_exclusive in (bool(operation & fcntl.LOCK_EX),)
    )
