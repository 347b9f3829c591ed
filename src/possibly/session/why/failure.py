"""A failure as it is told: one execution, what is wrong with it, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from possibly.control.execution import Execution, Task
from possibly.control.why import Cause
from possibly.session.why.case import Remedy
from possibly.session.why.remedies import remedy_of


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in one execution."""

    execution: Execution
    number: int
    """It was the number-th execution."""
    details: dict[str, Any]
    cause: Cause | None = None
    """Why it fails, as far as other orders were tried."""
    asked: frozenset[int] = frozenset()
    """The steps that change what its property reads."""

    @property
    def remedy(self) -> Remedy | None:
        """What would cure it, if that is known."""
        return remedy_of(self.execution, self.details, self.cause)

    @property
    def kind(self) -> str:
        return str(self.details.get("kind", "failure"))

    @property
    def message(self) -> str:
        return str(self.details.get("message", ""))

    @property
    def schedule(self) -> tuple[Task, ...]:
        return self.execution.schedule
