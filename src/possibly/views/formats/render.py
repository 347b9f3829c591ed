"""The formats by name, each a function from answers to text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from possibly.views.formats.findings import Findings
from possibly.views.formats.github import render_github
from possibly.views.formats.junit import render_junit
from possibly.views.formats.sarif import render_sarif

RENDERERS: dict[str, Callable[[Sequence[Findings]], str]] = {
    "github": render_github,
    "junit": render_junit,
    "sarif": render_sarif,
}


def rendered(answers: Sequence[Findings], name: str) -> str:
    """All answers in that format, ending in a newline if there are any."""
    return RENDERERS[name](answers)
