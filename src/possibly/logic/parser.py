"""Text of a formula to its surface tree.

Here belongs the grammar; tokens come from `lexer`, the words from `words`, names stay unresolved
(`bind` does that). Written by hand, as precedence climbing: the parser generators measured cost 55 ms to
import, which is more than all of a small check may take, and their messages could not say what was
expected and what a beginner meant.

From the tightest: primary, subscript, call; `**`; unary - +; `* / // %`; `+ -`; comparisons, chained;
`!` and unary temporal operators; `U R W S`, to the right; `&`; `|`; `->`, to the right; `<->`.
A quantifier stands where `!` may, and its body reaches as far to the right as possible.
"""

from __future__ import annotations

from possibly.logic.cursor import CLOSING, Cursor, too_deep
from possibly.logic.depth import MAX_DEPTH, deep
from possibly.logic.lexer import Token
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
    Keyed,
    Literal,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Shared,
    Stack,
    Subscript,
    Temporal,
    Transit,
)
from possibly.logic.walk import children
from possibly.logic.words import (
    ARITHMETIC_LEVELS,
    BINARY_LEVELS,
    COMPARISONS,
    CONSTANTS,
    FACTS,
    FUNCTIONS,
    GRAMMAR,
    LTL_BINARY,
    RESERVED,
    UNARY,
    hint_for,
)

LANGUAGES = tuple(RESERVED)
_AFTER_VALUE = frozenset(("[", "(", "."))
_FIRST_WORDS = frozenset(("forall", "exists", "E", "A"))
_AFTER_PLAIN = frozenset(("&", "|", ")", "->"))


def parse(
    text: str, language: str, source: Source | None = None, parser_class: type[Parser] | None = None
) -> Node:
    """The tree of a formula in `predicate`, `ctl` or `ltl`; `source` says where the text stands."""
    source = source or Source(text)
    parser = (parser_class or Parser)(source, language)
    with deep():
        tree = parser.formula()
    _check(tree, source)
    return tree


def _check(tree: Node, source: Source) -> None:
    """No temporal operator inside a value, and no deeper nesting than everybody can handle."""
    pending = [(tree, 1, False)]
    while pending:
        node, level, value = pending.pop()
        if level >= MAX_DEPTH and (level > MAX_DEPTH or children(node)):
            too_deep(source, node.span[0] if node.span else 0)
        if value and isinstance(node, Temporal):
            source.fail(
                f"the temporal operator {node.operator} cannot stand inside a value",
                node.span[0] if node.span else 0,
                "temporal formulas are joined by ! & | -> <-> only",
            )
        value = value or isinstance(node, Compare | Arithmetic | Call | Subscript | Items)
        for child in children(node):
            if not child._is_leaf:
                condition = isinstance(node, Quantified) and child is node.condition
                pending.append((child, level + 1, value or condition))


