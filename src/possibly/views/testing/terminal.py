"""The terminal for a debugger, while pytest keeps what tests print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def terminal_of(config: pytest.Config) -> Iterator[None]:
    """Standard input and output are those of the terminal inside."""
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    if capture is None:
        yield
        return
    capture.suspend_global_capture(in_=True)
    try:
        yield
    finally:
        capture.resume_global_capture()


class Debuggers:
    """Keeps pytest's own debugger away from a failure that was looked at where it happened."""

    NAME = "pdbinvoke"

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager
        self._away: Any = None

    def leave(self) -> None:
        self._away = self._plugins.unregister(name=self.NAME)

    def come_back(self) -> None:
        if self._away is not None:
            self._plugins.register(self._away, self.NAME)
            self._away = None
