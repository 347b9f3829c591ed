"""Clojure's data notation (EDN), as far as histories are written in it; nothing in it is evaluated.

Vectors and lists become tuples, sets frozensets, maps `Map`, keywords and symbols `Keyword`. A tag before a
value (`#jepsen.history.Op{...}`) says which class of that program it was, and is left out. Every form comes
with the number of its line, so that an error can name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from possibly.errors import TraceError
from possibly.trace.histories.model import Keyword, Map, Value

DEEPEST = 200
"""Brackets inside each other that are read."""
_TOKEN = re.compile(
    r"""[\s,]+ | ;[^\n]* | (?P<string>"(?:[^"\\]|\\.)*") | (?P<open>\#\{|[\[({]) | (?P<close>[\])}])
    | (?P<discard>\#_) | (?P<tag>\#:?[A-Za-z][^\s,\[\](){}";]*) | (?P<meta>\^) | (?P<char>\\(?:\w+|.))
    | (?P<atom>[^\s,\[\](){}";\\^]+)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?\d+N?|[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?M?")
_PAIRS = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NAMED = {"nil": None, "true": True, "false": False}
_CHARACTERS = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r"}
_DISCARD = object()


class _Open:
    """A bracket that is not closed yet, with what stands in it so far."""

    __slots__ = ("bracket", "discards", "items", "line")

    def __init__(self, bracket: str, line: int) -> None:
        self.bracket = bracket
        self.line = line
        self.items: list[Value] = []
        self.discards = 0

    def add(self, value: Value) -> None:
        if self.discards:
            self.discards -= 1
        else:
            self.items.append(value)


def forms(text: str, file: str | None = None, first_line: int = 1) -> Iterator[tuple[int, Value]]:
    """The values of the text one after another, each with the line on which it begins."""
    stack = [_Open("", first_line)]
    for kind, token, line in _tokens(text, file, first_line):
        if kind == "open":
            stack.append(_Open(token, line))
            if len(stack) > DEEPEST:
                raise TraceError("nested too deeply", file=file, line=line)
        elif kind == "close":
            opened = stack.pop()
            if _PAIRS.get(opened.bracket) != token:
                raise TraceError(f"{token!r} closes nothing that was opened", file=file, line=line)
            stack[-1].add(_closed(opened, file))
        elif kind == "discard":
            stack[-1].discards += 1
        elif kind not in ("tag", "meta"):
            stack[-1].add(_atom(kind, token))
        if len(stack) == 2 and kind == "open":
            stack[0].line = line
        if len(stack) == 1:
            yield from ((stack[0].line if kind == "close" else line, value) for value in stack[0].items)
            stack[0].items.clear()
    if len(stack) > 1:
        raise TraceError(f"{stack[-1].bracket!r} is never closed", file=file, line=stack[-1].line)


def _tokens(text: str, file: str | None, line: int) -> Iterator[tuple[str, str, int]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise TraceError(f"{text[at : at + 20]!r} cannot be read", file=file, line=line)
        if found.lastgroup is not None:
            yield found.lastgroup, found.group(), line
        line += text.count("\n", at, found.end())
        at = found.end()


def _atom(kind: str, token: str) -> Value:
    if kind == "string":
        return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _escaped, token[1:-1], flags=re.DOTALL)
    if kind == "char":
        return _CHARACTERS.get(token[1:], token[1:])
    if token in _NAMED:
        return _NAMED[token]
    if _NUMBER.fullmatch(token):
        return _number(token.rstrip("NM"))
    return Keyword(token.removeprefix(":"))


def _number(token: str) -> int | float:
    try:
        return int(token)
    except ValueError:
        return float(token)


def _escaped(found: re.Match[str]) -> str:
    code = found.group(1)
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)


def _closed(opened: _Open, file: str | None) -> Value:
    if opened.bracket == "#{":
        return frozenset(opened.items)
    if opened.bracket != "{":
        return tuple(opened.items)
    if len(opened.items) % 2:
        raise TraceError("a map with a key that has no value", file=file, line=opened.line)
    return Map(frozenset(zip(opened.items[::2], opened.items[1::2], strict=True)))
