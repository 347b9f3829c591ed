"""The user's modules, instrumented so that every access can wait; each file is instrumented once and kept.

The process that is forked keeps the code, so an execution compiles nothing. What a program imports is found
out by its first execution: installed and standard modules are then imported, and the user's compiled, before
the next fork.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from possibly.control.forking.repeatable import Judgement, judged
from possibly.control.loading import library, packages
from possibly.control.loading.ahead import named_first
from possibly.control.runtime import kernel as running
from possibly.control.runtime import sites
from possibly.control.runtime.places import is_instrumented, shown
from possibly.probes import port
from possibly.probes.instructions.insert import Wanted, instrumented
from possibly.probes.patching import Patches, ThenPatch
from possibly.probes.watching.following import followed

codes: dict[tuple[str, str], CodeType] = {}
"""(file, module) -> instrumented code."""
loaded: list[tuple[str, str]] = []
"""What the present execution had to compile."""
judgements: dict[tuple[str, str], Judgement] = {}
"""Of each module in `codes`: whether its program may be executed again in the same process."""
imports: dict[tuple[str, str], list[str]] = {}
"""Of each module in `codes`: what of the standard library it imports first of all."""
executed: list[str] = []
"""The user's modules that the present execution has loaded."""


def keeps_to_itself() -> bool:
    """Whether the source shows that the program has no way to other processes and to files."""
    found = judgements.values()
    return bool(found) and not any(each.reason or each.others or each.has_files for each in found)


def code_of(file: str, module: str) -> CodeType:
    found = codes.get((file, module))
    if found is None:
        found = codes[file, module] = _compiled(file, module)
        loaded.append((file, module))
    return found


def _compiled(file: str, module: str) -> CodeType:
    if not port.is_user_file(file):
        packages.adopt(file)
    with open(file, "rb") as opened:
        tree = ast.parse(opened.read(), file)
    judgements[file, module] = judged(tree)
    imports[file, module] = named_first(tree, os.path.dirname(file))
    return with_sites(InspectLoader.source_to_code(tree, file), shown(file) or file, module)


def with_sites(code: CodeType, place: str, module: str, is_module: bool = True) -> CodeType:
    """Code of the program, instrumented; `place` is its file as places name it."""
    library.follow_for(code)
    wanted = Wanted(sites.site_maker(place, module), followed.names, followed.functions)
    return code if is_instrumented(code) else instrumented(code, wanted, is_module)


class _Rewriting(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        return code_of(self.path, fullname)

    def exec_module(self, module: ModuleType) -> None:
        """A module is initialised in one go: whoever else imports it would wait for that outside control."""
        kernel = running.kernel
        executed.append(module.__name__)
        if kernel is None:
            super().exec_module(module)
            return
        kernel.quiet += 1
        try:
            super().exec_module(module)
        finally:
            kernel.quiet -= 1


class Main(_Rewriting):
    """Loads what the user wants to run: in it there are choices."""

    def exec_module(self, module: ModuleType) -> None:
        executed.append(module.__name__)
        SourceFileLoader.exec_module(self, module)


class Text(Main):
    """The same of a text that was given in place of a file."""

    def __init__(self, name: str, file: str, text: str) -> None:
        super().__init__(name, file)
        self._text = text

    def get_code(self, fullname: str) -> CodeType | None:
        return with_sites(InspectLoader.source_to_code(self._text, self.path), "<string>", fullname)


class Finder(MetaPathFinder):
    """Stands first in `sys.meta_path`."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self._patches.awaits(fullname):
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = ThenPatch(spec.loader, self._patches)  # type: ignore[assignment]
            return spec
        is_watched = packages.is_watched(fullname)
        if fullname.partition(".")[0] in sys.stdlib_module_names and not is_watched:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return None
        if is_watched:  # what it makes is like the program's own; its functions are instrumented in place
            packages.adopt(spec.origin)
            return None
        if not port.is_user_file(spec.origin):
            return None
        spec.loader = _Rewriting(fullname, spec.origin)
        return spec
