"""A position in the tokens of a formula: looking, moving on, and saying what was expected.

Here belongs what every rule of the grammar needs and no rule itself.
"""

from __future__ import annotations

from possibly.logic.depth import MAX_DEPTH
from possibly.logic.lexer import Token, tokens
from possibly.logic.source import Source
from possibly.logic.syntax import Node, Span
from possibly.logic.words import RESERVED, hint_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

CLOSING = {"(": ")", "[": "]"}


def too_deep(source: Source, offset: int) -> NoReturn:
    source.fail(f"the formula is nested more than {MAX_DEPTH:,} levels deep", offset)


class Cursor:
    """One position in the tokens of one formula."""

    single_equals = False
    """Whether `=` is another spelling of `==`, as in the papers on tasks and on path expressions."""

    def __init__(self, source: Source, language: str) -> None:
        self.source = source
        self.language = language
        self.reserved = RESERVED[language]
        self.tokens = tokens(source, self.single_equals)
        self.tokens.append(self.tokens[-1])  # so that at the end, too, something follows
        self.position = 0
        self.token = self.tokens[0]
        self.level = 0

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def following(self) -> Token:
        return self.tokens[self.position + 1]

    def sees(self, *texts: str) -> bool:
        """Whether one of these operators or words comes next; a word before a dot is a plain name."""
        token = self.token
        if token.text not in texts or token.kind not in ("operator", "name"):
            return False
        return token.kind == "operator" or not self.dotted_name()

    def dotted_name(self) -> bool:
        return self.following().text == "."

    def accept(self, *texts: str) -> Token | None:
        return self.advance() if self.sees(*texts) else None

    def fail(self, expected: str, hint: str | None = None) -> NoReturn:
        """An error at the token that comes next."""
        self.source.fail(f"expected {expected}, found {self.token.shown()}", self.token.start, hint)

    def stranger(self) -> str | None:
        """A hint from the word that comes next, or from the one just read."""
        before = self.tokens[self.position - 1] if self.position else self.token
        for token in (self.token, before):
            hint = hint_for(token.text, self.language) if token.kind == "name" else None
            if hint:
                return hint
        return None

    def close(self, opening: Token, expected: str) -> Token:
        closing = self.accept(CLOSING[opening.text])
        if closing:
            return closing
        if self.token.kind == "end":
            hint = f"a {CLOSING[opening.text]} is missing"
            self.source.fail(f"this {opening.text} is never closed", opening.start, hint)
        return self.fail(f"{expected} to close the {opening.text} before", self.stranger())

    def span_from(self, node_or_start: Node | int) -> Span:
        first = node_or_start if isinstance(node_or_start, int) else (node_or_start.span or (0, 0))[0]
        return first, self.tokens[self.position - 1].end

    def descend(self) -> None:
        """One more level of nesting."""
        self.level += 1
        if self.level > MAX_DEPTH:
            too_deep(self.source, self.token.start)
