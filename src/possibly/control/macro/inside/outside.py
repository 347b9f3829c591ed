"""What goes on between processes that no message shows: pools, managers, sockets, pipes of the system, files.

None of it is controlled. It does what it does, and it is named, so that the answer stays open. Files are told
apart: what each process opens is told with its next operation, and only a file that two of them use, one to
write, with nothing in between that orders the two, is named (`matching.Board.touched`).
"""

from __future__ import annotations

import os
import sys
from typing import Any

from possibly.control.macro.inside import gate
from possibly.probes.patching import Patches

WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
MADE = {
    "multiprocessing.pool": ("Pool", "multiprocessing.Pool: which job ends first"),
    "multiprocessing.managers": (
        "BaseManager",
        "a multiprocessing manager: what processes do to its objects",
    ),
    "multiprocessing.shared_memory": ("SharedMemory", "multiprocessing.shared_memory"),
    "concurrent.futures.thread": ("ThreadPoolExecutor", "ThreadPoolExecutor: which job ends first"),
    "concurrent.futures.process": ("ProcessPoolExecutor", "ProcessPoolExecutor: which job ends first"),
    "subprocess": ("Popen", "another program (subprocess)"),
}
"""Module -> a class, and what is told when one is made."""
NET = ("socket.connect", "socket.bind", "socket.sendto")
"""What the interpreter tells of sockets, whoever uses them."""
CHANGED = {
    "os.mkdir": 1, "os.rmdir": 1, "os.remove": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2,
    "os.truncate": 1, "os.chmod": 1, "os.utime": 1,
}  # fmt: skip
"""What the interpreter tells of files that are changed, and how many names that speaks of."""
LISTED = ("os.listdir", "os.scandir")
ALL = os.sep + "*"
"""After the name of a folder: the names in it."""
LOOKS = ("stat", "lstat", "access")
"""Functions that look at a file, of which the interpreter tells nothing."""


def install_made(module: str) -> Any:
    def install(patches: Patches) -> None:
        kind, text = MADE[module]
        found = getattr(sys.modules[module], kind)
        patches.put(found, "__init__", _telling(found.__init__, text))

    return install


def install_socket(patches: Patches) -> None:
    import socket

    patches.put(socket, "socketpair", _told_if_the_user_calls(socket.socketpair, "socket.socketpair"))


def install_system(patches: Patches) -> None:
    patches.put(os, "pipe", _told_if_the_user_calls(os.pipe, "os.pipe"))
    if hasattr(os, "fork"):
        patches.put(os, "fork", _told_if_the_user_calls(os.fork, "os.fork"))
    for name in LOOKS:
        patches.put(os, name, _looking(getattr(os, name)))
    sys.addaudithook(_heard)


def _looking(plain: Any) -> Any:
    def look(path: Any, *arguments: Any, **options: Any) -> Any:
        if not gate.local.is_ours and not gate.by_library(2, ("genericpath", "pathlib", "posixpath")):
            _touch(path, False)
        return plain(path, *arguments, **options)

    return look


def _telling(plain: Any, text: str) -> Any:
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        gate.told(text)
        plain(self, *arguments, **options)

    return __init__


def _told_if_the_user_calls(plain: Any, name: str) -> Any:
    def told(*arguments: Any, **options: Any) -> Any:
        if not gate.by_library():
            gate.told(name)
        return plain(*arguments, **options)

    return told


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if isinstance(flags, int):
            _touch(path, bool(flags & WRITING), bool(flags & os.O_CREAT))
    elif event in CHANGED:
        for path in arguments[: CHANGED[event]]:
            _touch(path, True, True)
    elif event in LISTED:
        _touch(os.path.join(os.fsdecode(arguments[0] or "."), "*"), False)
    elif event == "sqlite3.connect":
        if arguments[0] != ":memory:":
            _touch(arguments[0], True)
    elif event in NET or event == "mmap.__new__":
        _tell_once("sockets" if event in NET else "mmap")


def _tell_once(what: str) -> None:
    if not gate.local.is_ours:
        gate.local.is_ours = True
        try:
            gate.told(what)
        finally:
            gate.local.is_ours = False


def _touch(path: Any, writes: bool, changes_folder: bool = False) -> None:
    here = gate.local.gate
    if here is None or gate.local.is_ours or not isinstance(path, str | bytes | os.PathLike):
        return
    name = os.fsdecode(path)
    if "__pycache__" in name:  # where bytecode is kept, and that it is there, tells nobody anything
        return
    _touched(here, name, writes)
    if changes_folder:
        _touched(here, os.path.dirname(os.path.abspath(name)) + ALL, True)


def _touched(here: gate.Gate, path: str, writes: bool) -> None:
    if path.startswith(("/dev/", "/proc/", "/sys/")) or (path.endswith((".py", ".pyc")) and not writes):
        return
    full = os.path.abspath(path)
    here.touched[full] = here.touched.get(full, False) or writes
