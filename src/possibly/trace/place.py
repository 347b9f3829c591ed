"""A source place, `file.py:12`, as a file and a line; a file may have colons in its name."""

from __future__ import annotations

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
