"""`os._exit`, `os.exec...` and forks: the listener may still have something to write.

`at_exit` and the three hooks of a fork are set by whoever listens; a child of a fork is a new process whose
first event comes after the parent's `spawn`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

from possibly.probes import port
from possibly.probes.patching import Patches


def _nothing() -> None:
    pass


def _nobody(name: str) -> None:
    pass


at_exit: Callable[[], None] = _nothing
flush: Callable[[], None] = _nothing
before_fork: Callable[[], None] = _nothing
after_fork_in_parent: Callable[[], None] = _nothing
after_fork_in_child: Callable[[str], None] = _nobody
next_child = ""
"""The name of the process that the next fork makes, where somebody knows it."""
starter: Callable[[str, str], Any] = lambda name, token: None  # noqa: E731
"""Makes an object that starts a recording where it is unpickled: (name of the process, its spawn)."""

settings_for: Callable[[str, str], tuple[str, str]] = lambda name, token: ("", "")  # noqa: E731
"""The variable of the environment that makes a program be recorded: (its name, its spawn)."""
spawned_by = ""
"""The spawn of this process, where it was not forked."""
_registered = False
_spawn = ""


def install(patches: Patches) -> None:
    global _registered
    patches.put(os, "_exit", _told_exit(os._exit))
    for name in ("execv", "execve"):  # the others end in one of these
        patches.put(os, name, _told_exec(getattr(os, name)))
    if not _registered and hasattr(os, "register_at_fork"):
        _registered = True  # hooks of a fork cannot be taken away; they ask who listens
        os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)


def _told_exit(plain: Any) -> Any:
    def _exit(status: int) -> NoReturn:
        at_exit()
        plain(status)
        raise AssertionError

    return _exit


def _told_exec(plain: Any) -> Any:
    def execute(*arguments: Any) -> NoReturn:
        flush()
        plain(*arguments)
        raise AssertionError

    execute.__name__ = plain.__name__
    return execute


def _before() -> None:
    global _spawn
    if port.listener is not port.QUIET:
        _spawn = port.token()
        port.before("spawn", _spawn)
        before_fork()


def _in_parent() -> None:
    if port.listener is not port.QUIET:
        after_fork_in_parent()


def _in_child() -> None:
    if port.listener is not port.QUIET:
        port.forget_processes()
        after_fork_in_child(next_child or f"process-{os.getpid()}")
        port.after("start", _spawn)


def last_spawn() -> str:
    """The token of the newest fork, in the parent and in the child alike."""
    return _spawn
