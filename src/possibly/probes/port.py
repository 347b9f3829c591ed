"""The port between probes and whoever listens, and the numbers by which both speak.

A probe says what it is about to do (`before`: what gives order to others, as a release does, must be told
before they can go on) or what happened (`after`: an acquire); nothing else passes here. `switch` tells a
listener that a process exists, with the number that its events will carry. The listener is the recorder:
whoever decides who goes on replaces what blocks (`control.models`) instead.

A process is a thread, or a task of an event loop while it runs. `me` is its number. A thing is a primitive:
an integer that is unique within one operating-system process, or a text that is unique beyond it.
"""

from __future__ import annotations

import itertools
import sys
import sysconfig
import threading
from _thread import get_ident
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

Thing = int | str

TRIED, WAITS, WAITED, YIELDED = "tried", "waits", "waited", "yielded"
"""Details of an acquire that did not have to succeed to go on, of a join that waits without a limit, of an
acquire that let other turns of the loop go first, and of a turn that was ready since the task's turn before.
"""
HOW = frozenset({TRIED, WAITS, WAITED, YIELDED})


class Listener(Protocol):
    """Whoever wants to know. Methods are called by the thread that acts, perhaps by many at once."""

    def before(self, action: str, thing: Thing, detail: Any = None) -> None: ...

    def after(self, action: str, thing: Thing, detail: Any = None) -> None: ...

    def switch(self, process: int, name: str) -> None: ...


class Quiet:
    """Nobody listens: primitives made while somebody did go on to work."""

    def before(self, action: str, thing: Thing, detail: Any = None) -> None:
        pass

    def after(self, action: str, thing: Thing, detail: Any = None) -> None:
        pass

    def switch(self, process: int, name: str) -> None:
        pass


QUIET = Quiet()
listener: Listener = QUIET
before: Callable[..., None] = QUIET.before
after: Callable[..., None] = QUIET.after
thorough = False
"""The listener wants to hear of looks at a primitive that do not change it, and of who waits for ever."""

_numbers = itertools.count(1)


def _nothing() -> None:
    pass


_moved: Callable[[], None] = _nothing
"""What a listener that remembers the processes of threads is told when they change."""


def _no_token() -> str:
    return ""


token: Callable[[], str] = _no_token
"""A text that is unique in the whole run, across processes of the operating system; set with the listener."""


def listen(to: Listener) -> None:
    """From now on this listener is told; `QUIET` ends it. Processes are known to a listener from new on."""
    global listener, before, after, _moved
    forget_processes()
    listener, before, after = to, to.before, to.after
    _moved = getattr(to, "moved", _nothing)


number: Callable[[], int] = _numbers.__next__
"""A number for a new primitive or message."""


def number_of(value: Any) -> Thing:
    """The number of a recorded primitive, 0 for anything else; no code of the program is run to find out."""
    kind = type(value)
    if "is_recorded" in kind.__dict__:
        return getattr(value, "number", 0)
    if kind.__module__ in _BETWEEN_PROCESSES:
        inner = vars(value).get("_possibly") or vars(vars(value).get("_lock", value)).get("_possibly")
        return getattr(inner, "name", 0)
    if kind.__module__.startswith(__name__.rpartition(".")[0]) or any(
        base.__module__.startswith(__name__.rpartition(".")[0]) for base in kind.__mro__
    ):
        return getattr(value, "number", 0)
    inner = getattr(value, "__dict__", {}).get("_possibly") if hasattr(kind, "task_done") else None
    return getattr(inner, "number", 0)


# ---- processes ----------------------------------------------------------------------------------


_BETWEEN_PROCESSES = ("multiprocessing.synchronize", "multiprocessing.sharedctypes")
_threads: dict[int, int] = {}
"""Thread -> its process."""
_loops: dict[int, Callable[[], int]] = {}
"""Thread in which an event loop runs -> how to find the process of the task that is current there."""


def me() -> int:
    """The process that runs now: the current task of the thread's event loop, else the thread."""
    thread = get_ident()
    if thread in _loops:
        found = _loops[thread]()
        if found:
            return found
    try:
        return _threads[thread]
    except KeyError:
        found = _threads[thread] = new_process(_thread_name())
        return found


def process_tables() -> tuple[dict[int, int], dict[int, Callable[[], int]]]:
    """What `me` looks into first, for a compiled listener: threads and processes, threads with a loop."""
    return _threads, _loops


