"""JUnit's XML: a suite for each run or program, a case for each property.

Violated is a failure, undecided an error (a CI server shows both as red), and so is a run that could not be
checked at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings
from possibly.views.text.words import plain

ELEMENTS = {Truth.VIOLATED: "failure", Truth.UNKNOWN: "error", Truth.MATCHED: "system-out"}


def render_junit(answers: Sequence[Findings]) -> str:
    root = ElementTree.Element("testsuites", name="possibly")
    for answer in answers:
        root.append(_suite(answer))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(answer: Findings) -> ElementTree.Element:
    cases = [_case(answer.subject, finding) for finding in answer.findings]
    if answer.error is not None:
        cases.append(_error_case(answer.subject, answer.error))
    suite = ElementTree.Element("testsuite", name=_text(answer.subject), tests=str(len(cases)))
    for name, element in (("failures", "failure"), ("errors", "error")):
        suite.set(name, str(sum(case.find(element) is not None for case in cases)))
    suite.set("skipped", "0")
    suite.set("time", f"{sum(finding.seconds for finding in answer.findings):.6f}")
    suite.extend(cases)
    return suite


def _case(subject: str, finding: Finding) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_text(subject), name=_text(finding.rule))
    case.set("time", f"{finding.seconds:.6f}")
    if finding.places:
        case.set("file", _text(finding.places[0].place.file))
        case.set("line", str(finding.places[0].place.line))
    if finding.is_bad:
        inside = ElementTree.SubElement(case, ELEMENTS[finding.truth])
        if finding.truth is not Truth.MATCHED:
            inside.set("message", _text(finding.message))
            inside.set("type", finding.truth.value)
        inside.text = _text(finding.details or finding.message)
    return case


def _error_case(subject: str, error: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_text(subject), name="input", time="0.000000")
    inside = ElementTree.SubElement(case, "error", message=_text(error), type="bad input")
    inside.text = _text(error)
    return case


def _text(text: str) -> str:
    """Only what XML may hold: control characters are written as escapes."""
    return "\n".join(map(plain, text.split("\n")))
