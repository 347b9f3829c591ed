"""Recording a program: as a child that is waited for, or a part of the program that runs already.

The child is a Python of its own, so that whatever happens to it (os._exit, a signal, kill -9) its logs are
merged
and the trace is written afterwards. Its standard streams, its working folder and its exit status are its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from possibly.errors import PossiblyError, UsageError
from possibly.logic.specification import Specification
from possibly.probes.watching.candidates import NOTHING, candidates_of_program
from possibly.recorder.entries import INITIAL
from possibly.recorder.log import PERIOD
from possibly.recorder.merging.merge import Progress, write_merged
from possibly.recorder.recording import VARIABLE, Recording, Settings
from possibly.recorder.watch import NAMED, USUAL, watched
from possibly.records import dataclass, field, replace
from possibly.trace import load, write_trace
from possibly.trace.model import Trace
from possibly.trace.recorded import Recorded

STARTER = "possibly.recorder.start"
FORWARDED = ("SIGTERM", "SIGHUP")


@dataclass(frozen=True, slots=True)
class Request:
    """What to run and what to record of it."""

    words: tuple[str, ...]
    """The program and its arguments; or -m, a module and its arguments."""
    output: str
    specification: Specification | None = None
    watch: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    races: bool = False
    """Accesses that race are told."""
    ranks: int | None = None
    """So many processes under mpiexec."""
    stdout: int | IO[bytes] | None = None
    send: str | None = None
    """The monitor that is told of the events while the program runs."""
    starter: str = STARTER
    """The module that runs the program in the child."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the starter needs to know."""
    record: str = NAMED
    """How much is recorded: see `recorder.watch`."""
    everything: bool = False
    """Every access to what is shared is told, and every look at a primitive."""
    shared: bool = False
    """Accesses that conflict and are not ordered are told, so that they order the run."""
    ask: Any = None
    """Hears what the monitor says (`session.watching.asked`): the program waits for it at each event."""
    times: bool = False
    """Every event tells when it happened."""
    name: str = ""
    """Before the names of its tasks and variables, where several programs are watched together."""


@dataclass(frozen=True)
class Done:
    """A trace that was written."""

    path: str
    events: int
    processes: int
    status: int
    """Of the program, as a shell would see it."""

    @cached_property
    def trace(self) -> Trace:
        return load(self.path)


def record_program(request: Request, progress: Progress | None = None) -> Done:
    """Runs the program, recorded, and writes the trace."""
    _check_program(request)
    shared = candidates_of_program(request.words) if request.record == USUAL else NOTHING
    watch = watched(
        request.specification, request.watch, request.calls, request.everything, request.record, shared
    )
    is_followed = request.send is not None or request.starter != STARTER
    if _is_judged(request) and not is_followed and (request.shared or request.races):
        watch = replace(watch, shared=True)
    folder = tempfile.mkdtemp(prefix="possibly-")
    try:
        with _sending(request, folder) as (attend, address):
            settings = Settings(folder, watch, request.name, ask=address, times=request.times)
            status = _run(request, settings, attend)
        about = Recorded(functions=watch.functions, program=request.words, accesses=watch.everything)
        events, processes = _write(folder, request.output, request.specification, progress, about)
        return Done(request.output, events, processes, status)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_judged(request: Request) -> bool:
    """Whether it is found out while the program runs which accesses order it."""
    return request.record in (USUAL, NAMED) and not request.everything


def _write(
    folder: str,
    path: str,
    specification: Specification | None,
    progress: Progress | None = None,
    about: Recorded | None = None,
) -> tuple[int, int]:
    """Writes the trace of the logs in a folder, with the order that `sync` rules establish.

    All that is checked later respects that order.
    """
    if specification is None or not specification.syncs:
        return write_merged(folder, path, progress, about)
    found = write_merged(folder, plain := os.path.join(folder, "merged.jsonl"), progress, about)
    write_trace(_synchronised(load(plain, cache=False), specification), path)
    return found


def _synchronised(trace: Trace, specification: Specification) -> Trace:
    from possibly.detection.paths.synchronise import pairs_of
    from possibly.logic.paths.rules import parse_rule
    from possibly.order.computation import Computation
    from possibly.trace.edit import with_order

    definitions = {each.name: each for each in specification.definitions}
    rules = [parse_rule(each.source, definitions) for each in specification.syncs]
    computation = Computation(trace, "sync")
    return with_order(trace, (pair for rule in rules for pair in pairs_of(computation, rule)))


