"""Names to what they mean in a trace: the surface tree becomes a bound one.

Here belongs name resolution. `Vocabulary` lists what a trace has; the trace itself is not in sight.
In this order a bare name is a variable of a quantifier, a `let`, a shared variable; `a.b` is the local
variable b of a if a is a process (or a quantifier's variable), else the shared variable `a.b`.
After it there are no `Name`, `Quantified`, `Index`, `Count` left, and processes are plain strings.

A `let` is bound once and put in as a tree wherever its name stands; a quantifier becomes the conjunction or
disjunction of its instances, in the order of the processes. Both can make a small text very large, so
instances and nodes are counted and bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from possibly.errors import FormulaError
from possibly.logic.depth import MAX_DEPTH, deep
from possibly.logic.predicates.functions import compile_predicate
from possibly.logic.printer import unparse
from possibly.logic.scope import Match, Scope
from possibly.logic.source import Source
from possibly.logic.specification import Let, Property
from possibly.logic.syntax import (
    And,
    Apart,
    At,
    AtLeast,
    Compare,
    Count,
    Done,
    Index,
    Keyed,
    Literal,
    Local,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Shared,
    Span,
    Stack,
    Temporal,
    Transit,
)
from possibly.logic.walk import children, depth, fold, with_children
from possibly.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple, NoReturn

    from possibly.logic.pairs import Pairs
    from possibly.logic.sifting import Facts, Sieve
else:
    from possibly.records import NamedTuple

MAX_INSTANCES = 1_000_000
"""Combinations of processes that all quantifiers of one formula together may try."""
MAX_NODES = 3_000_000
"""Size of a bound formula."""
FEW = 20
"""Processes up to which a quantifier over pairs is written out, so that each pair can be sliced."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a formula about a trace may speak of."""

    processes: tuple[str, ...]
    locals: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    remedy: str = ""
    """How a variable comes in of which nothing was recorded; `{}` stands for its name."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A class that the author of a `let` vouches for."""

    let: str
    word: str


@dataclass(frozen=True, slots=True)
class Bound:
    formula: Node
    warnings: tuple[str, ...] = ()
    declared: Mapping[Node, Declaration] = field(default_factory=dict)
    """Bound predicates of the lets in use that declare a class; hand it to `classify`."""


def bind(
    node: Node,
    vocabulary: Vocabulary,
    lets: Sequence[Let] = (),
    source: Source | None = None,
    counts_pairs: bool = False,
    facts: Facts | None = None,
) -> Bound:
    """The formula with every name resolved; `source` gives errors their file and line.

    `counts_pairs`: quantifiers over many pairs of processes may become `AtLeast`. `facts`: instances of
    quantifiers over many processes that cannot matter in this run are left out.
    """
    binder = _Binder(vocabulary, lets, source or Source(""), counts_pairs, facts)
    with deep():
        formula = binder.bound(node, {}, 1)
    return Bound(formula, tuple(binder.warnings), binder.declared)


def bind_property(
    found: Property,
    vocabulary: Vocabulary,
    lets: Sequence[Let] = (),
    counts_pairs: bool = False,
    facts: Facts | None = None,
) -> Bound:
    """The formula of a `ctl` or `ltl` property, bound."""
    if found.formula is None:
        raise ValueError(f"{found.language} properties are not bound here")
    return bind(found.formula, vocabulary, lets, found.source, counts_pairs, facts)


class _Expansion(NamedTuple):
    """A bound let, ready to be put in."""

    node: Node
    size: int
    depth: int


