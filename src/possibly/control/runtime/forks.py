"""The process that is forked for each execution.

A `Zygote` is a child process in which the models are installed and the user's code is compiled. It forks a
process for the next execution before that is asked for; the forked process waits for its turn and its `Job`,
runs it, and writes the execution into a pipe. So a fork overlaps with the planning of the explorer,
executions share nothing but what was there before the program began, and a program that crashes takes nothing
with it.

A process whose program leaves nothing behind (`lasting`) keeps its turn and takes the next job too. Whatever
it cannot bring to a clean end it leaves where it is, for a fresh process: so each execution that is told is
the first in its process, or one that ended as it should.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from mmap import mmap
from typing import Any, NoReturn

from possibly.control.execution import Execution, Outcome, Scheduler
from possibly.control.runtime import batons, process
from possibly.control.runtime.encode import decoded
from possibly.control.runtime.lasting import Life
from possibly.control.runtime.process import Job
from possibly.control.runtime.results import remember_modules
from possibly.errors import PossiblyError

PATIENCE = 20.0
"""Seconds that an execution may take without an end."""
LARGEST_JOB = 1 << 20
NO_MORE = b"E"
FRESH, ANY = b"f", b"a"
"""How a job begins: it is for a process that has executed nothing yet, or for any."""
LENGTH = 4
"""Bytes that tell the length of the scheduler, which comes before the rest of the job."""
LOOK = 1.0
"""Seconds after which a process that waits for its turn looks whether anybody can give it."""
OVER = 93
"""The status with which a process that told all it knows ends."""
_clock = time.monotonic
"""The real one: that of the module is the program's (`inputs`)."""


class _Turn:
    """Who has its turn, in memory that all processes see."""

    _TAKEN = struct.Struct("=qd")

    def __init__(self) -> None:
        self._memory = mmap(-1, self._TAKEN.size + 1)

    def take(self) -> None:
        """This process runs a job from now on."""
        self._TAKEN.pack_into(self._memory, 0, os.getpid(), _clock())

    def rest(self) -> None:
        """Nobody runs a job."""
        self._TAKEN.pack_into(self._memory, 0, 0, 0.0)

    @property
    def runner(self) -> tuple[int, float]:
        """The process that runs a job, and since when; 0: there is none."""
        found: tuple[int, float] = self._TAKEN.unpack_from(self._memory)
        return found

    @property
    def is_used(self) -> bool:
        """Who has its turn has executed a job before."""
        return bool(self._memory[self._TAKEN.size])

    @is_used.setter
    def is_used(self, used: bool) -> None:
        self._memory[self._TAKEN.size] = used


_LIVE: list[Zygote] = []


