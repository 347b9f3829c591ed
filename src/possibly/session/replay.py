"""A failing schedule as a file, and one that is run again from its file.

The file says what has to be the same for the same execution: the program and its arguments, the seed, which
memory is visible, how time-outs are taken. The rest is `trace.schedule` and `control.schedulers.replay`.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from possibly.control.execution import Execution
from possibly.control.runtime.zygote import ControlledProgram, script
from possibly.control.schedulers.replay import Deviation, Replay, deviations, recorded, sources_of
from possibly.errors import PossiblyError
from possibly.logic.specification import Specification, property_from_text
from possibly.session.check import Options as Checking
from possibly.session.execution_checks import property_check, race_check
from possibly.session.explore import BAD, Failure
from possibly.trace.place import place_in
from possibly.trace.schedule import Schedule, read_schedule, write_schedule

SETS = ("ignored", "watched", "only", "functions")
OPTIONS = ("limit", "seed", "early_timeouts", "punctual", "fifo", "input")


@dataclass(frozen=True, slots=True)
class Replayed:
    schedule: Schedule
    execution: Execution
    deviations: list[Deviation]
    failure: Failure | None

    @property
    def is_faithful(self) -> bool:
        """The execution was that of the schedule, event for event."""
        return not self.deviations


def lines_of(file: str) -> list[str]:
    linecache.checkcache(file)
    return linecache.getlines(file)


def schedule_of(
    execution: Execution,
    program: ControlledProgram,
    words: tuple[str, ...],
    details: dict[str, Any] | None = None,
) -> Schedule:
    """The schedule of an execution, with all that it needs to be run again."""
    options = {**program.options, "watched": program.watched}
    header: dict[str, Any] = {
        "program": list(words),
        **{name: options[name] for name in OPTIONS if options.get(name)},
        "visible": sorted(program.visible),
        **{name: sorted(options[name]) for name in SETS if options.get(name)},
    }
    failure = details or execution.failure or {}
    header["shows"] = {
        "outcome": execution.outcome.value,
        **{key: failure[key] for key in ("kind", "message", "language", "formula") if failure.get(key)},
    }
    files = {place_in(step.operation.at).file for step in execution.steps if step.operation.at}
    return recorded(execution, header, {file: lines_of(file) for file in files})


def save(failure: Failure, program: ControlledProgram, words: tuple[str, ...], path: str) -> None:
    write_schedule(schedule_of(failure.execution, program, words, failure.details), path)


def program_of(schedule: Schedule, path: str) -> ControlledProgram:
    """The program that a schedule is one of."""
    header = schedule.header
    words = header.get("program")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise PossiblyError("the schedule does not say which program it is of", file=path, line=2)
    return script(tuple(words), **options_in(schedule))


def options_in(schedule: Schedule) -> dict[str, Any]:
    """How the program of a schedule was controlled."""
    header = schedule.header
    options = {name: header[name] for name in OPTIONS if name in header}
    return options | {name: frozenset(header[name]) for name in SETS if name in header}


Run = Callable[[ControlledProgram, Replay], Execution]


def replay(path: str, run: Run | None = None) -> Replayed:
    """Runs the schedule of a file again."""
    with program_of(schedule_in(path), path) as program:
        return replay_of(path, program, run)


def schedule_in(path: str) -> Schedule:
    """The schedule of a file."""
    if not os.path.isfile(path):
        raise PossiblyError(
            "cannot read the schedule: No such file",
            file=path,
            hint="possibly explore writes one when it fails",
        )
    return read_schedule(path)


def replay_of(path: str, program: ControlledProgram, run: Run | None = None) -> Replayed:
    """Runs the schedule of a file again, with the program that it is one of."""
    schedule = schedule_in(path)
    sources = sources_of(schedule, lines_of)
    program.visible = set(schedule.header.get("visible", ()))
    scheduler = Replay(schedule, sources)
    execution = program.execute(scheduler) if run is None else run(program, scheduler)
    failure = _failure(schedule, execution, program)
    return Replayed(schedule, execution, deviations(schedule, execution, sources), failure)


def _failure(schedule: Schedule, execution: Execution, program: ControlledProgram) -> Failure | None:
    """What is wrong with the execution, in itself or by the property that the schedule is to violate."""
    if execution.outcome in BAD:
        return Failure(execution, 1, execution.failure or {})
    shows = schedule.header.get("shows", {})
    if shows.get("kind") == "data race":
        details = race_check(execution)
    elif shows.get("formula"):
        found = property_from_text(shows["language"], shows["formula"], shows["language"])
        look = property_check(program, Specification(properties=(found,)), Checking(explain=False))
        details = look(execution)
    else:
        return None
    return None if details is None or "undecided" in details else Failure(execution, 1, details)