def set_task_finder(finder: Callable[[], int] | None) -> None:
    """An event loop runs in this thread, or does no more."""
    if finder is None:
        _loops.pop(get_ident(), None)
    else:
        _loops[get_ident()] = finder


def has_task_finder() -> bool:
    return get_ident() in _loops


def called(coroutine: Any, counts: dict[str, int]) -> str:
    """What the next task with such a coroutine is called if nobody has named it: `request#2`."""
    word = getattr(coroutine, "__name__", None)
    name = word if isinstance(word, str) and word else type(coroutine).__name__
    counts[name] = counts.get(name, 0) + 1
    return f"{name}#{counts[name]}"


def given_name(name: str) -> str:
    """The name that somebody gave a task; that of a function inside another one is its own."""
    return name.rpartition("<locals>.")[2] or name


def new_process(name: str) -> int:
    found = next(_numbers)
    listener.switch(found, name)
    return found


def become(process: int) -> None:
    """The running thread is that process; 0: it is none yet."""
    if process:
        _threads[get_ident()] = process
    else:
        _threads.pop(get_ident(), None)
    _moved()


def stand_in(process: int) -> int:
    """The running thread is that process for a while; which one it was, for `become`."""
    before = _threads.get(get_ident(), 0)
    become(process)
    return before


def forget_processes() -> None:
    """After a fork: the thread that goes on in the child is a new process."""
    _threads.clear()
    _loops.clear()
    _moved()


def _thread_name() -> str:
    # `current_thread` would make a dummy of a thread that is just being started.
    found = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
    return found.name if found is not None else f"thread-{threading.get_ident()}"


# ---- whose code ---------------------------------------------------------------------------------

_PACKAGE = __name__.partition(".")[0]
_LIBRARY = tuple(
    path.rstrip("/") + "/" for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
)
_SITE = ("/site-packages/", "/dist-packages/")
_known: dict[str, bool] = {}
_own_files: dict[str, bool] = {}


def is_library(file: str) -> bool:
    """Whether a file belongs to the standard library or to possibly; frozen modules do."""
    found = _known.get(file)
    if found is None:
        found = _known[file] = _is_library(file)
    return found


def _is_library(file: str) -> bool:
    if file.startswith(("<frozen", _OWN)):
        return True
    return file.startswith(_LIBRARY) and not any(part in file for part in _SITE)


_OWN = __file__[: __file__.rindex("probes")]


def is_user_file(file: str) -> bool:
    """Whether a file is the user's own: neither the standard library nor an installed package."""
    found = _own_files.get(file)
    if found is None:
        plain = file.replace("\\", "/")
        found = _own_files[file] = not is_library(file) and not any(part in plain for part in _SITE)
    return found


def is_installed(file: str) -> bool:
    """Whether a file is of the standard library or an installed package, whatever it counts as."""
    return is_library(file) or any(part in file.replace("\\", "/") for part in _SITE)


def module_path(file: str) -> str:
    """A file of the standard library or of an installed package as a module is named; empty for others."""
    plain = file.replace("\\", "/")
    for part in _SITE:
        if part in plain:
            return _dotted(plain.rpartition(part)[2])
    for folder in _LIBRARY:
        if plain.startswith(folder):
            return _dotted(plain[len(folder) :])
    return ""


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def adopt(file: str) -> None:
    """From now on the file counts as the user's own."""
    _own_files[file] = True


def called_by_library(depth: int = 2) -> bool:
    """Whether the caller of our caller is code of the standard library: its inner locks are not recorded.

    What such a lock orders is told by the probe of the library's own primitive, exactly.
    """
    code = sys._getframe(depth).f_code
    if code.co_name == "create" and code.co_filename.endswith("managers.py"):
        return False  # a manager makes it for its clients
    return is_library(code.co_filename) and not _is_on_behalf(code)


_ON_BEHALF = (
    ("run", "/concurrent/futures/thread.py"),
    ("run", "/threading.py"),
    ("_run", "/asyncio/events.py"),
)
"""Where the library calls a function that it was given: a thread's target, a job, a callback."""


def _is_on_behalf(code: CodeType) -> bool:
    return any(code.co_name == name and code.co_filename.endswith(file) for name, file in _ON_BEHALF)
