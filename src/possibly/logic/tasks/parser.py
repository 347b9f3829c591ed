"""Text of a task logic formula to its tree.

Here belongs the grammar (Frey, "Debugging parallel programs using temporal logic specifications",
section 4): `t:(...)` with a local state formula inside; from the tightest `not next sometime always`;
`until before`, to the right; `and`; `or`; `implies`, to the right; and around all of these, never inside
them, `forall t (p)`, `exists t (p)` and `p if t1 != t2`. What stands in `t:( )` is read by the rules of
state predicates. `! & | ->` are other spellings of `not and or implies`.
"""

from __future__ import annotations

from typing import NoReturn

from possibly.logic.depth import MAX_DEPTH, deep
from possibly.logic.lexer import Token
from possibly.logic.parser import Parser
from possibly.logic.source import Source
from possibly.logic.syntax import (
    And,
    Arithmetic,
    At,
    Call,
    Compare,
    Count,
    Done,
    Iff,
    Implies,
    Index,
    Items,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Stack,
    Subscript,
    Temporal,
    Transit,
)
from possibly.logic.tasks.formulas import Condition, ForTask, Point, Provided, Says, parts
from possibly.logic.walk import children, with_children
from possibly.logic.words import GRAMMAR

LEVELS = {
    "->": 1, "implies": 1, "|": 2, "or": 2, "&": 3, "and": 3, "until": 4, "before": 4,
}  # fmt: skip
PREFIXES = ("!", "not", "next", "sometime", "always")
OBSERVERS = ("start", "in", "term")
WORDS = GRAMMAR | {"next", "sometime", "always", "until", "before", "if", "caller"}
"""Never the name of a task variable."""

_VALUE = (Compare, Arithmetic, Call, Subscript, Items)
_CONNECTIVE = (Not, And, Or, Implies, Iff)
_FACTS = {Transit: "transit", At: "at", Done: "done", Index: "index", Count: "count"}
_IN_BRACKETS = "what a task must satisfy stands in brackets: t:(in.f)"


def parse_tasks(text: str, source: Source | None = None) -> Node:
    """The tree of a formula of the task logic; `source` says where the text stands."""
    source = source or Source(text)
    with deep():
        parser = _TaskParser(source, "predicate")
        tree = parser.formula()
        _check(tree, source)
    return tree


def _check(tree: Node, source: Source) -> None:
    """Quantifiers and `if` stand around expressions, not inside; no deeper than everybody can handle."""
    pending = [(tree, 1, False)]
    while pending:
        node, level, inside = pending.pop()
        offset = node.span[0] if node.span else 0
        if level > MAX_DEPTH:
            source.fail(f"the formula is nested more than {MAX_DEPTH:,} levels deep", offset)
        is_outer = isinstance(node, ForTask | Provided)
        if is_outer and inside:
            word = "if" if isinstance(node, Provided) else node.quantifier  # type: ignore[attr-defined]
            source.fail(
                f"`{word}` cannot stand inside an operator", offset, "it stands around a whole expression"
            )
        pending.extend((part, level + 1, inside or not is_outer) for part in parts(node))


