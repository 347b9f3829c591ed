"""A progress bar on a terminal or below a notebook's cell, for work that lasts.

Nothing is shown, and `tqdm` is not even imported, unless standard error is one of these and the work has
lasted half a second. Whoever works calls the bar with a label, how much is done and, if known, of how much.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from possibly.views.cli.messages import width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

PATIENCE = 0.5
"""Seconds of work before a bar appears."""


class Progress:
    """Call it with (label, done, total); leave it as a context to clear the bar."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._started = clock()
        self._label: str | None = None
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __call__(self, label: str, done: int, total: int | None) -> None:
        if label != self._label:
            self._close()
            self._label = label
        if self._bar is None:
            if self._clock() - self._started < PATIENCE:
                return
            self._bar = self._opened(label, done, total)
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _opened(self, label: str, done: int, total: int | None) -> Any:
        from tqdm import tqdm

        # A terminal that does not know its own size would get a bar of no size at all.
        return tqdm(
            desc=label,
            initial=done,
            total=total,
            file=self._stream,
            leave=False,
            unit_scale=True,
            unit="",
            ncols=width_of(self._stream) - 1,
            nrows=2,
        )

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def terminal_progress() -> Progress | None:
    """A progress bar on standard error, or None when nobody watches."""
    return Progress(sys.stderr) if sys.stderr.isatty() or _is_in_notebook() else None


def notebook_progress() -> Progress | None:
    """The same for functions that a program may call as well: only a notebook shows it."""
    return Progress(sys.stderr) if _is_in_notebook() else None


def _is_in_notebook() -> bool:
    """Whether standard error goes to the cell that is executed."""
    return type(sys.stderr).__module__.startswith("ipykernel.")
