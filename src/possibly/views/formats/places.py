"""Where a place such as `bank.py:12` lies on this machine.

A trace names files as they were called when it was recorded, so they are looked for beside the trace and
in the current folder. Nothing is opened here; a file that is found nowhere keeps its name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from possibly.views.formats.findings import Mark, Place


class Locator:
    """Finds files below the given folders; "" is the current one."""

    def __init__(self, folders: Sequence[str] = ("",)) -> None:
        self._folders = tuple(dict.fromkeys(folders))

    def place(self, at: str | None) -> Place | None:
        """The place that a trace writes as `file:line`."""
        file, colon, line = (at or "").rpartition(":")
        if not colon or not file or not line.isdecimal() or not 0 < len(line) < 8 or not int(line):
            return None
        return Place(self._file(file), int(line))

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