class _TaskParser(Parser):
    """The rules, the loosest first; those of state predicates are inherited."""

    single_equals = True

    def outermost(self) -> Node:
        return self.conditional()

    def advice(self) -> str | None:
        match self.token.text:
            case "<->" | "iff":
                return "write (p implies q) and (q implies p)"
            case "==" | "!=" | "<" | ">" | "<=" | ">=" | "." | "in" | "[":
                return _IN_BRACKETS
        return None

    def conditional(self) -> Node:
        self.descend()
        node = self.temporal()
        while self.accept("if"):
            condition = self.condition()
            node = Provided(node, condition, span=self.span_from(node))
        self.level -= 1
        return node

    def condition(self) -> Condition:
        start = self.token.start
        left = self.task_variable()
        operator = self.accept("==", "!=")
        if operator is None:
            self.fail("`==` or `!=`", "write p if t1 != t2")
        caller = self.sees("caller")
        if not caller:
            right = self.task_variable()
        else:
            right = self.called(operator)
        return Condition(left, operator.text, right, caller, span=self.span_from(start))

    def called(self, operator: Token) -> str:
        if operator.text != "==":
            self.source.fail("only `== caller(t)` can be asked", operator.start)
        self.advance()
        if not self.sees("("):
            self.fail("`(` after caller")
        opening = self.advance()
        right = self.task_variable()
        self.close(opening, "`)`")
        return right

    def temporal(self, lowest: int = 1) -> Node:
        self.descend()
        left = self.prefixed_temporal()
        while (level := self.level_of_next()) >= lowest:
            left = self.joined_temporal(left, level)
        self.level -= 1
        return left

    def level_of_next(self) -> int:
        text = self.token.text
        return LEVELS[text] if text in LEVELS and self.sees(text) else 0

    def joined_temporal(self, left: Node, level: int) -> Node:
        if level in (2, 3):
            operands = [left]
            while self.level_of_next() == level:
                self.advance()
                operands.append(self.temporal(level + 1))
            kind = And if level == 3 else Or
            return kind(tuple(operands), span=self.span_from(left))
        word = self.advance()
        right = self.temporal(level)
        span = self.span_from(left)
        return (
            Implies(left, right, span=span) if level == 1 else Temporal(word.text, (left, right), span=span)
        )

    def prefixed_temporal(self) -> Node:
        prefixes: list[Token] = []
        while self.token.text in PREFIXES and (word := self.accept(self.token.text)):
            prefixes.append(word)
        node = self.atom()
        for word in reversed(prefixes):
            span = self.span_from(word.start)
            is_not = word.text in ("!", "not")
            node = Not(node, span=span) if is_not else Temporal(word.text, (node,), span=span)
        return node

    def atom(self) -> Node:
        if self.sees("("):
            opening = self.advance()
            node = self.conditional()
            self.close_temporal(opening)
            return node
        if self.sees("forall", "exists"):
            return self.for_task()
        return self.says()

    def close_temporal(self, opening: Token) -> None:
        if self.token.kind != "end" and not self.sees(")"):
            self.fail("an operator or `)`", self.advice())
        self.close(opening, "an operator or `)`")

    def for_task(self) -> Node:
        word = self.advance()
        tvar = self.task_variable()
        if not self.sees("("):
            self.fail("`(`", f"write {word.text} {tvar} (p)")
        opening = self.advance()
        body = self.conditional()
        self.close_temporal(opening)
        return ForTask(word.text, tvar, body, span=self.span_from(word.start))

    def task_variable(self) -> str:
        token = self.token
        if token.kind != "name" or token.text in WORDS:
            self.fail("a task variable", "such as t1")
        return self.advance().text

    def says(self) -> Node:
        start = self.token.start
        token = self.token
        if token.kind != "name" or token.text in WORDS or self.following().text != ":":
            self.fail("`t:(...)`, a bracket, `not`, a temporal operator or a quantifier", self.lost(token))
        tvar = self.task_variable()
        self.advance()
        if not self.sees("("):
            self.fail("`(`", _IN_BRACKETS)
        opening = self.advance()
        formula = self.expression()
        self.close(opening, "an operator or `)`")
        return Says(tvar, self.local(formula), span=self.span_from(start))

    def lost(self, token: Token) -> str | None:
        if token.kind == "name" and (token.text not in WORDS or token.text == "in"):
            return "a predicate needs its task: write t:(...)"
        return None

    # ---- local state formulas -------------------------------------------------------------------

    def local(self, node: Node) -> Node:
        """Connectives above, predicates below; no connective inside a predicate."""
        if isinstance(node, _CONNECTIVE):
            return with_children(node, [self.local(child) for child in children(node)])
        return self.predicate(node)

    def predicate(self, node: Node) -> Node:
        if isinstance(node, Name) and len(node.parts) > 1 and node.parts[0] in OBSERVERS:
            return Point(node.parts[0], ".".join(node.parts[1:]), span=node.span)
        pending = [node]
        while pending:
            part = pending.pop()
            self.refuse(part, inside=part is not node)
            pending.extend(children(part))
        return node

    def refuse(self, part: Node, inside: bool) -> None:
        match part:
            case Quantified(quantifier):
                self.lament(part, f"`{quantifier}` cannot stand inside t:(...)", "it stands around t:(...)")
            case Stack(observer):
                word = "in" if observer == "inside" else observer
                self.lament(part, f"inside t:(...) the task is known: write {word}.f", None)
            case Transit() | At() | Done() | Index() | Count():
                self.lament(part, f"`{_FACTS[type(part)]}` is no property of a local state", None)
            case Name((observer, _, *_)) if inside and observer in OBSERVERS:
                self.lament(part, f"{observer}.f cannot stand inside a value", None)
            case Not() | And() | Or() | Implies() | Iff():
                self.lament(
                    part, "a predicate contains no connective", "connectives join predicates: t:(p and q)"
                )

    def lament(self, node: Node, message: str, hint: str | None) -> NoReturn:
        self.source.fail(message, node.span[0] if node.span else 0, hint)
