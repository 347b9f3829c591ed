"""Annotations of GitHub's workflows: a command a line, at the lines of the source that they speak of.

An annotation is `::error file=bank.py,line=12,title=mutex::text`. A line break, a percent sign and, in the
values before the text, a colon or a comma are written as escapes, so nothing a trace says ends a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings, Mark
from possibly.views.text.words import plain

LEVELS = {Truth.VIOLATED: "error", Truth.UNKNOWN: "warning", Truth.MATCHED: "notice"}


def render_github(answers: Sequence[Findings]) -> str:
    return "".join(f"{line}\n" for each in answers for line in _lines(each))


def _lines(answer: Findings) -> Iterator[str]:
    if answer.error is not None:
        yield _command("error", answer.error, title="possibly")
    for finding in answer.findings:
        if finding.is_bad:
            yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[str]:
    level, title = LEVELS[finding.truth], f"possibly: {finding.rule}"
    if not finding.places:
        yield _command(level, finding.details or finding.message, title=title)
    for number, mark in enumerate(finding.places):
        text = mark.text if number or not finding.details else finding.details
        yield _at(level, mark, title, text)
    for mark in finding.related:
        yield _at("notice", mark, title, mark.text)


def _at(level: str, mark: Mark, title: str, text: str) -> str:
    return _command(level, text, file=mark.place.file, line=str(mark.place.line), title=title)


def _command(level: str, text: str, **values: str) -> str:
    given = ",".join(f"{name}={_value(value)}" for name, value in values.items())
    return f"::{level} {given}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return "%0A".join(plain(line).replace("%", "%25") for line in text.split("\n"))


def _value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
