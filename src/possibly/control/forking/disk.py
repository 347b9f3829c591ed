"""Files as they were: what an execution changes on disk is put back before the next one begins.

Theory of operation. The interpreter tells, by its audit events, that a file is about to be opened for
writing, made, moved or removed. The first time that an execution names a path so, what is there is taken down
in a folder of the zygote's: a line in an index, and beside it the content. At its end the execution removes
what was not there, then makes the folders that were, then the files in them. A process that does not come to
its end leaves the index behind, and the zygote puts it back; what a search that is given up leaves, whoever
ends the zygote.

Where executions are forked in the middle of one, what they change from there on is taken down apart, in a
folder beside that one (`begin_later`): it is put back before the next one goes on from there, and before
what was changed until then.

Law: every execution begins with the same files. What cannot be put back is said to be out of control, and is
never removed. Files that C code opens without telling are not known here, but for databases of sqlite.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from itertools import count
from os.path import (  # whatever a program, or a mock, puts in their place
    abspath,
    basename,
    exists,
    getsize,
    isabs,
    isdir,
    islink,
    join,
    lexists,
    realpath,
)
from typing import Any

from possibly.control.forking.system import own_number

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LARGEST = 64 << 20
"""Bytes of a file that is still taken down."""
SMALL = 4096
"""Bytes of a file whose content is a part of its line in the index."""
NOT_KEPT = "not kept"
MOST = 10_000
"""Files of an execution that are taken down."""
APART = ("/dev/", "/proc/", "/sys/")
"""Where there are no files that stay."""
OURS = "possibly-measured-"
"""Begins the names of folders for what we write beside an execution, which stays (`views.testing`)."""
EACH_BYTE = "latin-1"
"""The encoding in which every byte is a character."""
LATER = "-later"
"""Ends the name of the folder for what was changed after executions were forked."""
LOST = "which is not put back as it was, so executions differ"
HELPS = "let the program write files of its own, in a folder for temporary files"
_numbers = count(1)
_open = open

folder = ""
"""Where it is taken down in this process; empty: nowhere."""
_known: set[str] = set()
_is_busy = False
_later = False
"""What is changed from now on is taken down apart."""
lost: dict[str, str] = {}
"""What cannot be put back, and what helps."""


def new_folder() -> str:
    """A name for it; it is made when something is taken down."""
    return join(os.environ.get("TMPDIR", "/tmp"), f"possibly-{os.getpid()}-{next(_numbers)}")


def is_changed() -> bool:
    """Whether this process, or who has forked it, has changed any file since it began, or put all back."""
    return _later or bool(_known)


def begin_later() -> None:
    """Executions are forked from here: what is changed from now on is put back to what is now."""
    global folder, _later
    if folder and _known:
        folder, _later = _later_of(folder), True
        _known.clear()


def end_later() -> None:
    """Nobody goes on from there any more: puts back also what was changed before."""
    global folder, _later
    if _later:
        folder, _later = folder.removesuffix(LATER), False
        put_back(folder)


def _later_of(where: str) -> str:
    return where + LATER


def hear(event: str, given: tuple[Any, ...]) -> None:
    """The interpreter is about to do something."""
    global _is_busy
    changed = CHANGED.get(event)
    if changed is None or not folder or _is_busy:
        return
    _is_busy = True
    try:
        for path in changed(given):
            _keep(path, event in WHOLE)
    except OSError as error:
        _lose(str(given[0]), f"the file {given[0]}, {LOST} ({error.strerror})")
    finally:
        _is_busy = False


def _opened(given: tuple[Any, ...]) -> Iterator[str]:
    if isinstance(given[2], int) and given[2] & WRITING:
        yield from _target(given)


def _target(given: tuple[Any, ...]) -> Iterator[str]:
    """What is changed through a name, also if that is a link."""
    for path in _named(given[0]):
        yield realpath(path)


def _entry(given: tuple[Any, ...]) -> Iterator[str]:
    """A name itself, perhaps in a folder that is open."""
    yield from _named(given[0], given[-1])


def _moved(given: tuple[Any, ...]) -> Iterator[str]:
    yield from _named(given[0], given[2])
    yield from _named(given[1], given[3])


def _made_link(given: tuple[Any, ...]) -> Iterator[str]:
    yield from _named(given[1], given[-1])


def _database(given: tuple[Any, ...]) -> Iterator[str]:
    for path in _named(given[0]):
        if basename(path) != ":memory:":
            yield from (path + more for more in ("", "-journal", "-wal", "-shm"))


CHANGED: dict[str, Callable[[tuple[Any, ...]], Iterator[str]]] = {
    "open": _opened,
    "os.truncate": _target,
    "os.chmod": _target,
    "os.utime": _target,
    "os.remove": _entry,
    "os.rmdir": _entry,
    "os.mkdir": _entry,
    "os.rename": _moved,
    "os.link": _made_link,
    "os.symlink": _made_link,
    "shutil.rmtree": lambda given: _named(given[0]),
    "sqlite3.connect": _database,
}
"""Audit events, and what they are about to change."""
WHOLE = frozenset({"os.rename", "shutil.rmtree"})
"""Those that change a folder with all that is in it. Of others only the folder itself may change: a file
without a name is opened by that of its folder, so all temporary files there would be taken down."""


def _named(path: Any, within: Any = -1) -> Iterator[str]:
    """The whole path; nothing where it is the number of an open file, which was told of before."""
    if isinstance(path, int) or path is None:
        return
    name = os.fsdecode(path)
    if isinstance(within, int) and within >= 0 and not isabs(name):
        name = join(os.readlink(f"/proc/self/fd/{within}"), name)
    yield abspath(name)


def _keep(path: str, is_whole: bool) -> None:
    """Takes down what is at a path, and, where `is_whole`, what is in a folder there."""
    if path.startswith((*APART, folder)) or "__pycache__" in path or OURS in path:
        return
    if path not in _known:
        _keep_entry(path)
    if is_whole and isdir(path) and not islink(path):
        for name in os.listdir(path):
            _keep(join(path, name), is_whole)


def _keep_entry(path: str) -> None:
    if len(_known) >= MOST:
        _lose(path, f"more than {MOST:,} files, which are not put back as they were, so executions differ")
        return
    _known.add(path)
    try:
        found = os.lstat(path)
    except OSError:
        _note({"path": path, "kind": "absent"})
        return
    told: dict[str, Any] = {"path": path, "mode": stat.S_IMODE(found.st_mode)}
    told["times"] = [found.st_atime_ns, found.st_mtime_ns]
    if stat.S_ISLNK(found.st_mode):
        _note({**told, "kind": "link", "to": os.readlink(path)})
    elif stat.S_ISDIR(found.st_mode):
        _note({**told, "kind": "folder"})
    elif stat.S_ISREG(found.st_mode):
        _keep_content(path, found.st_size, told)


def _lose(path: str, why: str) -> None:
    lost[why] = HELPS
    _note({"path": path, "kind": NOT_KEPT})


def _keep_content(path: str, size: int, told: dict[str, Any]) -> None:
    if size > LARGEST:
        _lose(path, f"the file {path}, {LOST}")
        return
    if size <= SMALL:
        with _open(path, "rb") as stream:
            _note({**told, "kind": "file", "bytes": stream.read().decode(EACH_BYTE)})
        return
    os.makedirs(folder, 0o700, exist_ok=True)
    content = join(folder, f"{own_number()}-{len(_known)}")
    shutil.copyfile(path, content)
    _note({**told, "kind": "file", "content": content})


def _note(told: dict[str, Any]) -> None:
    if not exists(folder):
        os.makedirs(folder, 0o700, exist_ok=True)
    with _open(_index(folder), "a") as index:
        index.write(json.dumps(told) + "\n")


def _index(where: str) -> str:
    return join(where, "index")


def put_back(where: str, is_over: bool = False) -> None:
    """Puts back what was taken down in a folder, which is empty then; it goes where all is over."""
    global _is_busy
    _known.clear()
    if where and not where.endswith(LATER):
        put_back(_later_of(where), True)
    if not where or not exists(_index(where)) or not (is_over or getsize(_index(where))):
        return
    _is_busy = True
    try:
        with _open(_index(where), "r+") as index:
            told = [json.loads(line) for line in index if line.endswith("\n")]
            for each in _left_to_do(told):
                _put_back(each)
            index.truncate(0)  # to make another one would take the system longer than all of this
        _clear(where, told, is_over)
    finally:
        _is_busy = False


def _clear(where: str, told: list[dict[str, Any]], is_over: bool) -> None:
    for each in told:
        if "content" in each and exists(each["content"]):
            os.unlink(each["content"])
    if is_over:
        for name in os.listdir(where):
            os.unlink(join(where, name))
        os.rmdir(where)


def _left_to_do(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is put back, in its order. Where anything was not taken down nothing goes: it may be that."""
    is_lost = any(each["kind"] == NOT_KEPT for each in told)
    first = {
        each["path"]: each for each in reversed(told) if each["kind"] != NOT_KEPT
    }  # by whichever process
    return sorted((each for each in first.values() if not is_lost or each["kind"] != "absent"), key=_when)


