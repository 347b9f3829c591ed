"""One execution, in a process of its own that was forked for it and ends with it.

`Job` says how to run. The execution, as bytes, is told when the program has ended, nobody can go on, or the
scheduler has seen enough. The process ends then, unless the execution leaves nothing behind (`lasting`).
"""

from __future__ import annotations

import builtins
import gc
import io
import os
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, Protocol

from possibly.control.endings import cycles, failures
from possibly.control.endings.deadlock import stuck
from possibly.control.execution import Outcome, Scheduler
from possibly.control.forking import collector, disk, lasting, outside
from possibly.control.forking.lasting import Life
from possibly.control.loading import entries, evaluated, following, packages, states
from possibly.control.loading import instrumented as loading
from possibly.control.models import exits, inputs, looks, threads
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime import places
from possibly.control.runtime.encode import encoded
from possibly.control.runtime.kernel import CLOCK, Kernel
from possibly.control.runtime.memory import LAST_WORDS, Memory
from possibly.control.runtime.results import result
from possibly.control.schedulers.course import Course
from possibly.control.world import disks
from possibly.control.world.faults import DISK
from possibly.probes import claiming


@dataclass(slots=True)
class Job:
    """How to run executions, whatever their scheduler; it travels to the process that runs them."""

    visible: frozenset[str] = frozenset()
    """Families whose accesses are choice points."""
    ignored: frozenset[str] = frozenset()
    watched: frozenset[str] = frozenset()
    """Words by which a specification speaks of variables."""
    functions: frozenset[str] = frozenset()
    """Functions whose calls a specification speaks of."""
    only: frozenset[str] | None = None
    """If given, only accesses to these are choice points."""
    include: frozenset[str] = frozenset()
    """Packages whose code is watched from the beginning."""
    within: frozenset[str] = frozenset()
    """Modules and packages of which alone the order counts (`schedulers.within`); none: of all."""
    trust: frozenset[str] = frozenset()
    """Packages of which each call is one step, by the user's word."""
    exclude: frozenset[str] = frozenset()
    """Packages that are not watched, which leaves it open what tasks that meet there do."""
    limit: int = 20_000
    early_timeouts: bool = False
    slack: float = 1.0
    """Seconds by which sleeps, timers and time-outs may come late."""
    seed: int = 0
    fifo: bool = False
    """Event loops run what is ready in the order in which it became so."""
    free_sleeps: bool = False
    """Who sleeps in an event loop may overtake those who were ready before: to find out what decides."""
    split: bool = False
    """What is sent on a connection may arrive in pieces, or together with what follows."""
    faults: frozenset[str] = frozenset()
    """Kinds of faults that may come."""
    at_most: int = 0
    """So many of them."""
    input: str = ""
    """What the program reads from its standard input."""
    debug: bool = False
    """Under the line debugger, on the terminal."""
    at_failure: bool = False
    """The debugger does not stop before something fails."""
    is_repeatable: bool = False
    """The program was executed in a process that was used before."""
    unread: Callable[[], frozenset[int]] | None = None
    """Finds the lists, by their addresses, that the program never looks at."""
    alike: Callable[[], Any] | None = None
    """Makes what lets interchangeable tasks go in one order."""
    tells: bool = False
    """Accesses that are no choice points are told too, with their values: for whoever explains it."""
    watchers: tuple[Callable[[], Any], ...] = ()
    """Make functions that are called with every step, in the process that runs the program."""


class Teller(Protocol):
    """Whoever wants to know what happened."""

    def tell(self, data: bytes) -> None:
        """The execution that was asked for."""
        ...

    def branch(self, kernel: Kernel, life: Life) -> None:
        """There is to be a second task: other executions may be forked from here."""
        ...

    def leave(self) -> NoReturn:
        """The process ends; what was asked for and not told is for another one."""
        ...


