"""Starting the program of an execution: as ranks, as a fresh interpreter, or by forking one that is ready.

Where a process can be followed by a descriptor (Linux), a template interpreter is kept for all executions of
this process, one for each set of the variables that an interpreter reads when it starts. That makes an
execution some ten times shorter, since nothing is imported anew.
"""

from __future__ import annotations

import atexit
import os
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Protocol

from possibly.control.macro.wire import ClosedError, Wire
from possibly.errors import PossiblyError

INSIDE = "possibly.control.macro.inside"


class Child(Protocol):
    """The process that was started; it leads a group of its own."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float) -> int: ...


def launched(
    words: Sequence[str], ranks: int | None, environment: dict[str, str], output: str | None
) -> Child:
    """`output`: the file for what the program prints; None: where ours goes."""
    if ranks is None and output is not None and hasattr(os, "pidfd_open"):
        found = _forked(words, environment, output)
        if found is not None:
            return found
    command = [sys.executable, "-m", f"{INSIDE}.start", *words]
    if ranks is not None:
        command = [mpiexec(), "-n", str(ranks), *command]
    if output is None:
        return subprocess.Popen(command, env=environment, start_new_session=True)
    with open(output, "wb") as opened:
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=opened,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def mpiexec() -> str:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    found = beside if os.path.exists(beside) else shutil.which("mpiexec")
    if found is None:
        hint = "install an MPI, for instance `pip install mpich mpi4py`"
        raise PossiblyError("there is no mpiexec", hint=hint)
    return found


# ---- templates ----------------------------------------------------------------------------------


class Forked:
    """A child of the template. How it ended is not known, only that it did."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            self._descriptor = -1

    def poll(self) -> int | None:
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float) -> int:
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired("the program", timeout)
        return 0

    def _has_ended(self, timeout: float) -> bool:
        if self._descriptor >= 0 and select.select([self._descriptor], [], [], timeout)[0]:
            os.close(self._descriptor)
            self._descriptor = -1
        return self._descriptor < 0


class _Template:
    def __init__(self, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        number = theirs.fileno()
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{INSIDE}.template", str(number)],
            env=environment,
            pass_fds=(number,),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self.wire = Wire(ours)

    def forked(self, words: Sequence[str], environment: dict[str, str], output: str) -> Forked:
        self.wire.send(tuple(words), environment, os.getcwd(), output)
        (pid,) = self.wire.receive()
        return Forked(pid)

    def close(self) -> None:
        self.wire.close()
        self.process.wait()


_templates: dict[tuple[tuple[str, str], ...], _Template] = {}
_owner = 0
"""The process that made the templates: one that was forked from it has none."""


def _forked(words: Sequence[str], environment: dict[str, str], output: str) -> Forked | None:
    """None if the template has gone; the next execution makes another."""
    global _owner
    if _owner != os.getpid():
        _templates.clear()
        _owner = os.getpid()
    key = tuple(sorted((k, v) for k, v in environment.items() if k.startswith("PYTHON")))
    if key not in _templates:
        _templates[key] = _Template(environment)
    try:
        return _templates[key].forked(words, environment, output)
    except ClosedError:
        _templates.pop(key).close()
        return None


@atexit.register
def close_templates() -> None:
    while _owner == os.getpid() and _templates:
        _templates.popitem()[1].close()
