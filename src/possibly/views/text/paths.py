"""The result of a path expression for a person: one paragraph a fact."""

from __future__ import annotations

from collections.abc import Iterator

from possibly.verdict.model import Truth, Verdict
from possibly.verdict.paths import Expected, PathResult
from possibly.views.text.words import count_text, plain

MOST_MATCHES = 5
MOST_EXPECTED = 8
MOST_OUTPUT = 20


def path_lines(verdict: Verdict, full: bool = False) -> Iterator[str]:
    """What was found, and what actions said."""
    result = verdict.path
    if result is None:
        return
    if result.matches is not None:
        yield from _matches(result, full)
        yield from _output(result, full)
    elif verdict.truth is Truth.VIOLATED:
        yield _misfit(result, full)
        if result.latest:
            lead = "The order so far" if result.fitted == len(result.latest) else "The order before it"
            yield f"{lead}: {', '.join(map(_expected_text, result.latest))}."


def _misfit(result: PathResult, full: bool) -> str:
    expected = _joined([_expected_text(each) for each in result.expected], MOST_EXPECTED, full)
    if result.event is None:
        return f"All {count_text(result.fitted, 'event')} fit, but events are missing at the end: {expected}."
    after = f" after {_names(result.after)}" if result.after else " with nothing before it"
    where = f"The first event that does not fit is {plain(result.event)}{after}"
    return f"{where}. Expected there: {expected or 'no further event'}."


def _expected_text(expected: Expected) -> str:
    after = f" after {_names(expected.after)}" if expected.after else ""
    return f"{plain(expected.symbol)}{after}"


def _names(names: tuple[str, ...]) -> str:
    return " and ".join(map(plain, names))


def _matches(result: PathResult, full: bool) -> Iterator[str]:
    matches = result.matches or ()
    if not matches:
        return
    count = count_text(len(matches), "occurrence")
    count = count if result.is_complete else f"At least {count}"
    sets = ["{" + ", ".join(map(plain, each)) + "}" for each in matches]
    yield f"{count}: {_joined(sets, MOST_MATCHES, full)}"


def _output(result: PathResult, full: bool) -> Iterator[str]:
    shown = result.output if full else result.output[:MOST_OUTPUT]
    yield from map(plain, shown)
    if len(shown) < len(result.output):
        yield f"... and {count_text(len(result.output) - len(shown), 'more line')}"


def _joined(texts: list[str], most: int, full: bool) -> str:
    shown = texts if full else texts[:most]
    rest = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")
