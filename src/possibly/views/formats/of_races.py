"""Races of a recorded run as findings: each at both of its accesses."""

from __future__ import annotations

import os
from collections.abc import Sequence

from possibly.recorder.sharing.races import Access, Race
from possibly.trace.model import Trace
from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings
from possibly.views.formats.places import Locator
from possibly.views.text.words import plain

RULE = "race"
ABOUT = "every two conflicting accesses to a shared variable are ordered"
REMEDY = "Nothing orders them: a lock around both, or a join between, would."
ELSEWHERE = "Another order of the run brings them together: a lock around both would keep them apart."


def findings_of_races(name: str, trace: Trace, races: Sequence[Race]) -> Findings:
    """One finding a race; one that says so where there is none."""
    locator = Locator((os.path.dirname(name), ""))
    found = tuple(_finding(trace, race, locator) for race in races)
    return Findings(name, found or (Finding(RULE, ABOUT, Truth.HOLDS, "no races"),))


def _finding(trace: Trace, race: Race, locator: Locator) -> Finding:
    sides = (race.first, race.second)
    remedy = REMEDY if race.path is None else ELSEWHERE
    told = [_words(trace, access) for access in sides]
    message = f"race for {plain(race.variable)}: {told[0]}, {told[1]}. {remedy}"
    marks = [locator.marks(message, trace.text(trace.place, access.event)) for access in sides]
    return Finding(RULE, ABOUT, Truth.VIOLATED, message, message, places=(*marks[0], *marks[1]))


def _words(trace: Trace, access: Access) -> str:
    event = trace.event(access.event)
    where = f" at {event.at}" if event.at else ""
    return plain(f"{event.process} {access.how}s it{where}")
