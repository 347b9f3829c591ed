"""What every search through executions says, as text and as JSON: verdict, what leaves it open, what it saw.

What shows a failure is told by `exploration` (a schedule) and `macro` (a path of macro-steps).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from possibly.verdict.answer import Answer
from possibly.verdict.coverage import Coverage
from possibly.verdict.reasons import Reason
from possibly.views.text.words import count_text


def reason_text(what: str, reason: Reason) -> str:
    """Why an answer is open, where, and what can be done about it."""
    return f"{what}{_where(what, reason, ' at {}')}" + (f" ({reason.remedy})" if reason.remedy else "")


def _where(what: str, reason: Reason, form: str) -> str:
    return form.format(reason.where) if reason.where and reason.where not in what else ""


def open_lines(answer: Answer[Any]) -> Iterator[str]:
    """What leaves it open, and what it rests on."""
    for what, reason in answer.open.items():
        yield f"  left open by {what}{_where(what, reason, ' ({})')}"
        if reason.remedy:
            yield f"    what helps: {reason.remedy}"
    yield from (f"  assuming that {each}" for each in answer.assumed)
    yield from (f"  warning: {each}" for each in answer.warnings)


def coverage_lines(coverage: Coverage | None) -> Iterator[str]:
    """What an unfinished search has covered, as far as it can tell."""
    if coverage is None or not coverage.executions:
        return
    classes = "class" if coverage.classes == 1 else "classes"
    text = f"  {coverage.classes:,} {classes} of schedules"
    if coverage.new is not None:
        text += f", the next execution is a new one with a probability of about {coverage.new:.0%}"
        text += f", at least some {coverage.species:,} in all"
    if coverage.states:
        text += f", {coverage.states:,} states"
    if coverage.pruned:
        text += f", {coverage.pruned:,} choices pruned"
    if coverage.left:
        text += f", {coverage.left:,} branches known to be left"
        if not coverage.states:  # of equal states nobody knows how many there will be
            text += f", perhaps {coverage.estimate:,} executions in all"
    yield text
    yield from _level_lines(coverage)


def _level_lines(coverage: Coverage) -> Iterator[str]:
    """What a bounded search has shown, though it leaves much out."""
    if not coverage.levels:
        return
    level, known = coverage.levels[-1]
    most = f"with at most {count_text(level, 'preemption')}" if level else "without preemptions"
    text = f"  no failure {most}: all such schedules are covered, {known:,} classes"
    under_way = coverage.under_way
    if under_way is not None and under_way.done:
        part = f"{under_way.done / under_way.known:.0%} ({under_way.done:,} of {under_way.known:,} schedules)"
        text += f"; {count_text(under_way.preemptions, 'preemption')} begun: perhaps {part}"
    yield text


# ---- JSON ---------------------------------------------------------------------------------------


def answer_document(answer: Answer[Any], program: str) -> dict[str, Any]:
    """The keys that every answer has."""
    return {
        "program": program,
        "verdict": answer.truth.value,
        "complete": answer.complete,
        "executions": answer.executions,
        "seconds": round(answer.seconds, 3),
        "open": [
            {"what": what, "where": reason.where, "remedy": reason.remedy}
            for what, reason in answer.open.items()
        ],
        "assumed": list(answer.assumed),
        **({"warnings": list(answer.warnings)} if answer.warnings else {}),
    }


def coverage_document(coverage: Coverage | None) -> dict[str, Any] | None:
    if coverage is None:
        return None
    return {
        "classes": coverage.classes,
        "states": coverage.states,
        "pruned": coverage.pruned,
        "left": coverage.left,
        "explored": round(coverage.explored, 4),
        "estimate": coverage.estimate,
        "new": None if coverage.new is None else round(coverage.new, 4),
        "species": coverage.species,
        "levels": [{"preemptions": level, "classes": known} for level, known in coverage.levels],
        "under_way": None if coverage.under_way is None else coverage.under_way._asdict(),
    }