def run(job: Job, scheduler: Scheduler, program: Callable[[], Any], teller: Teller, life: Life) -> None:
    """Runs the program under the scheduler; returns if the process can be used again."""
    places.boundary = run.__code__
    places.tells_frameworks = bool(job.within)
    if life.is_fresh:
        life.look()
    if job.is_repeatable and life.is_fresh:
        life.settle()
    collector.hold_back()
    output = _Kept() if job.debug else _captured()
    kernel = Kernel(scheduler, _finisher(output, teller, life), stuck, job.limit)
    kernel.early_timeouts = job.early_timeouts
    kernel.fifo = job.fifo
    kernel.free_sleeps = job.free_sleeps
    kernel.split = job.split
    kernel.faults = job.faults
    kernel.faults_most = kernel.faults_left = job.at_most
    kernel.threaten = _threatened(job)
    kernel.look_for_rounds = cycles.look
    kernel.slack = job.slack
    kernel.timed = CLOCK in job.visible
    kernel.alike = job.alike() if job.alike is not None else None
    kernel.watchers = [make() for make in job.watchers]
    inputs.seed = job.seed
    loading.loaded.clear()
    evaluated.made.clear()
    memory = Memory(job.visible, job.ignored, job.watched, job.only)
    memory.logs = life.is_fresh
    memory.trusted, memory.excluded = job.trust, job.exclude
    memory.tells = memory.things.holds = job.tells
    memory.find_unread = job.unread
    memory.look = looks.look
    kernel.second = partial(_let_others_begin, kernel, memory, teller, life)
    kernel.show = memory.show
    kernel.carried = memory.carried
    kernel.has_last_words = LAST_WORDS in job.visible
    accesses.start(memory)
    kernel.in_calls = memory.in_calls
    kernel.look_inside = partial(memory.look_inside, kernel)
    if not job.debug:
        sys.stdin = io.TextIOWrapper(io.BytesIO(job.input.encode()), encoding="utf-8")
    running.start(kernel)
    entries.listen()
    if life.is_fresh and not loading.keeps_to_itself():
        outside.watch()
    claiming.heard = following.heard
    process = os.getpid()
    _built_in.update(vars(builtins))
    try:
        _begin_debugging(job.at_failure) if job.debug else None
        program()
        if kernel.all[0].always:  # a signal may come as long as the program has not ended
            kernel.visible("reach the end", kernel.all[0].name, ())
    except BaseException as error:  # noqa: BLE001 - whatever the program raises is its failure
        _end_of_child(process, error)
        _note_status(error) if isinstance(error, SystemExit) else failures.note(failures.failure_of(error))
    _end_of_child(process, None)
    _run_exit_functions()
    threads.exit_step(kernel)
    exits.run()
    _put_built_in_back()
    if not life.is_clean(kernel, memory, Outcome.FINISHED):
        kernel.finish(Outcome.FINISHED, None)
    kernel.ending = True
    kernel.flush()
    wrote = _put_back(kernel)
    execution, extra = result(kernel, memory, Outcome.FINISHED, None, output.getvalue())
    extra |= _looked_at(kernel) | wrote
    teller.tell(encoded(execution, {**extra, "used": not life.is_fresh}))
    life.renew()


def _threatened(job: Job) -> Callable[..., None] | None:
    """Whoever is told of calls that may fail."""
    return disks.threaten if DISK in job.faults and job.at_most else None


_built_in: dict[str, Any] = {}
"""What has the names of built-in functions when the program begins."""


def _put_built_in_back() -> None:
    """Whoever tells of an execution uses functions that the program may have replaced."""
    builtins.__dict__.update(_built_in)


def _end_of_child(process: int, error: BaseException | None) -> None:
    """Does not return in a process that the program has forked."""
    if os.getpid() != process:
        if outside.end_of_child is not None:
            outside.end_of_child(error)
        os._exit(0)  # it is not under control


def _let_others_begin(kernel: Kernel, memory: Memory, teller: Teller, life: Life) -> None:
    """There is to be a second task."""
    if packages.watched:
        states.name_all(memory.things)
    memory.begin()
    if life.is_fresh:
        teller.branch(kernel, life)
        memory.logs = life.is_fresh


def _put_back(kernel: Kernel) -> dict[str, Any]:
    """Puts files back as they were; tells if there were any."""
    if not disk.is_changed():
        return {}
    disk.put_back(disk.folder)
    kernel.uncontrolled.update(disk.lost)
    return {"wrote": True}


