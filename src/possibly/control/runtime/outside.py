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
    "signal.pthread_kill": "a signal (signal.pthread_kill)",
    "os.kill": "a signal (os.kill)",
}


def watch() -> None:
    """From now on this process is listened to; that cannot be taken back."""
    sys.addaudithook(_hear)


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if event in EVENTS:
        kernel = running.kernel
        if kernel is not None and not kernel.ending:
            kernel.uncontrolled[f"{EVENTS[event]}, which is not under control"] = None
