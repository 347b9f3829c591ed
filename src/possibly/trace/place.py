"""A source place, `file.py:12`, as a file and a line; a file may have colons in its name.

A file of a library is told as one looks for it there (`pydantic/main.py`), one of the user's as it is found
from here: so they can be told apart where the user's files are.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

LONGEST = 7
"""Digits of a line's number: no source has as many lines as more would name."""


class Place(NamedTuple):
    file: str
    line: int
    """From 1; 0 where the text names no line."""


def place_in(text: str) -> Place:
    """The place that a text of a trace or an operation names."""
    file, colon, line = text.rpartition(":")
    if colon and line.isascii() and line.isdigit() and len(line) <= LONGEST:
        return Place(file, int(line))
    return Place(text, 0)


def is_of_library(at: str) -> bool:
    """Whether a place is in a library."""
    return bool(at) and _is_elsewhere(place_in(at).file)


@lru_cache(maxsize=256)
def _is_elsewhere(file: str) -> bool:
    return not os.path.isabs(file) and not os.path.exists(file)


def line_text(at: str, files: Collection[str] = ()) -> str:
    """A place in a sentence: `line 9`; `line 9 of jobs.py` if it could be in one of several files.

    In a library it is the whole of it, `pydantic/main.py:110`.
    """
    file, line = place_in(at)
    if is_of_library(at):
        return at
    return f"line {line} of {short_name(file, files)}" if len(files) > 1 else f"line {line}"


def short_name(file: str, files: Collection[str]) -> str:
    """The last name of a file, where that tells it from the others."""
    last = file.rpartition("/")[2]
    return last if sum(each.rpartition("/")[2] == last for each in files) <= 1 else file
