"""Labels stand in comments at the end of a line; one that no assignment claims has a mark of its own."""

from __future__ import annotations

import ast

import pytest

from possibly.probes.watching.labels import MARK, Labels, Marking, labels_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1  #: m1", {1: "m1"}), ("x = '#: no'", {}), ("# : no", {}), ("x = (\n 1)  #: m-2.b",
        {2: "m-2.b"}),
        ("", {}), ("#: alone", {1: "alone"}), ("x = 1 #:m #: n", {1: "m"}),
    ],
)  # fmt: skip
def test_labels(text: str, found: dict[int, str]) -> None:
    assert labels_of(text) == found


def marked(text: str, claimed: tuple[int, ...] = ()) -> str:
    tree = ast.parse(text)
    labels = Labels(labels_of(text), tree)
    for line in claimed:
        labels.claimed(line)
    numbers: list[str] = []

    def site(line: int, label: str) -> int:
        numbers.append(f"{line}:{label}")
        return len(numbers)

    Marking(labels, tree, site).generic_visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)).replace(MARK, "mark")


MARKED = {
    "f()  #: a": "f()\nmark(1)",
    "return_()\nraise x  #: a": "return_()\nmark(1)\nraise x",
    "if x:  #: a\n    pass  #: b": "if (x, mark(2))[0]:\n    pass\n    mark(1)",
    "while x: y()  #: a": "while (x, mark(2))[0]:\n    y()\n    mark(1)",
    "for x in y:  #: a\n    pass": "for x in y:\n    mark(1)\n    pass",
    "def f():  #: a\n    g()": "def f():\n    g()",
    "try:\n    f()  #: a\nfinally:\n    g()  #: b": "try:\n    f()\n    mark(1)\nfinally:\n"
    "    g()\n    mark(2)",
    "match x:\n    case 1:\n        f()  #: a": "match x:\n    case 1:\n        f()\n        mark(1)",
}


@pytest.mark.parametrize("text", MARKED)
def test_marks(text: str) -> None:
    assert marked(text) == MARKED[text]


def test_what_is_claimed_needs_no_mark_but_a_condition_has_one() -> None:
    assert marked("x = 1  #: a", (1,)) == "x = 1"
    assert marked("while x: y = 1  #: a", (1,)) == "while (x, mark(1))[0]:\n    y = 1"


def test_a_label_belongs_to_all_lines_of_its_statement() -> None:
    text = "x = (1,\n  2)  #: a\nfor y in (1,\n  2):\n    pass"
    labels = Labels(labels_of(text), ast.parse(text))
    assert [labels.line_of(line) for line in (1, 2, 3, None)] == [2, 2, None, None]
