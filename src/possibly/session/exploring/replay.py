"""A failing schedule as a file, and one that is run again from its file.

The file says what has to be the same for the same execution: the program and its arguments, the seed, which
memory is visible, how time-outs are taken. The rest is `trace.schedule` and `control.schedulers.replay`.
"""

from __future__ import annotations

import linecache
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from possibly import hashing
from possibly.control.execution import Execution
from possibly.control.forking.patience import TimeIsUp
from possibly.control.forking.zygote import ControlledProgram, script
from possibly.control.loading.packages import found_again, portable
from possibly.control.minimise import fails_alike
from possibly.control.schedulers.replay import Deviation, Replay, deviations, recorded, sources_of
from possibly.errors import PossiblyError
from possibly.logic.specification import Specification, property_from_text, read_specification
from possibly.session.checking.check import Options as Checking
from possibly.session.exploring.checks import property_check, race_check, shown_by
from possibly.session.exploring.exploration import BAD
from possibly.session.why.asked import asked_steps
from possibly.session.why.failure import Failure
from possibly.session.why.simplest import told_whole
from possibly.trace.place import place_in
from possibly.trace.schedule import Schedule, parsed_schedule, read_schedule, schedule_text, write_schedule

SETS = ("ignored", "watched", "only", "functions", "include", "exclude", "trust", "within", "faults")
OPTIONS: dict[str, tuple[type, ...]] = {
    "limit": (int,), "seed": (int,), "early_timeouts": (bool,), "slack": (int, float), "fifo": (bool,),
    "split": (bool,), "at_most": (int,), "input": (str, list),
}  # fmt: skip
"""What else of a header belongs to an execution, and its types."""
HASHED = "hash_seed"
"""In a header: PYTHONHASHSEED; none: the interpreter had drawn one."""
ENTERED = "entered"
"""In a header: code of packages that was watched."""
TRIES = 3
SETTLING = 10.0
"""Seconds at most in which a schedule gets all its steps."""
MODULE = "-m"
"""Instead of a file: a module follows."""
SHOWN = ("kind", "message", "language", "formula", "specification")
"""What a schedule says of the failure that it shows."""


@dataclass(frozen=True, slots=True)
class Replayed:
    schedule: Schedule
    execution: Execution
    deviations: list[Deviation]
    failure: Failure | None
    initial: dict[str, Any] = field(default_factory=dict)
    """Values before the first step."""
    has_changed: bool = False
    """The program is not the one any more that the schedule was written for."""

    @property
    def is_missing(self) -> bool:
        """The program is as it was, and the failure that the schedule shows did not come again."""
        kind = shown(self.schedule).get("kind")
        return self.failure is None and kind is not None and not self.has_changed

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
        "visible": sorted(program.visible if execution.visible is None else execution.visible),
        **({ENTERED: sorted(map(portable, execution.entered))} if execution.entered else {}),
        HASHED: hashing.known,
        **{name: sorted(options[name]) for name in SETS if options.get(name)},
    }
    failure = details or execution.failure or {}
    header["shows"] = {
        "outcome": execution.outcome.value,
        **{key: failure[key] for key in SHOWN if failure.get(key)},
    }
    digest = _digest(words[0])
    if digest is not None:
        header["digest"] = digest
    files = {place_in(step.operation.at).file for step in execution.steps if step.operation.at}
    return recorded(execution, header, {file: lines_of(file) for file in files})


def save(failure: Failure, program: ControlledProgram, words: tuple[str, ...], path: str) -> None:
    write_schedule(schedule_to_keep(failure, program, words), path)


def text_of(failure: Failure, program: ControlledProgram, words: tuple[str, ...]) -> str:
    """What `save` writes."""
    return schedule_text(schedule_to_keep(failure, program, words))


