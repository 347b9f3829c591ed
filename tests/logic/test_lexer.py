from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.errors import FormulaError
from possibly.logic.lexer import MAX_LENGTH, tokens
from possibly.logic.source import Source


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(Source(text))[:-1]]


def message(text: str) -> str:
    with pytest.raises(FormulaError) as found:
        tokens(Source(text))
    return str(found.value)


def test_longest_operator_wins() -> None:
    assert [text for _, text in kinds("a<->b->c<=d**e//f!=g<-h")] == [
        "a", "<->", "b", "->", "c", "<=", "d", "**", "e", "//", "f", "!=", "g", "<", "-", "h",
    ]  # fmt: skip


def test_dots_between_names_and_in_numbers() -> None:
    assert kinds("a.b 1.5 .5") == [
        ("name", "a"), ("operator", "."), ("name", "b"), ("number", "1.5"), ("number", ".5"),
    ]  # fmt: skip


def test_places_are_offsets() -> None:
    found = tokens(Source(" ab\n== 1 "))
    assert [(token.start, token.end) for token in found] == [(1, 3), (4, 6), (7, 8), (8, 9)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a"', "a"),
        ("'a\"b'", 'a"b'),
        (r'"\"\\\/\b\f\n\r\t\v\a\0\'"', "\"\\/\b\f\n\r\t\v\a\0'"),
        (r'"\x41\u0042\U00000043"', "ABC"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud800"', "\ud800"),
        ("'é'", "é"),
    ],
)
def test_strings(text: str, value: str) -> None:
    assert tokens(Source(text))[0].value == value


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("12", 12), ("0.5", 0.5), ("1e3", 1e3), ("2E-1", 0.2), (".5", 0.5)]
)
def test_numbers(text: str, value: float) -> None:
    found = tokens(Source(text))[0].value
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1x", "1:1: a number runs into a name: 1x"),
        ("1_000", "1:1: a number runs into a name: 1_"),
        ("007", "1:1: the number 007 begins with a zero"),
        ("1e999", "1:1: the number 1e999 is too large"),
        ("9" * 4001, "1:1: a number longer than 4,000 digits"),
        ('a == "b', '1:6: this string is never closed (a closing " is missing)'),
        ('"a\n"', '1:1: this string is never closed (a closing " is missing)'),
        (r'"\q"', "1:2: unknown escape \\q in a string (write \\\\ for a backslash)"),
        (r'"\u12"', "1:2: unknown escape \\u in a string (write \\\\ for a backslash)"),
        (r'"\U00110000"', "1:2: unknown escape \\U in a string (write \\\\ for a backslash)"),
        ("a \x00", "1:3: unexpected character '\\x00'"),
        ("a § b", "1:3: unexpected character '§'"),
        ("a $ b", "1:3: `$` is not an operator"),
        ("a := 1", "1:3: `:=` is not an operator (formulas assign nothing; write `==` to compare)"),
    ],
)
def test_errors(text: str, expected: str) -> None:
    assert message(text) == expected


def test_a_megabyte_is_the_limit() -> None:
    assert tokens(Source(" " * MAX_LENGTH))[0].kind == "end"
    assert message(" " * (MAX_LENGTH + 1)) == "1:1: the formula is longer than 1,000,000 characters"


@given(st.text())
def test_any_text_gives_tokens_or_an_error(text: str) -> None:
    try:
        found = tokens(Source(text))
    except FormulaError as error:
        assert error.line is not None
        assert error.column is not None
    else:
        assert found[-1].kind == "end"
        assert all(text[token.start : token.end] == token.text for token in found[:-1])


ONE_EXPRESSION = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|(?<![\w\])"'])\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<mistake>&&|\|\||===|!==|<=>|<>|==>|-->|=>|:=|<<|>>|[~^`@?$;{}])
      | (?P<operator><->|->|\*\*|//|==|!=|<=|>=|[-+*/%<>!&|()\[\],.:])""",
    re.VERBOSE,
)
"""What the tokens are, in one piece: it takes too long to compile for a small check."""


def defined(text: str) -> list[tuple[str, str, int]] | None:
    """The tokens by their definition; None where there is something else."""
    found, at = [], 0
    while at < len(text):
        match = ONE_EXPRESSION.match(text, at)
        if match is None or match.lastgroup == "mistake":
            return None
        at = match.end()
        if match.lastgroup != "space":
            found.append((str(match.lastgroup), match.group(), match.start()))
    return found


PIECES = st.sampled_from([
    "a", "b1", "_", "1", "0", "12", ".", "e", "E", "+", "-", "5", " ", "\n", "'", '"', "\\", "=", "==", "<",
    "->", "<->", ">", "!", "&", "|", "*", "/", ":", "(", ")", "[", "]", ",", "%", "~", ";", "é", "²", "٣",
    "\u00a0", "\x1c",
])  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_tokens_are_as_defined(text: str) -> None:
    try:
        found = [(token.kind, token.text, token.start) for token in tokens(Source(text))[:-1]]
    except FormulaError as error:
        if "number" not in str(error) and "prefix" not in str(error) and "escape" not in str(error):
            assert defined(text) is None, error
    else:
        assert found == defined(text)
