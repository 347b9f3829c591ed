"""Starting the program of an execution: as ranks, as a fresh interpreter, or by forking one that is ready.

Where a process can be followed by a descriptor (Linux), a template interpreter is kept for all executions of
this process, one for each set of the variables that an interpreter reads when it starts. That makes an
execution some ten times shorter, since nothing is imported anew. Ranks are forked from it too, where the
process manager is Hydra (that of MPICH and its kin): `mpiexec` starts a small process for each, which hands
over what makes it that rank.
"""

from __future__ import annotations

import atexit
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from typing import Protocol

from possibly.control.macro.program.wire import ClosedError, Wire
from possibly.errors import PossiblyError

INSIDE = "possibly.control.macro.inside"
NATIVE = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
"""How programs begin that the system executes."""
MOST_FORKED = 32
"""Ranks. More of them, all ready at once, wait so busily for each other that none comes to its beginning."""


class Child(Protocol):
    """The process that was started; it leads a group of its own."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float) -> int: ...


def launched(
    words: Sequence[str], ranks: int | None, environment: dict[str, str], output: str | None
) -> Child:
    """`output`: the file for what the program prints; None: where ours goes."""
    if is_native(words):
        command = [os.path.abspath(words[0]), *words[1:]]
        return _started(
            command if ranks is None else [mpiexec(), "-n", str(ranks), *command], environment, output
        )
    if ranks is None and output is not None and hasattr(os, "pidfd_open"):
        with _one_at_a_time:
            found = _forked(words, environment, output)
        if found is not None:
            return found
    command = [sys.executable, "-m", f"{INSIDE}.start", *words]
    if ranks is not None:
        command = [mpiexec(), "-n", str(ranks), *(_forked_rank(words, ranks, environment) or command)]
    return _started(command, environment, output)


def is_native(words: Sequence[str]) -> bool:
    """Whether the program is none of Python, but one that speaks for itself (`lines`)."""
    if not words:
        return False
    try:
        with open(words[0], "rb") as opened:
            return os.access(words[0], os.X_OK) and opened.read(4) in NATIVE
    except OSError:
        return False


def _started(command: list[str], environment: dict[str, str], output: str | None) -> Child:
    if output is None:
        return subprocess.Popen(command, env=environment, start_new_session=True)
    with open(output, "ab") as opened:  # ranks append to it too
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


@cache
def _is_hydra(command: str) -> bool:
    """Whether ranks can be handed over: all that makes a process one is a descriptor and variables."""
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    return "HYDRA" in told.stdout


def _forked_rank(words: Sequence[str], ranks: int, environment: dict[str, str]) -> list[str] | None:
    """What stands for a rank that is forked from a template; None: it cannot be."""
    if ranks > MOST_FORKED or not hasattr(os, "pidfd_open") or not _is_hydra(mpiexec()):
        return None
    with _one_at_a_time:
        template = _template(environment)
        stub = os.path.join(os.path.dirname(os.path.dirname(__file__)), "inside", "ready", "rank.py")
        return [sys.executable, "-I", "-S", stub, template.path, *words]


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
        self._folder = tempfile.mkdtemp(prefix="possibly-")
        self.path = os.path.join(self._folder, "ranks")
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self.path)
        listening.listen(256)
        numbers = (theirs.fileno(), listening.fileno())
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{INSIDE}.ready.template", *map(str, numbers)],
            env=environment,
            pass_fds=numbers,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        listening.close()
        self.wire = Wire(ours)

    def forked(self, words: Sequence[str], environment: dict[str, str], output: str) -> Forked:
        self.wire.send(tuple(words), environment, os.getcwd(), output)
        (pid,) = self.wire.receive()
        return Forked(pid)

    def close(self) -> None:
        self.wire.close()
        self.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


_templates: dict[tuple[tuple[str, str], ...], _Template] = {}
_one_at_a_time = threading.Lock()
_owner = 0
"""The process that made the templates: one that was forked from it has none."""


def _template(environment: dict[str, str]) -> _Template:
    global _owner
    if _owner != os.getpid():
        _templates.clear()
        _owner = os.getpid()
    key = tuple(sorted((k, v) for k, v in environment.items() if k.startswith("PYTHON")))
    if key in _templates and _templates[key].process.poll() is not None:
        _templates.pop(key).close()
    if key not in _templates:
        _templates[key] = _Template(environment)
    return _templates[key]


def _forked(words: Sequence[str], environment: dict[str, str], output: str) -> Forked | None:
    """None if the template has gone; the next execution makes another."""
    try:
        return _template(environment).forked(words, environment, output)
    except ClosedError:
        return None


@atexit.register
def close_templates() -> None:
    while _owner == os.getpid() and _templates:
        _templates.popitem()[1].close()
