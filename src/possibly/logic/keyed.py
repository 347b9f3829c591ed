"""`forall key k in orders.id: …`: one formula for each value that a variable has in the run.

Here belongs what such a property is made of, no trace. Its meaning is that of all its instances, the body
with each value in the place of k. Most of them say something only about the states in which `orders.id == k`;
what such a predicate is worth elsewhere is told by its form alone (`elsewhere`), so that an engine need not
look.
"""

from __future__ import annotations

from possibly.logic.syntax import (
    And,
    Compare,
    Iff,
    Implies,
    Keyed,
    Literal,
    Local,
    Name,
    Node,
    Not,
    Or,
    Shared,
)
from possibly.logic.walk import fold, nodes, with_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Key:
    """Stands for the key while a formula is bound once for all values."""


KEY = _Key()


def instance(keyed: Keyed, value: Any) -> Node:
    """The body with a value in the place of the key."""

    def combine(node: Node, below: list[Node]) -> Node:
        if isinstance(node, Name) and node.parts == (keyed.key,):
            return Literal(value, span=node.span)
        return with_children(node, below) if below else node

    return fold(keyed.body, combine)


def speaks_of_key(bound: Node) -> bool:
    """Whether it is an instance of KEY, which has no value of its own: only with one it has an answer."""
    return any(isinstance(node, Literal) and node.value is KEY for node in nodes(bound))


def with_leaf(bound: Node, leaf: Shared) -> Node:
    """A bound instance of KEY with a leaf in its place, whose value is given with those of the others."""
    return _replaced(bound, leaf)


def with_value(bound: Node, value: Any) -> Node:
    """A bound instance of KEY with a value in its place."""
    return _replaced(bound, Literal(value))


def _replaced(bound: Node, by: Node) -> Node:
    def combine(node: Node, below: list[Node]) -> Node:
        if isinstance(node, Literal) and node.value is KEY:
            return by
        return with_children(node, below) if below else node

    return fold(bound, combine)


def elsewhere(predicate: Node, variable: Local, key: Shared) -> bool | None:
    """What a predicate is worth wherever the variable has not the key's value; None: that depends."""

    def combine(node: Node, below: list[bool | None]) -> bool | None:
        match node:
            case Compare((left, right), ("==",)) if {left, right} == {variable, key}:
                return False
            case Literal(bool(value)):
                return value
            case Not():
                return None if below[0] is None else not below[0]
            case And():
                return False if False in below else True if all(below) else None
            case Or():
                return _any(below)
            case Implies():
                return _any([None if below[0] is None else not below[0], below[1]])
            case Iff() if None not in below:
                return below[0] == below[1]
        return None

    return fold(predicate, combine)


def _any(below: list[bool | None]) -> bool | None:
    return True if True in below else None if None in below else False
