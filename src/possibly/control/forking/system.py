"""Processes of the system: how they are made cheaply, and that none stays behind."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from fcntl import F_GETFL, fcntl
from functools import cache
from os import getpid as own_number
from os import getppid as parent_number
from signal import ITIMER_PROF, ITIMER_REAL, ITIMER_VIRTUAL, getitimer
from typing import Any

__all__ = [
    "Reopened", "die_with_parent", "end_group", "light_fork", "opened_since", "own_number", "parent_number",
    "shared_now",
]  # fmt: skip
Shared = tuple[frozenset[tuple[str, str]], frozenset[str]]


def end_group(process: int) -> None:
    """Ends a process with all that it has started and that has not gone its own way."""
    for end in (os.killpg, os.kill):
        try:
            end(process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def die_with_parent() -> None:
    """However the process that made this one ends, this one does not stay behind."""
    if sys.platform.startswith("linux"):
        _process_control()(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG


@cache
def _process_control() -> Callable[..., Any]:
    """`prctl` of the C library; whoever is forked has what it takes to call it."""
    try:
        import ctypes

        found: Callable[..., Any] = ctypes.CDLL(None).prctl
    except (ImportError, AttributeError, OSError):
        return lambda *_: 0
    return found


def light_fork() -> Callable[[], int]:
    """`fork` of the C library, where that can be called.

    The zygote has one thread, which holds the interpreter's lock before and after, so there is nothing to
    put right in the child. What Python would do there (new locks for `threading`, another seed for `random`)
    touches six times as many pages, each of which has to be copied.
    """
    if not sys.platform.startswith("linux") or threading.active_count() > 1:
        return os.fork
    try:
        import ctypes

        found = ctypes.PyDLL(None).fork
    except (ImportError, AttributeError, OSError):
        return os.fork
    found.restype = ctypes.c_int
    light: Callable[[], int] = found
    return light


def shared_now() -> Shared | None:
    """What this process would share with a fork: its open files, and memory that is not copied.

    None if a fork would lack something: another thread, a process that was started, a timer; or where the
    system does not tell.
    """
    try:
        if len(os.listdir("/proc/self/task")) > 1 or _has_children() or _has_timers():
            return None
        return _open_files(), _common_memory()
    except OSError:
        return None


def _open_files() -> frozenset[tuple[str, str]]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
        except OSError:
            pass  # that of the list itself
    return frozenset(found)


class Reopened:
    """Files that were opened before a fork: whoever is forked gets them for itself, where they stand."""

    def __init__(self, files: frozenset[tuple[str, str]]) -> None:
        self._places = [(int(number), name) for number, name in files]

    def are_files(self) -> bool:
        """Whether all of them are ordinary files that are found by their names and that nobody locks."""
        return all(map(self._is_there, self._places)) and not any(map(_is_locked, self._places))

    def again(self) -> None:
        """This process shares no place in a file with another any more."""
        for number, _ in self._places:
            flags, place = fcntl(number, F_GETFL), os.lseek(number, 0, os.SEEK_CUR)
            is_left_to_children = os.get_inheritable(number)
            new = os.open(f"/proc/self/fd/{number}", flags & ~os.O_CREAT & ~os.O_TRUNC)
            os.dup2(new, number, is_left_to_children)
            os.close(new)
            os.lseek(number, place, os.SEEK_SET)

    def are_still_there(self) -> bool:
        """Whether the names lead to them, also after an execution has put back what it changed."""
        return all(map(self._is_there, self._places))

    def _is_there(self, place: tuple[int, str]) -> bool:
        number, name = place
        try:
            mine, theirs = os.fstat(number), os.stat(name)
        except OSError:
            return False
        return stat.S_ISREG(mine.st_mode) and (mine.st_dev, mine.st_ino) == (theirs.st_dev, theirs.st_ino)


def _is_locked(place: tuple[int, str]) -> bool:
    with open(f"/proc/self/fdinfo/{place[0]}", "rb") as stream:
        return b"lock:" in stream.read()


def opened_since(before: Shared | None) -> Reopened | None:
    """The files that were opened since then; None if anything else is shared now, or no file any more."""
    now = shared_now()
    if before is None or now is None or now[1] != before[1] or not before[0] <= now[0]:
        return None
    found = Reopened(now[0] - before[0])
    return found if found.are_files() else None


def _common_memory() -> frozenset[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as stream:
        return frozenset(line for line in stream if line.split(maxsplit=2)[1][1::2] == "ws")


def _has_children() -> bool:
    # As bytes: an encoding that was never used is a module, which would seem to be the program's.
    with open(f"/proc/self/task/{own_number()}/children", "rb") as stream:
        return bool(stream.read().strip())


def _has_timers() -> bool:
    return any(getitimer(each)[0] for each in (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF))
