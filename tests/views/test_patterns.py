"""`possibly patterns`, `possibly suggest` and `possibly doctor`, as a user sees them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from possibly.logic.parser import parse
from possibly.logic.patterns.table import PATTERNS
from possibly.views.cli import doctor
from possibly.views.cli.main import main
from possibly.views.cli.recorded.patterns import formulas

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]


def test_all_patterns_are_listed_with_sentence_picture_and_formula(capsys: Capture) -> None:
    assert main(["patterns"]) == 0
    text = capsys.readouterr().out
    for pattern in PATTERNS:
        head = f"{pattern.name}({', '.join(pattern.parameters)}): {pattern.sentence}"
        assert f"{head}\n    {pattern.picture}\n" in text
        assert formulas(pattern)["globally"] in text
    assert main(["patterns", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["patterns"]) == len(PATTERNS)


def test_what_is_shown_is_a_formula() -> None:
    for pattern in PATTERNS:
        if pattern.has_scopes:
            for text in formulas(pattern).values():
                parse(text, pattern.language)


def test_one_pattern_with_its_scopes(capsys: Capture) -> None:
    assert main(["patterns", "absence"]) == 0
    assert "ltl after q until r: G((q & !r) -> (!p W r))" in capsys.readouterr().out
    assert main(["patterns", "absense"]) == 2
    assert "there is no pattern 'absense'" in capsys.readouterr().err


def test_suggestions_are_a_specification_file(tmp_path: Path, capsys: Capture) -> None:
    trace = str(ROOT / "examples/mutex/run.jsonl")
    assert main(["suggest", trace]) == 0
    text = capsys.readouterr().out
    assert '# pattern mutex("P*".critical)' in text
    spec = tmp_path / "mutex.spec"
    spec.write_text(text, encoding="utf-8")
    assert main(["check", trace, "--spec", str(spec)]) == 0
    assert main(["suggest", trace, "--json"]) == 0
    lines = [each["line"] for each in json.loads(capsys.readouterr().out.splitlines()[-1])["suggestions"]]
    assert "pattern no_lost_message()" in lines


def test_the_doctor_says_what_is_missing_and_what_that_costs(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "ortools" else object())
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "without: predicates of no class are searched cut by cut" in text
    assert "to get it: pip install 'possibly[solver]'" in text
    assert main(["doctor", "--json"]) == 0
    parts = {part["name"]: part["is_there"] for part in json.loads(capsys.readouterr().out)["parts"]}
    assert {"kernels", "greenlet", "MPI", "solver", "Chromium", "SPIN", "Graphviz"} <= set(parts)
    assert not parts["SPIN"] and not parts["solver"] and parts["greenlet"]


def test_what_is_needed_and_missing_is_status_1(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert main(["doctor"]) == 1
    assert "no   msgspec" in capsys.readouterr().out
