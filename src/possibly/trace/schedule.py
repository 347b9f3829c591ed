"""A schedule: who goes on when, as a small text that can be attached to a bug report.

The form. A first line `possibly schedule 1`; then `key: value` lines, values as JSON; an empty line; then a
line for each turn (the task, and the name that users know it by) with its steps below, indented:

    possibly schedule 1
    program: ["bank.py"]
    seed: 0

    0.1 teller-1
      read balance @ bank.py:10 | balance = balance + 10

A step tells the kind of operation, the thing, the place and the source text there. So a schedule can be
followed in an edited program too, where lines have moved (see `control.schedulers.replay`). Blank lines and
lines that begin with `#` are comments. In a place a backslash, a line feed and a carriage return are `\\\\`,
`\\n` and `\\r`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from possibly.errors import PossiblyError
from possibly.records import dataclass, field
from possibly.trace.streams import opened, replacing

FIRST_LINE = "possibly schedule 1"
_HINT = "a schedule is written by possibly explore"


class ScheduledStep(NamedTuple):
    task: str
    name: str = ""
    kind: str = ""
    """Empty: any operation."""
    thing: str = ""
    at: str = ""
    text: str = ""


@dataclass(frozen=True)
class Schedule:
    steps: tuple[ScheduledStep, ...]
    header: dict[str, Any] = field(default_factory=dict)
    """What has to be the same for the same executions: program, seed, what is visible; and remarks."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Who goes on at each step."""
        return tuple(step.task for step in self.steps)


def write_schedule(schedule: Schedule, path: str) -> None:
    with replacing(path) as stream:
        stream.write(schedule_text(schedule).encode("utf-8", "backslashreplace"))


def schedule_text(schedule: Schedule) -> str:
    header = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in schedule.header.items())
    return "\n".join((FIRST_LINE, *header, "", *_turn_lines(schedule.steps))) + "\n"


def _turn_lines(steps: Iterable[ScheduledStep]) -> Iterator[str]:
    task = ""
    for step in steps:
        if step.task != task:
            task = step.task
            yield f"{task} {_one_line(step.name)}".rstrip()
        thing = " ".join("(at)" if word == "@" else word for word in step.thing.split())
        yield f"  {step.kind or '*'} {thing} @ {_escaped(step.at)} | {_one_line(step.text)}".rstrip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(at: str) -> str:
    """A place on one line: files may have line breaks in their names."""
    return at.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _unescaped(at: str) -> str:
    return re.sub(r"\\([\\nr])", lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), at)


def read_schedule(path: str) -> Schedule:
    with opened(path) as source:
        data = b"".join(source.pieces())
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise PossiblyError("not a schedule: not UTF-8 text", file=path, hint=_HINT) from None
    return parsed_schedule(text, path)


def parsed_schedule(text: str, file: str = "schedule") -> Schedule:
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines[0].startswith("possibly schedule "):
        raise PossiblyError(
            f"not a schedule: it does not begin with {FIRST_LINE!r}", file=file, line=1, hint=_HINT
        )
    if lines[0].strip() != FIRST_LINE:
        raise PossiblyError("a schedule of another version", file=file, line=1, hint="this reads version 1")
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    header = dict(_header_entry(lines[number], file, number + 1) for number in range(1, end))
    return Schedule(tuple(_steps(lines, end, file)), header)


def _header_entry(line: str, file: str, number: int) -> tuple[str, Any]:
    key, colon, value = line.partition(": ")
    try:
        if not colon:
            raise ValueError
        return key, json.loads(value)
    except ValueError:
        raise PossiblyError("a header line is not `key: value`", file=file, line=number, column=1) from None


def _steps(lines: list[str], begin: int, file: str) -> Iterator[ScheduledStep]:
    task = name = ""
    for number in range(begin, len(lines)):
        line = lines[number]
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            task, _, name = line.strip().partition(" ")
            if not all(part.isdigit() for part in task.split(".")):
                raise PossiblyError(f"not the name of a task: {task!r}", file=file, line=number + 1, column=1)
        elif not task:
            raise PossiblyError("a step without a task", file=file, line=number + 1, column=1)
        else:
            yield _step(line.strip(), task, name)


_STEP = re.compile(
    r"(?P<what>.*?)"
    r"(?: @(?: (?P<at>.*?:[0-9]+(?= \||$)|.*?))?(?: *\|(?: (?P<text>.*))?)?)?"
)  # fmt: skip
"""No word of a thing is `@`, and a place ends with its line: both may hold anything else."""


def _step(line: str, task: str, name: str) -> ScheduledStep:
    found = _STEP.fullmatch(line)
    what, at, text = found.group("what", "at", "text") if found is not None else (line, "", "")
    kind, _, thing = what.partition(" ")
    return ScheduledStep(
        task, name, "" if kind == "*" else kind, thing.strip(), _unescaped(at or ""), text or ""
    )
