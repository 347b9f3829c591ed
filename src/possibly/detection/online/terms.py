"""State predicates that can be followed on-line, as alternatives of terms on one chain or one channel each.

Here belongs the form of the predicate alone, no events. An *alternative* is a conjunction of terms and so a
regular predicate; the predicate is the disjunction of its alternatives:

    LocalTerm     reads one process: its variables, its labels, its stack of functions
    SharedTerm    reads one shared variable, whose writes are a chain (in causal order)
    ChannelTerm   a channel holds between `least` and `most` messages; of the whole system only "none"

Negations go down to the atoms, never into a comparison. `done(P)` has no on-line form: whether an event is
the last one is not known before the end, so its truth at a cut would change with what arrives later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import floor

from possibly.errors import FormulaError
from possibly.logic.depth import deep
from possibly.logic.predicates.functions import compile_predicate, compile_value, leaves
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    At,
    Compare,
    Done,
    Iff,
    Implies,
    Leaf,
    Local,
    Node,
    Not,
    Or,
    Shared,
    Stack,
    Transit,
)

MOST_ALTERNATIVES = 256
LARGEST_NUMBER = 100_000
"""Numbers of messages that a channel may be compared with."""


@dataclass(frozen=True, slots=True)
class LocalTerm:
    process: str
    node: Node


@dataclass(frozen=True, slots=True)
class SharedTerm:
    variable: str
    node: Node


@dataclass(frozen=True, slots=True)
class ChannelTerm:
    channel: Transit
    least: int
    most: int | None
    """None: no bound."""


Term = LocalTerm | SharedTerm | ChannelTerm
Alternative = tuple[Term, ...]
"""A conjunction; the empty one is true."""


def alternatives(node: Node) -> list[Alternative]:
    """The predicate as a disjunction of conjunctions; an error if it has no such form."""
    with deep():
        return _alternatives(node, True)


def _alternatives(node: Node, positive: bool) -> list[Alternative]:
    atomic = _atomic(node, positive)
    if atomic is not None:
        return atomic
    match node:
        case Not(operand):
            return _alternatives(operand, not positive)
        case And(operands) | Or(operands):
            parts = [_alternatives(part, positive) for part in operands]
            return _all(parts, node) if isinstance(node, And) == positive else _any(parts, node)
        case Implies(left, right):
            parts = [_alternatives(left, not positive), _alternatives(right, positive)]
            return _any(parts, node) if positive else _all(parts, node)
        case Iff(left, right):
            both = [_alternatives(left, True), _alternatives(right, positive)]
            neither = [_alternatives(left, False), _alternatives(right, not positive)]
            return _any([_all(both, node), _all(neither, node)], node)
    raise _refused(node, "it is no combination of predicates on one process, shared variable or channel each")


def _refused(node: Node, why: str) -> FormulaError:
    return FormulaError(f"{unparse(node)} cannot be followed on-line: {why}")


def _any(parts: Sequence[list[Alternative]], node: Node) -> list[Alternative]:
    # A quantifier over pairs gives each conjunction twice, with its terms in either order.
    found = list({frozenset(alternative): alternative for part in parts for alternative in part}.values())
    if len(found) > MOST_ALTERNATIVES:
        raise _refused(node, f"it has more than {MOST_ALTERNATIVES} alternatives")
    return found


def _all(parts: Sequence[list[Alternative]], node: Node) -> list[Alternative]:
    found: list[Alternative] = [()]
    for part in parts:
        if len(found) * len(part) > MOST_ALTERNATIVES:
            raise _refused(node, f"it has more than {MOST_ALTERNATIVES} alternatives")
        found = [(*first, *second) for first, second in product(found, part)]
    return found


def _atomic(node: Node, positive: bool) -> list[Alternative] | None:
    """The alternatives of a predicate on at most one chain or channel; None if it reads more."""
    read = leaves(node)
    for leaf in read:
        if isinstance(leaf, Done):
            raise _refused(leaf, f"{leaf.process} may go on as long as the run does")
    if not read:
        return [()] if compile_predicate(node).evaluate(()) == positive else []
    literal = node if positive else Not(node)
    owners = {_owner(leaf) for leaf in read}
    if len(owners) > 1:
        return None
    match read[0]:
        case Local() | At() | Stack():
            return [(LocalTerm(read[0].process, literal),)]
        case Shared(variable):
            return [(SharedTerm(variable, literal),)]
        case Transit():
            return _on_channel(node, read[0], positive)
    return None


def _owner(leaf: Leaf) -> object:
    return leaf.process if isinstance(leaf, Local | At | Stack) else leaf


def _on_channel(node: Node, channel: Transit, positive: bool) -> list[Alternative] | None:
    bound = _largest(node)
    if bound is None:
        return None
    predicate = compile_predicate(node)
    truths = [predicate.evaluate([count]) == positive for count in range(bound + 1)]
    found = [ChannelTerm(channel, *run) for run in _runs(truths)]
    if channel.sender is None:
        for term in found:
            if (term.least, term.most) not in ((0, 0), (0, None)):
                raise _refused(node, "of all messages together only whether there are none is regular")
    return [() if (term.least, term.most) == (0, None) else (term,) for term in found]


def _largest(node: Node) -> int | None:
    """A number from which on more messages make no difference; None if the node is no comparison."""
    if isinstance(node, Transit):
        return 1
    if not isinstance(node, Compare) or not {*node.operators} <= {"==", "!=", "<", "<=", ">", ">="}:
        return None
    found = 1
    for part in node.operands:
        if isinstance(part, Transit):
            continue
        if leaves(part):
            return None
        value = compile_value(part).evaluate(())
        if isinstance(value, int | float) and abs(value) < LARGEST_NUMBER:
            found = max(found, floor(value) + 2)
        elif isinstance(value, int | float):
            raise _refused(node, f"numbers of messages go up to {LARGEST_NUMBER:,}")
    return found


def _runs(truths: Sequence[bool]) -> Iterator[tuple[int, int | None]]:
    """First and last index of each stretch of truths; the last stretch goes on for ever."""
    start = None
    for index, truth in enumerate(truths):
        if truth and start is None:
            start = index
        elif not truth and start is not None:
            yield start, index - 1
            start = None
    if start is not None:
        yield start, None
