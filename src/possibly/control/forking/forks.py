"""The process that is forked for each execution.

A `Zygote` is a child process in which the models are installed and the user's code is compiled. It forks a
process for the next execution before that is asked for; the forked process (`runner`) waits for its turn and
its `Job`, runs it, and writes the execution into a pipe. So a fork overlaps with the explorer's planning,
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
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from possibly.control.execution import Execution, Outcome, Scheduler
from possibly.control.forking import disk
from possibly.control.forking import execution as process
from possibly.control.forking.execution import Job
from possibly.control.forking.patience import BUSY, LONG, LOOK, OVERDUE, STILL, Pace, TimeIsUp, Watch
from possibly.control.forking.runner import ANY, FRESH, Runner, Turn, call_oneself
from possibly.control.forking.standing import Standing
from possibly.control.forking.system import die_with_parent, end_group, own_number
from possibly.control.forking.travelling import Outbox
from possibly.control.runtime import batons
from possibly.control.runtime.encode import decoded
from possibly.control.runtime.results import remember_modules
from possibly.errors import PossiblyError

_LIVE: list[Zygote] = []


class Zygote:
    """Runs jobs, one at a time."""

    def __init__(self, prepare: Callable[[], Callable[[], Any]]) -> None:
        """`prepare` is called once in the new process and gives what each execution calls."""
        self._jobs, jobs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._results, results = os.pipe()
        self._turn = Turn()
        self._standing = Standing()
        self._disk = disk.new_folder()
        self._job: tuple[Job | None, bytes] = None, b""
        """The last one, and as it travels."""
        self._outbox = Outbox()
        self._under_way = 0
        """Jobs that were handed over and not answered."""
        self._since = 0.0
        """When the first of these could begin."""
        self._longest = 0.0
        """Seconds of the longest that was answered."""
        self.process = os.fork()
        if self.process == 0:
            self._jobs.close()
            os.close(self._results)
            for other in _LIVE:  # else they would not notice that nobody can send them a job any more
                other._jobs.close()
                os.close(other._results)
            self._standing.listen()
            disk.folder = self._disk
            _serve(prepare, jobs, results, self._turn)
        jobs.close()
        os.close(results)
        self.patience = STILL
        _LIVE.append(self)

    def begin(self, job: Job, scheduler: Scheduler, fresh: bool = True) -> None:
        """Hands a job over; `answer` waits for its end, and `fileno` is readable when it has come."""
        if not self._under_way:
            self._since = time.monotonic()
        self._under_way += 1
        if job != self._job[0]:
            self._job = job, pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
        plan = pickle.dumps(scheduler, pickle.HIGHEST_PROTOCOL)
        head = FRESH if fresh else ANY
        self._jobs.send(self._outbox.message(head, plan, self._job[1]))

    def fileno(self) -> int:
        return self._results

    def answer(self, until: float | None = None) -> tuple[Execution, dict[str, Any]]:
        """Of the job that was handed over first; `TimeIsUp` if it has not come by then."""
        found = self._answer(until)
        self._outbox.answered()
        self._under_way -= 1
        since, self._since = self._since, time.monotonic()
        self._longest = max(self._longest, self._since - since)
        return found

    def _answer(self, until: float | None) -> tuple[Execution, dict[str, Any]]:
        while True:
            head = self._read(8, until)
            if isinstance(head, Pace):
                message = self._why(head)
                if self._kill():
                    return Execution((), Outcome.CUT_OFF, uncontrolled=(message,)), {}
                continue
            if len(head) < 8:
                raise PossiblyError("the process that runs the program ended unexpectedly")
            size = int.from_bytes(head, "little")
            if size == 0:
                message = "the process ended by itself (os._exit, a signal or a crash)"
                return Execution((), Outcome.CUT_OFF, uncontrolled=(message,)), {}
            body = self._read(size, None)
            if isinstance(body, Pace) or len(body) < size:
                raise PossiblyError("the process that runs the program ended unexpectedly")
            return decoded(body)

    def _why(self, pace: Pace) -> str:
        place = self.place
        where = f" ({place})" if place else ""
        if pace is Pace.ENDLESS:
            return f"no end after {BUSY * self.patience:g} seconds of computing: it may go on for ever{where}"
        still = f"nothing happens for {self.patience:g} seconds"
        return f"{still}: something outside control does not return{where}"

    @property
    def runner(self) -> int:
        """The process that took the last job; 0 if there was none."""
        return self._turn.last

    @property
    def broken(self) -> int:
        """How many processes ended by an error of ours; others have done their work."""
        return self._turn.broken

    @property
    def place(self) -> str:
        """Where the execution that runs stands, if one does and says so."""
        runner = self._turn.job[0]
        return self._standing.place_of(runner) if runner else ""

    def _read(self, size: int, until: float | None) -> bytes | Pace:
        """So many bytes, fewer if nobody can write any more; or how it goes on that none come."""
        parts = []
        watch: Watch | None = None
        job = self._turn.job
        while size:
            left = LOOK if until is None else min(LOOK, until - time.monotonic())
            if select.select([self._results], [], [], max(left, 0.0))[0]:
                part = os.read(self._results, min(size, 1 << 20))
                if not part:
                    break
                parts.append(part)
                size -= len(part)
                continue
            if until is not None and time.monotonic() >= until:
                raise TimeIsUp(self.place if self._is_overdue(until) else "")
            if watch is None or self._turn.job != job:
                job = self._turn.job
                watch = Watch(job[0] or self.process, self.patience, whole=bool(job[0]))
            elif (pace := watch.pace()) is not Pace.WORKS and self._turn.job == job:
                return pace
        return b"".join(parts)

    def _is_overdue(self, now: float) -> bool:
        """Whether what runs takes much longer than all before it: others were just not through yet."""
        return now - self._since >= max(LONG, OVERDUE * self._longest)

    def _kill(self) -> bool:
        """Ends who does not answer; whether that was its last chance: else a fresh process tries again."""
        runner = self._turn.job[0]
        if select.select([self._results], [], [], 0)[0]:  # at the last moment it did
            return False
        if runner:
            end_group(runner)
            if self._turn.is_used:
                return False
            self._read(8, None)  # the zygote tells that it is over
        return True

    def close(self) -> None:
        if self.process:
            _LIVE.remove(self)
            self._jobs.close()
            os.close(self._results)
            if runner := self._turn.last:
                end_group(runner)
            try:
                os.kill(self.process, signal.SIGKILL)
                os.waitpid(self.process, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
            disk.put_back(self._disk, is_over=True)
            self._standing.close()
            self._outbox.close()
            self.process = 0


def _serve(
    prepare: Callable[[], Callable[[], Any]], jobs: socket.socket, results: int, turn: Turn
) -> NoReturn:
    """The life of the zygote; it ends when nobody can send a job any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    try:
        program = prepare()
        call_oneself(own_number())
        batons.have_greenlets()
        remember_modules()
        process.settle()
        runner = Runner(program, jobs, results, turn)
        runner.pass_on()
        runner.breed()
        if own_number() == runner.zygote:
            os._exit(0)
        runner.live()
    except BrokenPipeError:  # whoever asked was interrupted and is gone
        os._exit(0)
    except BaseException:  # noqa: BLE001 - nothing may return into the code that forked us
        import traceback

        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)
