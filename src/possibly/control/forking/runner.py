"""The life of a process that was forked to execute a program: it waits for its turn, takes a job, and tells.

Theory of operation. Up to its second task a program goes the same way in every execution: there is nothing to
choose. A process that has come so far does not go on (`branch`): it is forked from there for its own job and
for each one that follows, so what programs do before (imports, tables, applications that are set up) is done
once. A forked process begins with what its scheduler would have been asked and told until then.

Law: what a branch tells is what a process that began at the beginning would have told. So there is none where
anything is shared with the system that a fork does not copy: memory, processes, threads, timers
(`system.opened_since`). Of files that are open each branch has a place of its own, and files that were
changed are for each what they were when it was forked (`disk.begin_later`). What fails in a branch is not
told; a process that begins at the beginning executes it. Of others the explorer has a sample executed so
(`zygote.agrees`), and one difference ends all this.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from mmap import mmap
from time import process_time as _processor_time
from types import ModuleType
from typing import Any, NoReturn

from possibly.control.execution import Choice, Scheduler
from possibly.control.forking import disk, travelling
from possibly.control.forking import execution as process
from possibly.control.forking.execution import Job
from possibly.control.forking.lasting import Life, may_be_used_again, share_a_thread
from possibly.control.forking.system import (
    Reopened,
    die_with_parent,
    light_fork,
    opened_since,
    own_number,
    parent_number,
    shared_now,
)
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel

GOES_ON, NO_MORE = b"s", b"E"
"""What a process that was forked tells the one that forked it: it has a job, or there will be none."""
FRESH, ANY = b"f", b"a"
"""How a job begins: it is for a process that begins at the beginning, or for any."""
ORPHANED = 1.0
"""Seconds after which a process that waits for its turn looks whether anybody can give it."""
OVER, UNTOLD = 93, 94
"""The status with which a process ends that told all it knows, and one that left its job to another."""

WORTH = 0.004
"""Seconds of a processor that a program has used before its second task, if it is worth to fork there."""
AGAIN = 2
"""So many times as long, where a process can be used again: it comes there in half the time that a new one
takes, and copies no memory on the way."""
MANY = 12
"""Processes that are forked before it is worth to look at all objects, so that one can be used again: most
programs need fewer executions, and such a look takes as long as that many forks."""


EARLY = 4
"""So many processes more are waited for until one has been used again."""


class Turn:
    """Who has its turn, in memory that all processes see."""

    _TAKEN = struct.Struct("=qqq")
    _BROKEN = struct.Struct("=q")

    def __init__(self) -> None:
        self._memory = mmap(-1, self._TAKEN.size + 1 + self._BROKEN.size + 1)

    def take(self) -> None:
        """This process runs a job from now on."""
        me = own_number()
        self._TAKEN.pack_into(self._memory, 0, me, self.job[1] + 1, me)

    def rest(self) -> None:
        """Nobody runs a job."""
        self._TAKEN.pack_into(self._memory, 0, 0, self.job[1], self.last)

    @property
    def job(self) -> tuple[int, int]:
        """The process that runs a job, 0 if there is none, and how many were begun before."""
        runner, number, _ = self._TAKEN.unpack_from(self._memory)
        return runner, number

    @property
    def last(self) -> int:
        """The process that took the last job; until another does, its number is not given away."""
        found: int = self._TAKEN.unpack_from(self._memory)[2]
        return found

    @property
    def is_used(self) -> bool:
        """Who has its turn did not begin at the beginning for its job, and may leave it to others."""
        return bool(self._memory[self._TAKEN.size])

    @is_used.setter
    def is_used(self, used: bool) -> None:
        self._memory[self._TAKEN.size] = used

    @property
    def was_used(self) -> bool:
        """A process has executed the program more than once."""
        return bool(self._memory[-1])

    @was_used.setter
    def was_used(self, used: bool) -> None:
        self._memory[-1] = used

    @property
    def broken(self) -> int:
        """Processes that ended by an error of ours where others were to be forked from them."""
        found: int = self._BROKEN.unpack_from(self._memory, self._TAKEN.size + 1)[0]
        return found

    def break_off(self) -> None:
        """This process ends so; whoever has its turn counts alone."""
        self._BROKEN.pack_into(self._memory, self._TAKEN.size + 1, self.broken + 1)


class Runner:
    """Takes jobs when it is its turn: the `Teller` of their executions."""

    def __init__(self, program: Callable[[], Any], jobs: socket.socket, results: int, turn: Turn) -> None:
        self.program = program
        self.jobs = jobs
        self.results = results
        self.turn = turn
        self.data = bytearray()
        """Of the last job; a process has it when it lives, so it is nothing that an execution changes."""
        self.job: tuple[Any, bytes] = None, b""
        self.is_branch = False
        """This process was forked in the middle of an execution."""
        self._fork = light_fork()
        self._has_told = self._has_forked = False
        self._settle_here()
        self._since = 0.0
        self._shared = shared_now()
        self._opened = Reopened(frozenset())
        """Files that the program has open where it is forked."""

    def _settle_here(self) -> None:
        """Processes are forked from this one from now on."""
        self.next = os.pipe()
        """Who reads from it has its turn."""
        self.started = os.pipe()
        self.zygote = own_number()

    def breed(self, before: int = 0) -> None:
        """Forks a process for each job, before that is asked for: returns in these, and when there are none.

        `before`: one that was forked already, and has its turn.
        """
        forked = 0
        while True:
            if forked == MANY and not self.is_branch:
                process.settle_for_long()
            forked += 1
            child = self._fork()
            if child == 0:
                return
            if before and not self._attend(before):
                return
            if os.read(self.started[0], 1) == NO_MORE:
                return
            before = child  # it runs: meanwhile the next one is made

    def live(self) -> NoReturn:
        """The life of a process that was forked from the first."""
        die_with_parent()
        os.setpgid(0, 0)  # whatever it starts ends with it
        process.rehearse()
        self.data = bytearray(travelling.LARGEST)
        life = Life()
        self._wait()
        self.turn.is_used = False
        while True:
            size = self.jobs.recv_into(self.data, 0, 0 if life.is_fresh else socket.MSG_PEEK)
            if not size:
                self._end()
            if life.is_fresh:
                os.write(self.started[1], GOES_ON)
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            elif self.data.startswith(FRESH):
                self.leave()
            self.turn.take()
            job, scheduler = self._taken(memoryview(self.data)[1:size])
            self._since = _processor_time()
            process.run(job, scheduler, self.program, self, life)
            if life.is_spent:
                self.leave()
            self.turn.is_used = self.turn.was_used = True

    def _wait(self) -> None:
        """Returns when this process has its turn."""
        while not select.select([self.next[0]], [], [], ORPHANED)[0]:
            if parent_number() != self.zygote:  # it has ended before we could ask to end with it
                os._exit(OVER)
        os.read(self.next[0], 1)

    def _taken(self, data: memoryview) -> tuple[Job, Scheduler]:
        """A job is mostly the same as the last one, but for its scheduler."""
        plan, job = travelling.arrived(data)
        scheduler: Scheduler = pickle.loads(plan)
        if job != self.job[1]:
            self.job = pickle.loads(job), bytes(job)
        return self.job[0], scheduler

    def _end(self) -> NoReturn:
        try:
            os.write(self.started[1], NO_MORE)
        except OSError:
            pass  # whoever forked us is gone already
        self.leave()

    def tell(self, data: bytes) -> None:
        if self.turn.is_used:
            os.read(self.jobs.fileno(), 1)  # it is done: nobody else needs to do it (sockets are modelled)
        self._has_told = True
        self.turn.rest()
        left = memoryview(len(data).to_bytes(8, "little") + data)
        while left:
            try:
                left = left[os.write(self.results, left) :]
            except BrokenPipeError:  # whoever asked was interrupted and is gone
                os._exit(OVER)

    def leave(self) -> NoReturn:
        if self.is_branch and not self._has_told:
            os._exit(UNTOLD)
        self.pass_on()
        os._exit(OVER)

    def pass_on(self) -> None:
        os.write(self.next[1], b"t")

    def _attend(self, child: int) -> bool:
        """Waits for the end of a child; whether others of its kind go on.

        One that did not end by itself is told, if nobody else can take its job.
        """
        _, status = os.waitpid(child, 0)
        try:
            os.killpg(child, signal.SIGKILL)  # what it has started and left behind
        except (ProcessLookupError, PermissionError):
            pass
        ended = os.waitstatus_to_exitcode(status)
        if ended == OVER:
            return True
        disk.put_back(disk.folder)
        is_told = ended == UNTOLD and not self.turn.job[0]  # by one that was forked from it
        self.turn.rest()
        if ended == UNTOLD and self.is_branch:
            return False
        is_left = self.turn.is_used or is_told
        if not is_left:
            os.write(self.results, bytes(8))
        if self.is_branch and is_left:
            return False
        self.pass_on()
        return True

    # ---- executions that begin where others have come to --------------------------------------------

    def branch(self, kernel: Kernel, life: Life) -> None:
        """The program is about to have a second task: its next executions are forked from here."""
        if not self._is_worth_it():
            return
        running.kernel = None  # what we ask the system for is nothing of the program's
        before = self.next, self.started, self.zygote
        try:
            opened = opened_since(self._shared)
            if opened is not None:  # a fork has all that this process has, and shares nothing new
                self._opened = opened
                self._branch(kernel, life)
        except BaseException:  # noqa: BLE001 - nothing of ours may return into the program
            self.turn.break_off()  # it costs speed alone, so it has to be told of
            if self._has_forked:
                os._exit(UNTOLD)
            self.next, self.started, self.zygote = before
            self.is_branch = False
        running.start(kernel)

    def _branch(self, kernel: Kernel, life: Life) -> None:
        back, number = self.next[1], own_number()
        self._settle_here()
        self.is_branch = True
        disk.begin_later()
        first = self._fork()
        self._has_forked = True
        if first == 0:
            self._begin(life)
            self.turn.take()
            return
        share_a_thread(kernel)
        self.breed(first)
        if own_number() == number:  # there is a job that none of them can do
            disk.end_later()
            os.write(back, b"t")
            os._exit(OVER)
        self._begin(life)
        self._take_over(kernel, life)

    def _is_worth_it(self) -> bool:
        """Whether forks are asked for, and take less time than to come here again."""
        if self.is_branch or not self.data.startswith(ANY):
            return False
        worth = WORTH * AGAIN if self._is_used_again() else WORTH
        return _processor_time() - self._since > worth

    def _is_used_again(self) -> bool:
        """Whether processes of this program are, as far as it is known."""
        is_early = self.turn.job[1] <= MANY + EARLY
        return (self.turn.was_used or is_early) and may_be_used_again()

    def _begin(self, life: Life) -> None:
        """A process that was forked here goes on by itself."""
        die_with_parent()
        os.setpgid(0, 0)
        life.is_branch = True
        self._opened.again()

    def _take_over(self, kernel: Kernel, life: Life) -> None:
        """Goes on with the next job when it has come, instead of that of the process that came here."""
        self._wait()
        scheduler = self._next_scheduler()
        if scheduler is None or not self._opened.are_still_there() or not _follows(scheduler, kernel):
            os.write(self.started[1], NO_MORE)
            os._exit(OVER)
        os.write(self.started[1], GOES_ON)
        self.turn.is_used = True
        self.turn.take()
        kernel.scheduler = scheduler
        life.is_late = True

    def _next_scheduler(self) -> Scheduler | None:
        """Of the next job, which stays where it is; None if that is not like the one that brought us here."""
        known = self.job[1]
        size = self.jobs.recv_into(self.data, 0, socket.MSG_PEEK)
        if not size or not self.data.startswith(ANY):
            return None
        scheduler = self._taken(memoryview(self.data)[1:size])[1]
        return scheduler if self.job[1] == known else None


def _follows(scheduler: Scheduler, kernel: Kernel) -> bool:
    """Asks and tells a scheduler what others were until now; whether it would have chosen the same."""
    previous: str | None = None
    for number, step in enumerate(kernel.steps):
        if scheduler.choose(Choice(number, previous, step.enabled, step.pending)) != step.task:
            return False
        scheduler.done(step)
        previous = step.task
    under_way = kernel._chosen
    if under_way is None:
        return True
    now = Choice(len(kernel.steps), previous, kernel._enabled, kernel._pending)
    return scheduler.choose(now) == under_way.name


def call_oneself(number: int) -> None:
    """The program sees this number of its process from now on, in each execution.

    What it has kept stays true, and what a package has kept that was imported before all executions.
    """
    own, parent = _places_of(own_number), _places_of(parent_number)
    _put(own, number.__index__)  # as silent as the function itself
    _put(parent, parent_number().__index__)

    def in_child() -> None:
        """Processes of the program have numbers of their own, and this one as their parent."""
        _put(own, own_number)
        _put(parent, number.__index__)

    os.register_at_fork(after_in_child=in_child)


Places = list[tuple[dict[str, Any], str]]


def _places_of(function: Any) -> Places:
    """The variables of modules, other than ours, that hold a function."""
    return [
        (vars(module), name)
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and not module.__name__.startswith("possibly.")
        for name, value in list(vars(module).items())
        if value is function
    ]


def _put(places: Places, function: Any) -> None:
    for space, name in places:
        space[name] = function


class Stream:
    """Of one execution that is waited for at the end of a pipe."""

    def __init__(self, out: int) -> None:
        self.out = out

    def tell(self, data: bytes) -> None:
        with os.fdopen(self.out, "wb", closefd=False) as stream:
            stream.write(data)

    def branch(self, kernel: Kernel, life: Life) -> None:
        """There is one execution only."""

    def leave(self) -> NoReturn:
        os._exit(0)
