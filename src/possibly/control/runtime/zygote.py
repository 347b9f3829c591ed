"""The process that is forked for each execution, and the program that the rest of possibly sees.

A `Zygote` is a child process in which the models are installed and the user's code is compiled. It forks a
process for the next execution before that is asked for; the forked process waits for its `Job`, runs it, and
writes the execution into a pipe. So a fork overlaps with the planning of the explorer, executions share
nothing but what was there before the program began, and a program that crashes takes nothing with it.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from possibly.control.execution import Execution, Outcome, Scheduler
from possibly.control.runtime import loading, process
from possibly.control.runtime.encode import decoded
from possibly.control.runtime.install import install_all
from possibly.control.runtime.process import Job
from possibly.errors import PossiblyError
from possibly.probes.patching import Patches

PATIENCE = 20.0
"""Seconds that an execution may take without an end."""
LARGEST_JOB = 1 << 20
NO_MORE = b"E"


_LIVE: list[Zygote] = []


class Zygote:
    """Runs jobs, one at a time."""

    def __init__(self, prepare: Callable[[], Callable[[], Any]]) -> None:
        """`prepare` is called once in the new process and gives what each execution calls."""
        self._jobs, jobs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._results, results = os.pipe()
        self._jobs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST_JOB)
        self.process = os.fork()
        if self.process == 0:
            self._jobs.close()
            os.close(self._results)
            for other in _LIVE:  # else they would not notice that nobody can send them a job any more
                other._jobs.close()
                os.close(other._results)
            _serve(prepare, jobs, results)
        jobs.close()
        os.close(results)
        self.patience = PATIENCE
        _LIVE.append(self)

    def begin(self, job: Job) -> None:
        """Hands a job over; `answer` waits for its end, and `fileno` is readable when it comes near."""
        self._jobs.send(pickle.dumps(job, pickle.HIGHEST_PROTOCOL))

    def fileno(self) -> int:
        return self._results

    def answer(self) -> tuple[Execution, dict[str, Any]]:
        end = time.monotonic() + self.patience
        runner = int.from_bytes(self._read(8, end) or b"", "little")
        head = self._read(8, end)
        if head is None:
            self._kill(runner)
            message = f"no end within {self.patience:g} seconds: something outside control does not return"
            return Execution((), Outcome.CUT_OFF, uncontrolled=(message,)), {}
        if len(head) < 8:
            raise PossiblyError("the process that runs the program ended unexpectedly")
        size = int.from_bytes(head, "little")
        if size == 0:
            message = "the process ended by itself (os._exit, a signal or a crash)"
            return Execution((), Outcome.CUT_OFF, uncontrolled=(message,)), {}
        body = self._read(size, time.monotonic() + self.patience)
        assert body is not None
        return decoded(body)

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

    def _kill(self, runner: int) -> None:
        if runner:
            os.kill(runner, signal.SIGKILL)
            self._read(8, time.monotonic() + 5)  # the zygote tells that it is over

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


def _serve(prepare: Callable[[], Callable[[], Any]], jobs: socket.socket, results: int) -> NoReturn:
    """The life of the zygote; it ends when nobody can send a job any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    try:
        program = prepare()
        process.remember_modules()
        process.settle()
        started, start = os.pipe()
        fork = _light_fork()
        before = 0
        while True:
            child = fork()
            if child == 0:
                _wait_and_run(program, jobs, results, start)
            if before:
                _attend(results, before)
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


def _wait_and_run(program: Callable[[], Any], jobs: socket.socket, results: int, start: int) -> NoReturn:
    _die_with_parent()
    data = jobs.recv(LARGEST_JOB)
    if not data:
        try:
            os.write(start, NO_MORE)
        except OSError:
            pass  # the zygote is gone already
        os._exit(0)
    os.write(start, b"s")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.write(results, os.getpid().to_bytes(8, "little"))
    job: Job = pickle.loads(data)
    process.run(job, program, results)


def _attend(results: int, child: int) -> None:
    """The end of a child; one that did not end by itself is told."""
    _, status = os.waitpid(child, 0)
    if status != 0:
        os.write(results, bytes(8))


