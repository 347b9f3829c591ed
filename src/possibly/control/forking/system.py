"""Processes of the system: how they are made cheaply, and that none stays behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable


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
        try:
            import ctypes

            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
        except (ImportError, AttributeError, OSError):
            pass


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