class _Binder:
    """Binds one formula, and the lets it uses as it meets them."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        lets: Sequence[Let],
        source: Source,
        counts_pairs: bool,
        facts: Facts | None,
    ) -> None:
        self.vocabulary = vocabulary
        self.counts_pairs = counts_pairs
        self.facts = facts
        self.sieve: Sieve | None = None
        self.processes = frozenset(vocabulary.processes)
        self.lets = {let.name: number for number, let in enumerate(lets)}
        self.let_list = lets
        self.visible = len(lets)
        self.bound_lets: dict[str, _Expansion] = {}
        self.declared: dict[Node, Declaration] = {}
        self.source = source
        self.warnings: dict[str, None] = {}
        self.matches: dict[str, tuple[str, ...]] = {}
        self.known_locals: dict[tuple[str, str, Span | None], Local] = {}
        self.size = 0
        self.instances = 0
        self.has_failed = False
        """An error was met, and is on its way with its place."""

    def fail(self, message: str, node: Node, hint: str | None = None) -> NoReturn:
        self.source.fail(message, node.span[0] if node.span else 0, hint)

    def warn(self, message: str) -> None:
        self.warnings[message] = None

    def grow(self, node: Node, level: int, size: int = 1, below: int = 0) -> None:
        """Counts nodes of the bound tree, `below` levels deep under `level`."""
        self.size += size
        if self.size > MAX_NODES:
            self.fail(f"the formula grows beyond {MAX_NODES:,} nodes", node)
        if level + below > MAX_DEPTH:
            self.fail(f"the formula is nested more than {MAX_DEPTH:,} levels deep", node)

    def bound(self, node: Node, scope: Scope, level: int) -> Node:
        if isinstance(node, Name):
            return self.name(node, scope, level)
        if isinstance(node, Quantified):
            return self.quantified(node, scope, level)
        if isinstance(node, Keyed):
            self.fail("`forall key` stands at the beginning of a property alone", node)
        if isinstance(node, Compare) and (plain := self.plain_comparison(node, scope, level)) is not None:
            return plain
        if isinstance(node, Compare):
            self.check_texts(node)
        self.grow(node, level)
        below = children(node)
        if not below:
            return node if isinstance(node, Literal) else self.leaf(node, scope)
        made = with_children(node, [self.bound(child, scope, level + 1) for child in below])
        if isinstance(made, Temporal) and made.process is not None:
            return made.changed(process=self.process(made.process, scope))
        return made

    def plain_comparison(self, node: Compare, scope: Scope, level: int) -> Node | None:
        """`P1.x == 3` at once: formulas over thousands of processes are made of such comparisons."""
        left, right = node.operands[:2]
        if not isinstance(left, Name) or not isinstance(right, Literal) or len(node.operands) > 2:
            return None
        parts = left.parts
        first, variable = parts[0], parts[1] if len(parts) == 2 else ".".join(parts[1:])
        if not variable or not (first in scope or first in self.processes):
            return None
        process = scope[first].process if first in scope else first
        self.grow(node, level, 3, 1)
        return node.changed(operands=(self.local(left, process, variable), right))

    def check_texts(self, node: Compare) -> None:
        """A text that is compared with a number was meant as the name of a variable."""
        for pair in pairwise(node.operands):
            given = [each.value for each in pair if isinstance(each, Literal)]
            texts = [value for value in given if isinstance(value, str)]
            if len(given) == 2 and len(texts) == 1:
                hint = f"the variable is {unparse(Shared(texts[0]))}"
                self.fail(f'"{texts[0]}" is a text, not a variable', node, hint)

    # ---- names ----------------------------------------------------------------------------------

    def name(self, node: Name, scope: Scope, level: int) -> Node:
        first, rest = node.parts[0], node.parts[1:]
        if first in scope:
            process = scope[first].process
            self.grow(node, level)
            if not rest:
                return Literal(process, span=node.span)
            return self.local(node, process, ".".join(rest))
        if not rest and first in self.lets:
            return self.let(node, first, level)
        self.grow(node, level)
        if rest and first in self.processes:
            return self.local(node, first, ".".join(rest))
        return self.shared(node, ".".join(node.parts))

    def local(self, node: Node, process: str, variable: str) -> Node:
        if variable not in self.vocabulary.locals.get(process, ()):
            shown = unparse(Local(process, variable))
            self.fail(f"no event ever sets {shown}", node, self.near_local(process, variable))
        key = process, variable, node.span
        known = self.known_locals.get(key)
        if known is None:
            known = self.known_locals[key] = Local(process, variable, span=node.span)
        return known

    def shared(self, node: Node, variable: str, explicit: bool = False) -> Node:
        if variable not in self.vocabulary.shared:
            try:
                self.fail(f"no event ever sets {variable}", node, self.near_shared(variable))
            except FormulaError as error:
                error.variable = variable
                raise
        return Shared(variable, span=node.span, explicit=explicit)

    def let(self, node: Name, name: str, level: int) -> Node:
        number = self.lets[name]
        if number >= self.visible:
            user = self.let_list[self.visible]
            what = "speaks of itself" if user.name == name else f"uses `{name}` before it is defined"
            self.fail(f"`{user.name}` {what}", node, "a let may use those above it")
        if name in self.vocabulary.shared:
            self.warn(f'let {name} hides the shared variable of that name: write shared("{name}") for it')
        if name not in self.bound_lets:
            self.bound_lets[name] = self.bound_let(number)
        tree = self.bound_lets[name]
        self.grow(node, level, tree.size, tree.depth - 1)
        return tree.node.changed(span=node.span)

    def bound_let(self, number: int) -> _Expansion:
        let = self.let_list[number]
        saved = self.visible, self.source, self.size
        self.visible, self.source, self.size = number, let.source, 0
        try:
            tree = self.bound(fold(let.formula, _without_span), {}, 1)
        except FormulaError:
            if not self.has_failed:  # the same error again, with its place in the text of this let
                self.has_failed, self.size, self.instances = True, 0, 0
                self.visible, self.source = number, let.source
                self.bound(let.formula, {}, 1)
            raise
        found = _Expansion(tree, self.size, depth(tree))
        self.visible, self.source, self.size = saved
        if let.declared is not None:
            self.declared[tree] = Declaration(let.name, let.declared)
        return found

    # ---- facts ----------------------------------------------------------------------------------

    def leaf(self, node: Node, scope: Scope) -> Node:
        match node:
            case Shared(variable):
                return self.shared(node, variable, explicit=self.is_hidden(variable, scope))
            case Transit(None):
                return node
            case Transit(sender, receiver):
                ends = self.process(sender, scope), self.process(receiver, scope)
                return node.changed(sender=ends[0], receiver=ends[1])
            case At(process, label):
                if label not in self.vocabulary.labels:
                    self.warn_unknown("label", label, self.vocabulary.labels)
                return node.changed(process=self.process(process, scope))
            case Stack(_, process, function):
                if function not in self.vocabulary.functions:
                    self.warn_unknown("function", function, self.vocabulary.functions)
                return node.changed(process=self.process(process, scope))
            case Done(process):
                return node.changed(process=self.process(process, scope))
            case Index(variable):
                if variable not in scope:
                    self.fail(f"`{variable}` is not a variable of a quantifier", node)
                return Literal(scope[variable].number, span=node.span)
            case Count(pattern):
                return Literal(len(self.matching(pattern)), span=node.span)
        return node

    def is_hidden(self, variable: str, scope: Scope) -> bool:
        """Whether the bare name would mean something else than the shared variable."""
        first, dot, _ = variable.partition(".")
        return first in scope or (first in self.processes if dot else variable in self.lets)

    def process(self, name: Any, scope: Scope) -> str:
        if isinstance(name, str):
            return name
        word: str = name.parts[0]
        if word in scope:
            return scope[word].process
        if word not in self.processes:
            self.fail(f"there is no process {word}", name, self.near_process(word))
        return word

    def warn_unknown(self, what: str, name: str, known: Iterable[str]) -> None:
        near = _near(name, known)
        self.warn(f"no event has the {what} {name}" + (f" ({near})" if near else ""))

    # ---- quantifiers ----------------------------------------------------------------------------

    def matching(self, pattern: str) -> tuple[str, ...]:
        if pattern not in self.matches:
            from fnmatch import fnmatchcase

            found = [name for name in self.vocabulary.processes if fnmatchcase(name, pattern)]
            self.matches[pattern] = tuple(found)
        return self.matches[pattern]

    def quantified(self, node: Quantified, scope: Scope, level: int) -> Node:
        for variable in node.variables:
            if variable in self.processes:
                self.warn(f"the variable {variable} of a quantifier hides the process of that name")
        counted = self.counted(node, scope, level) if self.counts_pairs else None
        if counted is not None:
            return counted
        instances = self.instances_of(node, scope, level)
        self.grow(node, level)
        if len(instances) == 1:
            return instances[0]
        if not instances:
            return Literal(node.quantifier == "forall", span=node.span)
        kind = And if node.quantifier == "forall" else Or
        return kind(tuple(instances), span=node.span)

    def counted(self, node: Quantified, scope: Scope, level: int) -> Node | None:
        """A quantifier over many pairs as a count; None if it is not one, or of few processes."""
        from possibly.logic.pairs import pairs_of

        names = self.matching(node.pattern)
        found = pairs_of(node) if len(names) > FEW else None
        if found is None:
            return None
        matches = [{**scope, found.variable: Match(name, number)} for number, name in enumerate(names)]
        parts = tuple([self.bound(found.part, inner, level + 3) for inner in matches])
        self.grow(node, level, 3)
        text = unparse(_said(node, found))
        several: Node = AtLeast(2, parts, text=text, span=node.span)
        if found.other is not None:
            others = tuple([self.bound(found.other, inner, level + 3) for inner in matches])
            several = Apart((*parts, *others), text=text, span=node.span)
        several = Not(several) if found.is_denied else several
        return several if found.operator is None else Temporal(found.operator, (several,), span=node.span)

    def instances_of(self, node: Quantified, scope: Scope, level: int) -> list[Node]:
        """The body for each choice of processes."""
        variables, body, chosen = node.variables, node.body, self.choices(node, scope)
        match body:
            case Compare((Name((variable, *rest)) as name, Literal() as constant)) if (
                rest and variable in variables
            ):
                # In one go, for the same reason as a plain comparison.
                place, local = variables.index(variable), ".".join(rest)
                self.grow(body, level + 1, 3 * len(chosen), 1)
                return [
                    body.changed(operands=(self.local(name, found[place].process, local), constant))
                    for found in chosen
                ]
        scopes = [{**scope, **dict(zip(variables, found, strict=True))} for found in chosen]
        return [self.bound(body, inner, level + 1) for inner in scopes]

    def choices(self, node: Quantified, scope: Scope) -> list[tuple[Match, ...]]:
        """The processes that the variables stand for, one row for each instance."""
        names = self.matching(node.pattern)
        if not names:
            self.warn(f'no process matches "{node.pattern}"')
        matches = [Match(name, number) for number, name in enumerate(names)]
        found = self.sifted(node, matches, scope)
        if found is None:
            self.count(len(names) ** len(node.variables), node)
            found = list(product(matches, repeat=len(node.variables)))
        return found if node.condition is None else self.filtered(node, found, scope)

    def sifted(self, node: Quantified, matches: list[Match], scope: Scope) -> list[tuple[Match, ...]] | None:
        """The choices that can matter in the run, if that is known and there are many."""
        if self.facts is None or len(matches) <= FEW:
            return None
        if self.sieve is None:
            from possibly.logic.sifting import Sieve

            self.sieve = Sieve(self.facts, self.tried)
        if not self.sieve.applies(node, scope):
            return None
        found = self.sieve.chosen(node, matches, scope)
        self.count(len(found), node)
        return found

    def count(self, instances: int, node: Node) -> None:
        self.instances += instances
        if self.instances > MAX_INSTANCES:
            self.fail(f"the quantifiers range over more than {MAX_INSTANCES:,} combinations", node)

    def tried(self, node: Node, scope: Scope) -> Node:
        """A part bound only to be looked at: it does not count."""
        size = self.size
        found = self.bound(node, scope, 1)
        self.size = size
        return found

    def filtered(
        self, node: Quantified, combinations: list[tuple[Match, ...]], scope: Scope
    ) -> list[tuple[Match, ...]]:
        """The combinations that fulfil the condition, which is compiled once."""
        assert node.condition is not None
        condition = fold(node.condition, lambda part, below: self.condition_part(part, below, node, scope))
        predicate = compile_predicate(condition)
        readers = [_reader(node.variables, leaf) for leaf in predicate.leaves]
        found = []
        for chosen in combinations:
            values = [getattr(chosen[position], what) for position, what in readers]
            if predicate.evaluate(values):
                found.append(chosen)
        for fault in predicate.faults:
            self.warn(f"in the condition of a quantifier, {fault}")
        return found

    def condition_part(self, part: Node, below: list[Node], node: Quantified, scope: Scope) -> Node:
        """A condition speaks of variables of quantifiers only; those of its own become leaves to read."""
        match part:
            case Name((variable,)) | Index(variable) if variable in node.variables:
                return Local(variable, "index") if isinstance(part, Index) else Shared(variable)
            case Name((variable,)) if variable in scope:
                return Literal(scope[variable].process)
            case Index() | Count():
                return self.leaf(part, scope)
            case Name() | Shared() | Transit() | At() | Stack() | Done() | Quantified():
                self.fail(
                    "the condition of a quantifier speaks of something else than its variables",
                    part,
                    "conditions on states belong into the body",
                )
        return with_children(part, below) if below else part

    # ---- near names -----------------------------------------------------------------------------

    def near_local(self, process: str, variable: str) -> str:
        own = self.vocabulary.locals.get(process, frozenset())
        for length in range(variable.count("."), 0, -1):
            parts = variable.split(".")
            if ".".join(parts[:length]) in own:
                shown = unparse(Local(process, ".".join(parts[:length])))
                return f'write {shown}["{".".join(parts[length:])}"] for an entry of {shown}'
        elsewhere = [p for p, names in self.vocabulary.locals.items() if variable in names]
        close = [unparse(Local(process, name)) for name in _close(variable, own)]
        close += [unparse(Local(p, variable)) for p in elsewhere[:3]]
        if variable in self.vocabulary.shared:
            close.append(unparse(Shared(variable)))
        if close:
            return f"did you mean {' or '.join(close)}?"
        if not own:
            return f"{process} has no variables"
        return f"{process} has {_some(sorted(own))}"

    def near_shared(self, variable: str) -> str:
        if variable in self.processes:
            own = sorted(self.vocabulary.locals.get(variable, ()))
            return f"{variable} is a process" + (f"; it has {_some(own)}" if own else "")
        first, dot, rest = variable.partition(".")
        owners = [p for p in self.vocabulary.processes if variable in self.vocabulary.locals.get(p, ())]
        close = [unparse(Local(p, variable)) for p in owners[:3]]
        close += _close(variable, [*self.vocabulary.shared, *self.lets])
        if dot:
            close += [f"{unparse(Local(p, rest))}" for p in _close(first, self.processes)]
        remedy = self.vocabulary.remedy.replace("{}", variable)
        if close:
            meant = f"did you mean {' or '.join(dict.fromkeys(close))}?"
            return f"{meant} {remedy}" if remedy else meant
        if remedy:
            return remedy
        if dot:
            return f"there is no process {first}, {self.near_process(first)}"
        known = sorted(self.vocabulary.shared)
        return f"shared variables are {_some(known)}" if known else "there are no shared variables"

    def near_process(self, name: str) -> str:
        return _near(name, self.processes) or f"processes are {_some(self.vocabulary.processes)}"


def _said(node: Quantified, pairs: Pairs) -> Node:
    """The quantifier that a count stands for: that there are two."""
    body = (
        node.body.operands[0] if pairs.operator is not None and isinstance(node.body, Temporal) else node.body
    )
    if pairs.is_denied:
        body = body.operand if isinstance(body, Not) else Not(body)
    return node.changed(quantifier="exists", body=body)


def _without_span(node: Node, below: list[Node]) -> Node:
    """Spans of a let would point into the wrong text once it is put in elsewhere."""
    return (with_children(node, below) if below else node).changed(span=None)


def _reader(variables: tuple[str, ...], leaf: Any) -> tuple[int, str]:
    if isinstance(leaf, Shared):
        return variables.index(leaf.variable), "process"
    return variables.index(leaf.process), "number"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{shown}, ..." if len(names) > 8 else shown


def _close(word: str, known: Iterable[str]) -> list[str]:
    import difflib  # only needed on the way to an error message

    return difflib.get_close_matches(word[:100], sorted(known)[:5000], n=3, cutoff=0.6)


def _near(word: str, known: Iterable[str]) -> str | None:
    found = _close(word, known)
    return f"did you mean {' or '.join(found)}?" if found else None
