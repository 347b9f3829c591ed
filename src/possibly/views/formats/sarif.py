"""SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format): what code hosts and editors show.

Each property or kind of failure is a rule; what is violated is an error, what is undecided a warning, a
watch that occurs a note. A race is one result with both places (section 3.27.12), the failing order is its
code flow (3.36), and input that could not be read is a notification of the invocation (3.20.21).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from possibly import __version__
from possibly.verdict.model import Truth
from possibly.views.formats.findings import Finding, Findings, Mark
from possibly.views.text.words import plain

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Truth.VIOLATED: "error", Truth.UNKNOWN: "warning", Truth.MATCHED: "note"}
ROOT = "SRCROOT"
"""The current folder, which relative files are relative to."""


def render_sarif(answers: Sequence[Findings]) -> str:
    return json.dumps(document(answers), indent=2) + "\n"


def document(answers: Sequence[Findings]) -> dict[str, Any]:
    findings = [finding for answer in answers for finding in answer.findings]
    names = list(dict.fromkeys(finding.rule for finding in findings))
    run = {
        "tool": {"driver": _driver(findings, names)},
        "invocations": [_invocation(answers)],
        "originalUriBaseIds": {ROOT: {"uri": Path.cwd().as_uri() + "/"}},
        "results": [_result(each, names.index(each.rule)) for each in findings if each.is_bad],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(findings: Sequence[Finding], names: Sequence[str]) -> dict[str, Any]:
    about = {finding.rule: finding.about for finding in reversed(findings)}
    return {
        "name": "possibly",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [{"id": plain(name), "shortDescription": {"text": about[name]}} for name in names],
    }


def _invocation(answers: Sequence[Findings]) -> dict[str, Any]:
    errors = [answer for answer in answers if answer.error is not None]
    found: dict[str, Any] = {"executionSuccessful": not errors}
    if errors:
        told = [{"level": "error", "message": {"text": plain(answer.error or "")}} for answer in errors]
        found["toolExecutionNotifications"] = told
    return found


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": plain(finding.rule),
        "ruleIndex": rule,
        "level": LEVELS[finding.truth],
        "message": {"text": finding.message},
        "locations": [_location(mark) for mark in finding.places],
    }
    if finding.related:
        found["relatedLocations"] = [_location(mark) for mark in finding.related]
    if finding.steps:
        flow = [{"location": _location(mark)} for mark in finding.steps]
        found["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return found


def _location(mark: Mark) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(mark.place.file),
            "region": {"startLine": mark.place.line},
        },
        "message": {"text": mark.text},
    }


def _artifact(file: str) -> dict[str, str]:
    name = plain(file)
    if os.path.isabs(name):
        return {"uri": f"file://{quote(name)}"}
    return {"uri": quote(name), "uriBaseId": ROOT}
