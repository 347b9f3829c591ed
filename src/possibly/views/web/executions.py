"""The executions of a search as a tree: what each one did step by step, and how it ended.

Law: executions that begin with the same choices did the same steps (`control.execution`), so they share a
way from the root; a node is the state after its step, a branch says who ran. Nothing is forgotten here, as a
search forgets what it has covered; so this is kept only when somebody asks to see it.

In a file: one JSON document, its steps in a table, its nodes as pairs (number of the parent, number of the
step), each after its parent. Ways on which nothing was chosen are drawn as one branch (`explored`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from possibly.control.execution import Execution, Outcome, Task
from possibly.errors import PossiblyError, UsageError
from possibly.trace.streams import replacing

if TYPE_CHECKING:
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.exploring.programs import ControlledProgram

FORMAT, VERSION = "possibly-executions", 1
CUT_OFF = Outcome.CUT_OFF.value
GIVEN_UP = "given up"
"""Cut off for another reason than that everything behind it is covered elsewhere."""
ASKED = "no execution fails"
LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True)
class Row:
    """A step as it is told."""

    task: Task
    name: str
    text: str
    at: str


@dataclass(slots=True)
class Place:
    """The state after a step; the root is the initial one."""

    parent: int | None
    step: int
    children: dict[Task, int] = field(default_factory=dict)
    end: dict[str, str] | None = None
    """How an execution ended here: `outcome`, `verdict`; of a failure `kind`, `message`, `place` and more."""


@dataclass(slots=True)
class Executions:
    program: tuple[str, ...]
    header: dict[str, Any] = field(default_factory=dict)
    """What must be the same for the same executions, as in the file of a schedule."""
    asked: str = ASKED
    verdict: str = "unknown"
    complete: bool = False
    count: int = 0
    open: list[str] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    _rows: dict[Row, int] = field(default_factory=dict)
    _search: int = 0

    def __post_init__(self) -> None:
        if not self.places:
            self.places.append(Place(None, -1))

    # ---- growing --------------------------------------------------------------------------------

    def seen(self, execution: Execution, details: Mapping[str, Any] | None, search: int) -> None:
        """An execution of the search; one that begins anew sees more, so its steps are others."""
        if search != self._search:
            self._search = search
            self.count, self.steps, self.places, self._rows = 0, [], [Place(None, -1)], {}
        self.count += 1
        self.add(execution, details)

    def add(self, execution: Execution, details: Mapping[str, Any] | None = None) -> int:
        """The node at which the execution ended."""
        at = 0
        for row in _rows(execution):
            following = self.places[at].children.get(row.task)
            if following is None:
                following = self.places[at].children[row.task] = len(self.places)
                self.places.append(Place(at, self._number(row)))
            at = following
        self.places[at].end = _end(execution, details)
        return at

    def _number(self, row: Row) -> int:
        found = self._rows.setdefault(row, len(self.steps))
        if found == len(self.steps):
            self.steps.append(row)
        return found

    def conclude(self, found: Exploration, program: ControlledProgram, replay: str | None) -> None:
        """The search is over: what it says, and its failure as the shortest schedule that was found."""
        from possibly.session.exploring.replay import schedule_of

        header = schedule_of(Execution((), Outcome.FINISHED), program, self.program).header
        self.header = {name: value for name, value in header.items() if name != "shows"}
        self.verdict = found.truth.value
        self.complete, self.open = found.complete, list(found.open)
        if found.failure is not None:
            end = self.places[self.add(found.failure.execution, found.failure.details)].end
            assert end is not None
            end["number"] = f"shortest of execution {found.failure.number}"
            if replay is not None:
                end["replay"] = replay

    # ---- looking --------------------------------------------------------------------------------

    def schedule(self, place: int) -> tuple[Task, ...]:
        """The choices on the way to a node."""
        found = []
        at: int | None = place
        while at is not None and self.places[at].parent is not None:
            found.append(self.steps[self.places[at].step].task)
            at = self.places[at].parent
        return tuple(reversed(found))

    def find(self, schedule: tuple[Task, ...]) -> int | None:
        """The end of an execution that is here already."""
        at = 0
        for task in schedule:
            following = self.places[at].children.get(task)
            if following is None:
                return None
            at = following
        return at if self.places[at].end is not None else None

    def outcome(self, place: int) -> str:
        end = self.places[place].end
        return end["outcome"] if end is not None else ""

    @property
    def leaves(self) -> Iterator[int]:
        return (number for number, place in enumerate(self.places) if place.end is not None)

    # ---- files ----------------------------------------------------------------------------------

    def save(self, path: str) -> None:
        document = {
            "format": FORMAT,
            "version": VERSION,
            "program": list(self.program),
            "header": self.header,
            "asked": self.asked,
            "verdict": self.verdict,
            "complete": self.complete,
            "executions": self.count,
            "open": self.open,
            "steps": [[row.task, row.name, row.text, row.at] for row in self.steps],
            "nodes": [[-1 if place.parent is None else place.parent, place.step] for place in self.places],
            "ends": {number: self.places[number].end for number in self.leaves},
        }
        with replacing(path) as stream:
            stream.write(json.dumps(document, indent=None, separators=(",", ":")).encode() + b"\n")


def check_target(path: str) -> None:
    """Before a long search: whether its tree can be written there, and over nothing else."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {folder} for the tree", hint="give another --tree")
    if os.path.exists(path):
        with open(path, "rb") as stream:
            if not stream.read(100).startswith(f'{{"format":"{FORMAT}"'.encode()):
                raise UsageError(f"{path} is there and is no tree of executions", hint="give another --tree")


