"""Files: one that tasks write, or write and read, is a thing like a variable.

A file is known by its path. What removes or moves files touches the file system as a whole, which every use
of a single file reads; what makes one touches the names in it, which who looks for one by its name reads.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Container
from functools import cache
from pathlib import PurePath
from socket import SocketIO
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime.touched.parts import Part
from possibly.probes.stated import stated, stated_text

FAMILY = "files"
ALL = "the file system"
NAMES = "the names in the file system"
FILE = "file "
DATABASE = "database in "
"""How the names begin of those that processes share."""
Touched = Callable[[tuple[Any, ...], dict[str, Any]], list[tuple[str, Access]]]
LEXICAL = frozenset(
    "join basename dirname split splitext normpath abspath expanduser isabs commonpath commonprefix relpath "
    "splitdrive normcase fspath fsencode fsdecode joinpath with_name with_suffix with_stem relative_to "
    "is_relative_to as_posix as_uri is_absolute match absolute expandvars cwd home getcwd getpid getppid "
    "getuid getgid cpu_count strerror urandom getrandom times uname getlogin get_terminal_size umask "
    "sched_getaffinity sched_yield getenv isatty nice getpgid getsid getloadavg sysconf "
    "register modify unregister "
    "fork wait waitpid waitid wait3 wait4 pipe kill killpg abort _exit getpgrp setpgid setsid "
    "WIFEXITED WEXITSTATUS WIFSIGNALED WTERMSIG WCOREDUMP WIFSTOPPED WSTOPSIG waitstatus_to_exitcode "
    "get_blocking set_blocking get_inheritable set_inheritable".split()
)
"""Functions that look at names only, at what does not change, or at no files; processes and pipes that are
under control are so by themselves (`world.processes`)."""
OF_NUMBERS = frozenset("read write close dup dup2".split())
"""Functions of the number of an open file."""
pipes: Container[int] = ()
"""Numbers of open files that are no files but pipes under control."""
LOOKING = frozenset(
    "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime samefile stat lstat "
    "access listdir scandir walk readlink is_file is_dir is_symlink is_mount iterdir glob rglob iglob "
    "resolve realpath owner group poll select".split()
)
CONTENT = frozenset("getsize getmtime getctime stat lstat".split())
"""Those of them that also say something of what is in a file."""
READING = frozenset({"read_text", "read_bytes"})
WRITING = frozenset({"write_text", "write_bytes"})
MODULES = frozenset("pathlib posix nt posixpath ntpath genericpath shutil tempfile glob os select".split())
LOCKING = frozenset({"flock", "lockf"})
"""Which are steps by themselves (`world.processes.file_locks`)."""
OF_OS = frozenset("makedirs removedirs renames walk fwalk".split())
"""Functions of `os` itself that are no others' in disguise."""


def touched(function: Any, module: str) -> Touched | None:
    """What a call of this function does to files; None if nothing."""
    name = stated_text(function, "__name__")
    if function is open or (name == "open" and module in ("io", "_io", "codecs")):
        return _opened
    if module == "fcntl":
        return None if name in LOCKING else lambda given, options: [(ALL, Access(ALL, True))]
    if module not in MODULES or name in LEXICAL or isinstance(function, type):
        return None
    if module == "os" and name not in OF_OS:
        return None
    owner = stated(function, "__self__")
    if module == "pathlib" and (name in READING or name in WRITING):
        return lambda given, options: _file(os.fspath(owner), name in WRITING)
    if module == "pathlib" and name == "open":
        return lambda given, options: _opened((owner, *given), options)
    if name in CONTENT:
        return lambda given, options: _file((*given, owner, "")[0] if module != "pathlib" else owner, False)
    if name in OF_NUMBERS:
        return lambda given, options: [] if given and given[0] in pipes else [(ALL, Access(ALL, True))]
    if name == "open":
        return _opened_by_number
    if name in LOOKING:
        return lambda given, options: [(ALL, Access(ALL, False)), (NAMES, Access(NAMES, False))]
    return lambda given, options: [(ALL, Access(ALL, True))]


def _opened(given: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[str, Access]]:
    path = given[0] if given else options.get("file", "")
    mode = given[1] if len(given) > 1 else options.get("mode", "r")
    if set(str(mode)).isdisjoint("wx") and not ("a" in str(mode) and _is_new(path)):
        # That it is there is all that matters until it is used.
        return [(ALL, Access(ALL, False)), (NAMES, Access(NAMES, False))]
    return _file(path, True)


def is_relative(value: Any) -> bool:
    """Whether it is a path which leads elsewhere as soon as the working directory is another one."""
    if isinstance(value, str | bytes):
        return not os.path.isabs(value)
    return isinstance(value, PurePath) and not value.is_absolute()


MAKING = os.O_CREAT | os.O_TRUNC
"""Flags of `os.open` by which a file is made, or what is in it lost."""


def _opened_by_number(given: tuple[Any, ...], options: dict[str, Any]) -> list[tuple[str, Access]]:
    """`os.open`, of a path from here and not from another open folder."""
    if len(given) < 2 or options.get("dir_fd") is not None:
        return [(ALL, Access(ALL, True))]
    if given[1] & MAKING:
        return _file(given[0], True)
    return [(ALL, Access(ALL, False)), (NAMES, Access(NAMES, False))]


def stable(path: Any) -> str:
    """A path as it is in every execution: folders for temporary files have other names each time.

    Files of one name in two of them count as one, which costs executions and misses nothing.
    """
    full = os.path.abspath(os.fsdecode(path))
    folder = _temporary(os.environ.get("TMPDIR", "/tmp"))
    return f"{folder}.../{os.path.basename(full)}" if full.startswith(folder) else full


@cache
def _temporary(folder: str) -> str:
    return os.path.join(os.path.realpath(folder), "")


def thing_of(path: Any) -> str:
    """How a file is called among things."""
    try:
        return f"{FILE}{stable(path)}"
    except TypeError:  # the number of an open file, or no path at all
        return f"{FILE}{path!r}"


def is_file(thing: str) -> bool:
    return thing in (ALL, NAMES) or thing.startswith(FILE)


def _file(path: Any, writes: bool) -> list[tuple[str, Access]]:
    """What is touched by whoever finds a file by its name, or makes it."""
    name = thing_of(path)
    found = (NAMES, Access(NAMES, writes and _is_new(path)))
    return [(name, Access(name, writes)), (ALL, Access(ALL, False)), found]


def _is_new(path: Any) -> bool:
    """Whether writing it makes it, which whoever looks for files can see."""
    try:
        return not os.path.lexists(path)
    except (TypeError, ValueError):
        return False


def parts_of(value: Any) -> list[Part]:
    """What using an open file touches beside the object itself."""
    if not isinstance(value, io.IOBase) or isinstance(value, io.StringIO | io.BytesIO):
        return []
    name = getattr(value, "name", None)
    if name is None or value.closed or isinstance(getattr(value, "raw", value), SocketIO):
        return []
    writes, file = value.writable(), thing_of(name)
    uses = Access(file, writes), Access(ALL, writes and _is_new(name))
    return [Part(FAMILY, access.thing, (access,)) for access in uses]
