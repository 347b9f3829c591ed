"""Where a place such as `bank.py:12` lies on this machine.

A trace names files as they were called when it was recorded, so they are looked for beside the trace and
in the current folder. Nothing is opened here; a file that is found nowhere keeps its name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from possibly.trace.place import Place, place_in
from possibly.views.formats.findings import Mark


class Locator:
    """Finds files below the given folders; "" is the current one."""

    def __init__(self, folders: Sequence[str] = ("",)) -> None:
        self._folders = tuple(dict.fromkeys(folders))

    def place(self, at: str | None) -> Place | None:
        """The place that a trace writes as `file:line`."""
        file, line = place_in(at or "")
        return Place(self._file(file), line) if file and line else None

    def marks(self, text: str, at: str | None) -> tuple[Mark, ...]:
        """The place with its text, or nothing where there is none."""
        place = self.place(at)
        return () if place is None else (Mark(text, place),)

    def _file(self, name: str) -> str:
        for folder in self._folders:
            path = os.path.join(folder, name)
            if "\0" not in path and os.path.isfile(path):
                return shown(path)
        return name.replace(os.sep, "/")


def shown(path: str) -> str:
    """The path from the current folder if it lies below it, with slashes."""
    relative = os.path.relpath(path)
    found = os.path.abspath(path) if relative.startswith(os.pardir) else relative
    return found.replace(os.sep, "/")
