"""Files that forked processes use: opening one is an operation on its path.

What happens between the opening and the closing of a file is not explored, and looking whether there is one
is not seen: so a verdict about a program whose processes change files stays open and names the file.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world.processes import channel
from possibly.probes import port

CHANGING = frozenset(
    "os.rename os.remove os.mkdir os.rmdir os.link os.symlink os.truncate sqlite3.connect".split()
)
QUIET = (".py", ".pyc", ".so", ".pth", ".zip")
"""What is imported."""
_TEMPORARY = re.compile(r"/tmp[a-z0-9_]{8}(?=/|$)")
"""A folder that has another name each time."""
PIPE = "a pipe or socket of the system that a forked process uses, which is not under control"
_busy = False


def listen() -> None:
    """In a forked process: from now on the first one is told."""
    sys.addaudithook(_hear)
    for name in ("read", "write"):
        setattr(os, name, _telling(getattr(os, name)))


def _telling(plain: Any) -> Any:
    """`os.read` and `os.write`: what goes through a pipe comes to somebody else."""

    def telling(file: Any, *given: Any) -> Any:
        if port.is_user_file(sys._getframe(1).f_code.co_filename) and _is_pipe(file):
            channel.ask("open", PIPE, "a Pipe or Queue of multiprocessing is under control")
        return plain(file, *given)

    return telling


def _is_pipe(file: Any) -> bool:
    try:
        mode = os.fstat(file).st_mode
    except (OSError, TypeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _hear(event: str, given: tuple[Any, ...]) -> None:
    global _busy
    if _busy or channel.upward is None or (event != "open" and event not in CHANGING):
        return
    path = given[0]
    if not isinstance(path, str | bytes | os.PathLike) or running.kernel is None:
        return
    name = _TEMPORARY.sub("/*", os.path.abspath(os.fsdecode(path)))
    if name.endswith(QUIET) or name.startswith(("/dev/", "/proc/", "/sys/")):
        return
    _busy = True
    try:
        _tell(name, event != "open" or _writes(given))
    finally:
        _busy = False


def _tell(name: str, writes: bool) -> None:
    if writes:
        what = f"the file {name}, which a forked process changes"
        channel.ask("open", what, "what happens between opening and closing it is not explored")
    channel.ask("touch", f"file {name}", ((f"file {name}", writes),))


def _writes(given: tuple[Any, ...]) -> bool:
    mode, flags = given[1], given[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
