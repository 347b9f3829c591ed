"""The report as plain markup, for readers without scripts: answers, orders step by step, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from possibly.verdict.model import Atom, Explanation, Report, Step, Truth, Verdict
from possibly.views.text.report import RECORDED, missing_text, summary_text
from possibly.views.text.words import action_text, changes_text, count_text, state_texts, value_text
from possibly.views.web.markup import Markup, element

if TYPE_CHECKING:
    from possibly.order.computation import Computation

MOST_STEPS = 500


def static_report(computation: Computation, report: Report) -> Markup:
    """A section a property."""
    sizes = f"{count_text(report.processes, 'process')}, {count_text(report.events, 'event')}"
    sections = (
        element("section", _verdict(verdict), _explanation(verdict), id=f"property-{number}")
        for number, verdict in enumerate(report.verdicts)
    )
    return element(
        "div",
        element("h1", report.trace),
        element("p", f"{sizes}, {computation.order} order"),
        (element("p", f"warning: {warning}") for warning in report.warnings),
        sections,
        class_="static",
    )


def _verdict(verdict: Verdict) -> Iterator[Markup]:
    yield element("h2", verdict.truth.value, ": ", verdict.name)
    yield element("p", element("code", f"{verdict.language} {verdict.formula}"))
    if verdict.observed is not None:
        yield element("p", RECORDED[verdict.truth, verdict.observed])
    if verdict.truth is Truth.UNKNOWN:
        yield element("p", f"Undecided: {verdict.reason or 'a limit was reached.'}")
    for fault in verdict.faults:
        yield element("p", f"Counted as false: {fault}")


def _explanation(verdict: Verdict) -> Iterator[Markup]:
    explanation = verdict.explanation
    if explanation is None:
        return
    yield element("p", summary_text(verdict, explanation))
    if explanation.missing is not None:
        yield element("p", missing_text(explanation.missing, verdict.truth), class_="missing")
    yield from _steps(explanation)
    if explanation.atoms:
        yield element("ul", (element("li", _atom(atom)) for atom in explanation.atoms))
    if explanation.state:
        yield element("p", "State at the end: ", element("code", ", ".join(state_texts(explanation.state))))


def _steps(explanation: Explanation) -> Iterator[Markup]:
    if not explanation.steps:
        return
    first = max(0, len(explanation.steps) - MOST_STEPS)
    if first:
        yield element("p", f"Left out: the first {count_text(first, 'step')}.")
    words = ("", "process", "event", "what", "place", "changes")
    head = element("tr", (element("th", word) for word in words))
    moment = len(explanation.steps) if explanation.moment is None else explanation.moment
    rows = (
        _row(number, explanation.steps[number - 1], number == moment)
        for number in range(first + 1, len(explanation.steps) + 1)
    )
    yield element("div", element("table", element("thead", head), element("tbody", rows)), class_="scroll")


def _row(number: int, step: Step, decides: bool) -> Markup:
    cells = (step.process, step.event, action_text(step), step.place, changes_text(step))
    return element(
        "tr",
        element("th", str(number), scope="row"),
        (element("td", cell) for cell in cells),
        title="here it is decided" if decides else None,
    )


def _atom(atom: Atom) -> Iterator[Markup | str]:
    yield element("code", atom.text)
    yield f" is {value_text(atom.value)}"
    if atom.operands:
        yield f" ({', '.join(state_texts(atom.operands))})"
