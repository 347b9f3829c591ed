"""`subprocess` of Python programs: each is a process under the one scheduler, and so are its pipes.

A command is such a program if it is this interpreter (or `python`, `python3`) with a script, `-m module` or
`-c text`. It is forked rather than executed, and begins anew there (`anew`): with its own arguments, folder
and environment, and with nothing open but its standard files. An exception that ends it is a failure unless
somebody gets what it writes to its standard error, who is then to look. Other commands are the real thing.
"""

from __future__ import annotations

import inspect
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from possibly.control.endings import failures
from possibly.control.forking import outside
from possibly.control.loading.instrumented import Main, Text
from possibly.control.models import exits
from possibly.control.runtime import kernel as running
from possibly.control.world.processes import anew, channel, pipes, popen, ways_in
from possibly.control.world.processes.holding import children
from possibly.probes import port
from possibly.probes.patching import Patches

INTERPRETERS = ("python", "python3")
FLAGS = "uBEsqbdiv"
"""Options of the interpreter that change nothing but how it talks."""
SPECIAL = ("executable", "preexec_fn", "shell", "pass_fds", "user", "group", "extra_groups", "startupinfo")


@dataclass(frozen=True)
class Command:
    """What a Python program is told."""

    kind: str
    """`-c`, `-m`, or nothing for a script."""
    target: str
    arguments: tuple[str, ...]
    is_unbuffered: bool


def command_of(words: Any) -> Command | None:
    """The Python program that a command is, or None."""
    if not isinstance(words, list | tuple) or len(words) < 2:
        return None
    name, *rest = (os.fsdecode(each) for each in words)
    if name != sys.executable and os.path.basename(name) not in INTERPRETERS:
        return None
    is_unbuffered = False
    while rest and len(rest[0]) > 1 and rest[0][0] == "-" and set(rest[0][1:]) <= set(FLAGS):
        is_unbuffered |= "u" in rest.pop(0)
    if not rest or (rest[0].startswith("-") and (rest[0] not in ("-c", "-m") or len(rest) < 2)):
        return None
    if rest[0].startswith("-"):
        return Command(rest[0], rest[1], tuple(rest[2:]), is_unbuffered)
    return Command("", rest[0], tuple(rest[1:]), is_unbuffered)


# ---- in the process that starts it ------------------------------------------------------------------


def install(patches: Patches) -> None:
    kind: Any = subprocess.Popen
    for name, wrap in (
        ("__init__", _init),
        ("_get_handles", _get_handles),
        ("_execute_child", _execute_child),
        ("_wait", _wait),
        ("_internal_poll", _internal_poll),
    ):
        patches.put(kind, name, wrap(getattr(kind, name)))
    patches.put(subprocess, "io", _Files())


class _Files:
    """`io`, as `subprocess` has it: what it opens may be a pipe under control."""

    def __getattr__(self, name: str) -> Any:
        return pipes.opened if name == "open" else getattr(io, name)


def _init(plain: Any) -> Any:
    named = inspect.signature(plain)

    def __init__(self: Any, *given: Any, **options: Any) -> None:  # noqa: N807
        kernel = running.kernel
        if (
            kernel is not None
            and not kernel.ending
            and not outside.expected
            and _is_by_user(sys._getframe(1))
        ):
            self._possibly_command = _controlled(named.bind(self, *given, **options).arguments)
        plain(self, *given, **options)

    return __init__