def _check_program(request: Request) -> None:
    if not request.words:
        raise UsageError("no program to run", hint="possibly run PROGRAM [ARGUMENTS]")
    program = request.words[0]
    if program != "-m" and not os.path.exists(program):
        raise PossiblyError("no such file", file=program)
    folder = os.path.dirname(request.output) or "."
    if not os.path.isdir(folder):
        raise PossiblyError("no such folder", file=folder)


Attend = Callable[[float], None]
"""Does what is to be done while the program runs, for so many seconds at most if there is nothing."""


@contextmanager
def _sending(request: Request, folder: str) -> Iterator[tuple[Attend | None, str]]:
    """What is to be done while the program runs, and the socket on which its processes ask, if they do."""
    if request.send is None:
        yield None, ""
        return
    from possibly.recorder.merging.streaming import Streaming
    from possibly.session.watching.asked import Askers
    from possibly.session.watching.sending import Lines

    def hear(told: Mapping[str, Any]) -> None:
        assert askers is not None
        askers.hear(told)

    def line(fields: Mapping[str, Any]) -> None:
        monitor.line(fields) if "p" in fields else monitor.header(**fields)

    def attend(seconds: float) -> None:
        time.sleep(seconds / 2)
        streaming.poll()

    with Lines(request.send, told=hear if request.ask else None) as monitor:
        streaming = Streaming(folder, line)
        askers = Askers(folder, streaming, request.ask) if request.ask else None
        try:
            yield (attend, "") if askers is None else (askers.attend, askers.address)
            streaming.poll(is_over=True)
        finally:
            streaming.close()
            if askers is not None:
                askers.close()


def _run(request: Request, settings: Settings, attend: Attend | None = None) -> int:
    command = [sys.executable, "-m", request.starter, *request.words]
    if request.ranks is not None:
        command = [_mpiexec(), "-n", str(request.ranks), *command]
    environment = {**os.environ, **request.environment, VARIABLE: settings.text()}
    with subprocess.Popen(command, env=environment, stdout=request.stdout) as child, _signals_to(child):
        while attend is not None and child.poll() is None:
            attend(PERIOD)
        status = child.wait()
    return status if status >= 0 else 128 - status


def _mpiexec() -> str:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    found = beside if os.path.exists(beside) else shutil.which("mpiexec")
    if found is None:
        raise PossiblyError(
            "there is no mpiexec", hint="install an MPI, for instance `pip install mpich mpi4py`"
        )
    return found


@contextmanager
def _signals_to(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C reaches the child by itself, and we outlive it; other signals are handed on."""
    found: dict[int, Any] = {}

    def hand_on(number: int, _: object) -> None:
        child.send_signal(number)

    try:
        found[signal.SIGINT] = signal.signal(signal.SIGINT, _ignore)
        for name in FORWARDED:
            if hasattr(signal, name):
                found[getattr(signal, name)] = signal.signal(getattr(signal, name), hand_on)
    except ValueError:
        pass  # not in the main thread: signals go elsewhere
    try:
        yield
    finally:
        for number, handler in found.items():
            signal.signal(number, handler)


def _ignore(number: int, _: object) -> None:
    """Unlike SIG_IGN this is not inherited by the child."""


# ---- inside a running program -------------------------------------------------------------------


class Recorder:
    """Records while its `with` block runs; then `trace` is there and the file is written."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        watch: Iterable[str] = (),
        calls: Iterable[str] = (),
        specification: Specification | None = None,
        races: bool = False,
        times: bool = False,
    ) -> None:
        self.path = Path(path)
        self._times = times
        self.trace: Trace | None = None
        self._watch = watched(specification, tuple(watch), tuple(calls), races)
        self._specification = specification
        self._folder = ""

    def __enter__(self) -> Recorder:
        from possibly.recorder.live import Live

        self._folder = tempfile.mkdtemp(prefix="possibly-")
        self._recording = Recording(Settings(self._folder, self._watch, times=self._times))
        self._recording.start()
        self._live = Live(self._watch, self._recording.sites)
        if not self._watch.is_empty():
            self._live.put()
            self._recording.log.append((INITIAL, self._live.values()))
        return self

    def __exit__(self, *_: object) -> None:
        self._live.undo()
        self._recording.stop(self._live.is_in_use())
        try:
            about = Recorded(self._watch.functions, accesses=self._watch.everything)
            _write(self._folder, str(self.path), self._specification, about=about)
            self.trace = load(self.path)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