def _when(told: dict[str, Any]) -> tuple[int, str]:
    """Outer folders come before inner ones."""
    return list(_WAYS).index(told["kind"]), told["path"]


def _put_back(told: dict[str, Any]) -> None:
    try:
        _WAYS[told["kind"]](told["path"], told)
    except OSError:
        lost[f"the file {told['path']}, {LOST}"] = HELPS


def _absent(path: str, told: dict[str, Any]) -> None:
    if isdir(path) and not islink(path):
        shutil.rmtree(path)
    elif lexists(path):
        os.unlink(path)


def _folder(path: str, told: dict[str, Any]) -> None:
    if not isdir(path):
        _absent(path, told)
        os.mkdir(path)
    os.chmod(path, told["mode"])


def _link(path: str, told: dict[str, Any]) -> None:
    if not islink(path) or os.readlink(path) != told["to"]:
        _absent(path, told)
        os.symlink(told["to"], path)


def _file(path: str, told: dict[str, Any]) -> None:
    if islink(path) or isdir(path):
        _absent(path, told)
    if "bytes" in told:
        _fill(path, told["bytes"].encode(EACH_BYTE))
    elif not _is_same(path, told["content"]):
        shutil.copyfile(told["content"], path)
    os.chmod(path, told["mode"])
    os.utime(path, ns=tuple(told["times"]))


def _fill(path: str, content: bytes) -> None:
    if exists(path) and getsize(path) == len(content):
        with _open(path, "rb") as stream:
            if stream.read() == content:
                return
    with _open(path, "wb") as stream:
        stream.write(content)


def _is_same(path: str, other: str) -> bool:
    if not exists(path) or getsize(path) != getsize(other):
        return False
    with _open(path, "rb") as one, _open(other, "rb") as two:
        return one.read() == two.read()


_WAYS = {"absent": _absent, "folder": _folder, "link": _link, "file": _file}


def open_files() -> frozenset[str]:
    """The numbers of the files that this process has open; the one that lists them is among them."""
    try:
        return frozenset(os.listdir("/proc/self/fd"))
    except OSError:
        return frozenset()
