"""Of a property that holds, an order in which it takes effect."""

from __future__ import annotations

import json

import pytest

from possibly.logic.specification import read_specification
from possibly.session.checking.check import Options, check_trace
from possibly.trace.notation import trace
from possibly.verdict.model import Report, Truth, Verdict
from possibly.views.text.json_report import render_json
from possibly.views.text.report import Layout, verdict_lines
from possibly.views.web.document import Contents, property_document

RUN = trace("P(x=0, y=0): a{x=1} b{y=1} c{x=0} | Q(z=0): d{z=1} e{z=0}")


def report(text: str, options: Options | None = None) -> Report:
    return check_trace(RUN, read_specification(text), options or Options(examples=True))


def verdict(text: str, options: Options | None = None) -> Verdict:
    (found,) = report(text, options).verdicts
    return found


@pytest.mark.parametrize(
    ("formula", "summary", "last"),
    [
        ("ctl it = AG(P.x == 1 -> AF(P.x == 0))", "P.x == 1 happens, and P.x == 0 follows", {"P.x": 0}),
        ("ltl it = G(Q.z == 1 -> F P.y == 1)", "Q.z == 1 happens, and P.y == 1 follows", {"P.y": 1}),
        (
            "ctl it = AG(P.y == 1 -> A[P.y == 1 U P.x == 0])",
            "P.y == 1 happens, and P.x == 0 follows",
            {"P.x": 0},
        ),
        (
            "ctl it = AG(P.y == 1 & Q.z == 1 -> P.x <= 1)",
            "P.y == 1 & Q.z == 1 happens, and so it is",
            {"Q.z": 1},
        ),
        ("ctl it = AG(P.x == 1 -> EG(Q.z >= 0) | P.y > 0)", "P.x == 1 happens", {"P.x": 1}),
    ],
)
def test_an_order_shows_both_sides(formula: str, summary: str, last: dict[str, int]) -> None:
    found = verdict(formula)
    assert found.truth is Truth.HOLDS and found.witness is None and found.example is not None
    explanation = found.example.explanation
    assert explanation.summary == summary
    assert last.items() <= dict(explanation.state).items()
    assert [step.event for step in explanation.steps] == list(found.example.witness.path)


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("ctl it = AG(P.x > 5 -> Q.z == 7)", Options(examples=True)),  # what never happens
        ("ctl it = AG(P.x >= 0)", Options(examples=True)),  # demands nothing of what was before
        ("ctl it = AG(P.x == 1 -> AF(P.x == 7))", Options(examples=True)),  # violated: it has a witness
        ("ctl it = AG(P.x == 1 -> AF(P.x == 0))", Options()),  # nobody asks
    ],
)
def test_there_is_none(formula: str, options: Options) -> None:
    assert verdict(formula, options).example is None


def test_it_is_drawn_told_and_written() -> None:
    found = verdict("ctl it = AG(P.x == 1 -> AF(P.x == 0))")
    drawn = property_document(RUN, found, Contents())
    assert drawn["path"] is not None and drawn["summary"].startswith("An order in which it takes effect: P.x")
    assert "takes effect" not in "\n".join(verdict_lines(found, Layout()))
    assert "takes effect" in "\n".join(verdict_lines(found, Layout(notes=True)))
    (written,) = json.loads(render_json(report("ctl it = AG(P.x == 1 -> AF(P.x == 0))")))["properties"]
    assert written["witness"] is None and written["example"]["path"] == ["a", "d", "b", "e", "c"]
