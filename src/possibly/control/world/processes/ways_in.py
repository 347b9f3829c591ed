"""Functions of `os` that lead to processes and pipes under control when the program makes one.

What makes these is loaded then: programs without them do not wait for it. The functions are there from the
beginning, since a program may have taken one from its module, or from its name in a line that forks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from possibly.control.forking import outside
from possibly.control.runtime import kernel as running
from possibly.control.world.waiting import counters
from possibly.probes import port
from possibly.probes.patching import Patches

MAKING = ("fork", "pipe")
USING = ("waitpid", "wait", "_exit", "read", "write", "close", "dup", "dup2", "fdopen")
_inside: dict[str, Callable[..., Any]] = {}
"""Name -> what it is under control, once the program has a process or a pipe."""
_is_for_library = False


def install(patches: Patches) -> None:
    for name in MAKING:
        patches.put(os, name, _as_of_os(_making(name, getattr(os, name)), name))
    for name in USING:
        patches.put(os, name, _as_of_os(_using(name, getattr(os, name)), name))
    counters.install(patches)


def _as_of_os(function: Any, name: str) -> Any:
    function.__module__, function.__name__ = "os" if name == "fdopen" else "posix", name
    return function


def _using(name: str, plain: Any) -> Any:
    def way(*given: Any, **options: Any) -> Any:
        if counters.known and given and type(given[0]) is int:
            if name == "close":
                counters.known.pop(given[0], None)
            elif (found := counters.as_file(name, *given[:2])) is not None:
                return found
        return _inside.get(name, plain)(*given, **options)

    return way


def _making(name: str, plain: Any) -> Any:
    def way() -> Any:
        kernel = running.kernel
        is_by_user = _is_for_library or port.is_user_file(sys._getframe(1).f_code.co_filename)
        is_ours = outside.expected or not is_by_user
        if kernel is None or kernel.ending or is_ours:
            return plain()
        return _made(name, plain)

    return way


@contextmanager
def for_library() -> Iterator[None]:
    """What the standard library makes now is for the program."""
    global _is_for_library
    _is_for_library = True
    try:
        yield
    finally:
        _is_for_library = False


def begin() -> None:
    """From now on the functions are those under control: there is a process, or there is a pipe."""
    from possibly.control.world.processes import forks, pipes

    if not _inside:
        _inside.update({**forks.FUNCTIONS, **pipes.begin()})


def _made(name: str, plain: Any) -> Any:
    import multiprocessing  # noqa: F401 - first: what is put in its place uses the same processes

    from possibly.control.world.processes import forks, pipes

    begin()
    return pipes.piped(plain) if name == "pipe" else forks.forked()
