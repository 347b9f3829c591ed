"""Predicted deadlocks as findings: each at the requests that wait for each other."""

from __future__ import annotations

import os

from possibly.session.checking.deadlocks import DeadlockReport
from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings
from possibly.views.formats.places import Locator
from possibly.views.text.deadlocks import deadlock_lines

RULE = "deadlock"
ABOUT = "no order of the run reaches a deadlock"


def findings_of_deadlocks(name: str, report: DeadlockReport) -> Findings:
    """One finding a deadlock; one that says so where there is none."""
    locator = Locator((os.path.dirname(name), ""))
    found = []
    for each in report.deadlocks:
        first, *rest = deadlock_lines(report.trace, each, lambda at: None)
        places = [report.trace.text(report.trace.place, request.event) for request in each.requests]
        marks = tuple(mark for at in places for mark in locator.marks(first, at))
        found.append(Finding(RULE, ABOUT, Truth.VIOLATED, first, "\n".join([first, *rest]), places=marks))
    if report.reason is not None:
        found.append(Finding(RULE, ABOUT, Truth.UNKNOWN, report.reason))
    return Findings(name, tuple(found) or (Finding(RULE, ABOUT, Truth.HOLDS, "no deadlocks"),))
