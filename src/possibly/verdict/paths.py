"""What a data path expression found in a run, as data.

Here belong the answers of `expect` (the first event that does not fit, what could have come there) and of
`never` and `watch` (the occurrences, and what actions said); wording is the views'.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """An event that could have come: its text in the expression, and the events right before it."""

    symbol: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PathResult:
    event: str | None = None
    """Of `expect`: the first event in line order at which no run of the language can go on."""
    after: tuple[str, ...] = ()
    """The events of the expression right before it."""
    expected: tuple[Expected, ...] = ()
    """Of `expect`: what could have come there, or what is missing at the end."""
    fitted: int = 0
    """Of `expect`: how many events fitted."""
    latest: tuple[Expected, ...] = ()
    """Of `expect`: the last events that fitted (their names as `symbol`), each with those right before it."""
    matches: tuple[tuple[str, ...], ...] | None = None
    """Of `never` and `watch`: the events of each occurrence, in line order."""
    is_complete: bool = True
    """Whether these are all occurrences."""
    output: tuple[str, ...] = ()
    """What the actions of a `watch` said, in order."""
