"""The classes of state predicates, read off their syntax.

Here belong the classes of "Detecting temporal logic predicates on distributed computations" and which of
them a predicate provably has: for every trace, whatever its values. Nothing is claimed that missing values
or faults could break: they make an atom false, and an atom stays a function of the chains it reads.

Let S be the set of cuts that satisfy p. The classes that say something about S:

    linear                S is closed under meet (intersection of cuts)
    post-linear           S is closed under join (union of cuts)
    regular               both
    stable                S is closed upward: once true, true for ever
    observer-independent  if one observation meets S, all do
    co-...                the same of the complement

(what is observer-independent by its syntax is so for observations from any given cut on, too)

and by form: *local* (a function of how far one chain has come), *conjunctive* and *disjunctive* (of locals),
*relational* (see `relation`). A chain is a process or, as its writes are totally ordered in causal order, a
shared variable; a cut holds a prefix of each chain, meet and join take the shorter and the longer one, so
a local predicate is closed under both, even where chains share events.

A channel holds s - r messages, sent less received. If two cuts disagree about which is further (s1 <= s2
but r1 >= r2) then meet and join, s1 - r2 and s2 - r1, lie between s1 - r1 and s2 - r2. So every interval of
lengths is regular. For the sum of all channels only "empty" is, being the conjunction over the channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from possibly.logic.predicates.functions import compile_value
from possibly.logic.predicates.values import COMPARISONS
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Apart,
    At,
    AtLeast,
    Compare,
    Done,
    Iff,
    Implies,
    Leaf,
    Literal,
    Local,
    Node,
    Not,
    Or,
    Shared,
    Stack,
    Temporal,
    Transit,
)
from possibly.logic.walk import fold
from possibly.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from possibly.logic.bind import Declaration
else:
    from possibly.records import NamedTuple

Classes = frozenset[str]
Chain = tuple[str, str]
"""`("process", name)` or `("shared", variable)`."""

IMPLIED: dict[str, tuple[str, ...]] = {
    "local": ("conjunctive", "disjunctive"),
    "conjunctive": ("regular", "co-observer-independent"),
    "disjunctive": ("co-regular", "observer-independent"),
    "regular": ("linear", "post-linear"),
    "co-regular": ("co-linear", "co-post-linear"),
    "stable": ("post-linear", "co-linear", "observer-independent", "co-observer-independent"),
    "co-stable": ("linear", "co-post-linear", "observer-independent", "co-observer-independent"),
}
"""Every predicate of the class on the left is one of those on the right.

Conjunctive: its complement is disjunctive. Disjunctive: one of the locals holds somewhere, and every
observation passes every state of that chain. Stable: true somewhere, so at the final cut, where all
observations end; its complement is closed downward, so a false cut means that all begin with one.
"""

TOGETHER: dict[str, tuple[str, str]] = {
    "regular": ("linear", "post-linear"),
    "co-regular": ("co-linear", "co-post-linear"),
}
"""A predicate of both classes on the right is one of that on the left."""

CLOSED_UNDER_AND = frozenset(
    ("conjunctive", "linear", "post-linear", "stable", "co-stable", "co-observer-independent")
)
CLOSED_UNDER_OR = frozenset(
    ("disjunctive", "co-linear", "co-post-linear", "stable", "co-stable", "observer-independent")
)

COMPLEMENT: dict[str, str] = {
    "local": "local",
    "conjunctive": "disjunctive",
    "disjunctive": "conjunctive",
    "linear": "co-linear",
    "post-linear": "co-post-linear",
    "regular": "co-regular",
    "stable": "co-stable",
    "observer-independent": "co-observer-independent",
    "co-linear": "linear",
    "co-post-linear": "post-linear",
    "co-regular": "regular",
    "co-stable": "stable",
    "co-observer-independent": "observer-independent",
}
"""The class of `!p` for each class of p. A relational atom has none: where it is false for want of a value
its negation is true, which no sum tells."""

SMALLEST_FIRST = (
    "local",
    "conjunctive",
    "disjunctive",
    "regular",
    "co-regular",
    "stable",
    "co-stable",
    "relational",
    "linear",
    "post-linear",
    "co-linear",
    "co-post-linear",
    "observer-independent",
    "co-observer-independent",
    "arbitrary",
)

_BECAUSE = {
    "local": "it reads {chains} alone",
    "conjunctive": "it is a conjunction of parts that read one chain each",
    "disjunctive": "it is a disjunction of parts that read one chain each",
    "regular": "if two cuts satisfy it, so do their meet and their join",
    "co-regular": "if two cuts violate it, so do their meet and their join",
    "stable": "once true it stays true",
    "co-stable": "once false it stays false",
    "relational": "it compares a sum over several chains with a constant",
    "linear": "if two cuts satisfy it, so does their meet",
    "post-linear": "if two cuts satisfy it, so does their join",
    "co-linear": "if two cuts violate it, so does their meet",
    "co-post-linear": "if two cuts violate it, so does their join",
    "observer-independent": "if one observation meets it, all do",
    "co-observer-independent": "if one observation meets its negation, all do",
    "arbitrary": "its form promises nothing",
}


@dataclass(frozen=True, slots=True)
class Classification:
    """What is known of a predicate."""

    classes: Classes
    """All classes that apply; `arbitrary` always."""
    smallest: str
    """The most telling of them."""
    node: Node
    chains: tuple[str, ...] = ()
    """The names of the processes and shared variables it reads."""
    assumed: tuple[str, ...] = ()
    """Declarations, as `name: class`, without which less would be known."""

    @property
    def why(self) -> str:
        """One sentence for `--explain`."""
        node = self.node
        if isinstance(node, And | Or):  # of thousands of parts no more than these are shown
            node = node.changed(operands=node.operands[:30])
        text = unparse(node)
        shown = text if len(text) <= 100 else text[:97] + "..."
        reason = _BECAUSE[self.smallest].format(chains=" and ".join(self.chains))
        if self.smallest == "local" and not self.chains:
            reason = "it reads nothing"
        given = f" (declared: {', '.join(self.assumed)})" if self.assumed else ""
        return f"{shown} is {self.smallest}: {reason}{given}"


def chains(leaf: Leaf) -> frozenset[Chain]:
    """The chains whose progress decides a leaf's value; empty for `transit()`, which depends on all."""
    match leaf:
        case Local(process) | At(process) | Done(process):
            return frozenset([("process", process)])
        case Stack(_, process):
            return frozenset([("process", process)])
        case Shared(variable):
            return frozenset([("shared", variable)])
        case Transit(None):
            return frozenset()
        case Transit(sender, receiver):
            return frozenset([("process", sender), ("process", receiver)])
    raise TypeError(f"not a leaf: {type(leaf).__name__}")


