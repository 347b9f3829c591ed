"""The answer of a search through executions as findings.

A failure shows where it was raised; a race at both accesses, a deadlock at each task that waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from possibly.verdict.answer import Answer
from possibly.verdict.reasons import Reason
from possibly.views.formats.findings import Finding, Findings, Mark
from possibly.views.formats.places import Locator
from possibly.views.text.answers import reason_text
from possibly.views.text.exploration import failure_document
from possibly.views.text.words import count_text, plain, value_text

RULE = "schedules"
ABOUT = "no schedule of the program fails"
LONGEST = 1_000
"""Steps of a schedule that are handed on: its last ones."""
LOCATOR = Locator()


def findings_of_answer(answer: Answer[Any], program: str, details: str) -> Findings:
    """The answer about one program; `details` is the report as text."""
    if answer.failure is None:
        return Findings(program, (_open(answer, details),))
    return Findings(program, (_failure(answer, failure_document(answer.failure, None), details),))


def _open(answer: Answer[Any], details: str) -> Finding:
    covered = count_text(answer.executions, "execution")
    if answer.holds:
        message = f"every schedule is covered by {covered}"
    else:
        reasons = [reason_text(what, reason) for what, reason in answer.open.items()]
        message = f"not every schedule is covered, nothing found in {covered}: {'; '.join(reasons)}"
    marks = [mark for what, reason in answer.open.items() for mark in _where(what, reason)]
    return Finding(
        RULE, ABOUT, answer.truth, plain(message), details, answer.seconds, places=tuple(marks[:1])
    )


def _where(what: str, reason: Reason) -> tuple[Mark, ...]:
    return LOCATOR.marks(plain(reason_text(what, reason)), reason.where or None)


def _failure(answer: Answer[Any], failure: Mapping[str, Any], details: str) -> Finding:
    kind = str(failure.get("kind", "failure"))
    message = plain(f"{kind}: {failure.get('message', '')}")
    steps = tuple(mark for row in failure["steps"] for mark in _step(row))
    places = tuple(_places(failure, message)) or tuple(Mark(message, mark.place) for mark in steps[-1:])
    return Finding(
        rule=str(failure.get("property") or kind).replace(" ", "-"),
        about=plain(str(failure.get("formula") or ABOUT)),
        truth=answer.truth,
        message=message,
        details=details,
        seconds=answer.seconds,
        places=places,
        steps=steps[-LONGEST:],
    )


def _places(failure: Mapping[str, Any], message: str) -> Iterator[Mark]:
    yield from LOCATOR.marks(message, failure.get("place"))
    if failure.get("formula") and failure.get("failing_step"):
        yield from LOCATOR.marks(message, failure["steps"][failure["failing_step"] - 1]["at"])
    for race in failure.get("races") or ():
        for side in (race["first"], race["second"]):
            yield from LOCATOR.marks(message, side["at"])
    for row in sorted(failure.get("waiting") or (), key=lambda row: row["does"] in ("join", "exit")):
        yield from LOCATOR.marks(plain(f"{message}: {row['name']} waits here"), row["at"])


def _step(row: Mapping[str, Any]) -> tuple[Mark, ...]:
    value = f": {value_text(row['value'])}" if "value" in row else ""
    return LOCATOR.marks(plain(f"{row['name']} {row['kind']} {row['thing']}{value}"), row["at"])
