"""`os.fork` and what goes with it: waiting for processes, and how they end.

A process that is forked goes on where its parent was, under the one scheduler like those of
`multiprocessing`. It ends where its code does, or by `os._exit`. One that a forked process forks is not under
control, which is said.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

from possibly.control.endings import failures
from possibly.control.execution import Access
from possibly.control.forking import outside
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.control.world.processes import channel, pipes, popen
from possibly.control.world.processes.popen import Forked
from possibly.probes.patching import Patches

_plain_exit = os._exit
children: dict[int, Forked] = {}
"""Number of the process -> what is known of it, until it has been waited for."""


def install(patches: Patches) -> None:
    for name, wrap in (("waitpid", _waitpid), ("wait", _wait), ("_exit", _exit)):
        patches.put(os, name, wrap(getattr(os, name)))
    pipes.install(patches)


def _as_posix(function: Any, name: str) -> Any:
    function.__module__, function.__name__ = "posix", name
    return function


def forked() -> int:
    """What `os.fork` returns to code of the program."""
    kernel = running.kernel
    assert kernel is not None
    child = Forked(f"forked process {len(popen.living) + 1}")
    if child.fork():
        outside.end_of_child = _end
        return 0
    children[child.pid] = child
    return child.pid


def _end(error: BaseException | None) -> NoReturn:
    """The code of a forked process has come to its end."""
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        code = 1
        channel.ask("failed", failures.failure_of(error))
    os._exit(code)


def _exit(plain: Any) -> Any:
    def _exit(status: int = 0) -> NoReturn:
        if channel.upward is not None and running.kernel is not None:
            channel.ask("end")
        plain(status)
        raise AssertionError

    return _as_posix(_exit, "_exit")


# ---- waiting ------------------------------------------------------------------------------------


def _wait(plain: Any) -> Any:
    def wait() -> tuple[int, int]:
        return os.waitpid(-1, 0)

    return _as_posix(wait, "wait")


def _waitpid(plain: Any) -> Any:
    def waitpid(pid: int, options: int) -> tuple[int, int]:
        kernel = running.kernel
        if kernel is None or kernel.ending or channel.upward is not None or not _wanted(pid):
            found: tuple[int, int] = plain(pid, options)
            return found
        return _waited(kernel, _wanted(pid), bool(options & os.WNOHANG))

    return _as_posix(waitpid, "waitpid")


def _wanted(pid: int) -> list[Forked]:
    return [each for number, each in children.items() if pid in (-1, 0, number)]


def _waited(kernel: Kernel, wanted: list[Forked], only_looks: bool) -> tuple[int, int]:
    """The first of these that has ended, and how it did."""

    def ended() -> list[Forked]:
        return [each for each in wanted if each.task.ended]

    footprint = tuple(Access(each.task.name, False) for each in wanted)
    name = wanted[0].task.name
    kernel.visible("look" if only_looks else "join", name, footprint, None, None if only_looks else ended)
    done = next(iter(ended()), None)
    if done is None:
        return 0, 0
    del children[done.pid]
    code = done.returncode or 0
    return done.pid, code << 8 if code >= 0 else -code
