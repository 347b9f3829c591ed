"""The source line at a place such as `bank.py:12`, for quoting beside an event.

A place comes from a trace, so it is not to be trusted: only a relative path inside one of the given
folders is followed, only to a plain file of moderate size, and only one line of it is shown.
"""

from __future__ import annotations

import os
from functools import lru_cache

from possibly.trace.place import place_in

LARGEST_FILE = 1_000_000
SUFFIX = ".py"


class Sources:
    """Quotes lines of files below the given folders ("" is the current one); the first that has it counts."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = tuple(map(os.path.realpath, folders))
        self._lines = lru_cache(maxsize=64)(self._read)

    def quote(self, place: str | None) -> str | None:
        """The line at `file.py:12`, stripped, or None when there is none to show."""
        file, line = place_in(place or "")
        if not line:
            return None
        lines = self._lines(file)
        return lines[line - 1].strip() or None if line <= len(lines) else None

    def _read(self, file: str) -> tuple[str, ...]:
        for folder in self._folders:
            lines = _lines_of(folder, file)
            if lines is not None:
                return lines
        return ()


def _lines_of(folder: str, file: str) -> tuple[str, ...] | None:
    try:
        path = os.path.realpath(os.path.join(folder, file))
        is_below = path.startswith(os.path.join(folder, ""))
        if os.path.isabs(file) or not is_below or not path.endswith(SUFFIX):
            return None
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST_FILE:
            return None
        with open(path, encoding="utf-8") as stream:
            return tuple(stream.read(LARGEST_FILE).splitlines())
    except (OSError, ValueError):
        return None
