"""What the commands say beside their results, always on standard error and safe for a terminal; its width."""

from __future__ import annotations

import os
import sys

from possibly.errors import FormulaError, PossiblyError
from possibly.views.text.words import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

WIDTH_OF_A_PIPE = 100
NARROWEST, WIDEST = 60, 160
LONGEST_TEXT = 100
"""Columns of a formula that are shown below an error in it."""
BAD = 2
"""The exit status for bad usage and bad input."""


def complain(error: PossiblyError) -> int:
    """One sentence on standard error, for a formula with the place pointed at; the status for bad input."""
    text = pointed(error) if isinstance(error, FormulaError) else str(error)
    print("\n".join(map(plain, f"possibly: {text}".split("\n"))), file=sys.stderr)
    return BAD


def pointed(error: FormulaError) -> str:
    """The error with a caret under the place; of a long text only the part around it is shown."""
    if not error.text or error.column is None or len(error.text) <= LONGEST_TEXT:
        return error.pointed()
    first = max(0, error.column - 1 - LONGEST_TEXT // 2)
    part = error.text[first : first + LONGEST_TEXT]
    return f"{error}\n    {part}\n    {' ' * (error.column - 1 - first)}^"


def remark(text: str) -> None:
    print(plain(text), file=sys.stderr)


def width_of(stream: TextIO) -> int:
    """How many columns there are, within reason."""
    try:
        return min(max(os.get_terminal_size(stream.fileno()).columns, NARROWEST), WIDEST)
    except (OSError, ValueError):
        return WIDTH_OF_A_PIPE