class Parser(Cursor):
    """The rules of the grammar, the loosest first."""

    # ---- connectives and time -------------------------------------------------------------------

    def formula(self) -> Node:
        if self.token.kind == "end":
            self.source.fail("the formula is empty", 0)
        tree = self.outermost()
        if self.token.kind == "end":
            return tree
        if self.token.text in (")", "]"):
            self.source.fail(f"this {self.token.text} closes nothing", self.token.start)
        return self.fail("an operator or the end of the formula", self.advice())

    def outermost(self) -> Node:
        """The loosest rule; a language with rules of its own begins elsewhere."""
        return self.expression()

    def advice(self) -> str | None:
        """What to write instead of what stands where an operator was expected."""
        return self.stranger()

    def expression(self, lowest: int = 1) -> Node:
        self.descend()
        left = self.prefixed()
        while (operator := self.binary()) and (level := BINARY_LEVELS[operator]) >= lowest:
            left = self.joined(left, operator, level)
        self.level -= 1
        return left

    def binary(self) -> str | None:
        """The connective or binary temporal operator that comes next."""
        text = self.token.text
        if text not in BINARY_LEVELS or not self.sees(text):
            return None
        return None if text in LTL_BINARY and self.language != "ltl" else text

    def joined(self, left: Node, operator: str, level: int) -> Node:
        match operator:
            case "&" | "and":
                return self.chain(And, left, level)
            case "|" | "or":
                return self.chain(Or, left, level)
        self.advance()
        if operator in ("<->", "iff"):
            right = self.expression(level + 1)
            return Iff(left, right, span=self.span_from(left))
        right = self.expression(level)
        span = self.span_from(left)
        if operator in ("->", "implies"):
            return Implies(left, right, span=span)
        return Temporal(operator, (left, right), span=span)

    def chain(self, kind: type[And] | type[Or], left: Node, level: int) -> Node:
        operands = [left]
        while BINARY_LEVELS.get(self.binary() or "") == level:
            self.advance()
            # What may follow a plain comparison binds no tighter than `&`: so it is a whole operand of that.
            plain = self.plain_comparison() if kind is And else None
            operands.append(plain or self.expression(level + 1))
        return kind(tuple(operands), span=self.span_from(left))

    def prefixed(self) -> Node:
        """An operand with all the `!` and unary temporal operators before it."""
        prefixes: list[tuple[Token, Name | None]] = []
        while (word := self.prefix()) is not None:
            process = self.step_process() if word.text == "EX" and self.language == "ctl" else None
            prefixes.append((word, process))
        node = self.operand()
        for word, process in reversed(prefixes):
            span = self.span_from(word.start)
            if word.text in ("!", "not"):
                node = Not(node, span=span)
            else:
                node = Temporal(word.text, (node,), process, span=span)
        return node

    def prefix(self) -> Token | None:
        text = self.token.text
        known = text in ("!", "not") or text in UNARY[self.language]
        return self.accept(text) if known else None

    def step_process(self) -> Name | None:
        """The P of EX[P], if there is one."""
        opening = self.accept("[")
        if opening is None:
            return None
        process = self.process()
        self.close(opening, "`]`")
        return process

    def operand(self) -> Node:
        if self.token.text in _FIRST_WORDS:
            if self.sees("forall", "exists"):
                return self.quantified()
            if self.language == "ctl" and self.sees("E", "A"):
                return self.path_until()
        return self.comparison()

    def path_until(self) -> Node:
        """`E[p U q]`; both sides are whole formulas, as U can only be the middle of the bracket."""
        letter = self.advance()
        if not self.sees("["):
            self.fail(f"`[` after {letter.text}", hint_for(letter.text, self.language))
        opening = self.advance()
        left = self.expression()
        if not self.accept("U"):
            if self.token.kind == "end":
                self.close(opening, "`]`")
            self.fail("`U`", f"write {letter.text}[p U q]")
        right = self.expression()
        self.close(opening, "`]`")
        return Temporal(f"{letter.text}U", (left, right), span=self.span_from(letter.start))

    def quantified(self) -> Node:
        word = self.advance()
        if self.token.text == "key" and self.following().kind == "name" and self.following().text != "in":
            return self.keyed(word)
        variables = [self.variable()]
        while self.accept(","):
            variables.append(self.variable())
        if len(set(variables)) < len(variables):
            self.source.fail("a variable stands twice in this quantifier", word.start)
        if not self.accept("in"):
            self.fail("`in`", f'write {word.text} i in "P*": ...')
        if self.token.kind != "string":
            self.fail('a pattern of process names in quotes, such as "P*"')
        pattern = self.advance().value
        condition = self.expression() if self.accept("if") else None
        if not self.accept(":"):
            self.fail("`:`" if condition else "`:` or `if`", self.stranger())
        body = self.expression()
        span = self.span_from(word.start)
        return Quantified(word.text, tuple(variables), pattern, condition, body, span=span)

    def keyed(self, word: Token) -> Node:
        """`forall key k in orders.id: body`."""
        self.advance()
        if word.text != "forall":
            self.source.fail("a key has `forall` alone", word.start)
        key = self.variable()
        if not self.accept("in"):
            self.fail("`in`", f"write forall key {key} in P.x: ...")
        name = self.name()
        if len(name.parts) < 2:
            self.source.fail(
                "a key is a variable of a process, such as orders.id", name.span[0] if name.span else 0
            )
        if not self.accept(":"):
            self.fail("`:`", self.stranger())
        body = self.expression()
        span = self.span_from(word.start)
        return Keyed(key, name.parts[0], ".".join(name.parts[1:]), body, span=span)

    def variable(self) -> str:
        token = self.token
        if token.kind != "name" or token.text in GRAMMAR or token.text in self.reserved:
            self.fail("the name of a variable", self.stranger())
        return self.advance().text

    # ---- values ---------------------------------------------------------------------------------

    def comparison(self) -> Node:
        return self.plain_comparison() or self.compared(self.arithmetic())

    def plain_comparison(self) -> Node | None:
        """`P1.x == 3` at once, where it stands alone: formulas over many processes are made of them."""
        first = self.position
        if first + 5 >= len(self.tokens):
            return None
        name, dot, variable, operator, constant, after = self.tokens[first : first + 6]
        if dot.text != "." or variable.kind != "name" or name.kind != "name" or constant.kind != "number":
            return None
        if operator.text not in COMPARISONS or operator.kind != "operator" or after.text not in _AFTER_PLAIN:
            return None
        self.position = first + 5
        self.token = after
        left = Name((name.text, variable.text), span=(name.start, variable.end))
        right = Literal(constant.value, span=(constant.start, constant.end))
        return Compare((left, right), (operator.text,), span=(name.start, constant.end))

    def compared(self, left: Node) -> Node:
        """A value, with the comparisons that begin with it."""
        operands, operators = [left], []
        while (operator := self.comparator()) is not None:
            operators.append(operator)
            operands.append(self.arithmetic())
        if not operators:
            return left
        return Compare(tuple(operands), tuple(operators), span=self.span_from(left))

    def comparator(self) -> str | None:
        if self.token.text == "not" and self.sees("not") and self.following().text == "in":
            self.advance()
            self.advance()
            return "not in"
        if self.token.text in COMPARISONS and self.sees(self.token.text):
            return self.advance().text
        return None

    def arithmetic(self, lowest: int = 1) -> Node:
        left = self.signed()
        while (level := self.arithmetic_level()) >= lowest:
            operator = self.advance().text
            right = self.arithmetic(level + 1)
            left = Arithmetic(operator, (left, right), span=self.span_from(left))
        return left

    def arithmetic_level(self) -> int:
        return ARITHMETIC_LEVELS.get(self.token.text, 0) if self.token.kind == "operator" else 0

    def signed(self) -> Node:
        signs: list[Token] = []
        while self.token.kind == "operator" and self.token.text in "-+":
            signs.append(self.advance())
        node = self.power()
        for sign in reversed(signs):
            node = Arithmetic(sign.text, (node,), span=self.span_from(sign.start))
        return node

    def power(self) -> Node:
        base = self.subscripted()
        if self.token.text != "**" or not self.accept("**"):
            return base
        self.descend()
        exponent = self.signed()
        self.level -= 1
        return Arithmetic("**", (base, exponent), span=self.span_from(base))

    def subscripted(self) -> Node:
        node = self.primary()
        if self.token.text not in _AFTER_VALUE:
            return node
        while opening := self.accept("["):
            index = self.expression()
            if self.sees(":"):
                self.fail("`]`", "there are no slices of lists")
            self.close(opening, "`]`")
            node = Subscript(node, index, span=self.span_from(node))
        if self.sees("("):
            self.fail("an operator", self.stranger() or "only the functions of the language can be called")
        if self.sees("."):
            self.fail("an operator", 'values have no attributes; write x["key"] for an entry')
        return node

    def primary(self) -> Node:
        token = self.token
        match token.kind:
            case "number":
                return Literal(self.advance().value, span=(token.start, token.end))
            case "string":
                return self.string()
            case "name":
                return self.word()
        if self.sees("("):
            return self.bracket()
        if self.sees("["):
            opening = self.advance()
            items = self.arguments(opening)
            return Items(items, span=self.span_from(opening.start))
        if self.sees("!"):
            self.fail("a value", "`!` binds looser than comparisons and arithmetic; put brackets around it")
        return self.fail("a value or a formula", self.stranger())

    def string(self) -> Node:
        if self.dotted_name():
            return self.name()
        token = self.advance()
        return Literal(token.value, span=(token.start, token.end))

    def bracket(self) -> Node:
        opening = self.advance()
        if self.accept(")"):
            return Items((), span=self.span_from(opening.start))
        first = self.expression()
        if not self.accept(","):
            self.close(opening, "an operator or `)`")
            return first
        rest = self.arguments(opening)
        return Items((first, *rest), span=self.span_from(opening.start))

    def arguments(self, opening: Token) -> tuple[Node, ...]:
        """Values between commas up to the closing bracket; a comma may stand before it."""
        found: list[Node] = []
        while not self.accept(CLOSING[opening.text]):
            found.append(self.expression())
            if not self.accept(","):
                self.close(opening, f"`,` or `{CLOSING[opening.text]}`")
                break
        return tuple(found)

    # ---- names and calls ------------------------------------------------------------------------

    def word(self) -> Node:
        token = self.token
        if self.dotted_name():
            return self.name()
        if token.text in CONSTANTS:
            self.advance()
            return Literal(CONSTANTS[token.text], span=(token.start, token.end))
        if token.text in GRAMMAR or token.text in self.reserved:
            looser = token.text == "not" or token.text in UNARY[self.language]
            hint = "it binds looser than comparisons and arithmetic; put brackets around it"
            self.fail("a value or a formula", hint if looser else self.stranger())
        if self.following().text == "(":
            return self.call()
        return self.name()

    def name(self) -> Name:
        start = self.token.start
        parts = [self.name_part()]
        while self.accept("."):
            parts.append(self.name_part())
        if len(parts) > 1 and self.sees("("):
            self.fail("an operator", "attributes cannot be called")
        return Name(tuple(parts), span=self.span_from(start))

    def name_part(self) -> str:
        if self.token.kind not in ("name", "string"):
            self.fail("a name after the dot")
        token = self.advance()
        return token.text if token.kind == "name" else str(token.value)

    def call(self) -> Node:
        word = self.token
        if word.text not in FUNCTIONS and word.text not in FACTS:
            hint = hint_for(word.text, self.language) or f"known are {' '.join([*FUNCTIONS, *FACTS])}"
            self.source.fail(f"unknown function `{word.text}`", word.start, hint)
        self.advance()
        opening = self.advance()
        if word.text in FACTS:
            return self.fact(word, opening)
        arguments = self.arguments(opening)
        wanted = FUNCTIONS[word.text]
        if len(arguments) != (wanted or max(len(arguments), 1)):
            count = "one value" if wanted else "one value or more"
            self.source.fail(f"{word.text} takes {count}, found {len(arguments)}", word.start)
        return Call(word.text, arguments, span=self.span_from(word.start))

    def fact(self, word: Token, opening: Token) -> Node:
        match word.text:
            case "transit":
                return self.transit(word, opening)
            case "done":
                process = self.process()
                self.close(opening, "`)`")
                return Done(process, span=self.span_from(word.start))
            case "shared":
                name = self.dotted("the name of a shared variable")
                self.close(opening, "`)`")
                return Shared(name, span=self.span_from(word.start), explicit=True)
            case "index":
                variable = self.variable()
                self.close(opening, "`)`")
                return Index(variable, span=self.span_from(word.start))
            case "count":
                if self.token.kind != "string":
                    self.fail('a pattern of process names in quotes, such as "P*"')
                pattern = self.advance().value
                self.close(opening, "`)`")
                return Count(pattern, span=self.span_from(word.start))
        return self.place(word, opening)

    def place(self, word: Token, opening: Token) -> Node:
        """`at`, `start`, `inside` and `term`: a process and a label or function."""
        process = self.process()
        self.comma()
        name = self.dotted("a label" if word.text == "at" else "a function")
        self.close(opening, "`)`")
        span = self.span_from(word.start)
        if word.text == "at":
            return At(process, name, span=span)
        return Stack(word.text, process, name, span=span)

    def transit(self, word: Token, opening: Token) -> Node:
        if self.accept(")"):
            return Transit(span=self.span_from(word.start))
        sender = self.process()
        self.comma()
        receiver = self.process()
        tag = self.dotted("a message type") if self.accept(",") else None
        self.close(opening, "`,` or `)`" if tag is None else "`)`")
        return Transit(sender, receiver, tag, span=self.span_from(word.start))

    def comma(self) -> None:
        if not self.accept(","):
            self.fail("`,`")

    def process(self) -> Name:
        if self.token.kind not in ("name", "string"):
            self.fail("the name of a process")
        start = self.token.start
        return Name((self.name_part(),), span=self.span_from(start))

    def dotted(self, what: str) -> str:
        """A name in quotes, or written plainly with its dots."""
        if self.token.kind not in ("name", "string"):
            self.fail(what)
        parts = [self.name_part()]
        while self.accept("."):
            parts.append(self.name_part())
        return ".".join(parts)
