"""Files that forked processes use: what they do to them are accesses of the first process too.

Code of the program tells what it is about to touch as it does everywhere (`models.files`), and each such
access is one of the process's deputy. What code that is not watched opens by itself is heard of by the
interpreter's audit events: of that only the opening is an access, so the verdict stays open and names the
file.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.forking import disk, hearing
from possibly.control.models import files as models
from possibly.control.models.files import ALL, FAMILY, is_file, thing_of
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.places import place_of
from possibly.control.runtime.touched.parts import Part, touch_all
from possibly.control.world.processes import channel
from possibly.probes import port

CHANGING = frozenset("os.rename os.remove os.mkdir os.rmdir os.link os.symlink os.truncate".split())
QUIET = (".py", ".pyc", ".so", ".pth", ".zip")
"""What is imported."""
PIPE = "a pipe or socket of the system that a forked process uses, which is not under control"
_busy = False
_told: frozenset[str] = frozenset()
"""What the process has just told that it is about to touch."""


# ---- in a forked process ----------------------------------------------------------------------------


def listen() -> None:
    """From now on the first process is told."""
    hearing.listen(CHANGING | {"open"}, _hear)
    for name in ("read", "write"):
        setattr(os, name, _telling(getattr(os, name)))
    memory = accesses.memory
    if memory is not None:
        memory.visible = memory.only = frozenset({FAMILY})


def forward(operation: Operation) -> None:
    """The process is about to do this: if it is done to files, the first one is told."""
    global _told
    touched = tuple((access.thing, access.writes) for access in operation.footprint if is_file(access.thing))
    if touched:
        _told = frozenset(thing for thing, _ in touched)
        channel.ask("file", touched)


def _telling(plain: Any) -> Any:
    """`os.read` and `os.write`: what goes through a pipe comes to somebody else."""

    def telling(file: Any, *given: Any) -> Any:
        if port.is_user_file(sys._getframe(1).f_code.co_filename) and _is_pipe(file):
            channel.ask("open", PIPE, "a Pipe or Queue of multiprocessing is under control")
        return plain(file, *given)

    return telling


def _is_pipe(number: Any) -> bool:
    """Whether a number is that of a pipe or socket of the system that is not under control."""
    try:
        mode = os.fstat(number).st_mode
    except (OSError, TypeError):
        return False
    return number not in models.pipes and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _hear(event: str, given: tuple[Any, ...]) -> None:
    global _busy
    if _busy or channel.upward is None or (event != "open" and event not in CHANGING):
        return
    path = given[0]
    if not isinstance(path, str | bytes | os.PathLike) or running.kernel is None:
        return
    name = os.path.abspath(os.fsdecode(path))
    if name.endswith(QUIET) or name.startswith((*disk.APART, disk.folder or os.devnull)):
        return
    _busy = True
    try:
        _tell(name, event != "open" or _writes(given))
    finally:
        _busy = False


def _tell(name: str, writes: bool) -> None:
    thing = thing_of(name)
    if thing in _told or ALL in _told:
        return
    if writes:
        what = f"the file {name}, which a forked process changes by code that is not watched"
        channel.ask("open", what, "open it in the program's own code")
    channel.ask("file", ((thing, writes),))


def _writes(given: tuple[Any, ...]) -> bool:
    mode, flags = given[1], given[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


# ---- in the first process ---------------------------------------------------------------------------


def touch(touched: tuple[tuple[str, bool], ...]) -> None:
    """The process whose deputy runs is about to touch these files."""
    if (now := accesses.active()) is not None:
        parts = [Part(FAMILY, thing, (Access(thing, writes),)) for thing, writes in touched]
        touch_all(now, parts, place_of(sys._getframe()))
