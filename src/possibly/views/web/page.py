"""The report as one HTML page that needs nothing else: no network, no script, no library.

The page carries a content security policy that forbids scripts and every request, and allows only our
own style sheet (by its hash). It follows the reader's light or dark scheme and prints on paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from possibly.verdict.model import Atom, Explanation, Report, Step, Truth, Verdict, Witness
from possibly.views.text.report import RECORDED, missing_text, summary_text
from possibly.views.text.words import action_text, changes_text, count_text, state_texts, value_text
from possibly.views.web.diagram import MOST_EVENTS, chosen_events, render_diagram
from possibly.views.web.markup import Markup, element, raw
from possibly.views.web.style import STYLE

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.trace.model import Trace

MOST_DIAGRAMS = 6
MOST_STEPS = 2_000


def render_page(trace: Trace, computation: Computation, report: Report) -> str:
    """The whole page."""
    sizes = f"{count_text(report.processes, 'process')}, {count_text(report.events, 'event')}"
    body = element(
        "body",
        element("h1", report.trace),
        element("p", f"{sizes}, {computation.order} order", class_="sizes"),
        (element("p", f"warning: {warning}") for warning in report.warnings),
        _overview(report),
        _sections(computation, report),
        _legend(),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(report), body, lang='en')}\n"


def _head(report: Report) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{report.trace} - possibly"),
        element("style", raw(STYLE)),
    )


def policy() -> str:
    """Nothing may be loaded or run; the one style sheet is known by its hash."""
    from base64 import b64encode
    from hashlib import sha256

    digest = b64encode(sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


# ---- verdicts -----------------------------------------------------------------------------------


def _overview(report: Report) -> Markup | None:
    if len(report.verdicts) < 2:
        return None
    items = (
        element("li", _badge(verdict), " ", element("a", verdict.name, href=f"#property-{number}"))
        for number, verdict in enumerate(report.verdicts)
    )
    return element("ul", items, class_="overview")


def _sections(computation: Computation, report: Report) -> Iterator[Markup]:
    """A section a property; the diagram stands where it explains, or alone if nothing is explained."""
    diagrams = 0
    for number, verdict in enumerate(report.verdicts):
        drawn = verdict.witness is not None and diagrams < MOST_DIAGRAMS
        diagrams += drawn
        figure = _figure(computation, verdict.witness, f"A way for {verdict.name}") if drawn else None
        yield element("section", _verdict(verdict), figure, _explanation(verdict), id=f"property-{number}")
    if not diagrams:
        yield element("section", _figure(computation, None, "The recorded run"))


def _badge(verdict: Verdict) -> Markup:
    return element("span", verdict.truth.value, class_=f"badge {verdict.truth.value}")


def _verdict(verdict: Verdict) -> Iterator[Markup]:
    yield element("h2", _badge(verdict), " ", verdict.name)
    yield element("p", element("code", f"{verdict.language} {verdict.formula}"), class_="formula")
    if verdict.observed is not None:
        yield element("p", RECORDED[verdict.truth, verdict.observed])
    if verdict.truth is Truth.UNKNOWN:
        yield element("p", f"Undecided: {verdict.reason or 'a limit was reached.'}")
    for fault in verdict.faults:
        yield element("p", f"Counted as false: {fault}")


def _figure(computation: Computation, witness: Witness | None, caption: str) -> Markup:
    drawn = len(chosen_events(computation, witness))
    count = len(computation.trace)
    note = f" Of {count:,} events only {drawn:,} are drawn: those near the end of the order."
    if witness is None or not witness.path:
        note = f" Of {count:,} events only the first {MOST_EVENTS:,} are drawn."
    return element(
        "figure",
        element("div", render_diagram(computation, witness, caption), class_="scroll"),
        element("figcaption", caption + ".", note if drawn < count else None),
    )


# ---- explanation --------------------------------------------------------------------------------


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
        yield element("p", f"The first {first:,} steps are left out.")
    head = element(
        "tr", (element("th", word) for word in ("", "process", "event", "what", "place", "changes"))
    )
    moment = len(explanation.steps) if explanation.moment is None else explanation.moment
    rows = (
        _row(n, explanation.steps[n - 1], n == moment) for n in range(first + 1, len(explanation.steps) + 1)
    )
    yield element("div", element("table", element("thead", head), element("tbody", rows)), class_="scroll")


def _row(number: int, step: Step, decides: bool) -> Markup:
    cells = (step.process, step.event, action_text(step), step.place, changes_text(step))
    return element(
        "tr",
        element("th", str(number), scope="row"),
        (element("td", cell) for cell in cells),
        class_="decides" if decides else None,
        title="here it is decided" if decides else None,
    )


def _atom(atom: Atom) -> Iterator[Markup | str]:
    yield element("code", atom.text)
    yield f" is {value_text(atom.value)}"
    if atom.operands:
        yield f" ({', '.join(state_texts(atom.operands))})"


def _legend() -> Markup:
    words = "Time runs to the right, a lane a process. Solid arrows are messages, dashed ones other order;"
    rest = " numbers give the order that is explained, and the thick line is the cut it ends in."
    return element("p", words + rest, class_="legend")
