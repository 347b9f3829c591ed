"""State predicates as fast functions of the values they read.

Here belongs the meaning of bound state predicates. A predicate is compiled once, from the leaves up, into
closures over positions in a sequence of values; an engine calls it millions of times. Nothing is ever
handed to `eval`.

An *atom* is a comparison, or a maximal expression that is no connective and stands where a truth value
is wanted. An atom that reads a variable without value is false; one that cannot be evaluated is false too
and leaves a message in `faults`. Connectives see only these truth values, so `!(x > 1)` is true where x
has no value. Inside a value (`x == (y > 1)`) a comparison or connective is likewise its own truth value.
The closures are made in `closures`; the operations, bounded in time and memory, are in `values`.
"""

from __future__ import annotations

from collections.abc import Callable

from possibly.logic.depth import deep
from possibly.logic.predicates.closures import (
    ERRORS,
    LEAVES,
    MISSING,
    Compiler,
    Faults,
    MissingError,
    Term,
    Truth,
    Value,
    Values,
    as_term,
    as_truth,
    reason,
)
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Compare,
    Iff,
    Implies,
    Keyed,
    Leaf,
    Literal,
    Local,
    Node,
    Not,
    Or,
    Quantified,
    Temporal,
)
from possibly.logic.walk import children, depth, fold, nodes
from possibly.records import dataclass, field

__all__ = [
    "MISSING",
    "CompiledValue",
    "Predicate",
    "Value",
    "compile_predicate",
    "compile_value",
    "is_state",
    "leaves",
    "maximal_predicates",
]

_RECURSION_IS_SAFE = 150
"""Depth up to which a compiled predicate runs within the interpreter's usual limit on nested calls."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A compiled state predicate; `evaluate` takes the values of `leaves`, in their order."""

    node: Node
    leaves: tuple[Leaf, ...]
    evaluate: Truth
    faults: Faults = field(default_factory=dict)
    """Ordered set of messages: what could not be evaluated so far, and counted as false."""

    @property
    def text(self) -> str:
        return unparse(self.node)

    def __reduce__(self) -> tuple[object, ...]:
        """What is saved is the formula, which is compiled again."""
        return _again, (self.node, dict(self.faults))


def _again(node: Node, faults: Faults) -> Predicate:
    found = compile_predicate(node)
    found.faults.update(faults)
    return found


@dataclass(frozen=True, slots=True)
class CompiledValue:
    """A compiled value; `evaluate` yields MISSING where it has none, and where it cannot be evaluated."""

    node: Node
    leaves: tuple[Leaf, ...]
    evaluate: Term
    faults: Faults = field(default_factory=dict)

    @property
    def text(self) -> str:
        return unparse(self.node)


def leaves(node: Node) -> tuple[Leaf, ...]:
    """What a bound predicate reads of a cut, each once, in the order of the text."""
    return tuple(dict.fromkeys([part for part in nodes(node) if isinstance(part, LEAVES)]))


_ABOVE_TIME = frozenset((Not, And, Or, Implies, Iff, Quantified, Keyed))
"""What a temporal operator may stand below, beside others of its kind: values have none (`parser`)."""


def is_state(node: Node) -> bool:
    """Whether there is no temporal operator in it."""
    if type(node) not in _ABOVE_TIME:
        return not isinstance(node, Temporal)
    return node._timeless if hasattr(node, "_timeless") else _marked(node)


def deciding_state(formula: Node) -> Node | None:
    """What a violated `AG` or `G`, or an `EF` that holds, needs to be true of one state; None of others."""
    match formula:
        case Temporal("AG" | "G", (state,)) if is_state(state):
            return Not(state)
        case Temporal("EF", (state,)) if is_state(state):
            return state
    return None


def _marked(node: Node) -> bool:
    """The same of what may have temporal operators below, found from the leaves up and kept at each."""
    trees = [node]
    for tree in trees:
        parts = [part for part in children(tree) if type(part) in _ABOVE_TIME]
        trees.extend([part for part in parts if not hasattr(part, "_timeless")])
    for tree in reversed(trees):
        _keep(tree, all(map(is_state, children(tree))))
    return node._timeless


_keep: Callable[[Node, bool], None] = Node._timeless.__set__  # type: ignore[attr-defined]


def maximal_predicates(formula: Node) -> tuple[Node, ...]:
    """The largest parts without temporal operators, each once, in the order of the text."""
    found: dict[object, list[Node]] = {}
    pending = [formula]
    while pending:
        node = pending.pop()
        if not is_state(node):
            pending.extend(reversed(children(node)))
            continue
        alike = found.setdefault(_likeness(node), [])
        if node not in alike:
            alike.append(node)
    return tuple([node for alike in found.values() for node in alike])


def _likeness(node: Node) -> object:
    """Equal for equal predicates; of a thousand parts not all are looked at."""
    parts = children(node)
    if isinstance(node, Compare) and len(parts) == 2:
        left, right = parts
        if isinstance(left, Local) and isinstance(right, Literal):
            return left.process, left.variable, node.operators, right.value
    return node if len(parts) < 64 else (type(node), len(parts), parts[:8], parts[-8:])


def compile_predicate(node: Node) -> Predicate:
    """The predicate as a function. The node is bound and has no temporal operator."""
    read = leaves(node)
    faults: Faults = {}
    compiler = Compiler({leaf: position for position, leaf in enumerate(read)}, faults)
    truth = as_truth(fold(node, compiler.combine), faults)
    return Predicate(node, read, _with_room(truth, node), faults)


def compile_value(node: Node) -> CompiledValue:
    """A value, such as an arithmetic term, as a function."""
    read = leaves(node)
    faults: Faults = {}
    compiler = Compiler({leaf: position for position, leaf in enumerate(read)}, faults)
    part = fold(node, compiler.combine)
    evaluate = _with_room(as_term(part), node)

    def value(values: Values) -> Value:
        try:
            return evaluate(values)
        except MissingError:
            return MISSING
        except ERRORS as error:
            faults[f"{unparse(node)}: {reason(error)}"] = None
            return MISSING

    return CompiledValue(node, read, value, faults)


def _with_room(function: Term, node: Node) -> Term:
    if depth(node) <= _RECURSION_IS_SAFE:
        return function

    def roomy(values: Values) -> Value:
        with deep():
            return function(values)

    return roomy
