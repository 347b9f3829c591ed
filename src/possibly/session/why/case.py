"""What is known of a failure, and what would cure it: the words of all patterns of remedies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from possibly.control.execution import CALLED_FROM, Execution
from possibly.control.minimise import decisive
from possibly.control.why import Cause, Moment, Pair
from possibly.trace.place import line_text


class Remedy(NamedTuple):
    pattern: str
    words: str


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of a failure."""

    execution: Execution
    details: dict[str, Any]
    cause: Cause

    def name(self, thing: str) -> str:
        return self.execution.name_of(thing)

    def line(self, at: str) -> str:
        """A line in a sentence, with its file where there are several."""
        return line_text(at, self.execution.files())

    @property
    def pair(self) -> Pair | None:
        return self.cause.pairs[0] if self.cause.pairs else None

    def moments(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """What happened in each decisive step, with the step's number."""
        return moments_of(self.execution)

    def at(self, moment: Moment) -> str:
        """The line of a moment; where that is a library's, the user's that called it."""
        detail = self.execution.steps[moment.number].detail if moment.number is not None else None
        return str((detail or {}).get(CALLED_FROM, moment.operation.at))


def moments_of(execution: Execution) -> Iterator[tuple[int, dict[str, Any]]]:
    """What happened in each decisive step of an execution, with the step's number."""
    for number, step in enumerate(decisive(execution)):
        detail = step.detail if isinstance(step.detail, dict) else {}
        kind, thing, _, at, _ = step.operation
        if "turn" not in detail:
            yield number, {"kind": kind, "thing": thing, **detail, "at": detail.get(CALLED_FROM, at)}
        for each in (*detail.get("turn", ()), *detail.get("inside", ())):
            yield number, {**each, "at": each.get(CALLED_FROM, each["at"])}