def classify(node: Node, declared: Mapping[Node, Declaration] | None = None) -> Classification:
    """The classes of a bound state predicate; `declared` as `bind` yields it."""
    facts = _facts_of(node, declared)
    classes = _closure(facts.truth())
    names = tuple(sorted([name for _, name in facts.chains]))
    return Classification(classes, _smallest(classes), node, names, tuple(dict.fromkeys(facts.assumed)))


def smallest_class(node: Node, declared: Mapping[Node, Declaration] | None = None) -> str:
    """The most telling class of a predicate, for whoever needs no more."""
    return _smallest(_closure(_facts_of(node, declared).truth()))


def _facts_of(node: Node, declared: Mapping[Node, Declaration] | None) -> _Facts:
    classifier = _Classifier(declared or {})
    return classifier.at_once(node) or fold(node, classifier.combine, classifier.at_once)


@cache
def _smallest(classes: Classes) -> str:
    return next(name for name in SMALLEST_FIRST if name in classes)


# ---- from the leaves up -------------------------------------------------------------------------


class _Facts(NamedTuple):
    node: Node
    chains: frozenset[Chain]
    total: bool
    """`transit()` is in it, which depends on every process."""
    classes: Classes | None
    """Of a truth value; None for a plain value."""
    assumed: tuple[str, ...] = ()

    def truth(self) -> Classes:
        """The classes of this part where a truth value is wanted."""
        if self.classes is not None:
            return self.classes
        if _is_local(self.chains, self.total):
            return _local(self.chains)
        if isinstance(self.node, Transit):
            return _channel(self.node, ">=", 1)
        return _NOTHING


_NOTHING: Classes = frozenset(["arbitrary"])
_EVERYTHING: Classes = frozenset(COMPLEMENT) | _NOTHING
"""Of a predicate that is the same everywhere."""


def _is_local(read: frozenset[Chain], total: bool) -> bool:
    return len(read) <= 1 and not total


def _local(read: frozenset[Chain]) -> Classes:
    return _LOCAL if read else _EVERYTHING


def _closure(classes: Iterable[str]) -> Classes:
    return _closed(frozenset(classes))


@cache
def _closed(classes: Classes) -> Classes:
    found = {"arbitrary"}
    pending = list(classes)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        pending.extend(IMPLIED.get(name, ()))
        pending.extend([whole for whole, both in TOGETHER.items() if found.issuperset(both)])
    return frozenset(found)


_LOCAL = _closure(["local"])
_COMPARED_NUMBER = _LOCAL | {"relational"}


@cache
def _complement(classes: Classes) -> Classes:
    return frozenset([COMPLEMENT[name] for name in classes if name in COMPLEMENT]) | _NOTHING


def _combined(parts: Sequence[Classes], closed: frozenset[str]) -> Classes:
    if len(parts) == 1:
        return parts[0]
    return _closure(closed.intersection(*set(parts)))


def _and(parts: Sequence[Classes]) -> Classes:
    return _combined(parts, CLOSED_UNDER_AND)


def _or(parts: Sequence[Classes]) -> Classes:
    return _combined(parts, CLOSED_UNDER_OR)


