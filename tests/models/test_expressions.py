"""An expression means what it means in Python; what it reads is known; constants are computed once."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from possibly.errors import PossiblyError
from possibly.models.expressions import Constant, Expression, Expressions, Meaning
from possibly.models.slots import Failure, Place

SCOPE: dict[str, Meaning] = {
    "x": Place("x", None, 0),
    "y": Place("y", None, 1),
    "a": Place("a", None, 2, (3,)),
    "N": Constant(4),
}
VALUES = [5, -2, 10, 20, 30]
NAMES: dict[str, Any] = {"x": 5, "y": -2, "a": (10, 20, 30), "N": 4}


def compiled(text: str) -> Expression:
    return Expressions(SCOPE, "model.py").compile(ast.parse(text, mode="eval").body)


MEANT = {
    "1 + 2 * N": [], "x + y": [0, 1], "x // y % N": [0, 1], "not x": [0], "-x": [0], "x < y < N": [0, 1],
    "x if y else N": [0, 1], "x and y or N": [0, 1], "a[1]": [3], "a[-1] + x": [0, 4], "max(x, y, 3)": [0, 1],
    "len(a)": [2, 3, 4], "x in (5, 6)": [0], "(x, y)": [0, 1], "sum(a)": [2, 3, 4], "x == 5 != y": [0, 1],
    "x is None": [0], "a": [2, 3, 4],
}  # fmt: skip


@pytest.mark.parametrize("text", MEANT)
def test_the_meaning_is_that_of_python(text: str) -> None:
    found = compiled(text)
    expected = eval(text, dict(NAMES))  # noqa: S307
    assert found.evaluate(list(VALUES)) == expected
    assert found.reads <= set(range(5))
    changed = [value + 100 if slot not in found.reads else value for slot, value in enumerate(VALUES)]
    assert found.evaluate(changed) == expected, "it depends on nothing else"


@pytest.mark.parametrize("text", [text for text, reads in MEANT.items() if reads])
def test_what_depends_on_the_state_is_no_constant(text: str) -> None:
    found = compiled(text)
    assert not found.is_constant or text == "len(a)"


def test_constants_are_computed_once() -> None:
    assert compiled("(N + 1) * 2").is_constant
    assert not compiled("1 // 0").reads


@pytest.mark.parametrize("text", ["1 // 0", "a[3]", "a[-4]", "max(())", "(1, 2) - 1"])
def test_what_has_no_meaning_fails_when_it_is_executed(text: str) -> None:
    with pytest.raises((Failure, PossiblyError)):
        compiled(text).evaluate(list(VALUES))


@pytest.mark.parametrize(
    "text", ["z", "x.y", "lambda: 1", "[i for i in a]", "print(x)", "1.5", "x @ y", "f'{x}'"]
)
def test_what_is_no_expression_of_the_language_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(PossiblyError) as error:
        compiled(text)
    assert error.value.file == "model.py" and error.value.line == 1
