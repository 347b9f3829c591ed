"""An exploration, or a tree of macro-steps, as findings.

Of an exploration the document that `--json` prints is read: it is complete and its keys are public. A
failure shows where it was raised; a race at both accesses, a deadlock at each task that waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from possibly.control.macro.why import Violation
from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings, Mark
from possibly.views.formats.places import Locator
from possibly.views.text.words import plain, value_text

RULE = "schedules"
ABOUT = "no schedule of the program fails"
TRUTHS = {"holds": Truth.HOLDS, "violated": Truth.VIOLATED, "unknown": Truth.UNKNOWN}
LONGEST = 1_000
"""Steps of a schedule that are handed on: its last ones."""
LOCATOR = Locator()


def findings_of_exploration(document: Mapping[str, Any], details: str) -> Findings:
    """The answer about one program; `details` is the report as text."""
    failure = document["failure"]
    found = _open(document, details) if failure is None else _failure(document, failure, details)
    return Findings(str(document["program"]), (found,))


def _open(document: Mapping[str, Any], details: str) -> Finding:
    truth = TRUTHS[document["verdict"]]
    reasons = [_reason(each) for each in document["open"]]
    covered = f"{document['executions']:,} executions"
    if truth is Truth.HOLDS:
        message = f"every schedule is covered by {covered}"
    else:
        message = f"not every schedule is covered, nothing found in {covered}: {'; '.join(reasons)}"
    marks = [mark for each in document["open"] for mark in _where(each)]
    return Finding(
        RULE, ABOUT, truth, plain(message), details, float(document["seconds"]), places=tuple(marks[:1])
    )


def _reason(each: Mapping[str, Any] | str) -> str:
    """Why it is open, and what to do about it."""
    if isinstance(each, str):
        return each
    remedy = f" ({each['remedy']})" if each.get("remedy") else ""
    return f"{each['what']}{remedy}"


def _where(each: Mapping[str, Any] | str) -> tuple[Mark, ...]:
    where = None if isinstance(each, str) else each.get("where")
    return LOCATOR.marks(plain(_reason(each)), where if isinstance(where, str) else None)


def _failure(document: Mapping[str, Any], failure: Mapping[str, Any], details: str) -> Finding:
    kind = str(failure.get("kind", "failure"))
    message = plain(f"{kind}: {failure.get('message', '')}")
    steps = tuple(mark for row in failure["steps"] for mark in _step(row))
    places = tuple(_places(failure, message)) or tuple(Mark(message, mark.place) for mark in steps[-1:])
    return Finding(
        rule=str(failure.get("property") or kind).replace(" ", "-"),
        about=plain(str(failure.get("formula") or ABOUT)),
        truth=Truth.VIOLATED,
        message=message,
        details=details,
        seconds=float(document["seconds"]),
        places=places,
        steps=steps[-LONGEST:],
    )


def _places(failure: Mapping[str, Any], message: str) -> Iterator[Mark]:
    yield from LOCATOR.marks(message, failure.get("place"))
    for race in failure.get("races") or ():
        for side in (race["first"], race["second"]):
            yield from LOCATOR.marks(message, side["at"])
    for row in sorted(failure.get("waiting") or (), key=lambda row: row["does"] in ("join", "exit")):
        yield from LOCATOR.marks(plain(f"{message}: {row['name']} waits here"), row["at"])


def _step(row: Mapping[str, Any]) -> tuple[Mark, ...]:
    value = f": {value_text(row['value'])}" if "value" in row else ""
    return LOCATOR.marks(plain(f"{row['name']} {row['kind']} {row['thing']}{value}"), row["at"])


def findings_of_tree(
    program: str, verdict: bool | None, violations: Sequence[Violation], details: str
) -> Findings:
    """The answer about a program that was explored by macro-steps."""
    if violations:
        return Findings(program, tuple(_violation(each, details) for each in violations))
    truth = {True: Truth.HOLDS, False: Truth.VIOLATED, None: Truth.UNKNOWN}[verdict]
    return Findings(program, (Finding("paths", "no path fails", truth, truth.value, details),))


def _violation(found: Violation, details: str) -> Finding:
    text = f"claim {found.claim} is false" if found.claim else f"{found.end}: {found.detail}"
    return Finding(
        rule="claim" if found.claim else found.end,
        about=plain(found.claim or "no path fails"),
        truth=Truth.VIOLATED,
        message=plain(text),
        details=details,
        places=LOCATOR.marks(plain(text), found.at),
    )
