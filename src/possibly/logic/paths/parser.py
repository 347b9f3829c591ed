"""Text of a data path expression to its tree.

Here belongs the grammar of Modeling Concurrency in Parallel Debugging, sections 2 and 3, with an order of
precedence that the paper leaves open: `* @` bind tightest, then `;`, then `&`, then `+`. Conditions are
read by the parser of state predicates; `x'` becomes the name `xʹ` (a letter), which keeps every offset.
Actions are read in `actions`. Compound events are put in where their names stand; recursion and empty
definitions are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple, NoReturn, Protocol

from possibly.logic.parser import parse
from possibly.logic.paths.actions import ConditionParser, parse_action
from possibly.logic.paths.syntax import (
    PRIME,
    Action,
    Argument,
    Atom,
    Choice,
    Constant,
    Control,
    Data,
    Expression,
    Many,
    Path,
    Repeat,
    Sequence,
    Together,
    Variable,
    all_statements,
    values_of,
)
from possibly.logic.source import Source
from possibly.logic.syntax import (
    And,
    Arithmetic,
    Call,
    Compare,
    Iff,
    Implies,
    Items,
    Literal,
    Name,
    Node,
    Not,
    Or,
    Subscript,
)
from possibly.logic.walk import nodes
from possibly.records import replace

MAX_EVENTS = 300
"""Events of one expression, compound ones counted with their parts."""
MAX_NESTING = 60
"""Brackets inside brackets."""
DERIVED = ("permutation", "partial", "total")
STATE_NODES = (
    Name, Literal, Items, Subscript, Arithmetic, Compare, Call, Not, And, Or, Implies, Iff
)  # fmt: skip
"""What a condition may be made of: variables and values, no facts of a cut."""


class Definition(Protocol):
    """A compound event: a name and the place of its text."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> Source: ...