def _looked_at(kernel: Kernel) -> dict[str, Any]:
    """What a scheduler that looks at states has seen."""
    seen = getattr(kernel.scheduler, "seen", None)
    return {} if seen is None else {"seen": tuple(seen)}


def rehearse() -> None:
    """Does in vain what every execution does: what is written to is copied now, while nobody waits for it."""
    job: Job = pickle.loads(pickle.dumps(Job()))
    kernel = Kernel(Course(), _nobody, stuck, job.limit)
    memory = Memory(job.visible, job.ignored, job.watched, job.only)
    kernel.visible("write", "", (), "")
    kernel.flush()
    _written_to(io.BytesIO())
    encoded(*result(kernel, memory, Outcome.FINISHED, None, b""))


def _nobody(*_: object) -> NoReturn:
    raise AssertionError("a rehearsal comes to its end")


def _begin_debugging(at_failure: bool) -> None:
    """Stops at the first line of the program, and where an exception is not caught, in any thread."""
    import bdb
    import pdb  # noqa: T100 - it was asked for

    debugger = pdb.Pdb(skip=["possibly.*", "threading", "importlib*", "runpy"])

    def ask(error: BaseException) -> None:
        if isinstance(error, bdb.BdbQuit):
            os._exit(0)  # the debugger was left, and so is the execution
        print(f"uncaught {type(error).__name__}: {error}")
        debugger.interaction(None, error.__traceback__)

    failures.ask = ask
    if at_failure:
        debugger.reset()
        return
    threading.settrace(debugger.trace_dispatch)
    debugger.set_trace()


def _note_status(stop: SystemExit) -> None:
    code = stop.code
    if code is not None and code != 0:
        text = f"the program ends with status {code}" if isinstance(code, int) else str(code)
        failures.note({"kind": "exit", "type": "SystemExit", "message": text, "task": "0", "place": ""})


def _run_exit_functions() -> None:
    """What the interpreter calls when the first thread is at its end: pools wait for their workers."""
    waiting = getattr(threading, "_threading_atexits", [])
    try:
        for function in reversed(waiting):
            function()
    except BaseException as error:  # noqa: BLE001
        failures.note(failures.failure_of(error))


class _Kept(io.BytesIO):
    """What was printed; a program that closes its standard output has printed it all the same."""

    def close(self) -> None:
        pass

    def fileno(self) -> int:
        """The terminal's, as without us: some ask for it, and hardly anybody writes there by it."""
        return 1


def _captured() -> io.BytesIO:
    """What the program prints is kept; nothing of it reaches the terminal."""
    found = _Kept()
    sys.stdout = sys.stderr = _written_to(found)
    return found


def _written_to(kept: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(kept, encoding="utf-8", errors="backslashreplace", write_through=True)


def _finisher(output: io.BytesIO, teller: Teller, life: Life) -> Callable[..., NoReturn]:
    def finish(outcome: Outcome, failure: dict[str, Any] | None) -> NoReturn:
        kernel, memory = running.kernel, accesses.memory
        assert kernel is not None and memory is not None
        _put_built_in_back()
        kernel.ending = True
        kernel.flush()
        if kernel.failure is not None and outcome is not Outcome.DIVERGED:
            outcome, failure = Outcome.FAILED, kernel.failure
        if life.is_fresh or life.may_tell(kernel, memory, outcome):
            collector.tell_of_callbacks(kernel.uncontrolled)
            wrote = _put_back(kernel)
            execution, extra = result(kernel, memory, outcome, failure, output.getvalue())
            more = {**_looked_at(kernel), **wrote, "used": not life.is_fresh, "branched": life.is_late}
            teller.tell(encoded(execution, {**extra, **more}))
        disk.put_back(disk.folder)
        teller.leave()

    return finish


def settle() -> None:
    """Before the first fork: nothing that exists now is looked at by the collector again."""
    gc.collect()
    lasting.keep_classes()
    gc.freeze()


def settle_for_long() -> None:
    """Before a fork: whoever comes from now on is used again, if all that it leaves can be seen."""
    lasting.keep_all()
    gc.freeze()