def schedule_to_keep(failure: Failure, program: ControlledProgram, words: tuple[str, ...]) -> Schedule:
    """The schedule of a failure, run again until it has all the steps that a replay will have."""
    schedule = schedule_of(failure.execution, program, words, failure.details)
    execution = failure.execution
    if execution.outcome not in BAD:
        return schedule
    known, until = (program.visible, program.entered), program.until
    program.until = time.monotonic() + SETTLING
    try:
        for _ in range(TRIES):
            if execution.is_settled:
                break
            watch(program, execution.visible or frozenset(), program.entered | set(execution.entered))
            execution = told_whole(program, Replay(schedule, {}))
            if not fails_alike(failure.execution)(execution):
                break
            schedule = schedule_of(execution, program, words, failure.details)
    except TimeIsUp:
        pass
    finally:
        watch(program, *known)
        program.until = until
    return schedule


def again(path: str, words: tuple[str, ...]) -> str:
    """The command that replays the schedule in a file; it names a program that lies elsewhere."""
    named = () if _lies_below(words[0], path) or words[0] == MODULE else words[:1]
    return shlex.join(["possibly", "replay", path, *named])


def shown(schedule: Schedule) -> dict[str, Any]:
    """What a schedule says of its failure."""
    found = schedule.header.get("shows", {})
    return found if isinstance(found, dict) else {}


def program_of(schedule: Schedule, path: str, named: str | None = None) -> ControlledProgram:
    """The program that a schedule is one of; `named` by the user, it may lie anywhere."""
    words = _words(schedule, path)
    if named is None and not _lies_below(words[0], path):
        raise PossiblyError(
            f"the schedule names a program outside its folder, {words[0]}",
            file=path,
            hint=f"name it, if it is to be run: {shlex.join(['possibly', 'replay', path, words[0]])}",
        )
    words = (named or words[0], *words[1:])
    if words[0] != MODULE and not os.path.isfile(words[0]):
        hint = "name it: possibly replay FILE PROGRAM" if named is None else None
        raise PossiblyError(f"the program of the schedule is not there: {words[0]}", file=path, hint=hint)
    return script(words, **options_in(schedule, path))


def _words(schedule: Schedule, path: str) -> tuple[str, ...]:
    words = _strings(schedule, "program", path)
    if not words or not words[0]:
        raise PossiblyError("the schedule does not say which program it is of", file=path, line=2)
    return words


def _lies_below(program: str, path: str) -> bool:
    """Whether a program lies in the folder of a schedule or below it, wherever links lead.

    A module is looked for where the command is given.
    """
    folder = os.path.dirname(os.path.realpath(path))
    file = os.path.realpath(os.curdir if program == MODULE else program)
    return os.path.commonpath([folder, file]) == folder


def options_in(schedule: Schedule, path: str = "the schedule") -> dict[str, Any]:
    """How the program of a schedule was controlled."""
    header = schedule.header
    for name, types in OPTIONS.items():
        if name in header and type(header[name]) not in types:
            raise PossiblyError(f"{name} of the schedule is no {types[0].__name__}", file=path)
    options = {name: header[name] for name in OPTIONS if name in header}
    return options | {name: frozenset(_strings(schedule, name, path)) for name in SETS if name in header}


def _strings(schedule: Schedule, name: str, path: str) -> tuple[str, ...]:
    found = schedule.header.get(name, [])
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise PossiblyError(f"{name} of the schedule is no list of strings", file=path)
    return tuple(found)


def _digest(program: str) -> str | None:
    """What tells one version of a program's file from another."""
    from hashlib import sha256

    try:
        with open(program, "rb") as file:
            return sha256(file.read()).hexdigest()[:16]
    except OSError:
        return None


def hash_as_in(path: str) -> None:
    """Goes on in an interpreter that hashes texts as the schedule of a file says, if it says that."""
    seed = schedule_in(path).header.get(HASHED)
    if type(seed) is int and 0 <= seed <= hashing.LARGEST:
        hashing.be(seed)


Run = Callable[[ControlledProgram, Replay], Execution]


