"""Lines that executions reach, for coverage.

An execution is a process of its own, whose measurements end with it. So while a coverage measurement runs,
the first executions of a test measure themselves, each into a file, and these are added to the data of this
process. Without a measurement nothing happens here, and `coverage` is not imported.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST = 200
"""Executions of a test that are measured: later ones seldom come to other lines."""
OPTIONS = ("run:branch", "run:source", "run:include", "run:omit", "run:source_pkgs")


class Measure:
    """Where the executions of one test put what they measured."""

    def __init__(self, running: Any, folder: Path) -> None:
        self._running = running
        self._folder = folder

    def around(self, execution: Callable[[], None]) -> Callable[[], None]:
        """The same execution, measured."""

        def measured() -> None:
            if len(os.listdir(self._folder)) >= MOST:
                execution()
                return
            own = self._started()
            try:
                execution()
            finally:
                own.stop()
                own.save()

        return measured

    def _started(self) -> Any:
        import coverage

        self._running.stop()
        fd, file = tempfile.mkstemp(prefix="data-", dir=self._folder)
        os.close(fd)
        os.unlink(file)
        own = coverage.Coverage(data_file=file, config_file=False)
        for name in OPTIONS:
            own.set_option(name, self._running.get_option(name))
        own.start()
        return own

    def collect(self) -> None:
        """Adds what was measured to the data of this process."""
        import coverage

        data = self._running.get_data()
        for file in sorted(self._folder.iterdir()):
            other = coverage.CoverageData(str(file))
            other.read()
            data.update(other)


@contextmanager
def measuring() -> Iterator[Measure | None]:
    """A measure for the executions of one test, if one is running in this process."""
    coverage: Any = sys.modules.get("coverage")
    running = coverage.Coverage.current() if coverage is not None else None
    if running is None:
        yield None
        return
    from possibly.session.exploring.functions import OURS

    with tempfile.TemporaryDirectory(prefix=OURS) as folder:
        measure = Measure(running, Path(folder))
        try:
            yield measure
        finally:
            measure.collect()
