"""A question about what was not recorded is unknown, with the command that records it; never answered."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.logic.predicates.values import cut_off
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.recorded import FIELD
from possibly.verdict.model import Truth, Verdict


def trace(about: dict[str, Any] | None, *events: dict[str, Any], **shared: Any) -> Trace:
    builder = TraceBuilder()
    builder.header([("P", {}), ("Q", {})], shared, {FIELD: about} if about is not None else {})
    for event in events or ({"p": "P"}, {"p": "Q"}):
        builder.add_fields(event)
    return builder.finish()


def asked(run: Trace, language: str, text: str) -> Verdict:
    specification = Specification(properties=(property_from_text(language, text, "asked"),))
    return check_trace(run, specification, Options()).verdicts[0]


QUESTIONS = (
    ("ctl", "AG(!(inside(P, move) & inside(Q, move)))"),
    ("ctl", "EF(start(P, move))"),
    ("ltl", "G(!inside(P, move))"),
    ("tl", "not (t1:(in.move) and t2:(in.move)) if t1 != t2"),
    ("never", "move & move"),
    ("expect", "move*"),
)


@pytest.mark.parametrize(("language", "text"), QUESTIONS)
def test_calls_that_were_not_recorded_are_unknown(language: str, text: str) -> None:
    run = trace({"functions": [], "program": ["bank.py"]})
    verdict = asked(run, language, text)
    assert verdict.truth is Truth.UNKNOWN
    assert verdict.reason == (
        "calls of move were not recorded; `possibly run --calls move bank.py` records them"
    )


@pytest.mark.parametrize(("language", "text"), QUESTIONS)
def test_a_function_that_was_watched_and_never_called_is_answered(language: str, text: str) -> None:
    for about in ({"functions": ["move"]}, None):
        assert asked(trace(about), language, text).truth is not Truth.UNKNOWN


def test_a_function_that_was_called_too_often_is_unknown() -> None:
    run = trace({"functions": [], "left_out": ["tick"], "program": ["clock.py"]})
    reason = asked(run, "ctl", "AG(!inside(P, tick))").reason
    assert reason is not None
    assert reason.startswith("calls of tick were not kept, there were too many; `possibly run --calls tick")


def test_kinds_of_events_are_recorded_in_any_case() -> None:
    assert asked(trace({"functions": []}), "never", "acquire & release").truth is Truth.HOLDS


def test_a_variable_that_was_recorded_for_its_order_alone_is_unknown() -> None:
    write = {"p": "P", "kind": "write", "write": {"ready": None}}
    run = trace({"functions": [], "for_order": ["ready"], "program": ["a.py"]}, write, {"p": "Q"}, ready=0)
    verdict = asked(run, "ctl", "AG(ready == 0)")
    assert verdict.truth is Truth.UNKNOWN
    assert verdict.reason is not None
    assert "`possibly run --watch ready a.py`" in verdict.reason


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("AG(len(jobs) <= 1000)", Truth.VIOLATED),
        ("AG(len(jobs) <= 1400)", Truth.HOLDS),
        ("AG(!(1200 in jobs))", Truth.UNKNOWN),
        ("AG(jobs[0] == 0)", Truth.UNKNOWN),
        ("EF(len(P.own) == 1)", Truth.HOLDS),
        ("AG(P.own == 1)", Truth.UNKNOWN),
        ("AG(Q.own == 1)", Truth.VIOLATED),
    ],
)
def test_values_that_were_cut_off_decide_nothing_but_their_length(text: str, truth: Truth) -> None:
    run = trace(
        {"functions": []},
        {"p": "P", "write": {"jobs": cut_off("list", 1_400, [0, 1])}},
        {"p": "P", "set": {"own": [cut_off("list", 2)]}},
        {"p": "Q", "set": {"own": 2}},
        jobs=[0],
    )
    assert asked(run, "ctl", text).truth is truth
