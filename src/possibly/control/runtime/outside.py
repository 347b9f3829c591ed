"""What is not under control, noticed: other processes, sockets, commands of the shell.

The interpreter tells of these by its audit events. A program that does any of them may do something else the
next time, so no search of it is complete.
"""

from __future__ import annotations

import sys
from typing import Any

from possibly.control.runtime import kernel as running

EVENTS = {
    "os.fork": "another process (os.fork)",
    "os.forkpty": "another process (os.forkpty)",
    "os.posix_spawn": "another process (os.posix_spawn)",
    "os.system": "a command of the shell (os.system)",
    "subprocess.Popen": "another program (subprocess)",
    "socket.connect": "a connection (socket.connect)",
    "socket.bind": "a server (socket.bind)",
    "socket.__new__": "a socket",
    "signal.pthread_kill": "a signal (signal.pthread_kill)",
    "os.kill": "a signal (os.kill)",
}


HELPS = "--macro controls processes that send each other messages; else explore with a stand-in for it"


def watch() -> None:
    """From now on this process is listened to; that cannot be taken back."""
    sys.addaudithook(_hear)


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if event in EVENTS:
        kernel = running.kernel
        if kernel is not None and not kernel.ending and not _is_of_loop(event):
            kernel.uncontrolled[f"{EVENTS[event]}, which is not under control"] = HELPS


def _is_of_loop(event: str) -> bool:
    """Every event loop has a pair of sockets to be woken by, which nobody needs here."""
    frame: Any = sys._getframe(2) if event == "socket.__new__" else None
    for _ in range(8):
        if frame is None:
            return False
        if frame.f_code.co_name == "_make_self_pipe":
            return True
        frame = frame.f_back
    return False
