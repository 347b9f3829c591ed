"""The answer of a search through the executions of a program, whoever searched: as data.

`explore`, macro-steps and `confirm` say the same things: a failure or none, what was covered, what leaves it
open, what it rests on. A search extends `Answer` by what it alone knows; what shows a failure (an execution,
a path of macro-steps) is its own type, with `kind` and `message`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from possibly.verdict.coverage import Coverage
from possibly.verdict.model import Truth
from possibly.verdict.reasons import Reason


class Failing(Protocol):
    """What shows that a program fails."""

    @property
    def kind(self) -> str:
        """`assertion`, `deadlock`, `claim`, ..."""
        ...

    @property
    def message(self) -> str:
        """What went wrong, in one sentence."""


Shown = TypeVar("Shown", bound=Failing)


@dataclass(slots=True)
class Answer(Generic[Shown]):
    """What was found and what was covered."""

    executions: int = 0
    seconds: float = 0.0
    failure: Shown | None = None
    complete: bool = False
    """Nothing is left to execute."""
    open: dict[str, Reason] = field(default_factory=dict)
    """What leaves it open, by the words that say so."""
    assumed: tuple[str, ...] = ()
    """What it rests on."""
    warnings: tuple[str, ...] = ()
    """What a user should know of properties that hold."""
    coverage: Coverage | None = None
    """If the search keeps figures."""

    @property
    def holds(self) -> bool | None:
        """True, False, or None where something leaves it open."""
        if self.failure is not None:
            return False
        return True if self.complete and not self.open else None

    @property
    def truth(self) -> Truth:
        """The answer as a truth value."""
        return Truth.of(self.holds)
