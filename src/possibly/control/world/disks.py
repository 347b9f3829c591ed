"""A disk that fails: with `--faults disk`, whatever is written may find no room.

Law: each call that writes a file, makes one or gives one a name may fail, in every execution that has a fault
left. What the program has open for writing alone is then moved to the device on which there is never any
room, so that its next write that really goes to the disk fails as it does in reality, in `write`, `flush` or
`close`, whichever comes to that, and each later one too. Where there is no such file, the call itself raises
what the system would: a file that it was to write whole (`write_text`, a copy) is left empty, all else as it
was.

Not here: reading, removing and closing by number, which need no room, databases, and processes that the
program has started.
"""

from __future__ import annotations

import errno
import io
import os
from os import close, dup2
from os import open as open_number
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime.kernel import Kernel
from possibly.control.world import faults
from possibly.probes.stated import stated, stated_text

FULL = "/dev/full"
METHODS = frozenset("write writelines flush close truncate __exit__".split())
"""Of an open file, that may bring something to the disk."""
BY_NAME = frozenset(
    "write writev pwrite fsync fdatasync truncate ftruncate mkdir makedirs rename renames replace link "
    "symlink copy copy2 copyfile copytree move write_text write_bytes touch symlink_to hardlink_to "
    "mkstemp mkdtemp TemporaryDirectory NamedTemporaryFile TemporaryFile".split()
)
COPYING = frozenset({"copy", "copy2", "copyfile"})
MODULES = frozenset("os posix shutil pathlib tempfile".split())
"""Where functions of these names are."""
MAKING = frozenset("wax+")
"""Letters of the modes in which a file is opened that is to be written."""


def threaten(kernel: Kernel, function: Any, given: tuple[Any, ...], names: tuple[str, ...], at: str) -> None:
    """A call is about to be made: if it writes, it may fail."""
    written = _open_files(function, given)
    if not (written or _makes(function, given, names)) or kernel.quiet:
        return
    is_broken: list[bool] = []
    use = f"_:disk:{kernel.current.name}"
    label = f"a full disk{_name_of(written, given)}"
    broken = (Access(use, True),)
    fault = faults.possible(kernel, label, broken, lambda: is_broken.append(True), lambda: not is_broken)
    kernel.visible("store", "the disk", (Access(use, False),), at)
    if not is_broken:
        kernel.withdraw(fault)
        return
    if not written or not all(map(_break, written)):
        _empty(function, given)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _open_files(function: Any, given: tuple[Any, ...]) -> list[Any]:
    """The files that a call may write which are open: its own, or those that it is given."""
    owner = stated(function, "__self__")
    if _is_written(owner):
        return [owner] if stated_text(function, "__name__") in METHODS else []
    return [each for each in given if _is_written(each)]


def _is_written(value: Any) -> bool:
    """Whether it is a file on disk that is open for writing."""
    if not isinstance(value, io.IOBase) or isinstance(value, io.StringIO | io.BytesIO):
        return False
    try:
        is_open = not value.closed and value.writable()
        return is_open and isinstance(getattr(value, "name", None), str | bytes | os.PathLike)
    except ValueError:  # its buffer was taken away
        return False


def _makes(function: Any, given: tuple[Any, ...], names: tuple[str, ...]) -> bool:
    name, module = stated_text(function, "__name__"), stated_text(function, "__module__")
    if name == "open" and module in ("io", "_io", "pathlib", "codecs"):
        return not MAKING.isdisjoint(_mode(given, names, at=0 if module == "pathlib" else 1))
    if name == "open" and module == "posix":
        return len(given) > 1 and isinstance(given[1], int) and bool(given[1] & (os.O_CREAT | os.O_TRUNC))
    return name in BY_NAME and module in MODULES


def _mode(given: tuple[Any, ...], names: tuple[str, ...], at: int) -> str:
    options = dict(zip(names, given[len(given) - len(names) :], strict=True))
    plain = given[: len(given) - len(names)]
    return str(plain[at]) if len(plain) > at else str(options.get("mode", "r"))


def _name_of(written: list[Any], given: tuple[Any, ...]) -> str:
    paths = [each.name for each in written] or [
        each for each in given[:1] if isinstance(each, str | os.PathLike)
    ]
    return f" at {os.path.basename(os.fsdecode(paths[0]))}" if paths else ""


def _empty(function: Any, given: tuple[Any, ...]) -> None:
    """What a function opens by itself to write it is empty before the first write fails."""
    name = stated_text(function, "__name__")
    if name in ("write_text", "write_bytes"):
        path: Any = stated(function, "__self__")
    elif name in COPYING and len(given) > 1:
        path = given[1]
        path = os.path.join(path, os.path.basename(given[0])) if os.path.isdir(path) else path
    else:
        return
    with open(path, "wb"):
        pass


def _break(file: Any) -> bool:
    """What is written to an open file from now on fails; False where it is read too, and stays as it is."""
    if file.readable():
        return False
    full = open_number(FULL, os.O_WRONLY)
    dup2(full, file.fileno())
    close(full)
    return True