def _is_by_user(frame: Any) -> bool:
    """Whether the program asks for it, be it by way of an event loop."""
    while frame is not None and _passes_on(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame is not None and port.is_user_file(frame.f_code.co_filename)


def _passes_on(module: str) -> bool:
    return module == "subprocess" or module.startswith(("asyncio.", "possibly."))


def _controlled(given: dict[str, Any]) -> Command | None:
    """The program, if everything that it is started with can be under control."""
    files = [given.get(name) for name in ("stdin", "stdout", "stderr")]
    if any(given.get(name) for name in SPECIAL) or not all(map(_is_ours, files)):
        return None
    return command_of(given["args"])


def _is_ours(file: Any) -> bool:
    if file is None or (isinstance(file, int) and file < 0):
        return True
    return (file if isinstance(file, int) else file.fileno()) in pipes.numbers


def _command(process: Any) -> Command | None:
    found: Command | None = process.__dict__.get("_possibly_command")
    return found


def _get_handles(plain: Any) -> Any:
    def get_handles(self: Any, *given: Any) -> Any:
        if _command(self) is None:
            return plain(self, *given)
        with ways_in.for_library():
            return plain(self, *given)

    return get_handles


def _execute_child(plain: Any) -> Any:
    def execute_child(self: Any, *given: Any) -> None:
        command, kernel = _command(self), running.kernel
        if command is None or kernel is None:
            plain(self, *given)
            return
        folder, environment = given[5:7]
        ends = given[10:16]
        kernel.assumed[anew.ASSUMED] = None
        ways_in.begin()
        process = popen.started(os.path.basename(command.target) if command.kind != "-c" else "python -c")
        if process is None:
            _live(command, folder, environment, (ends[0], ends[3], ends[5]))
        self._possibly_process = children[process.pid] = process
        self.pid, self._child_created = process.pid, True
        self._close_pipe_fds(*ends)

    return execute_child


def _wait(plain: Any) -> Any:
    def wait(self: Any, timeout: float | None) -> Any:
        process = self.__dict__.get("_possibly_process")
        if process is None or running.kernel is None:
            return plain(self, timeout)
        if self.returncode is None and _noticed(self, process.wait(timeout)) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return self.returncode

    return wait


def _internal_poll(plain: Any) -> Any:
    def internal_poll(self: Any, *given: Any, **options: Any) -> Any:
        process = self.__dict__.get("_possibly_process")
        if process is None or running.kernel is None or sys._getframe(1).f_code.co_name == "__del__":
            return plain(self, *given, **options)
        return self.returncode if self.returncode is not None else _noticed(self, process.poll())

    return internal_poll


def _noticed(process: Any, code: int | None) -> int | None:
    """How a process has ended, if it has, which need not be asked again."""
    if code is not None:
        process.returncode = code
        children.pop(process.pid, None)
    return code


# ---- in the program ---------------------------------------------------------------------------------


def _live(command: Command, folder: Any, environment: Any, files: tuple[int, int, int]) -> NoReturn:
    code, reads_errors = 1, files[2] != -1
    pipes.keep_only(files)
    try:
        if folder is not None:
            os.chdir(folder)
        if environment is not None:
            os.environ.clear()
            os.environ.update({os.fsdecode(name): os.fsdecode(each) for name, each in environment.items()})
        _open_files(files, command.is_unbuffered or bool(os.environ.get("PYTHONUNBUFFERED")))
        code = _ran(command, reads_errors)
        exits.run()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                code = code or 120
        channel.ask("end", code)
        os._exit(code)


def _open_files(files: tuple[int, int, int], is_unbuffered: bool) -> None:
    """The standard files of the program, as far as they are not its parent's."""
    names, modes = ("stdin", "stdout", "stderr"), ("r", "w", "w")
    for name, file, mode in zip(names, files, modes, strict=True):
        if file != -1:
            is_at_once = name == "stderr" or (is_unbuffered and mode == "w")
            made = pipes.opened(file, mode, 1 if is_at_once else -1)
            setattr(sys, name, made)
            setattr(sys, f"__{name}__", made)
        elif name == "stdin":
            sys.stdin = io.StringIO("")


def _ran(command: Command, reads_errors: bool) -> int:
    """Runs it to its end; returns its status."""
    try:
        _run(command)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return (stop.code or 0) & 0xFF
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException as error:  # noqa: BLE001 - whatever ends the program
        if not reads_errors:
            channel.ask("failed", failures.failure_of(error))
        import traceback

        traceback.print_exception(error)
        return 1
    return 0


def _run(command: Command) -> None:
    anew.forget_modules()
    exits.forget()
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = [command.kind or command.target, *command.arguments]
    if command.kind == "-c":
        sys.path[0] = ""
        file = os.path.join(os.getcwd(), "<string>")  # as a file of the program
        Text("__main__", file, command.target).exec_module(module)
        return
    file = _file_of(command)
    sys.path[0] = os.getcwd() if command.kind else os.path.dirname(file)
    sys.argv[0] = file if command.kind else command.target
    module.__file__ = file
    Main("__main__", file).exec_module(module)


def _file_of(command: Command) -> str:
    if not command.kind:
        return os.path.abspath(command.target)
    sys.path[0] = os.getcwd()
    spec = find_spec(command.target)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = find_spec(f"{command.target}.__main__")
    if spec is None or spec.origin is None:
        raise SystemExit(f"{sys.executable}: No module named {command.target}")
    return spec.origin
