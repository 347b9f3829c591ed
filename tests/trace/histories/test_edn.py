"""EDN is read as data, each form with its line; what is open or crossed is an error that names the line."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.trace.histories.edn import DEEPEST, forms
from possibly.trace.histories.model import Keyword, Map

READ: dict[str, Any] = {
    "1 -2 3N 1.5 2M": (1, -2, 3, 1.5, 2), "nil true false": (None, True, False),
    ":a b :c/d": (Keyword("a"), Keyword("b"), Keyword("c/d")),
    '"a\\n\\u00e9\\"" \\x \\newline': ('a\né"', "x", "\n"),
    "[1 (2 3)] #{1 1}": ((1, (2, 3)), frozenset({1})), "{:a 1, :b [2]}": (Map(frozenset({(Keyword("a"), 1),
    (Keyword("b"), (2,))})),),
    "#jepsen.history.Op{:a 1}": (Map(frozenset({(Keyword("a"), 1)})),), "1 #_ 2 3 #_ [4 5] ; 6": (1, 3),
    "[1 #_ #_ 2 3 4]": ((1, 4),), "": (),
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_values(text: str) -> None:
    assert tuple(value for _, value in forms(text)) == READ[text]


def test_each_form_has_the_line_on_which_it_begins() -> None:
    assert [line for line, _ in forms("1\n[2\n 3]\n\n{:a\n 4} 5", first_line=10)] == [10, 11, 14, 15]


@pytest.mark.parametrize(("text", "line"), [("1\n[2", 2), ("[1)\n", 1), ("\n]", 2), ("{:a}", 1), ('"a', 1)])
def test_what_cannot_be_read_names_its_line(text: str, line: int) -> None:
    with pytest.raises(TraceError) as error:
        list(forms(text, "history.edn"))
    assert (error.value.file, error.value.line) == ("history.edn", line)


def test_brackets_are_nested_as_deep_as_is_read() -> None:
    assert len(list(forms("[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)))) == 1
    with pytest.raises(TraceError, match="too deeply"):
        list(forms("[" * (DEEPEST + 1)))