class ControlledProgram:
    """A program that can be executed under a scheduler, again and again (`Program` of the interface)."""

    def __init__(self, prepare: Callable[[], Callable[[], Any]], **options: Any) -> None:
        self._prepare = prepare
        self._zygote: Zygote | None = None
        self.options = options
        self.visible: set[str] = set()
        """Families whose accesses are choice points; it only grows."""
        self.grown = False
        """The last execution found families that were hidden before: what was explored must be repeated."""
        self.repeat = False
        """The last execution cannot be learnt from: the search begins anew without it."""
        self.assumed: dict[str, None] = {}
        self.left: dict[str, None] = {}
        """Families that race and are not among those asked for."""
        self.initial: dict[str, Any] = {}
        """Values of watched variables before the last execution had a second task."""
        self._known: set[tuple[str, str]] = set()
        self._modules: dict[str, None] = {}

    def execute(self, scheduler: Scheduler) -> Execution:
        self.begin(scheduler)
        return self.end()

    def begin(self, scheduler: Scheduler) -> None:
        """Lets an execution run; several programs can be on their way at a time (`control.workers`)."""
        self.zygote().begin(Job(scheduler, frozenset(self.visible), **self.options))

    def fileno(self) -> int:
        return self.zygote().fileno()

    def end(self) -> Execution:
        """The execution that was begun, when it is over."""
        execution, extra = self.zygote().answer()
        found = set(extra.get("racy", ())) - self.visible
        self.grown = bool(found)
        self.repeat = bool(extra.get("repeat"))
        self.visible |= found
        self.left.update(dict.fromkeys(extra.get("left", ())))
        self.initial = extra.get("initial", {})
        self.assumed.update(dict.fromkeys(extra.get("assumed", ())))
        self._warm_up(extra)
        return execution

    @property
    def files(self) -> list[str]:
        """The user's source files that executions have loaded."""
        return sorted({file for file, _ in self._known})

    def twin(self) -> ControlledProgram:
        """The same program for another worker; what is visible is so for both."""
        other = ControlledProgram(self._prepare, **self.options)
        other.visible = self.visible
        return other

    def learn_from(self, twin: ControlledProgram) -> None:
        """Takes over what the last execution of a twin showed."""
        self.grown, self.repeat, self.initial = twin.grown, twin.repeat, twin.initial
        self.assumed.update(twin.assumed)
        self.left.update(twin.left)

    def debug(self, scheduler: Scheduler) -> Execution:
        """One execution under the line debugger, with the terminal for itself."""
        results, out = os.pipe()
        child = os.fork()
        if child == 0:
            job = Job(scheduler, frozenset(self.visible), debug=True, **self.options)
            process.run(job, self._prepared(), out)
        os.close(out)
        with os.fdopen(results, "rb") as stream:
            data = stream.read()
        os.waitpid(child, 0)
        if len(data) <= 8:
            return Execution((), Outcome.CUT_OFF, uncontrolled=("the debugger was left",))
        return decoded(data[8:])[0]

    def zygote(self) -> Zygote:
        if self._zygote is None:
            self._zygote = Zygote(lambda: self._prepared())
        return self._zygote

    def _prepared(self) -> Callable[[], Any]:
        program = self._prepare()
        for name in self._modules:  # in the order in which the program got them
            try:
                import_module(name)
            except ImportError:
                pass
        for file, module in self._known:
            loading.code_of(file, module)
        return program

    def _warm_up(self, extra: dict[str, Any]) -> None:
        """A zygote that knows what the program imports is made when that is news."""
        self._known |= {(file, module) for file, module in extra.get("files", ())}
        modules = [name for name in extra.get("modules", ()) if name not in self._modules]
        if modules or extra.get("compiled"):
            self._modules.update(dict.fromkeys(modules))
            self.close()

    def close(self) -> None:
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None

    def __enter__(self) -> ControlledProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def script(words: tuple[str, ...], **options: Any) -> ControlledProgram:
    """A program as it stands on a command line: a file, or -m and a module, and its arguments."""
    return ControlledProgram(lambda: _prepared_script(words), **options)


def _prepared_script(words: tuple[str, ...]) -> Callable[[], Any]:
    patches = Patches()
    install_all(patches)
    sys.meta_path.insert(0, loading.Finder(patches))
    file, arguments, package = _located(words)
    sys.argv = [file, *arguments]

    def program() -> None:
        loader = loading.Main("__main__", file)
        module = ModuleType("__main__")
        module.__dict__.update(
            __builtins__=sys.modules["builtins"],
            __file__=file,
            __annotations__={},
            __package__=package,
            __loader__=loader,
        )
        sys.modules["__main__"] = module
        loader.exec_module(module)

    loading.code_of(file, "__main__")
    return program


def _located(words: tuple[str, ...]) -> tuple[str, list[str], str | None]:
    if words[0] == "-m":
        import importlib.util

        sys.path[0] = os.getcwd()
        spec = importlib.util.find_spec(words[1])
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{words[1]}.__main__")
        if spec is None or spec.origin is None:
            raise PossiblyError(f"no module named {words[1]}")
        return spec.origin, list(words[2:]), spec.parent
    path = os.path.abspath(words[0])
    if os.path.isdir(path):
        sys.path[0] = path
        return os.path.join(path, "__main__.py"), list(words[1:]), None
    sys.path[0] = os.path.dirname(path)
    return path, list(words[1:]), None