def loaded_executions(document: Mapping[str, Any], path: str) -> Executions:
    """The executions of a document that was read from a file."""
    if document.get("version") != VERSION:
        raise PossiblyError(f"a tree of executions of version {document.get('version')!r}", file=path)
    try:
        found = Executions(
            tuple(map(str, document["program"])),
            dict(document["header"]),
            str(document["asked"]),
            str(document["verdict"]),
            bool(document["complete"]),
            int(document["executions"]),
            list(map(str, document["open"])),
            [Row(*map(str, row)) for row in document["steps"]],
        )
        found._rows = {row: number for number, row in enumerate(found.steps)}
        _grow(found, document["nodes"])
        for number, end in document["ends"].items():
            end = {str(name): str(text) for name, text in end.items()}
            found.places[int(number)].end = {"outcome": end["outcome"], "verdict": end["verdict"], **end}
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise PossiblyError(
            "a damaged tree of executions", file=path, hint="write it again: possibly explore --tree FILE"
        ) from None
    return found


def _grow(found: Executions, nodes: list[list[int]]) -> None:
    for number, (parent, step) in enumerate(nodes[1:], start=1):
        if not 0 <= parent < number or not 0 <= step < len(found.steps):
            raise ValueError(number)
        found.places.append(Place(parent, step))
        found.places[parent].children[found.steps[step].task] = number


def _rows(execution: Execution) -> Iterator[Row]:
    from possibly.views.text.steps import step_text

    for step in execution.steps:
        text = step_text(step, execution)
        if isinstance(step.detail, dict) and "value" in step.detail:
            value = repr(step.detail["value"])
            text += f": {value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + '…'}"
        yield Row(step.task, execution.names.get(step.task, step.task), text, step.operation.at)


def _end(execution: Execution, details: Mapping[str, Any] | None) -> dict[str, str]:
    is_over = execution.outcome is Outcome.FINISHED
    found = {"outcome": execution.outcome.value, "verdict": "true" if is_over else "unknown"}
    if details is not None:
        found["verdict"] = "false"
    if execution.outcome is Outcome.CUT_OFF and execution.uncontrolled:
        found.update(outcome=GIVEN_UP, message=execution.uncontrolled[0])
    for name in ("kind", "message", "place"):
        if details and details.get(name):
            found[name] = str(details[name])
    if details and is_over:
        found["outcome"] = str(details.get("kind", "failed"))
    return found
