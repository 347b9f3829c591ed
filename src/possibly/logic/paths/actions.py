"""Text of an action to its statements.

Here belongs the form of `{ n = n + 1; print(s); break; hold($1.pid, X) }`: assignments to debugger
variables and calls, separated by `;` (Modeling Concurrency in Parallel Debugging, sections 2.1 and 5).
Values are state predicates' values; `$1` is the event that atom 1 stands for. Nothing is ever handed to
`eval`; which functions exist is known to whoever performs the action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from possibly.logic.parser import parse
from possibly.logic.paths.syntax import Action, Assign, Perform
from possibly.logic.source import Source
from possibly.logic.syntax import Node

_ASSIGN = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)")
_CALL = re.compile(r"\s*([^\W\d]\w*)\s*(\(.*\))?\s*", re.DOTALL)
_EVENT = re.compile(r"\$(?=\d)")


def parse_action(source: Source) -> Action:
    """The statements between the braces."""
    found = [_statement(source, start, text) for start, text in _split(source.text, ";", 0) if text.strip()]
    if not found:
        source.fail("the action is empty", 0)
    return tuple(found)


def _statement(source: Source, start: int, text: str) -> Assign | Perform:
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


def _value(source: Source, start: int, text: str) -> Node:
    lead = len(text) - len(text.lstrip())
    line, column = source.place(start + lead)
    inner = Source(_EVENT.sub("_", text.strip()), source.file, line, column)
    if not inner.text:
        inner.fail("expected a value", 0)
    return parse(inner.text, "predicate", inner)


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