_CONNECTIVES: dict[type[Node], Callable[[Sequence[Classes]], Classes]] = {
    Not: lambda parts: _complement(parts[0]),
    And: _and,
    Or: _or,
    AtLeast: lambda parts: _NOTHING,
    Apart: lambda parts: _NOTHING,
    Implies: lambda parts: _or([_complement(parts[0]), parts[1]]),
    Iff: lambda parts: _and([_or([_complement(parts[0]), parts[1]]), _or([parts[0], _complement(parts[1])])]),
}


class _Classifier:
    def __init__(self, declared: Mapping[Node, Declaration]) -> None:
        self.declared = declared

    def combine(self, node: Node, below: list[_Facts]) -> _Facts:
        facts = _facts(node, below)
        declaration = self.declared.get(node) if self.declared else None
        if declaration is None:
            return facts
        known, claimed = _closure(facts.truth()), _closure([declaration.word])
        if claimed <= known:
            return facts
        assumed = (*facts.assumed, f"{declaration.let}: {declaration.word}")
        return _Facts(node, facts.chains, facts.total, _closure(known | claimed), assumed)

    def at_once(self, node: Node) -> _Facts | None:
        """Formulas over thousands of processes are made of one variable compared with a constant."""
        return None if self.declared and node in self.declared else _plain_comparison(node)


def _plain_comparison(node: Node) -> _Facts | None:
    if type(node) is not Compare or len(node.operators) != 1:
        return None
    left, right = node.operands
    if type(left) is not Local or type(right) is not Literal:
        return None
    if type(right.value) in (int, float) and node.operators[0] in _MIRRORED:
        classes = _COMPARED_NUMBER
    elif type(right.value) is str:
        classes = _LOCAL
    else:
        return None
    return _Facts(node, frozenset([("process", left.process)]), False, classes)


def _facts(node: Node, below: list[_Facts]) -> _Facts:
    if isinstance(node, Temporal):
        raise TypeError("a temporal formula has no class")
    if isinstance(node, Local | Shared | Transit | At | Stack | Done):
        total = isinstance(node, Transit) and node.sender is None
        stable = _closure(["local", "stable"]) if isinstance(node, Done) else None
        return _Facts(node, chains(node), total, stable)
    read = frozenset[Chain]().union(*[part.chains for part in below])
    total = any(part.total for part in below)
    assumed = tuple([word for part in below for word in part.assumed])
    return _Facts(node, read, total, _classes(node, below, read, total), assumed)


def _classes(node: Node, below: list[_Facts], read: frozenset[Chain], total: bool) -> Classes | None:
    connective = _CONNECTIVES.get(type(node))
    if connective is not None:
        classes = connective([part.truth() for part in below])
        return classes if not _is_local(read, total) else _closure(classes | _local(read))
    if isinstance(node, Compare):
        pairs = zip(below, node.operators, below[1:], strict=False)
        # Each link of a chain is false where it cannot be evaluated: the chain is their conjunction.
        return _and([_link(left, name, right) for left, name, right in pairs]) | _relational(node)
    return None


def _relational(node: Compare) -> Classes:
    from possibly.logic.predicates.relation import relation

    found = relation(node)
    return frozenset(["relational"]) if found and _terms_are_local(found.terms) else frozenset()


def _terms_are_local(terms: Sequence[tuple[Any, Node]]) -> bool:
    facts = [fold(term, _facts) for _, term in terms]
    return bool(facts) and all(_is_local(each.chains, each.total) for each in facts)


def _link(left: _Facts, name: str, right: _Facts) -> Classes:
    """One comparison of two values."""
    read, total = left.chains | right.chains, left.total or right.total
    if _is_local(read, total):
        return _local(read)
    for channel, constant, operator in ((left, right, name), (right, left, _MIRRORED.get(name))):
        plain = not constant.chains and not constant.total
        if isinstance(channel.node, Transit) and plain and operator in _MIRRORED:
            return _channel(channel.node, operator, compile_value(constant.node).evaluate(()))
    return _NOTHING


_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _channel(channel: Transit, operator: str, constant: Any) -> Classes:
    """The classes of `transit(...) OPERATOR constant`."""
    if not isinstance(constant, int | float):
        return _EVERYTHING  # equal to no number, comparable with none: the same at every cut
    holds = COMPARISONS[operator]
    if operator in ("==", "!="):
        return _equal_length(channel, operator, constant)
    empty, one = holds(0, constant), holds(1, constant)
    if operator in ((">", ">=") if empty else ("<", "<=")):
        return _EVERYTHING
    if channel.sender is not None:
        return _closure(["regular", "co-regular"])
    if empty is one:
        return _NOTHING
    return _closure(["regular" if empty else "co-regular"])


def _equal_length(channel: Transit, operator: str, constant: float) -> Classes:
    if constant < 0 or (isinstance(constant, float) and not constant.is_integer()):
        return _EVERYTHING
    if constant == 0:
        both = ["regular", "co-regular"] if channel.sender is not None else ["regular"]
        classes = _closure(both)
    else:
        classes = _closure(["regular"]) if channel.sender is not None else _NOTHING
    return classes if operator == "==" else _complement(classes)
