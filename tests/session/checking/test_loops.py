"""`--loops`: liveness on orders that go on for ever."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking import loops
from possibly.session.checking.check import Options, check_trace
from possibly.trace.notation import trace
from possibly.verdict.model import Truth, Verdict
from possibly.views.cli.main import main

TURNS = "P(x=0): a{x=1} b{x=0} c{x=1} d{x=0} e{x=5} | Q(y=0): f{y=1}"


def verdict(language: str, text: str, fairness: str | None, run: str = TURNS) -> Verdict:
    specification = Specification(properties=(property_from_text(language, text, "it"),))
    return check_trace(trace(run), specification, Options(loops=fairness)).verdicts[0]


@pytest.mark.parametrize(
    ("language", "text", "finite", "weak"),
    [
        ("ctl", "AF(P.x == 5)", "holds", "violated"),
        ("ltl", "F(P.x == 5)", "holds", "violated"),
        ("ctl", "AF(Q.y == 1)", "holds", "holds"),
        ("ctl", "AG(P.x == 1 -> AF(P.x == 0))", "holds", "holds"),
        ("ctl", "AG(P.x == 1 -> AF(P.x == 5))", "holds", "violated"),
        ("ctl", "EG(P.x != 5)", "violated", "holds"),
        ("ctl", "AG(P.x <= 5)", "holds", "holds"),
        ("ctl", "AG(EF(P.x == 5))", "holds", "holds"),
        ("ctl", "EF(AF(P.x == 5))", "holds", "unknown"),
        ("ltl", "G(P.x == 5 -> O(P.x == 1))", "holds", "unknown"),
        ("ltl", "G F(P.x == 1)", "violated", "violated"),
    ],
)
def test_what_a_loop_changes(language: str, text: str, finite: str, weak: str) -> None:
    assert verdict(language, text, None).truth.value == finite
    found = verdict(language, text, "weak")
    assert found.truth.value == weak
    assert (found.reason is not None) == (weak == "unknown")


def test_a_lasso_is_told_with_its_loop_and_who_is_passed_over() -> None:
    unfair = verdict("ctl", "AF(Q.y == 1)", "any")
    assert unfair.truth is Truth.VIOLATED and unfair.explanation is not None
    assert unfair.explanation.loop is not None and unfair.explanation.loop.passed_over == ("Q",)
    fair = verdict("ctl", "AF(P.x == 5)", "weak")
    assert fair.witness is not None and fair.witness.loop is not None
    loop = fair.witness.loop
    assert loop.passed_over == () and len(fair.witness.path) == loop.second > loop.first > 0
    assert fair.assumed == (loops.WHOLE_STATE,)


def test_an_order_that_only_ends_is_still_told_as_such() -> None:
    found = verdict("ctl", "AF(P.x == 7)", "weak", "P(x=0): a{x=1} b{x=2}")
    assert found.truth is Truth.VIOLATED
    assert found.explanation is not None and found.explanation.loop is None and found.explanation.unending


def test_too_many_cuts_leave_the_recorded_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOST_CUTS", 11)
    assert verdict("ctl", "AF(P.x == 5)", "any").truth is Truth.VIOLATED
    unknown = verdict("ctl", "AG(P.x == 1 -> AF(P.x == 0))", "weak")
    assert unknown.truth is Truth.UNKNOWN and "recorded order alone" in str(unknown.reason)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"format": "possibly-trace", "version": 1, "processes": [{"name": "P", "init": {"x": 0}}]}]
    lines += [{"p": "P", "set": {"x": value}} for value in (1, 0, 1, 0, 5)]
    file = tmp_path / "run.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["check", str(file), "--ctl", "AF(P.x == 5)", "--loops", "weak"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "The state after step 1 comes again after step 3" in told
    assert "Nobody is passed over" in told and "--loops weak" in told
    assert main(["check", str(file), "--ctl", "AF(P.x == 5)", "--loops", "weak", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["properties"]
    assert found["witness"]["loop"] == {"from": 1, "to": 3, "passed_over": []}
