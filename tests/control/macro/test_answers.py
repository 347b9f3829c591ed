"""A predicate is asked again only if something that it read has another value."""

from __future__ import annotations

from possibly.control.macro.answers import Answers
from possibly.control.macro.inside.state import SystemState
from possibly.control.macro.model import Seen


def state(**values: object) -> SystemState:
    return SystemState({"P": Seen(variables=dict(values))}, [("P#1", "P", "", None)])


def test_what_was_not_read_does_not_matter() -> None:
    answers = Answers()
    first = state(x=1, y=2)
    assert first.P.x == 1
    answers.add(first, first._reads, True)
    assert answers.find(state(x=1, y=3)) is True
    assert answers.find(state(x=2, y=2)) is None
    assert answers.find(state(y=2)) is None


def test_what_is_missing_is_an_answer_too() -> None:
    answers = Answers()
    there = state(y=1)
    assert ("x" in there.P, "Q" in there, there.transit("P"), there.processes()) == (False, False, 1, ["P"])
    answers.add(there, there._reads, "no x")
    assert answers.find(state(y=2)) == "no x"
    assert answers.find(state(x=2)) is None
