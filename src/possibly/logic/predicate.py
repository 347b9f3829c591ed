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

from possibly.logic.closures import (
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
from possibly.logic.depth import deep
from possibly.logic.printer import unparse
from possibly.logic.syntax import Leaf, Node, Temporal
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


def is_state(node: Node) -> bool:
    """Whether there is no temporal operator in it."""
    return not any(isinstance(part, Temporal) for part in nodes(node))


def maximal_predicates(formula: Node) -> tuple[Node, ...]:
    """The largest parts without temporal operators, each once, in the order of the text."""
    temporal: set[int] = set()
    fold(formula, lambda node, below: _mark(node, below, temporal))
    found: dict[Node, None] = {}
    pending = [formula]
    while pending:
        node = pending.pop()
        if id(node) in temporal:
            pending.extend(reversed(children(node)))
        else:
            found[node] = None
    return tuple(found)


def _mark(node: Node, below: list[bool], temporal: set[int]) -> bool:
    if isinstance(node, Temporal) or any(below):
        temporal.add(id(node))
        return True
    return False


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
