"""Text of an action to its statements.

Here belongs the form of `{ n = n + 1; print(s); break; if (n > 3) hold($1.pid, X) }`: assignments to debugger
variables, calls, and either under a condition, separated by `;` (Modeling Concurrency in Parallel
Debugging, sections 2.1, 3 and 5).
Values are state predicates' values; `$1` is the event that atom 1 stands for. Nothing is ever handed to
`eval`; which functions exist is known to whoever performs the action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from possibly.logic.parser import Parser, parse
from possibly.logic.paths.syntax import Action, Assign, Perform, Statement, When
from possibly.logic.source import Source
from possibly.logic.syntax import Node

_ASSIGN = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_CALL = re.compile(r"\s*([^\W\d]\w*)\s*(\(.*\))?\s*", re.DOTALL)
_IF = re.compile(r"\s*if\b\s*(?=\()")
MOST_NESTED = 20
"""Conditions inside each other."""
_EVENT = re.compile(r"\$(?=\d)")


class ConditionParser(Parser):
    """Conditions and values as the paper writes them: `[X = 0]`, `if (n = 3)`."""

    single_equals = True


def parse_action(source: Source) -> Action:
    """The statements between the braces."""
    found = _statements(source, 0, source.text, 0)
    if not found:
        source.fail("the action is empty", 0)
    return found


def _statements(source: Source, start: int, text: str, depth: int) -> Action:
    parts = _split(text, ";", start)
    return tuple([_statement(source, at, part, depth) for at, part in parts if part.strip()])


def _statement(source: Source, start: int, text: str, depth: int) -> Statement:
    if condition := _IF.match(text):
        return _when(source, start, text, condition.end(), depth + 1)
    assign = _ASSIGN.match(text)
    if assign:
        return Assign(assign[1], _value(source, start + assign.end(), text[assign.end() :]))
    call = _CALL.fullmatch(text)
    offset = start + len(text) - len(text.lstrip())
    if call is None:
        source.fail("expected `name = value` or `function(values)`", offset)
    arguments = [] if call[2] is None else list(_split(call[2][1:-1], ",", start + call.start(2) + 1))
    if len(arguments) == 1 and not arguments[0][1].strip():
        arguments = []
    return Perform(call[1], tuple([_value(source, at, part) for at, part in arguments]), offset)


def _when(source: Source, start: int, text: str, opening: int, depth: int) -> When:
    """`if (condition) statement`, or several statements in braces."""
    if depth > MOST_NESTED:
        source.fail(f"more than {MOST_NESTED} conditions inside each other", start)
    closing = _closing(text, opening)
    if closing is None:
        source.fail("this ( is never closed", start + opening, "a ) is missing")
    condition = _value(source, start + opening + 1, text[opening + 1 : closing])
    rest = text[closing + 1 :]
    inner = rest.strip()
    at = start + closing + 1 + len(rest) - len(rest.lstrip())
    if inner.startswith("{") and inner.endswith("}"):
        then = _statements(source, at + 1, inner[1:-1], depth)
    else:
        then = _statements(source, at, inner, depth)
    if not then:
        source.fail("expected a statement after the condition", at)
    return When(condition, then)


def _closing(text: str, opening: int) -> int | None:
    """Where the bracket that opens there is closed."""
    level, quote = 0, ""
    for at in range(opening, len(text)):
        letter = text[at]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            level += 1
        elif letter in ")]}":
            level -= 1
            if level == 0:
                return at
    return None


def _value(source: Source, start: int, text: str) -> Node:
    lead = len(text) - len(text.lstrip())
    line, column = source.place(start + lead)
    inner = Source(_EVENT.sub("_", text.strip()), source.file, line, column)
    if not inner.text:
        inner.fail("expected a value", 0)
    return parse(inner.text, "predicate", inner, ConditionParser)


def _split(text: str, mark: str, start: int) -> Iterator[tuple[int, str]]:
    """The parts between the marks that stand outside quotes and brackets, with their offsets."""
    level, quote, first = 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            level += 1
        elif letter in ")]}":
            level -= 1
        elif letter == mark and level == 0:
            yield start + first, text[first:at]
            first = at + 1
    yield start + first, text[first:]
