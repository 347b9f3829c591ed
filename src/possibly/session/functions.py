"""Exploring a function: its search with the file of its failing schedule, and that schedule alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from possibly.control.runtime.process import Job
from possibly.control.runtime.zygote import ControlledProgram
from possibly.errors import UsageError
from possibly.session.explore import Exploration, Options, explore
from possibly.session.replay import replay_of, save
from possibly.verdict.reasons import Reason

WORD = "function"
"""The first word of what a schedule of a function calls its program; the second is its name."""


def explore_function(
    program: ControlledProgram, options: Options, function: Callable[..., object], keep: str | None
) -> Exploration:
    """Searches, and writes the failing schedule if a file is given."""
    found = explore(program, options)
    if found.failure is not None and keep is not None:
        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', 'function')}"
        save(found.failure, program, (WORD, name), keep)
    return found


def replay_function(program: ControlledProgram, file: str) -> Exploration:
    """Runs the schedule of a file alone: a failure, or an answer that is open."""
    found = replay_of(file, program)
    followed = "the schedule was followed" if found.is_faithful else "the schedule was not followed"
    all_others = Reason(remedy="explore the function without the file of a schedule")
    open_by = {} if found.failure is not None else {f"all schedules but this one, and {followed}": all_others}
    return Exploration(executions=1, steps=len(found.execution.steps), failure=found.failure, open=open_by)


def included(packages: Sequence[str]) -> dict[str, Any]:
    """The option that watches installed packages, where any are named."""
    if not packages:
        return {}
    if "include" not in {field.name for field in fields(Job)}:
        raise UsageError("installed packages cannot be watched", hint="leave include out")
    return {"include": frozenset(packages)}
