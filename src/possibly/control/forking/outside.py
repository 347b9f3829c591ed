"""What is not under control, noticed: other processes, sockets, commands of the shell.

The interpreter tells of these by its audit events. A program that does any of them may do something else the
next time, so no search of it is complete.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from possibly.control.forking import disk, hearing
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.probes import port

EVENTS = {
    "os.fork": "another process (os.fork)",
    "os.forkpty": "another process (os.forkpty)",
    "os.posix_spawn": "another process (os.posix_spawn)",
    "os.system": "a command of the shell (os.system)",
    "subprocess.Popen": "another program (subprocess)",
    "socket.connect": "a connection (socket.connect)",
    "socket.bind": "a server (socket.bind)",
    "socket.sendto": "a message (socket.sendto)",
    "signal.pthread_kill": "a signal (signal.pthread_kill)",
    "os.kill": "a signal (os.kill)",
}


HELPS = "--macro controls processes that send each other messages; else explore with a stand-in for it"


MAPPED = "memory of mmap that processes share, which is not watched"
is_mapped = False
"""The program has mapped memory, which processes that it starts from now on have too."""
expected = 0
"""It is we who do such a thing, under control."""


end_of_child: Callable[[BaseException | None], None] | None = None
"""In a process that was forked under control: what is done at its end."""
HEARD = frozenset({*EVENTS, *disk.CHANGED, "mmap.__new__"})
"""All others are many: each frame that is looked at is one."""


def watch() -> None:
    """From now on this process is listened to; that cannot be taken back."""
    hearing.listen(HEARD, _hear)
    os.register_at_fork(after_in_child=_alone)


def _is_import(kernel: Kernel) -> bool:
    """A package asks the system something as it is imported, before anything happens at a time."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load" and frame.f_code.co_filename.startswith("<frozen"):
            return True
        if port.is_user_file(frame.f_code.co_filename):
            return False
        frame = frame.f_back
    return False


def _alone() -> None:
    """A process that was forked without control is not under control."""
    if not expected:
        running.kernel = None


def _hear(event: str, given: tuple[Any, ...]) -> None:
    global is_mapped
    if event not in HEARD or running.kernel is None:
        return
    _let_disk_hear(event, given, running.kernel)
    if event == "mmap.__new__":
        is_mapped = is_mapped or port.is_user_file(sys._getframe(1).f_code.co_filename)
    if event in EVENTS:
        kernel = running.kernel
        if kernel is not None and not kernel.ending and not expected and not _is_import(kernel):
            kernel.uncontrolled[f"{EVENTS[event]}, which is not under control"] = HELPS


def _let_disk_hear(event: str, given: tuple[Any, ...], kernel: Kernel) -> None:
    """What is used to take a file down may be a package that is watched: here it is not the program's."""
    task = kernel.current
    looks, task.looks = task.looks, True
    try:
        disk.hear(event, given)
    finally:
        task.looks = looks
