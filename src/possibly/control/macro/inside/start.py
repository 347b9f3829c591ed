"""`python -m possibly.control.macro.inside.start PROGRAM [ARGUMENTS]`: runs a program under a controller.

The program sees its own `__main__`, `sys.argv` and `sys.path`. Communication operations are replaced when
the program imports their modules; where there are threads, its own files tell what memory they touch (see
`sharing`); nothing else is changed.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from possibly.control.macro.inside import gate, outside, sharing
from possibly.control.macro.inside.variables import shown
from possibly.control.macro.model import Operation
from possibly.control.macro.program.wire import VARIABLE
from possibly.probes import claiming, port
from possibly.probes.patching import Patches
from possibly.probes.watching import imports
from possibly.recorder.start import run_program

OPERATIONS = {
    "mpi4py.MPI": "mpi.messages.install",
    "queue": "queues.install",
    "threading": "threads.install",
    "asyncio": "tasks.install",
    "multiprocessing.process": "processes.install",
    "multiprocessing.spawn": "processes.install_spawn",
    "multiprocessing.connection": "pipes.install",
    "multiprocessing.queues": "pipes.install_queues",
    "multiprocessing.synchronize": "primitives.install_synchronize",
    "multiprocessing.sharedctypes": "primitives.install_shared",
    "asyncio.locks": "primitives.install_asyncio",
    "socket": "outside.install_socket",
    "os": "outside.install_system",
}
"""Module of the program -> the file here and its function."""
RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")


class _Finder(imports.Finder):
    """Patches what the program imports, and watches its own modules if there are threads."""

    def __init__(self, patches: Patches) -> None:
        super().__init__(patches)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self._patches.awaits(fullname):
            return super().find_spec(fullname, path, target)
        spec = PathFinder.find_spec(fullname, path, target) if sharing.is_watching else None
        if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return None
        if not port.is_user_file(spec.origin):
            return None
        spec.loader = sharing.Loader(fullname, spec.origin)
        return spec

    def loader(self, name: str, path: str) -> Any:
        sharing.prepare(path)
        return sharing.Loader(name, path)


def main() -> None:
    finder = prepare(os.environ[VARIABLE])
    if output := json.loads(os.environ[VARIABLE]).get("output"):
        _print_to(output)
    name = next((f"rank{os.environ[each]}" for each in RANKS if each in os.environ), "main")
    gate.open_gate(name)
    run_to_the_end(lambda: run_program(sys.argv[1:], finder))


def prepare(text: str) -> _Finder:
    """Puts the operations in place."""
    settings = json.loads(text)
    gate.socket_path, gate.unbuffered = settings["socket"], settings.get("unbuffered", False)
    claiming.heard = gate.heard
    gate.digest = lambda: import_module("possibly.control.macro.inside.content").digest()
    patches = Patches()
    for module, operations in OPERATIONS.items():
        patches.when_imported(module, _lazily(operations))
    for module in outside.MADE:
        patches.when_imported(module, outside.install_made(module))
    finder = _Finder(patches)
    imports.put_first(finder)
    return finder


def _print_to(path: str) -> None:
    """A rank prints straight into the file: what goes through `mpiexec` comes at some time after it."""
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(opened, number)
    os.close(opened)


def _lazily(operations: str) -> Callable[[Patches], None]:
    file, _, function = operations.rpartition(".")

    def install(patches: Patches) -> None:
        getattr(import_module(f"possibly.control.macro.inside.{file}"), function)(patches)

    return install


def run_to_the_end(body: Callable[[], None]) -> None:
    """Runs a process of the program; its uncaught exception is a failure of the execution."""
    here = gate.here()
    try:
        body()
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            here.tell("failed", f"it leaves with status {leaving.code}")
    except BaseException as error:  # noqa: BLE001 - the outermost door of the user's program
        here.tell("failed", error_text(error))
        traceback.print_exception(error)
    stop_here()


def error_text(error: BaseException) -> str:
    """`ValueError: no such item, at buffer.py:12`."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if port.is_user_file(frame.filename)]
    words = str(error)
    text = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return f"{text}, at {shown(own[-1].filename)}:{own[-1].lineno}" if own else text


def stop_here() -> None:
    """The process has ended, and stays until the controller closes the execution."""
    here = gate.here()
    requests = sys.modules.get("possibly.control.macro.inside.mpi.requests")
    if requests is not None and (text := requests.left_open()):
        here.tell("failed", text)
    here.end()
    sys.stdout.flush()
    sys.stderr.flush()
    here.arrive(Operation("end", "end"))
    os._exit(0)


if __name__ == "__main__":
    main()
