"""A synchronisation rule is two events in sequence; anything else is an error at its place."""

from __future__ import annotations

import pytest

from possibly.errors import FormulaError
from possibly.logic.paths.rules import parse_rule
from possibly.logic.source import Source


def test_two_events() -> None:
    rule = parse_rule(Source("P(S): release(S); acquire(S)"))
    assert rule.source.text.strip() == "release(S); acquire(S)"
    assert parse_rule(Source("P: a; b")).expression.action == ()


@pytest.mark.parametrize(
    "text", ["", "P(S)", "P: a", "P: a + b", "P: a; b; c", "P: a; (b)*", "P: a; b { print(1) }", ": a; b"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_rule(Source(text))