class Zygote:
    """Runs jobs, one at a time."""

    def __init__(self, prepare: Callable[[], Callable[[], Any]]) -> None:
        """`prepare` is called once in the new process and gives what each execution calls."""
        self._jobs, jobs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._results, results = os.pipe()
        self._jobs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST_JOB)
        self._turn = _Turn()
        self._job: tuple[Job | None, bytes] = None, b""
        """The last one, and as it travels."""
        self.process = os.fork()
        if self.process == 0:
            self._jobs.close()
            os.close(self._results)
            for other in _LIVE:  # else they would not notice that nobody can send them a job any more
                other._jobs.close()
                os.close(other._results)
            _serve(prepare, jobs, results, self._turn)
        jobs.close()
        os.close(results)
        self.patience = PATIENCE
        _LIVE.append(self)

    def begin(self, job: Job, scheduler: Scheduler, fresh: bool = True) -> None:
        """Hands a job over; `answer` waits for its end, and `fileno` is readable when it has come."""
        if job != self._job[0]:
            self._job = job, pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
        plan = pickle.dumps(scheduler, pickle.HIGHEST_PROTOCOL)
        head = FRESH if fresh else ANY
        self._jobs.send(head + len(plan).to_bytes(LENGTH, "little") + plan + self._job[1])

    def fileno(self) -> int:
        return self._results

    def answer(self) -> tuple[Execution, dict[str, Any]]:
        """Of the job that was handed over first."""
        while True:
            size = self._size()
            if size is None:
                message = (
                    f"no end within {self.patience:g} seconds: something outside control does not return"
                )
                if self._kill():
                    return Execution((), Outcome.CUT_OFF, uncontrolled=(message,)), {}
            elif size == 0:
                message = "the process ended by itself (os._exit, a signal or a crash)"
                return Execution((), Outcome.CUT_OFF, uncontrolled=(message,)), {}
            else:
                body = self._read(size, time.monotonic() + self.patience)
                assert body is not None
                return decoded(body)

    def _size(self) -> int | None:
        """How long the next answer is; None: who runs, or should, has had its time."""
        asked = time.monotonic()
        while True:
            runner, begun = self._turn.runner
            head = self._read(8, (begun if runner else asked) + self.patience)
            if head is None and self._turn.runner == (runner, begun):
                return None
            if head is not None and len(head) < 8:
                raise PossiblyError("the process that runs the program ended unexpectedly")
            if head is not None:
                return int.from_bytes(head, "little")

    def _read(self, size: int, end: float) -> bytes | None:
        parts = []
        while size:
            if not select.select([self._results], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            part = os.read(self._results, min(size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _kill(self) -> bool:
        """Ends who does not answer; whether that was its last chance: else a fresh process tries again."""
        runner = self._turn.runner[0]
        if select.select([self._results], [], [], 0)[0]:  # at the last moment it did
            return False
        if runner:
            os.kill(runner, signal.SIGKILL)
            if self._turn.is_used:
                return False
            self._read(8, time.monotonic() + 5)  # the zygote tells that it is over
        return True

    def close(self) -> None:
        if self.process:
            _LIVE.remove(self)
            self._jobs.close()
            os.close(self._results)
            try:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
            self.process = 0


def _serve(
    prepare: Callable[[], Callable[[], Any]], jobs: socket.socket, results: int, turn: _Turn
) -> NoReturn:
    """The life of the zygote; it ends when nobody can send a job any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    try:
        program = prepare()
        batons.have_greenlets()
        remember_modules()
        process.settle()
        started, start = os.pipe()
        runner = _Runner(program, jobs, results, start, turn)
        runner.pass_on()
        fork = _light_fork()
        before = 0
        while True:
            child = fork()
            if child == 0:
                runner.live()
            if before:
                runner.attend(before)
            if os.read(started, 1) == NO_MORE:
                os._exit(0)
            before = child  # it runs: meanwhile the next one is made
    except BrokenPipeError:  # whoever asked was interrupted and is gone
        os._exit(0)
    except BaseException:  # noqa: BLE001 - nothing may return into the code that forked us
        import traceback

        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)


def _die_with_parent() -> None:
    """However the process that made this one ends, this one does not stay behind."""
    if sys.platform.startswith("linux"):
        try:
            import ctypes

            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
        except (ImportError, AttributeError, OSError):
            pass


def _light_fork() -> Callable[[], int]:
    """`fork` of the C library, where that can be called.

    The zygote has one thread, which holds the interpreter's lock before and after, so there is nothing to
    put right in the child. What Python would do there (new locks for `threading`, another seed for `random`)
    touches six times as many pages, each of which has to be copied.
    """
    if not sys.platform.startswith("linux") or threading.active_count() > 1:
        return os.fork
    try:
        import ctypes

        found = ctypes.PyDLL(None).fork
    except (ImportError, AttributeError, OSError):
        return os.fork
    found.restype = ctypes.c_int
    light: Callable[[], int] = found
    return light


class _Runner:
    """Takes jobs when it is its turn: the `Teller` of their executions."""

    def __init__(
        self, program: Callable[[], Any], jobs: socket.socket, results: int, start: int, turn: _Turn
    ) -> None:
        self.program = program
        self.jobs = jobs
        self.results = results
        self.start = start
        self.next = os.pipe()
        """Who reads from it has its turn."""
        self.zygote = os.getpid()
        self.turn = turn
        self.data = bytearray(LARGEST_JOB)
        self.job: tuple[Any, bytes] = None, b""

    def live(self) -> NoReturn:
        """The life of a forked process."""
        _die_with_parent()
        process.rehearse()
        life = Life()
        ready = False
        while not ready:
            if os.getppid() != self.zygote:  # it has ended before we could ask to end with it
                os._exit(OVER)
            ready = bool(select.select([self.next[0]], [], [], LOOK)[0])
        os.read(self.next[0], 1)
        self.turn.is_used = False
        while True:
            size = self.jobs.recv_into(self.data, 0, 0 if life.is_fresh else socket.MSG_PEEK)
            if not size:
                self._end()
            if life.is_fresh:
                os.write(self.start, b"s")
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            elif self.data.startswith(FRESH):
                self.leave()
            self.turn.take()
            job, scheduler = self._taken(memoryview(self.data)[1:size])
            process.run(job, scheduler, self.program, self, life)
            self.turn.is_used = True

    def _taken(self, data: memoryview) -> tuple[Job, Scheduler]:
        """A job is mostly the same as the last one, but for its scheduler."""
        end = LENGTH + int.from_bytes(data[:LENGTH], "little")
        scheduler: Scheduler = pickle.loads(data[LENGTH:end])
        if data[end:] != self.job[1]:
            self.job = pickle.loads(data[end:]), bytes(data[end:])
        return self.job[0], scheduler

    def _end(self) -> NoReturn:
        try:
            os.write(self.start, NO_MORE)
        except OSError:
            pass  # the zygote is gone already
        self.leave()

    def tell(self, data: bytes) -> None:
        if self.turn.is_used:
            self.jobs.recv(1)  # it is done: nobody else needs to do it
        self.turn.rest()
        left = memoryview(len(data).to_bytes(8, "little") + data)
        while left:
            try:
                left = left[os.write(self.results, left) :]
            except BrokenPipeError:  # whoever asked was interrupted and is gone
                os._exit(OVER)

    def leave(self) -> NoReturn:
        self.pass_on()
        os._exit(OVER)

    def pass_on(self) -> None:
        os.write(self.next[1], b"t")

    def attend(self, child: int) -> None:
        """The end of a child; one that did not end by itself is told, if nobody else can take its job."""
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != OVER:
            self.turn.rest()
            if not self.turn.is_used:
                os.write(self.results, bytes(8))
            self.pass_on()


class Stream:
    """Of one execution that is waited for at the end of a pipe."""

    def __init__(self, out: int) -> None:
        self.out = out

    def tell(self, data: bytes) -> None:
        with os.fdopen(self.out, "wb", closefd=False) as stream:
            stream.write(data)

    def leave(self) -> NoReturn:
        os._exit(0)
