"""A report of `check` or `watch` as findings.

A violated property shows at the event that decides it; where its trace knows no places, at its line in the
specification file, else at the trace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from possibly.logic.languages import PATHS
from possibly.logic.specification import Property
from possibly.trace.model import Trace
from possibly.trace.place import Place
from possibly.verdict.model import Report, Truth, Verdict
from possibly.views.formats.findings import Finding, Findings, Mark
from possibly.views.formats.places import Locator, shown
from possibly.views.text.report import Layout, missing_text, verdict_lines
from possibly.views.text.words import action_text, changes_text, event_text, plain

WORDS = {
    Truth.HOLDS: "holds in every order of this run",
    Truth.VIOLATED: "is violated in an order that this run could have had",
    Truth.UNKNOWN: "is undecided",
    Truth.MATCHED: "occurs",
    Truth.ABSENT: "does not occur",
}
LONGEST = 1_000
"""Steps of an order that are handed on: its last ones."""


def findings_of_report(
    report: Report, trace: Trace | None, properties: Sequence[Property], layout: Layout | None = None
) -> Findings:
    """The answers of a report; the trace tells the places, if it is there."""
    maker = _Maker(report.trace, trace, {each.name: each for each in properties}, layout or Layout())
    return Findings(report.trace, tuple(map(maker.finding, report.verdicts)))


class _Maker:
    def __init__(
        self, name: str, trace: Trace | None, properties: dict[str, Property], layout: Layout
    ) -> None:
        self._name = name
        self._trace = trace
        self._properties = properties
        self._layout = layout
        self._locator = Locator((os.path.dirname(name), ""))

    def finding(self, verdict: Verdict) -> Finding:
        steps = tuple(self._steps(verdict))
        places = self._places(verdict, steps)
        taken = {mark.place for mark in places}
        return Finding(
            rule=verdict.name,
            about=plain(f"{verdict.language} {' '.join(verdict.formula.split())}"),
            truth=verdict.truth,
            message=_message(verdict),
            details="\n".join(verdict_lines(verdict, self._layout)),
            seconds=verdict.seconds,
            places=places,
            related=tuple(mark for mark in self._related(verdict) if mark.place not in taken),
            steps=steps[-LONGEST:],
        )

    def _places(self, verdict: Verdict, steps: tuple[Mark, ...]) -> tuple[Mark, ...]:
        text = _message(verdict)
        if verdict.language in PATHS:
            found = tuple(Mark(text, mark.place) for mark in self._path_marks(verdict))
            return found or self._beside(verdict)
        if deciding := self._deciding(verdict):
            return (Mark(text, deciding),)
        return (Mark(text, steps[-1].place),) if steps else self._beside(verdict)

    def _deciding(self, verdict: Verdict) -> Place | None:
        why = verdict.explanation
        if why is None or not why.steps:
            return None
        last = len(why.steps) if why.moment is None else max(why.moment, 1)
        return self._locator.place(self._at(why.steps[last - 1].event))

    def _beside(self, verdict: Verdict) -> tuple[Mark, ...]:
        """Where nothing of the program is known."""
        found = self._properties.get(verdict.name)
        if found is not None and found.file is not None and os.path.isfile(found.file):
            return (Mark(_message(verdict), Place(shown(found.file), found.line)),)
        return (Mark(_message(verdict), Place(shown(self._name), 1)),) if os.path.isfile(self._name) else ()

    def _path_marks(self, verdict: Verdict) -> Iterator[Mark]:
        """Of an expectation the event that does not fit, else the first occurrence."""
        result = verdict.path
        if result is None:
            return
        names = [result.event] if result.event is not None else list((result.matches or ((),))[:1][0])
        for name in names:
            yield from self._locator.marks(plain(name), self._at(name))

    def _related(self, verdict: Verdict) -> Iterator[Mark]:
        missing = verdict.explanation.missing if verdict.explanation is not None else None
        if missing is None:
            return
        text = missing_text(missing, verdict.truth)
        for step in (missing.first, missing.second):
            yield from self._locator.marks(f"{event_text(step)}. {text}", self._at(step.event))

    def _steps(self, verdict: Verdict) -> Iterator[Mark]:
        why = verdict.explanation
        for step in why.steps if why is not None else ():
            words = " ".join(filter(None, (plain(step.process), action_text(step), changes_text(step))))
            yield from self._locator.marks(words, self._at(step.event))

    def _at(self, name: str) -> str | None:
        """The place of an event of the trace."""
        event = self._trace.find(name) if self._trace is not None else None
        if self._trace is None or event is None:
            return None
        return self._trace.text(self._trace.place, event)


def _message(verdict: Verdict) -> str:
    why = verdict.explanation
    parts = [f"{plain(verdict.name)} {WORDS[verdict.truth]}"]
    if verdict.truth is Truth.UNKNOWN and verdict.reason:
        parts[0] += f": {plain(verdict.reason)}"
    elif why is not None and verdict.truth is Truth.VIOLATED:
        parts[0] += f": {plain(why.summary)}"
        parts += [missing_text(why.missing, verdict.truth)] if why.missing is not None else []
    return ". ".join(part.rstrip(".") for part in parts) + "."
