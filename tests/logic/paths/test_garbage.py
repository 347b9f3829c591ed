"""Whatever is written, the answer is an expression or one error with a place."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.errors import FormulaError
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import parse_rule
from possibly.logic.source import Source

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
PIECES = [
    "a", "b", "f.enter", "(", ")", "[", "]", "{", "}", ";", "+", "*", "&", "@", "^", "n", "x == 1", "x'", "'",
    '"s"', "$1", ".pid", "print", "=", ",", "_", "3", "-1", "\n", " ", "é", "\\", "break", "permutation(",
    "partial(", "..", "1.5", "<", ":",
]  # fmt: skip


def test_garbage_is_refused_with_a_place() -> None:
    random = Random(1)
    read = 0
    for _ in range(5_000 * CASES):
        text = "".join(random.choice(PIECES) for _ in range(random.randint(0, 12)))
        for parse in (parse_path, parse_rule):
            try:
                parse(Source(text, "s"))
                read += 1
            except FormulaError as error:
                assert error.file == "s" and error.line and error.column
    assert read


@pytest.mark.parametrize("text", ["a" * 100_000, "(a;" * 5_000, "[" * 10_000, "a;" * 400 + "a"])
def test_large_garbage_ends_soon(text: str) -> None:
    try:
        parse_path(Source(text))
    except FormulaError:
        return
    assert text.isalpha()
