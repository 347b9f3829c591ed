"""Text of a formula to tokens.

Here belongs everything about characters: which ones form a number, a string, a name or an operator, and
the operators of other languages that people try first, with what to write instead. Words are never
reserved here; that depends on the language and the place, which the parser knows.
"""

from __future__ import annotations

import re

from possibly.logic.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from possibly.records import NamedTuple

MAX_LENGTH = 1_000_000
"""Longest text of a formula, in characters."""
MAX_DIGITS = 4000
"""Longest number; the interpreter itself refuses to print longer ones."""


class Token(NamedTuple):
    kind: str
    """`number`, `string`, `name`, `operator` or `end`."""
    text: str
    """As written."""
    start: int
    end: int
    value: Any = None
    """Of numbers and strings."""

    def shown(self) -> str:
        """As an error message names it."""
        if self.kind == "end":
            return "the end of the formula"
        clipped = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return f"{self.kind} {clipped}" if self.kind in ("number", "string") else f"`{clipped}`"


_PIECE = re.compile(r"\s*(?:(\w+)|([-<>=!&|*/:]+)|(\S))")
"""A name or the beginning of a number; operators without a gap; anything else. Kept simple, since to compile
an expression of all tokens took longer than to read most formulas."""

_DIGITS = frozenset("0123456789")
_SMALL = {str(number): number for number in range(100)}
"""Numbers that most formulas are content with, so that they need no closer look."""
_ALONE = frozenset("()[],.+%")
"""Operators that are never part of a longer one."""
_OPERATORS = _ALONE.union("-*/%<>!&|:", ["<->", "->", "**", "//", "==", "!=", "<=", ">="])
_MISTAKES = frozenset(
    ["&&", "||", "===", "!==", "<=>", "<>", "==>", "-->", "=>", ":=", "<<", ">>", "=", *"~^`@?$;{}"]
)

_SIGNS = {"≠": "!=", "≤": "<=", "≥": ">="}
"""As they are printed."""

_INSTEAD = {
    "&&": "write `&` or `and`",
    "||": "write `|` or `or`",
    "===": "write `==`",
    "!==": "write `!=`",
    "<>": "write `!=`",
    "=>": "write `->` for implication, `>=` for a comparison",
    "==>": "write `->`",
    "-->": "write `->`",
    "<=>": "write `<->`",
    ":=": "formulas assign nothing; write `==` to compare",
    "=": "write `==` to compare",
    "~": "write `!` or `not`",
    "^": "there are no bitwise operators; write `**` for a power, `!(p <-> q)` for exclusive or",
    "<<": "there are no bitwise operators",
    ">>": "there are no bitwise operators",
    "{": "there are no dictionaries or sets in formulas",
    "}": "there are no dictionaries or sets in formulas",
    "@": "there is no matrix product",
    "?": "there is no conditional expression; write (p & q) | (!p & r)",
    ";": "a formula is one expression",
}

_ESCAPES = {
    '"': '"', "'": "'", "\\": "\\", "/": "/", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}


def tokens(source: Source, single_equals: bool = False) -> list[Token]:
    """The tokens of a formula, the last one of kind `end`; with `single_equals`, `=` compares too."""
    text = source.text
    if len(text) > MAX_LENGTH:
        source.fail(f"the formula is longer than {MAX_LENGTH:,} characters", 0)
    found: list[Token] = []
    position, piece = 0, _PIECE.match
    while (match := piece(text, position)) is not None:
        kind = match.lastindex or 0
        word = match[kind]
        start, position = match.span(kind)
        if kind == 1 and not word[0].isdecimal():
            found.append(_made(Token, ("name", word, start, position, None)))
        elif word in _OPERATORS and (word != "." or text[position : position + 1] not in _DIGITS):
            found.append(_made(Token, ("operator", word, start, position, None)))
        elif word in _SMALL and text[position : position + 1] != ".":
            found.append(_made(Token, ("number", word, start, position, _SMALL[word])))
        else:
            found.append(_other(source, word, start, found, single_equals))
            position = found[-1].end
    found.append(Token("end", "", len(text.rstrip()), len(text)))
    return found


_made = tuple.__new__
"""Makes the tokens that every formula has many of, without a look at defaults."""


