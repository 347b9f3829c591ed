"""The result of a path expression for a program: `event` of an `expect`, `matches` of `never` and `watch`."""

from __future__ import annotations

from typing import Any

from possibly.verdict.paths import PathResult


def path_document(language: str, result: PathResult) -> dict[str, Any]:
    """The keys that a property of that language has beside the usual ones."""
    if language == "expect":
        expected = [{"event": each.symbol, "after": list(each.after)} for each in result.expected]
        return {"event": result.event, "expected": expected}
    found: dict[str, Any] = {"matches": [{"events": list(events)} for events in result.matches or ()]}
    if not result.is_complete:
        found["complete"] = False
    if result.output:
        found["output"] = list(result.output)
    return found
