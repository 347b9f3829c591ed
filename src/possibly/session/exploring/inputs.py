"""Inputs from Hypothesis, each tried on every schedule: what fails is made small, then its schedule short.

Hypothesis draws inputs and shrinks one that fails; whether it fails is what an exploration says. All that
is drawn follows from the seed, so the seed brings both back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from possibly.errors import UsageError

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Tried(Generic[Answer]):
    """An input and what it came to."""

    input: Any
    answer: Answer


@dataclass(slots=True)
class Inputs(Generic[Answer]):
    """What was tried."""

    count: int = 0
    failing: Tried[Answer] | None = None
    """The smallest input that fails."""
    undecided: Tried[Answer] | None = None
    """The first input that was not decided."""


def is_strategy(value: object) -> bool:
    """Whether it is one of Hypothesis; nothing is imported to find out."""
    return any(kind.__name__ == "SearchStrategy" for kind in type(value).__mro__)


def tried(
    strategy: Any,
    answer: Callable[[Any], Answer],
    holds: Callable[[Answer], bool | None],
    examples: int,
    seed: int,
) -> Inputs[Answer]:
    """Draws so many inputs, or fewer if there are no more; stops at the first that fails, made small."""
    try:
        import hypothesis
    except ImportError:
        raise UsageError("inputs need Hypothesis", hint="pip install hypothesis") from None
    found: Inputs[Answer] = Inputs()
    answers: dict[str, Answer] = {}

    def attempt(drawn: Any) -> None:
        key = repr(drawn)
        if key not in answers:
            answers[key] = answer(drawn)
            found.count += 1
        verdict = holds(answers[key])
        if verdict is False:
            found.failing = Tried(drawn, answers[key])  # the last that Hypothesis tries is the smallest
            raise _Fails
        if verdict is None and found.undecided is None:
            found.undecided = Tried(drawn, answers[key])

    phases = (hypothesis.Phase.generate, hypothesis.Phase.shrink)
    limits: Any = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
        verbosity=hypothesis.Verbosity.quiet,
    )
    try:
        draw: Any = hypothesis.given(strategy)
        hypothesis.seed(seed)(limits(draw(attempt)))()
    except _Fails:
        pass
    return found


class _Fails(Exception):
    """The input fails."""
