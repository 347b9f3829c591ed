"""Watching a program that is loaded already: the code of its functions is replaced while a recording runs.

For `possibly.record(...)` and notebook cells. The source comes from where
tracebacks take it (`linecache`), so cells of a notebook work; a function without source has its own code
instrumented. Functions keep their identity; only their code changes, and changes back.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from importlib.abc import InspectLoader
from types import CodeType, CoroutineType, FunctionType, GeneratorType, ModuleType
from typing import Any

from possibly.probes import port
from possibly.probes.existing import existing
from possibly.probes.watching.insert import watched_function
from possibly.probes.watching.modules import Places, with_sites
from possibly.probes.watching.watch import Watch
from possibly.recorder.snapshot import snapshot
from possibly.recorder.telling.sites import Sites


class Live:
    """Replaced code, and how to put it back."""

    def __init__(self, watch: Watch, sites: Sites) -> None:
        self._watch = watch
        self._sites = sites
        self._replaced: list[tuple[FunctionType, CodeType]] = []
        self._files: dict[tuple[str, str], dict[tuple[str, int], CodeType]] = {}
        self._alone: dict[CodeType, CodeType] = {}

    def put(self) -> None:
        """From now on functions of the program tell."""
        for function in _functions_of_the_user():
            module = function.__globals__.get("__name__", "__main__")
            new = self._code(function.__code__, module)
            if new is not function.__code__ and new.co_freevars == function.__code__.co_freevars:
                self._replaced.append((function, function.__code__))
                function.__code__ = new

    def _code(self, code: CodeType, module: str) -> CodeType:
        """That of the function with its sites; where the source is not at hand, what its own code shows."""
        file = code.co_filename
        if linecache.getlines(file):
            return self._codes(file, module).get(_place(code), code)
        if code not in self._alone:
            made = watched_function(code, self._watch, module, self._sites.maker(file))
            self._alone[code] = made
        return self._alone[code]

    def values(self) -> dict[str, Any]:
        """The watched globals of the program that have a value now."""
        found: dict[str, Any] = {}
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if name == "__main__" or (isinstance(file, str) and port.is_user_file(file)):
                for variable, value in list(vars(module).items()):
                    if not callable(value) and not isinstance(value, ModuleType):
                        found.update(self._named(name, variable, value))
        return found

    def _named(self, module: str, variable: str, value: Any) -> dict[str, Any]:
        if variable in self._watch.names:
            return {variable: snapshot(value)}
        if variable in self._watch.members and module != "__main__":
            return {f"{module}.{variable}": snapshot(value)}
        return {}

    def undo(self) -> None:
        """Functions have their own code again."""
        for function, code in self._replaced:
            function.__code__ = code
        self._replaced.clear()

    def is_in_use(self) -> bool:
        """Whether code that was put in still runs, in some thread, generator or coroutine."""
        ours = {code for codes in self._files.values() for code in codes.values()} | {*self._alone.values()}
        frames: list[Any] = list(sys._current_frames().values())
        frames += [each.gi_frame for each in existing(GeneratorType)]
        frames += [each.cr_frame for each in existing(CoroutineType)]
        while frames:
            frame = frames.pop()
            while frame is not None:
                if frame.f_code in ours:
                    return True
                frame = frame.f_back
        return False

    def _codes(self, file: str, module: str) -> dict[tuple[str, int], CodeType]:
        if (file, module) not in self._files:
            self._files[file, module] = dict(self._told(file, module))
        return self._files[file, module]

    def _told(self, file: str, module: str) -> Iterator[tuple[tuple[str, int], CodeType]]:
        source = "".join(linecache.getlines(file))
        try:
            code = InspectLoader.source_to_code(source, file)
        except SyntaxError:  # a cell with commands of the notebook
            return
        places = Places(self._sites.maker(file), self._sites.marks(file))
        made = with_sites(code, file, module, self._watch, places)
        if made is not code:
            yield from _inside(made)


def _functions_of_the_user() -> list[FunctionType]:
    return [each for each in existing(FunctionType) if _is_user_code(each.__code__.co_filename)]


def _is_user_code(file: str) -> bool:
    return not file.startswith("<frozen") and port.is_user_file(file)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _inside(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield _place(each), each
            yield from _inside(each)
