"""Lines that name a pattern: names, groups, scopes, and mistakes with their place."""

from __future__ import annotations

import pytest

from possibly.errors import FormulaError
from possibly.logic.specification import read_specification


def formulas(text: str) -> dict[str, str]:
    return {found.name: found.text for found in read_specification(text).properties}


def test_names() -> None:
    text = "pattern absence(P.x)\npattern absence(P.y)\npattern mine = absence(P.z)\nctl absence3 = AG(P.x)"
    assert list(formulas(text)) == ["absence", "absence2", "mine", "absence3"]


def test_a_line_may_go_on_and_use_lets() -> None:
    text = "let ready = P.x == 1\npattern response(ready,\n    Q.y in [1, 2])"
    assert formulas(text) == {"response": "G(ready -> F(Q.y in [1, 2]))"}


def test_a_group_is_spoken_of_one_by_one() -> None:
    assert formulas('pattern response("w*".asks, i.answers)') == {
        "response": 'forall j in "w*": (G(j.asks -> F(i.answers)))'
    }


def test_what_looks_like_an_end_inside_an_argument_is_none() -> None:
    assert formulas('pattern absence(at(P, ",)") & P.x in [1, 2])') == {
        "absence": 'G(!(at(P, ",)") & P.x in [1, 2]))'
    }


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("pattern", 8, "expected `pattern name(arguments)`"),
        ("pattern respond(a, b)", 9, "there is no pattern `respond`"),
        ("pattern response(a)", 17, "response takes p, s"),
        ("pattern response(P.x +, b)", 23, "expected a value"),
        ("pattern response(a, )", 20, "expected an argument"),
        ("pattern response(a, b", 17, "this parenthesis is not closed"),
        ("pattern mutex(a)", 15, "expected one group of processes in quotes"),
        ('pattern mutex("w*".x) after b', 28, "mutex has no scope"),
        ("pattern absence(a) sometimes", 19, "not a scope"),
        ("pattern absence(a) after b +", 29, "expected a value"),
        ('pattern at_most(x, "w*".c)', 17, "expected a number"),
        ('pattern at_most(7, "w*".c)', 17, "at most 6"),
        ("pattern bounded_existence(a, 999999999)", 30, "at most 6"),
        ('pattern response("a*".x, "b*".y)', 18, "two groups of processes"),
    ],
)
def test_mistakes_are_told_at_their_place(line: str, column: int, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        read_specification(f"# one\n{line}", "bank.spec")
    error = caught.value
    assert (error.file, error.line, error.column) == ("bank.spec", 2, column)
    assert error.message.startswith(message)
