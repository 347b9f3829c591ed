from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.logic.specification import CLASS_WORDS
from possibly.views.cli.main import main

FIGURE = str(Path(__file__).parent.parent.parent / "examples" / "figures" / "figure-2.4.jsonl")


def test_json_document_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 1 & P2.y <= 2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "empty": False,
        "lean": True,
        "exact": True,
        "least": {"P1": 1, "P2": 1},
        "greatest": {"P1": 3, "P2": 2},
        "edges": [["e1", "_bottom"], ["e3", "e2"], ["_top", "f3"]],
        "events": 6,
    }


def test_text_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 1 & P2.y <= 2"]) == 0
    assert capsys.readouterr().out == (
        "The slice for P1.x > 1 & P2.y <= 2: all its cuts satisfy it.\n"
        "  least cut:    P1: 1, P2: 1\n"
        "  greatest cut: P1: 3, P2: 2\n"
        "  3 edges added to 6 events:\n"
        "    e1 before _bottom\n"
        "    e3 before e2\n"
        "    _top before f3\n"
    )


def test_empty_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 9"]) == 0
    assert capsys.readouterr().out == "No cut satisfies P1.x > 9.\n"


def test_picture_shows_the_added_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 1 & P2.y <= 2", "--dot", str(tmp_path / "s.dot")]) == 0
    text = (tmp_path / "s.dot").read_text()
    assert "e1 -> bottom [color=red" in text and "top -> e5 [color=red" in text
    assert 'bottom [label="in every cut"' in text


def test_bad_predicate_is_a_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.z > 1"]) == 2
    assert "P1.z" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["svg", "png"])
def test_picture_of_the_slice_itself(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"s.{form}"
    assert main(["slice", FIGURE, "P1.x > 1 & P2.y <= 2", f"--{form}", str(file), "--json"]) == 0
    json.loads(capsys.readouterr().out)
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG") if form == "png" else b"e3" in data and b"</svg>" in data


@pytest.mark.parametrize(("option", "connective"), [("--and", "&"), ("--or", "|")])
def test_slices_are_joined(option: str, connective: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By their edges alone, they are the slice of the conjunction or disjunction."""
    found = []
    for words in (["P1.x > 1", option, "P2.y <= 2"], [f"(P1.x > 1) {connective} (P2.y <= 2)"]):
        assert main(["slice", FIGURE, *words, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["exact"]
    assert [found[0][key] for key in ("empty", "least", "greatest", "edges")] == [
        found[1][key] for key in ("empty", "least", "greatest", "edges")
    ]


def test_how_a_slice_was_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 1", "--or", "EF(P2.y <= 2)", "--explain"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "  P1.x > 1: the union of one slice",
        "  EF(P2.y <= 2): the union of one slice",
        "  2 slices joined by their edges alone",
    ]


def test_a_slice_that_takes_too_long_is_given_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 1", "--timeout", "0.000001"]) == 3
    assert "not sliced within 1e-06 s; raise --timeout" in capsys.readouterr().err


def test_joining_one_way_or_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x > 1", "--or", "P1.x > 2", "--and", "P2.y > 2"]) == 2
    assert "--and or by --or" in capsys.readouterr().err


@pytest.mark.parametrize("word", CLASS_WORDS)
def test_every_class_of_let_is_known(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slice", FIGURE, "P1.x >= 0", "--class", word]) in (0, 2)
    assert "invalid choice" not in capsys.readouterr().err
