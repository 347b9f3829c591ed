"""Exploring a function: its search with the file of its failing schedule, and that schedule alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from possibly.control.forking.disk import OURS as OURS
from possibly.control.forking.zygote import ControlledProgram
from possibly.errors import UsageError
from possibly.session.exploring.exploration import FAULTS, Exploration, Options
from possibly.session.exploring.explore import explore
from possibly.session.exploring.replay import replay_of, save
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


def about_packages(
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    trust: Sequence[str] = (),
    within: Sequence[str] = (),
) -> dict[str, frozenset[str]]:
    """The options that say which packages are watched, and of which the order counts."""
    given = {"include": include, "exclude": exclude, "trust": trust, "within": within}
    return {name: frozenset(packages) for name, packages in given.items() if packages}


def about_world(split: bool = False, kinds: Sequence[str] = (), at_most: int = 1) -> dict[str, Any]:
    """The options that say what may happen in the world around the program."""
    for kind in kinds:
        if kind not in FAULTS:
            raise UsageError(f"there is no kind of fault {kind!r}", hint=", ".join(FAULTS))
    found: dict[str, Any] = {"split": True} if split else {}
    return found | ({"faults": frozenset(kinds), "at_most": at_most} if kinds else {})
