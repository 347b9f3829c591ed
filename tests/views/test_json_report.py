"""The JSON document: its keys are the public interface."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from possibly.logic.specification import read_specification
from possibly.records import replace
from possibly.session.checking.check import Options, check_trace
from possibly.trace.notation import trace
from possibly.verdict.model import Change, Explanation, Step
from possibly.views.text import json_report
from possibly.views.text.json_report import DEEPEST_VALUE, document, render_json
from possibly.views.text.words import UNPRINTABLE_VALUE
from tests.views.samples import EXPLANATION, HOLDS, UNKNOWN, VIOLATED, explained, report_of


def only_property(text: str) -> dict[str, Any]:
    (found,) = json.loads(text)["properties"]
    assert isinstance(found, dict)
    return found


def test_the_document_of_a_violation() -> None:
    assert document(report_of(replace(VIOLATED, explanation=None))) == {
        "trace": "run.jsonl",
        "processes": 2,
        "events": 5,
        "properties": [
            {
                "name": "mutex",
                "language": "ctl",
                "formula": "AG(!(P1.cs & P2.cs))",
                "verdict": "violated",
                "class": "conjunctive",
                "engine": "exhaustive",
                "seconds": 0.01,
                "cuts": 7,
                "observed": True,
                "assumed": [],
                "faults": [],
                "witness": {"cut": {"P1": 2, "P2": 2}, "path": ["P1:1", "P1:2", "P2:1", "P2:2"]},
            }
        ],
    }


def test_the_keys_stand_in_the_order_of_the_manual() -> None:
    keys = "name language formula verdict class engine seconds cuts observed assumed faults witness"
    assert list(only_property(render_json(report_of(HOLDS)))) == keys.split()


def test_what_is_not_known_is_null() -> None:
    found = only_property(render_json(report_of(replace(HOLDS, observed=None))))
    assert found["witness"] is None
    assert found["observed"] is None


def test_an_unknown_verdict_has_a_reason() -> None:
    found = only_property(render_json(report_of(UNKNOWN)))
    assert found["verdict"] == "unknown"
    assert found["reason"] == "1,000 cuts were visited; raise --max-cuts."


def test_the_explanation_as_data() -> None:
    found = only_property(render_json(report_of(VIOLATED)))["explanation"]
    assert found["summary"] == "it ends where P1.cs & P2.cs is true"
    assert found["steps"][1] == {
        "event": "P1:2",
        "process": "P1",
        "kind": "internal",
        "at": "peer.py:4",
        "label": "enter",
        "changes": [{"variable": "P1.cs", "before": False, "after": True}],
    }
    assert found["atoms"][0] == {"text": "P1.cs", "value": True, "operands": {"P1.cs": True}}
    assert found["missing"]["suffices"] is True
    assert found["missing"]["first"]["event"] == "P1:3"
    assert (
        document(report_of(explained(replace(EXPLANATION, missing=None))))["properties"][0]["explanation"][
            "missing"
        ]
        is None
    )


def test_a_fresh_variable_has_no_value_before() -> None:
    step = Step("P1:1", "P1", "internal", changes=(Change("P1.x", None, 1, fresh=True),))
    found = only_property(render_json(report_of(explained(Explanation("s", (step,), {})))))
    assert found["explanation"]["steps"][0]["changes"] == [{"variable": "P1.x", "after": 1}]


def test_one_line_of_ascii_whatever_the_trace_says() -> None:
    report = replace(report_of(replace(HOLDS, name="é\n\u2028\ud800\x1b")), trace="é.jsonl")
    text = render_json(report)
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text)["properties"][0]["name"] == "é\n\u2028\ud800\x1b"


def test_values_that_json_cannot_say_become_strings() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    state = {"a": math.inf, "b": [math.nan], "c": {"d": (1, 2)}, "deep": deep}
    found = only_property(render_json(report_of(explained(Explanation("s", (), state)))))["explanation"][
        "state"
    ]
    assert found["a"] == "inf"
    assert found["b"] == ["nan"]
    assert found["c"] == {"d": [1, 2]}
    for _ in range(DEEPEST_VALUE + 1):
        found["deep"] = found["deep"][0]
    assert found["deep"] == UNPRINTABLE_VALUE


def test_warnings_and_notes_appear_when_there_are_some() -> None:
    assert document(report_of(HOLDS, warnings=("w",)))["warnings"] == ["w"]
    assert "warnings" not in document(report_of(HOLDS))
    noted = report_of(replace(HOLDS, notes=("n",)))
    assert document(noted, notes=True)["properties"][0]["notes"] == ["n"]
    assert "notes" not in document(noted)["properties"][0]


def test_what_is_told_bit_by_bit_is_what_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_report, "LONG", 3)
    run = trace("p: x=1 x=2 x=3 x=4 | q: y=1 y=2 y=3")
    specification = read_specification(
        "ctl a = AG(p.x < 4 | q.y < 3)\nctl b = EF(done(p) & done(q))\nltl c = F(q.y == 3)"
    )
    report = check_trace(run, specification, Options())
    assert max(len(each.witness.path) for each in report.verdicts if each.witness) == 7
    for notes in (False, True):
        whole = json.dumps(json_report.document(report, notes), allow_nan=False)
        assert "".join(json_report.json_pieces(report, notes)) == whole
