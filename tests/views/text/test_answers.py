"""What every answer says beside its failure, word for word."""

from __future__ import annotations

from typing import Any

from possibly.session.exploring.exploration import Exploration
from possibly.verdict.answer import Answer
from possibly.verdict.coverage import Coverage, Level
from possibly.verdict.reasons import Reason
from possibly.views.text.answers import answer_document, coverage_lines, open_lines, reason_text
from possibly.views.text.exploration import document

ANSWER: Answer[Any] = Answer(
    7,
    1.23456,
    open={
        "a call of select": Reason("app.py:3", "explore without it"),
        "a read at app.py:9": Reason("app.py:9"),
    },
    assumed=("sleeps come late by at most 1 s",),
    warnings=("p is true for want of q",),
)


def test_each_reason_has_its_place_once_and_what_helps() -> None:
    assert list(open_lines(ANSWER)) == [
        "  left open by a call of select (app.py:3)",
        "    what helps: explore without it",
        "  left open by a read at app.py:9",
        "  assuming that sleeps come late by at most 1 s",
        "  warning: p is true for want of q",
    ]
    assert [reason_text(*each) for each in ANSWER.open.items()] == [
        "a call of select at app.py:3 (explore without it)",
        "a read at app.py:9",
    ]


def test_every_document_begins_with_the_same_keys() -> None:
    found = answer_document(ANSWER, "app.py")
    assert found["verdict"] == "unknown" and found["seconds"] == 1.235
    assert found["open"][0] == {
        "what": "a call of select",
        "where": "app.py:3",
        "remedy": "explore without it",
    }
    wider = document(Exploration(), "app.py", None)
    assert [key for key in found if key != "warnings"] == list(wider)[: len(found) - 1]


def test_an_unfinished_search_says_what_it_covered() -> None:
    levels = Coverage(140, 120, 30, 9, 0.5, False, levels=((0, 6), (1, 44)), under_way=Level(2, 11, 44))
    assert list(coverage_lines(levels)) == [
        "  120 classes of schedules, 30 choices pruned, 9 branches known to be left, "
        "perhaps 280 executions in all",
        "  no failure with at most 1 preemption: all such schedules are covered, 44 classes; "
        "2 preemptions begun: perhaps 25% (11 of 44 schedules)",
    ]
    assert list(coverage_lines(None)) == []
