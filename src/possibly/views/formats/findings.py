"""An answer as other tools want it: a rule, a verdict, a message, and places in the user's source.

Here belong the types alone. `of_check`, `of_races`, `of_explore` and `of_macro` make them, a file a format
renders them; so every format says the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from possibly.trace.place import Place
from possibly.verdict.model import Truth

BAD = (Truth.VIOLATED, Truth.UNKNOWN, Truth.MATCHED)
"""What somebody should look at."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place, and what happens there; the file is named from the current folder if it lies below it."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one question."""

    rule: str
    """A stable name: of the property, or of the kind of failure."""
    about: str
    """What is asked, in one line."""
    truth: Truth
    message: str
    """One paragraph for a person."""
    details: str = ""
    """The whole explanation."""
    seconds: float = 0.0
    places: tuple[Mark, ...] = ()
    """Where it shows: one place, for a race both."""
    related: tuple[Mark, ...] = ()
    """Other places that have to do with it."""
    steps: tuple[Mark, ...] = ()
    """The way there, in execution order."""

    @property
    def is_bad(self) -> bool:
        return self.truth in BAD


@dataclass(frozen=True, slots=True)
class Findings:
    """The answers about one run or program, or why there are none."""

    subject: str
    """The trace or the program."""
    findings: tuple[Finding, ...] = ()
    error: str | None = None
