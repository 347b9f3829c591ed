"""Synchronisation rules: `P(S): release(S); acquire(S)`.

Here belongs their text (Modeling Concurrency in Parallel Debugging, section 3.1): a name with variables, a
colon, and two events in sequence. The action `{ sync_event($1, $2); }` of the paper may be written; it is
what every rule does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from possibly.logic.paths.parser import Definitions, parse_path
from possibly.logic.paths.syntax import Atom, Expression, Perform, Sequence
from possibly.logic.source import Source
from possibly.logic.syntax import Name

_HEAD = re.compile(r"\s*[^\W\d]\w*\s*(\(([^()]*)\))?\s*:")


@dataclass(frozen=True, slots=True)
class Rule:
    """The second event happens after the first that carries the same values."""

    expression: Expression
    source: Source


def parse_rule(source: Source, definitions: Definitions | None = None) -> Rule:
    """The rule that the text after `sync` describes."""
    head = _HEAD.match(source.text)
    if head is None:
        source.fail("expected `sync name(variables): first; second`", 0)
    line, column = source.place(head.end())
    body = Source(source.text[head.end() :], source.file, line, column)
    expression = parse_path(body, definitions)
    match expression.root:
        case Sequence(Atom(), Atom()):
            pass
        case _:
            body.fail("a synchronisation is two events in sequence", 0, "for instance release(S); acquire(S)")
    match expression.action:
        case () | (Perform("sync_event", (Name(("_1",)), Name(("_2",)))),):
            pass
        case _:
            body.fail("a synchronisation has the action sync_event($1, $2), or none", 0)
    return Rule(expression, body)