def _other(source: Source, piece: str, start: int, before: list[Token], single_equals: bool) -> Token:
    """The token that the piece begins with, where it is no name and no operator as a whole."""
    if piece[0] in _SIGNS:
        return Token("operator", _SIGNS[piece[0]], start, start + 1)
    for length in range(min(3, len(piece)), 0, -1):
        text = piece[:length]
        if text == "=" and single_equals:
            return Token("operator", "==", start, start + 1)
        if text in _MISTAKES:
            source.fail(f"`{text}` is not an operator", start, _INSTEAD.get(text))
        if text in _OPERATORS and not (text == "." and _begins_number(source.text, start)):
            return Token("operator", text, start, start + length)
    return _number_or_string(source, start, before)


def _begins_number(text: str, dot: int) -> bool:
    """Whether a dot is followed by digits and by nothing preceded that it could be the dot of."""
    before, after = text[dot - 1 : dot], text[dot + 1 : dot + 2]
    return after in _DIGITS and not (before.isalnum() or (before and before in "_])\"'"))


def _number_or_string(source: Source, start: int, before: list[Token]) -> Token:
    text, first = source.text, source.text[start]
    if first in _DIGITS or first == ".":
        end = _end_of_number(text, start)
        return Token("number", text[start:end], start, end, _number(source, text[start:end], start, end))
    if first not in "\"'":
        source.fail(f"unexpected character {first!r}", start)
    end = _end_of_string(source, start)
    if before and before[-1].kind == "name" and before[-1].end == start:
        prefix = before[-1]
        source.fail(
            f"a string cannot have the prefix `{prefix.text}`",
            prefix.start,
            "formatted, raw and byte strings do not exist here",
        )
    return Token("string", text[start:end], start, end, _string(source, text[start:end], start))


def _end_of_digits(text: str, at: int) -> int:
    while text[at : at + 1] in _DIGITS:
        at += 1
    return at


def _end_of_number(text: str, start: int) -> int:
    """Digits, perhaps a dot and digits, perhaps an exponent."""
    end = _end_of_digits(text, start)
    if text[end : end + 1] == ".":
        fraction = _end_of_digits(text, end + 1)
        end = fraction if fraction > end + 1 else end
    if text[end : end + 1] in ("e", "E"):
        sign = end + 2 if text[end + 1 : end + 2] in ("+", "-") else end + 1
        exponent = _end_of_digits(text, sign)
        end = exponent if exponent > sign else end
    return end


def _end_of_string(source: Source, start: int) -> int:
    """After the quote that closes it, in the same line; a backslash hides the next character."""
    text, quote, at = source.text, source.text[start], start + 1
    while at < len(text) and text[at] != "\n":
        if text[at] == quote:
            return at + 1
        if text[at] == "\\" and text[at + 1 : at + 2] != "\n":
            at += 1
        at += 1
    return source.fail("this string is never closed", start, f"a closing {quote} is missing")


def _number(source: Source, text: str, start: int, end: int) -> int | float:
    after = source.text[end : end + 1]
    if after.isalnum() or after == "_":
        source.fail(f"a number runs into a name: {text}{after}", start)
    if len(text) > MAX_DIGITS:
        source.fail(f"a number longer than {MAX_DIGITS:,} digits", start)
    if text.isdecimal():
        if len(text) > 1 and text[0] == "0":
            source.fail(f"the number {text[:20]} begins with a zero", start)
        return int(text)
    value = float(text)
    if value == float("inf"):
        source.fail(f"the number {text[:20]} is too large", start)
    return value


def _string(source: Source, text: str, start: int) -> str:
    if "\\" not in text:
        return text[1:-1]
    parts: list[str] = []
    position, last = 1, len(text) - 1
    while position < last:
        character = text[position]
        if character != "\\":
            parts.append(character)
            position += 1
            continue
        part, length = _escape(source, text[position + 1 : last], start + position)
        parts.append(part)
        position += 1 + length
    # A pair of \u escapes may spell one character beyond the basic plane, as in JSON.
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _escape(source: Source, rest: str, offset: int) -> tuple[str, int]:
    """The character that the escape stands for, and how many characters follow the backslash."""
    letter = rest[0]
    if letter in _ESCAPES:
        return _ESCAPES[letter], 1
    length = _HEXADECIMAL.get(letter, 0)
    digits = rest[1 : 1 + length]
    if length and len(digits) == length and all(digit in "0123456789abcdefABCDEF" for digit in digits):
        code = int(digits, 16)
        if code <= 0x10FFFF:
            return chr(code), 1 + length
    return source.fail(f"unknown escape \\{letter} in a string", offset, "write \\\\ for a backslash")