Definitions = Mapping[str, Definition]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<sign>[;+*&@^(),._])""",
    re.VERBOSE,
)
_PRIMED = re.compile(r"(?<=\w)'")
_INSTEAD = {
    "|": "write + for a choice",
    "||": "write & for concurrency",
    "-": "write ; for a sequence",
    "?": "write (A + B) for a choice; A* may be empty",
    ":": "only a sync rule has a colon",
    "=": "write == to compare inside a condition; a compound event is a line `event name = ...`",
}


def parse_path(source: Source, definitions: Definitions | None = None) -> Expression:
    """The expression that the text describes; an error names file, line and column."""
    if not source.text.strip():
        source.fail("the expression is empty", 0)
    reader = _Reader(source, definitions or {}, ())
    root = reader.expression()
    if reader.token.kind != "end":
        reader.expected("an operator or the end of the expression")
    found, atoms = number_atoms(root, source)
    action = reader.action
    for performed in (action, *(atom.action for atom in atoms)):
        _check_references(performed, len(atoms), source)
    _check_references(reader.start, 0, source)
    first = 1
    if isinstance(found, Choice) and not reader.is_of_all:
        first = len(atoms) + 1 - sum(isinstance(part, Atom) for part in subpaths(found.right))
    return Expression(found, tuple(atoms), action, source.text, first, reader.start)


class _Reader:
    """Reads one text from left to right; `token` is the next one."""

    def __init__(self, source: Source, definitions: Definitions, inside: tuple[str, ...]) -> None:
        self.source = source
        self.definitions = definitions
        self.inside = inside
        """The compound events whose definitions are being read."""
        self.at = 0
        self.nesting = 0
        self.last: Atom | None = None
        self.action: Action = ()
        """An action with nothing after it: that of the whole expression."""
        self.start: Action = ()
        """An action before the first event."""
        self.is_of_all = False
        """That action stands after a bracket around everything."""
        self.token = self._next()

    # ---- the grammar, the loosest operator first -------------------------------------------------

    def expression(self) -> Path:
        found = self.concurrent()
        while self.takes("+"):
            found = Choice(found, self.concurrent())
        return found

    def concurrent(self) -> Path:
        found = self.sequence()
        while self.takes("&"):
            found = Together(found, self.sequence())
        return found

    def sequence(self) -> Path:
        self._started()
        parts = [self.repeated()]
        while self.takes(";"):
            if self.token.kind == "action":
                parts[-1] = self._followed(parts[-1])
            else:
                parts.append(self.repeated())
        found = parts.pop()
        while parts:
            found = Sequence(parts.pop(), found)
        return found

    def repeated(self) -> Path:
        found = self.primary()
        while self.token.kind == "sign" and self.token.text in "*@":
            sign = self.advance().text
            if sign == "@":
                found = Many(found)
            elif self.token.kind == "name":
                word = self.advance()
                if can_be_empty(found):
                    self.source.fail(f"what *{word.text} repeats can be empty", word.start, "write *")
                found = Repeat(found, word.text)
            else:
                found = Repeat(found)
            found = self._acted(found)
        return found

    def primary(self) -> Path:
        token = self.token
        if token.kind == "data":
            self.advance()
            event = Data(self._condition(token))
            return self._finished(Atom(event, offset=token.start))
        if token.kind in ("name", "string"):
            return self._named()
        if token.text == "(":
            is_first = not self.source.text[: token.start].strip()
            found = self._acted(self._bracketed())
            self.is_of_all = is_first and bool(self.action)
            return found
        return self.expected("an event or `(`")

    def _started(self) -> None:
        """`{ n = 0 };` before everything else."""
        if (
            self.token.kind == "action"
            and not self.inside
            and not self.source.text[: self.token.start].strip()
        ):
            self.start = self._action(self.advance())
            if not self.takes(";"):
                self.expected("`;` after the action that begins the expression")

    def _followed(self, found: Path) -> Path:
        """`a; { … }`: the action of the event before it, or that of the whole expression if it ends it."""
        token = self.advance()
        if self.token.kind == "end" and not self.inside:
            self.action = self._action(token)
            return found
        if not isinstance(found, Atom):
            hint = "write it after an event, or at the end of the whole expression"
            self.source.fail("an action belongs to an event", token.start, hint)
        return replace(found, action=(*found.action, *self._action(token)))

    def _bracketed(self) -> Path:
        opening = self.advance()
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.source.fail(f"more than {MAX_NESTING} brackets inside each other", opening.start)
        found = self.expression()
        self.closed(opening)
        self.nesting -= 1
        return found

    def _acted(self, found: Path) -> Path:
        """An action after a bracket or a repetition must end the text: then it is that of the whole."""
        if self.token.kind == "action":
            token = self.advance()
            if self.token.kind != "end" or self.inside:
                hint = "write it after an event, or at the end of the whole expression"
                self.source.fail("an action belongs to an event", token.start, hint)
            self.action = self._action(token)
        return found

    # ---- events ---------------------------------------------------------------------------------

    def _named(self) -> Path:
        token = self.advance()
        name = token.text if token.kind == "name" else str(json.loads(token.text))
        if token.kind == "name" and name in DERIVED and self.token.text == "(":
            return self._derived(token)
        if token.kind == "name" and name in self.definitions:
            return self._compound(token)
        name, phase = _phase(name) if token.kind == "name" else (name, "")
        arguments = self._arguments() if self.token.text == "(" else None
        if self.token.kind == "sign" and self.token.text == ".":
            phase = self._suffix(phase)
        return self._finished(Atom(Control(name, phase, arguments), offset=token.start))

    def _suffix(self, phase: str) -> str:
        dot = self.advance()
        if phase or self.token.text not in ("enter", "exit"):
            self.source.fail("expected .enter or .exit", dot.start)
        return self.advance().text

    def _finished(self, atom: Atom) -> Atom:
        """`^`, a condition and an action after an event."""
        distinct = self.takes("^")
        condition = None
        if self.token.kind == "data":
            condition = self._condition(self.advance())
        action: Action = ()
        if self.token.kind == "action":
            token = self.advance()
            action = self._action(token)
            if self.token.kind == "end" and not self.inside:
                self.action, action = action, ()
        return replace(atom, distinct=distinct, condition=condition, action=action)

    def _arguments(self) -> tuple[Argument, ...] | None:
        opening = self.advance()
        found: list[Argument] = []
        while self.token.text != ")" or found:
            found.append(self._argument())
            if not self.takes(","):
                break
        self.closed(opening)
        return tuple(found) or None

    def _argument(self) -> Argument:
        token = self.token
        match token.kind:
            case "name":
                self.advance()
                return None if token.text == "_" else Variable(token.text)
            case "string" | "number":
                self.advance()
                return Constant(json.loads(token.text))
        return self.expected("a variable, a string, a number or _")

    def _condition(self, token: _Token) -> Node:
        text = _PRIMED.sub(PRIME, token.text[1:-1])
        line, column = self.source.place(token.start + 1)
        inner = Source(text, self.source.file, line, column)
        if not text.strip():
            inner.fail("the condition is empty", 0)
        condition = parse(text, "predicate", inner, ConditionParser)
        for node in nodes(condition):
            if not isinstance(node, STATE_NODES):
                offset = node.span[0] if node.span else 0
                inner.fail("a condition speaks of variables only", offset)
        return condition

    def _action(self, token: _Token) -> Action:
        line, column = self.source.place(token.start + 1)
        return parse_action(Source(token.text[1:-1], self.source.file, line, column))

    def _compound(self, token: _Token) -> Path:
        if token.text in self.inside:
            way = " -> ".join([*self.inside[self.inside.index(token.text) :], token.text])
            self.source.fail(f"`{token.text}` is defined by itself: {way}", token.start)
        source = self.definitions[token.text].source
        if not source.text.strip():
            source.fail(f"the definition of `{token.text}` is empty", 0)
        reader = _Reader(source, self.definitions, (*self.inside, token.text))
        found = reader.expression()
        if reader.token.kind != "end":
            reader.expected("an operator or the end of the definition")
        return self._acted(found)

    def _derived(self, token: _Token) -> Path:
        opening = self.advance()
        parts = [self.expression()]
        while self.takes(","):
            parts.append(self.expression())
        self.closed(opening)
        if len(parts) < 2 or (token.text == "partial" and len(parts) != 2):
            number = "two" if token.text == "partial" else "several"
            self.source.fail(f"{token.text} takes {number} expressions", token.start)
        if token.text == "permutation" and len(parts) > 5:
            self.source.fail("permutation takes at most five expressions", token.start)
        return self._acted(derived(token.text, parts))

    # ---- tokens ---------------------------------------------------------------------------------

    def takes(self, sign: str) -> bool:
        if self.token.kind != "sign" or self.token.text != sign:
            return False
        self.advance()
        return True

    def closed(self, opening: _Token) -> None:
        if not self.takes(")"):
            if self.token.kind == "end":
                self.source.fail("this ( is never closed", opening.start, "a ) is missing")
            self.expected("an operator or `)`")

    def expected(self, what: str) -> NoReturn:
        shown = "the end of the expression" if self.token.kind == "end" else f"`{self.token.text[:40]}`"
        self.source.fail(f"expected {what}, found {shown}", self.token.start)

    def advance(self) -> _Token:
        token = self.token
        self.token = self._next()
        return token

    def _next(self) -> _Token:
        text = self.source.text
        while self.at < len(text):
            if text[self.at] in "[{":
                return self._block()
            match = _TOKEN.match(text, self.at)
            if match is None:
                self._stranger()
            else:
                self.at = match.end()
                if match.lastgroup != "space":
                    return _Token(match.lastgroup or "", match.group(), match.start(), match.end())
        return _Token("end", "", len(text.rstrip()), len(text))

    def _stranger(self) -> NoReturn:
        found = self.source.text[self.at]
        if found == '"':
            self.source.fail("this string is never closed", self.at)
        self.source.fail(f"unexpected character {found!r}", self.at, _INSTEAD.get(found))

    def _block(self) -> _Token:
        """A condition or an action, up to its closing bracket."""
        text, start = self.source.text, self.at
        opening, closing = text[start], {"[": "]", "{": "}"}[text[start]]
        level, quote, at = 0, "", start
        while at < len(text):
            mark = text[at]
            if quote:
                at += mark == "\\"
                quote = "" if mark == quote else quote
            elif mark == '"' or (
                mark == "'" and not (at and (text[at - 1].isalnum() or text[at - 1] == "_"))
            ):
                quote = mark
            elif mark in (opening, closing):
                level += 1 if mark == opening else -1
                if level == 0:
                    self.at = at + 1
                    return _Token("data" if opening == "[" else "action", text[start : at + 1], start, at + 1)
            at += 1
        return self.source.fail(f"this {opening} is never closed", start, f"a {closing} is missing")


def _phase(name: str) -> tuple[str, str]:
    """`f.enter` as f and enter."""
    head, dot, last = name.rpartition(".")
    return (head, last) if dot and last in ("enter", "exit") else (name, "")


def derived(word: str, parts: list[Path]) -> Path:
    """permutation: one after the other in any order; partial: in either order or concurrent; total: `&`."""
    match word:
        case "permutation":
            return _joined(Choice, [_chain(order) for order in permutations(parts)])
        case "partial":
            first, second = parts
            orders: list[Path] = [Sequence(first, second), Sequence(second, first), Together(first, second)]
            return _joined(Choice, orders)
        case _:
            return _joined(Together, parts)


def _chain(parts: tuple[Path, ...]) -> Path:
    found = parts[-1]
    for part in reversed(parts[:-1]):
        found = Sequence(part, found)
    return found


def _joined(kind: type[Choice] | type[Together], parts: list[Path]) -> Path:
    found = parts[0]
    for part in parts[1:]:
        found = kind(found, part)
    return found


def subpaths(path: Path) -> Iterator[Path]:
    """The expression and all below it, in the order of the text."""
    yield path
    match path:
        case Sequence(left, right) | Choice(left, right) | Together(left, right):
            yield from subpaths(left)
            yield from subpaths(right)
        case Repeat(body) | Many(body):
            yield from subpaths(body)
        case Atom():
            pass


def can_be_empty(path: Path) -> bool:
    """Whether no event at all is one of its runs."""
    match path:
        case Atom():
            return False
        case Repeat() | Many():
            return True
        case Choice(left, right):
            return can_be_empty(left) or can_be_empty(right)
        case Sequence(left, right) | Together(left, right):
            return can_be_empty(left) and can_be_empty(right)


def number_atoms(root: Path, source: Source) -> tuple[Path, list[Atom]]:
    """The tree with its events counted in the order of the text."""
    atoms: list[Atom] = []

    def number(path: Path) -> Path:
        match path:
            case Atom():
                if len(atoms) == MAX_EVENTS:
                    source.fail(f"the expression has more than {MAX_EVENTS} events", 0)
                atoms.append(replace(path, number=len(atoms) + 1))
                return atoms[-1]
            case Repeat(body, variable):
                return Repeat(number(body), variable)
            case Many(body):
                return Many(number(body))
            case Sequence(left, right) | Choice(left, right) | Together(left, right):
                first = number(left)
                return type(path)(first, number(right))

    return number(root), atoms


def _check_references(action: Action, count: int, source: Source) -> None:
    for statement in all_statements(action):
        for value in values_of(statement):
            for node in nodes(value):
                match node:
                    case Name((first, *_)) if (
                        re.fullmatch(r"_\d+", first) and not 1 <= int(first[1:]) <= count
                    ):
                        source.fail(f"${first[1:]} speaks of an event that the expression does not have", 0)
