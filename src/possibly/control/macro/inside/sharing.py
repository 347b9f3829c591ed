"""Memory that threads share: noticed where no message orders what they do to it.

Law: if two threads of one interpreter touch the same thing, one of them writes, and neither messages nor
starting and joining order the two, then the order is nobody's choice here, and the answer stays open. If
there is nothing of the kind on any path, then what a thread finds in memory is decided by the messages alone
(the race check is that of "FastTrack", Flanagan and Freund, PLDI 2009; see also `control.runtime.memory`).

A program whose files speak of threads is instrumented so that its accesses tell of themselves (see
`probes.instructions`); before a second thread is started nothing is noted. Only what orders for sure counts:
a message before its receive, not the capacity of a queue, nor what goes through another process. Tasks of an
event loop are like threads: which of them runs first is left to the loop, and what one waits for is known by
`turns`.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib.abc import InspectLoader
from importlib.machinery import PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

from possibly.control.macro.inside import gate
from possibly.control.macro.inside.variables import shown
from possibly.probes import port

SPEAKS_OF_THREADS = re.compile(rb"thread|asyncio|concurrent", re.IGNORECASE)
is_watching = False


def prepare(file: str) -> None:
    """Watches the program if one of its own files speaks of threads."""
    global is_watching
    if not is_watching and _speaks(file, set()):
        from possibly.control.macro.inside.watching import watch

        is_watching = True
        watch(_noted)


def started() -> None:
    """A second thread begins."""
    if is_watching:
        from possibly.control.macro.inside.watching import begin

        begin()
    else:
        gate.told("memory that threads share, in a program whose own files do not speak of threads")


def _noted(what: str) -> None:
    who = "threads" if gate.knowing() is None else "tasks"
    gate.told(f"{what} is shared by {who}, with no message in between")


def _speaks(file: str, known: set[str]) -> bool:
    """Whether the file, or one of the user's own that it imports, mentions threads."""
    known.add(file)
    try:
        with open(file, "rb") as opened:
            source = opened.read()
        if SPEAKS_OF_THREADS.search(source):
            return True
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return False
    return any(_speaks(each, known) for each in _imported(tree, file) if each not in known)


def _imported(tree: ast.Module, file: str) -> list[str]:
    """The user's own files that a file imports, as far as can be told without running it."""
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(dict.fromkeys(each.name for each in node.names))
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names.update(dict.fromkeys([base, *(f"{base}.{each.name}".strip(".") for each in node.names)]))
    found = []
    for name in filter(None, names):
        path: Any = [*sys.path, file.rpartition("/")[0]]
        origin = None
        for part in name.split("."):
            spec = PathFinder.find_spec(part, path) if path is not None else None
            origin, path = (
                (spec.origin, spec.submodule_search_locations) if spec is not None else (None, None)
            )
            if origin is not None and port.is_user_file(origin):
                found.append(origin)
    return found


class Loader(SourceFileLoader):
    """Loads a module of the user, instrumented if it is watched."""

    def get_code(self, fullname: str) -> CodeType | None:
        if not is_watching:
            return super().get_code(fullname)
        from possibly.control.loading.instrumented import with_sites

        code = InspectLoader.source_to_code(self.get_data(self.path), self.path)
        return with_sites(code, shown(self.path), fullname)
