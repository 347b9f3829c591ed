"""Files of a failure: the schedule that shows it again, and if asked for its trace and its page."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possibly.session.exploring.replay import schedule_to_keep
from possibly.trace.schedule import write_schedule

if TYPE_CHECKING:
    import pytest

    from possibly.session.exploring.programs import ControlledProgram
    from possibly.session.why.failure import Failure

LONGEST = 120
"""Characters of a file's name."""
PROGRAM = "pytest"
"""The first word of what a schedule of a test calls its program; the second is the test."""


def kept_folder(config: pytest.Config) -> Path | None:
    """Where everything about a failure is kept, if anybody asked for that."""
    named = config.getoption("--possibly-keep") or config.getini("possibly_keep")
    return config.rootpath / named if named else None


def write(failure: Failure, program: ControlledProgram, item: Any) -> Path:
    """Writes what is known of a failure; the schedule's file."""
    folder, name = folder_of(item.config), name_of(item)
    path = folder / f"{name}.schedule"
    schedule = schedule_to_keep(failure, program, (PROGRAM, item.nodeid))
    write_schedule(schedule, str(path))
    if kept_folder(item.config) is not None:
        _write_trace(failure, program, folder, name)
    return path


def name_of(item: Any) -> str:
    """The name of a test as that of a file."""
    return re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-LONGEST:]


def folder_of(config: pytest.Config) -> Path:
    """Where files go: where they are to be kept, else into pytest's cache."""
    keep, cache = kept_folder(config), getattr(config, "cache", None)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        return keep
    return Path(tempfile.mkdtemp(prefix="possibly-")) if cache is None else cache.mkdir("possibly")


def _write_trace(failure: Failure, program: ControlledProgram, folder: Path, name: str) -> None:
    from possibly.session.exploring.traces import trace_of
    from possibly.trace import write_trace
    from possibly.views.cli.main import main

    trace = folder / f"{name}.jsonl"
    write_trace(trace_of(failure.execution, program.initial), trace)
    main(["view", str(trace), "-o", str(folder / f"{name}.html")])
