"""The answer of a search by macro-steps as findings: each violation in its tree is one."""

from __future__ import annotations

from typing import Any

from possibly.control.macro.why import Violation, violations
from possibly.session.macro_steps.answer import FailingPath
from possibly.verdict.answer import Answer
from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings
from possibly.views.formats.of_explore import LOCATOR, findings_of_answer
from possibly.views.text.words import plain


def findings_of_macro_answer(answer: Answer[Any], program: str, details: str) -> Findings:
    """The answer about one program; where executions decided it, it is told as theirs."""
    if not isinstance(answer.failure, FailingPath):
        return findings_of_answer(answer, program, details)
    return Findings(program, tuple(_violation(each, details) for each in violations(answer.failure.tree)))


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
