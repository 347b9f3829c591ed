"""`os.fork` and what goes with it: waiting for processes, and how they end.

A process that is forked goes on where its parent was, under the one scheduler like those of
`multiprocessing`. It ends where its code does, or by `os._exit`.
"""

from __future__ import annotations

import os
import posix
from typing import Any, NoReturn

from possibly.control.endings import failures
from possibly.control.forking import outside
from possibly.control.runtime import kernel as running
from possibly.control.world.processes import channel, holding, popen
from possibly.control.world.processes.holding import children
from possibly.control.world.processes.popen import Process

_plain_exit, _plain_waitpid = posix._exit, posix.waitpid


def forked() -> int:
    """What `os.fork` returns to code of the program."""
    name = "" if channel.upward is not None else f"forked process {len(holding.living) + 1}"
    child = popen.started(name)
    if child is None:
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


def _exit(status: int = 0) -> NoReturn:
    if channel.upward is not None and running.kernel is not None:
        channel.ask("end", status & 0xFF)
    _plain_exit(status)


# ---- waiting ------------------------------------------------------------------------------------


def _wait() -> tuple[int, int]:
    return _waitpid(-1, 0)


def _waitpid(pid: int, options: int) -> tuple[int, int]:
    kernel = running.kernel
    if kernel is None or kernel.ending or not _wanted(pid):
        return _plain_waitpid(pid, options)
    done = _ended(_wanted(pid), bool(options & os.WNOHANG))
    if done is None:
        return 0, 0
    number, code = done
    del children[number]
    return number, code << 8 if code >= 0 else -code


FUNCTIONS: dict[str, Any] = {"_exit": _exit, "wait": _wait, "waitpid": _waitpid}
"""What takes the place of functions of `os`."""


def _wanted(pid: int) -> list[Process]:
    return [each for number, each in children.items() if pid in (-1, 0, number)]


def _ended(wanted: list[Any], only_looks: bool) -> tuple[int, int] | None:
    """The first of these that has ended, and how it did."""
    if channel.upward is None:
        assert running.kernel is not None
        return popen.first_ended(running.kernel, wanted, only_looks)
    found: tuple[int, int] | None = channel.ask("wait", [each.number for each in wanted], only_looks)
    if found is not None:
        _plain_waitpid(found[0], 0)  # its remains
    return found
