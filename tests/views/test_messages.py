"""Messages on standard error, and the width of what they are written to."""

from __future__ import annotations

import io
import os

import pytest

from possibly.errors import FormulaError, PossiblyError
from possibly.views.cli import messages
from possibly.views.cli.messages import complain, remark, width_of


def test_an_error_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert complain(PossiblyError("no header", file="run.jsonl", line=1)) == 2
    assert capsys.readouterr() == ("", "possibly: run.jsonl:1: no header\n")


def test_a_formula_is_pointed_at_and_stays_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    complain(FormulaError("what is this", text="AG(\x1b)", column=4))
    assert capsys.readouterr().err == "possibly: 4: what is this\n    AG(\\x1b)\n       ^\n"


def test_of_a_long_formula_only_the_part_around_the_place_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    complain(FormulaError("here", text="(" * 5000 + "!" + ")" * 5000, column=5001))
    sentence, part, caret = capsys.readouterr().err.splitlines()
    assert sentence == "possibly: 5001: here"
    assert len(part) < 120
    assert part[caret.index("^")] == "!"
    complain(FormulaError("here", text="!" + ")" * 5000, column=1))
    _, part, caret = capsys.readouterr().err.splitlines()
    assert (part[:6], caret) == ("    !)", "    ^")


def test_a_remark_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    remark("page: a\nb")
    assert capsys.readouterr() == ("", "page: a\\nb\n")


@pytest.mark.parametrize(("columns", "width"), [(80, 80), (10, 60), (500, 160)])
def test_the_width_of_a_terminal(columns: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((columns, 24)))
    with open(os.devnull, encoding="utf-8") as stream:
        assert width_of(stream) == width


def test_a_pipe_has_a_fixed_width() -> None:
    with open(os.devnull, encoding="utf-8") as stream:
        assert width_of(stream) == messages.WIDTH_OF_A_PIPE
    assert width_of(io.StringIO()) == messages.WIDTH_OF_A_PIPE
