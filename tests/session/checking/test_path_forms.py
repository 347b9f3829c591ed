"""An expression in all its forms, on the command line and as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.session.checking.path_forms import described
from possibly.views.cli.main import main

TEXT = """\
enqueue; (P & V); dequeue
  class safe: & stands inside enqueue; (P & V); dequeue, and there is no @
  model: safe net; recognised by engine predecessor-automaton
  predecessor automaton: 6 states, final 5
  by the attribute grammar, before events are renamed back: 6 states
    0 --(enqueue .)--> 1
    1 --(P enqueue)--> 2
    1 --(V enqueue)--> 3
    2 --(V enqueue)--> 4
    3 --(P enqueue)--> 4
    4 --(dequeue P V)--> 5
  net: 10 places, 8 transitions
"""


def test_all_of_it_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "enqueue;(P&V);dequeue"]) == 0
    assert capsys.readouterr().out == TEXT


def test_all_of_it_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "(a; b)@; c", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["class"] == "extended" and found["automaton"] is None and found["events"] == ["a", "b", "c"]
    assert any(each["empty"] for each in found["net"]["transitions"]), "what follows an @ tests for zero"


def test_an_automaton_without_end_ends(capsys: pytest.CaptureFixture[str]) -> None:
    found = described("(a* & b*)*")
    assert found.automaton is None and found.never_empty == "(b & a + b + a)*"
    assert main(["paths", "(a* & b*)*"]) == 0
    assert "too many states to list, or no end of them" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["(a; b)@", "(a@; b)@", "(a*n; b*n)@"])
def test_copies_without_bound_end_too(text: str) -> None:
    assert described(text).automaton is None


def test_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    automaton, net = tmp_path / "a.dot", tmp_path / "n.svg"
    assert main(["paths", "a; b*", "--dot", str(automaton)]) == 0
    assert main(["paths", "a; b*", "--net", "--svg", str(net)]) == 0
    assert "(b a)" in automaton.read_text() and "<svg" in net.read_text()
    capsys.readouterr()


def test_an_error_points_at_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "a; ("]) == 2
    assert "EXPRESSION:1:5: expected an event" in capsys.readouterr().err
