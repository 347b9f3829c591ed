"""`python -m possibly.recorder.start PROGRAM [ARGUMENTS]`: runs a program as Python would, recorded.

The program sees its own `__main__`, `sys.argv` and `sys.path`; of our frames nothing is left in a
traceback that the
interpreter prints. `-m MODULE` and `-c COMMAND` work as they do for Python. Settings come from the
environment.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any

from possibly.probes import port
from possibly.probes.watching import imports
from possibly.recorder.recording import VARIABLE, Recording, Settings
from possibly.records import replace


def main(make: Callable[[Settings], Recording] = Recording) -> None:
    recording = make(_named(Settings.of(os.environ[VARIABLE])))
    words = sys.argv[1:]
    _hide_our_frames()
    recording.log.end = recording.settings.spawn
    recording.start()
    run_program(words, recording.finder)


def _named(settings: Settings) -> Settings:
    """Under `mpiexec` a process is called by its rank."""
    for variable in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
        if variable in os.environ and not settings.name:
            return replace(settings, name=f"rank{os.environ[variable]}")
    return settings


def run_program(words: list[str], finder: imports.Finder) -> None:
    if words[0] == "-m":
        _run_module(words[1], words[2:], finder)
    else:
        _run_script(words[0], words[1:], finder)


def _run_script(path: str, arguments: list[str], finder: imports.Finder) -> None:
    if os.path.isdir(path):
        sys.path[0] = path
        path = os.path.join(path, "__main__.py")
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(path))
    sys.argv = [path, *arguments]
    module = _new_main(finder.loader("__main__", os.path.abspath(path)))
    module.__file__ = os.path.abspath(path)
    sys.modules["__main__"] = module
    module.__loader__.exec_module(module)  # type: ignore[union-attr]


def _run_module(name: str, arguments: list[str], finder: imports.Finder) -> None:
    sys.path[0] = os.getcwd()
    sys.argv = ["-m", *arguments]
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.origin is None:
        sys.exit(f"{sys.executable}: No module named {name}")
    sys.argv[0] = spec.origin
    module = _new_main(finder.loader("__main__", spec.origin))
    module.__file__, module.__spec__, module.__package__ = spec.origin, spec, spec.parent
    sys.modules["__main__"] = module
    module.__loader__.exec_module(module)  # type: ignore[union-attr]


def _new_main(loader: Any) -> ModuleType:
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=sys.modules["builtins"], __loader__=loader, __annotations__={})
    return module


# ---- tracebacks ---------------------------------------------------------------------------------


def _hide_our_frames() -> None:
    sys.excepthook = _excepthook
    threading.excepthook = _thread_excepthook


def _excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _clean(error)
    sys.__excepthook__(kind, error, error.__traceback__)


def _thread_excepthook(given: Any) -> None:
    if given.exc_value is not None:
        _clean(given.exc_value)
        given = threading.ExceptHookArgs(
            (given.exc_type, given.exc_value, given.exc_value.__traceback__, given.thread)
        )
    threading.__excepthook__(given)


def _clean(error: BaseException) -> None:
    """Takes our frames, and those of the machinery that runs us, out of the error and of its causes."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _without_ours(each.__traceback__, leading=each is error)
        pending += [each.__cause__, each.__context__]


def _without_ours(trace: TracebackType | None, leading: bool) -> TracebackType | None:
    kept = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        ours = file.startswith(port._OWN)
        if leading and (ours or file.startswith("<frozen ")):
            pass
        else:
            leading = False
            if not ours:
                kept.append(trace)
        trace = trace.tb_next
    found: TracebackType | None = None
    for each in reversed(kept):
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found


if __name__ == "__main__":
    main()