def replay(path: str, run: Run | None = None, named: str | None = None) -> Replayed:
    """Runs the schedule of a file again; `named`: the program, if the user names it."""
    schedule = schedule_in(path)
    with program_of(schedule, path, named) as program:
        found = replay_of(path, program, run, schedule)
    written = schedule.header.get("digest")
    has_changed = written is not None and written != _digest(named or _words(schedule, path)[0])
    return replace(found, has_changed=has_changed)


def schedule_in(path: str) -> Schedule:
    """The schedule of a file; `-` is standard input."""
    if path == "-":
        text = sys.stdin.buffer.read().decode(errors="replace")
        return parsed_schedule(text, "standard input")
    if not os.path.isfile(path):
        raise PossiblyError(
            "cannot read the schedule: No such file",
            file=path,
            hint="possibly explore writes one when it fails",
        )
    return read_schedule(path)


def replay_of(
    path: str, program: ControlledProgram, run: Run | None = None, read: Schedule | None = None
) -> Replayed:
    """Runs the schedule of a file again, with the program that it is one of; `read`: it is read already."""
    schedule = read or schedule_in(path)
    sources = sources_of(schedule, lines_of)
    _watch_as_in(schedule, program, path)
    execution = told_whole(program, Replay(schedule, sources))
    if program.repeat and deviations(
        schedule, execution, sources
    ):  # now it is known what the program imports
        _watch_as_in(schedule, program, path)
        execution = told_whole(program, Replay(schedule, sources))
    if run is not None:
        execution = run(program, Replay(schedule, sources))
    failure = _failure(schedule, execution, program, path)
    return Replayed(schedule, execution, deviations(schedule, execution, sources), failure, program.initial)


def _watch_as_in(schedule: Schedule, program: ControlledProgram, path: str) -> None:
    """Makes those accesses steps which were so in the execution of the schedule, and no others."""
    found = (found_again(*words) for words in _entered(schedule, path))
    watch(program, _strings(schedule, "visible", path), (each for each in found if each is not None))


def watch(program: ControlledProgram, visible: Iterable[str], entered: Iterable[Any]) -> None:
    program.visible, program.entered = set(visible), set(entered)


def _entered(schedule: Schedule, path: str) -> list[tuple[str, str, int]]:
    found = schedule.header.get(ENTERED, [])
    if isinstance(found, list) and all(map(_is_entered, found)):
        return [(file, name, line) for file, name, line in found]
    raise PossiblyError(f"{ENTERED} of the schedule is no list of [file, function, line]", file=path)


def _is_entered(words: object) -> bool:
    return isinstance(words, list) and list(map(type, words)) == [str, str, int]


def _failure(
    schedule: Schedule, execution: Execution, program: ControlledProgram, path: str
) -> Failure | None:
    """What is wrong with the execution, in itself or by the property that the schedule is to violate."""
    if execution.outcome in BAD:
        return Failure(execution, 1, execution.failure or {})
    if shown(schedule).get("kind") == "data race":
        details = race_check(execution)
    elif (specification := _specification(schedule, path)) is not None:
        details = property_check(program, specification, Checking(explain=False))(execution)
        if details is not None and "undecided" not in details:
            details = shown_by(execution, program, _as_it_was_told(details, schedule))
    else:
        return None
    if details is None or "undecided" in details:
        return None
    return Failure(execution, 1, details, asked=asked_steps(execution, program.initial, details))


def _specification(schedule: Schedule, path: str) -> Specification | None:
    told = shown(schedule)
    texts = [told.get(name) for name in ("specification", "language", "formula")]
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise PossiblyError("what the schedule shows is not text", file=path)
    if texts[0]:
        return read_specification(str(texts[0]), path)
    if not texts[1] or not texts[2]:
        return None
    return Specification(properties=(property_from_text(str(texts[1]), str(texts[2]), str(texts[1])),))


def _as_it_was_told(details: dict[str, Any], schedule: Schedule) -> dict[str, Any]:
    """A claim is told by its own formula and place, not as the property that it is judged by."""
    told = shown(schedule)
    if told.get("kind") != "claim":
        return details
    return {**details, "kind": "claim", "message": told.get("message", details["message"])}
