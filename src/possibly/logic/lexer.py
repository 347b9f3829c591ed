"""Text of a formula to tokens.

Here belongs everything about characters: which ones form a number, a string, a name or an operator, and
the operators of other languages that people try first, with what to write instead. Words are never
reserved here; that depends on the language and the place, which the parser knows.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from possibly.logic.source import Source

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


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|(?<![\w\])"'])\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<mistake>&&|\|\||===|!==|<=>|<>|==>|-->|=>|:=|<<|>>|[~^`@?$;{}])
      | (?P<operator><->|->|\*\*|//|==|!=|<=|>=|[-+*/%<>!&|()\[\],.:])
      | (?P<assign>=)
      | (?P<open>["'])""",
    re.VERBOSE,
)

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


def tokens(source: Source) -> list[Token]:
    """The tokens of a formula, the last one of kind `end`."""
    text = source.text
    if len(text) > MAX_LENGTH:
        source.fail(f"the formula is longer than {MAX_LENGTH:,} characters", 0)
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            source.fail(f"unexpected character {text[position]!r}", position)
        position = match.end()
        if match.lastgroup != "space":
            found.append(_token(source, match, found))
    found.append(Token("end", "", len(text.rstrip()), len(text)))
    return found


def _token(source: Source, match: re.Match[str], before: list[Token]) -> Token:
    kind, text, start, end = match.lastgroup or "", match.group(), match.start(), match.end()
    match kind:
        case "number":
            return Token(kind, text, start, end, _number(source, text, start, end))
        case "string":
            if before and before[-1].kind == "name" and before[-1].end == start:
                prefix = before[-1]
                source.fail(
                    f"a string cannot have the prefix `{prefix.text}`",
                    prefix.start,
                    "formatted, raw and byte strings do not exist here",
                )
            return Token(kind, text, start, end, _string(source, text, start))
        case "mistake" | "assign":
            source.fail(f"`{text}` is not an operator", start, _INSTEAD.get(text))
        case "open":
            source.fail("this string is never closed", start, f"a closing {text} is missing")
    return Token(kind, text, start, end)


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
