"""Walking trees without recursion: children, folds, all nodes.

Here belongs what is true of all node types alike. A formula may be deeper than the interpreter's limit on
nested calls (see `depth`); a fold from the leaves up needs no nesting at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter

from possibly.logic import syntax
from possibly.logic.syntax import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Result = TypeVar("_Result")

_SUBTREES: dict[type[Node], tuple[str, ...]] = {
    syntax.Items: ("items",),
    syntax.Subscript: ("value", "index"),
    syntax.Arithmetic: ("operands",),
    syntax.Compare: ("operands",),
    syntax.Call: ("arguments",),
    syntax.Not: ("operand",),
    syntax.And: ("operands",),
    syntax.Or: ("operands",),
    syntax.AtLeast: ("operands",),
    syntax.Apart: ("operands",),
    syntax.Implies: ("left", "right"),
    syntax.Iff: ("left", "right"),
    syntax.Temporal: ("operands",),
    syntax.Quantified: ("condition", "body"),
    syntax.Keyed: ("body",),
}
"""The fields that hold formulas or values, in the order of the text; other types are leaves."""


_MANY: dict[type[Node], Callable[[Node], tuple[Node, ...]]] = {
    kind: attrgetter(*names)
    for kind, names in _SUBTREES.items()
    if names in (("items",), ("operands",), ("arguments",))
}
"""Of the types that hold them in one tuple."""


def children(node: Node) -> tuple[Node, ...]:
    """The formulas and values directly below a node, in the order of the text."""
    kind = type(node)
    if kind in _MANY:
        return _MANY[kind](node)
    found = [getattr(node, name) for name in _SUBTREES.get(kind, ())]
    return tuple([part for part in found if part is not None])


def with_children(node: Node, parts: list[Node]) -> Node:
    """The same node with other children, as many as before."""
    names = _SUBTREES.get(type(node), ())
    if not names:
        return node
    if type(node) in _MANY:
        return node.changed(**{names[0]: tuple(parts)})
    present = [name for name in names if getattr(node, name) is not None]
    return node.changed(**dict(zip(present, parts, strict=True)))


def fold(
    node: Node,
    combine: Callable[[Node, list[_Result]], _Result],
    at_once: Callable[[Node], _Result | None] | None = None,
) -> _Result:
    """The result of `combine(node, results of its children)`, from the leaves up.

    Where `at_once` knows the result of a node nothing below is looked at.
    """
    results: list[_Result] = []
    pending: list[tuple[Node, int]] = [(node, -1)]
    while pending:
        tree, arity = pending.pop()
        if arity < 0:
            known = None if at_once is None else at_once(tree)
            below = children(tree) if known is None else ()
            if below:
                pending.append((tree, len(below)))
                pending.extend([(child, -1) for child in reversed(below)])
            else:
                results.append(combine(tree, []) if known is None else known)
        else:
            first = len(results) - arity
            results[first:] = [combine(tree, results[first:])]
    return results[0]


def nodes(node: Node) -> Iterator[Node]:
    """Every node of the tree, a parent before its children, in the order of the text."""
    pending = [node]
    while pending:
        tree = pending.pop()
        yield tree
        pending.extend(reversed(children(tree)))


def depth(node: Node) -> int:
    """How many nodes the longest way down passes."""
    deepest = 0
    pending = [(node, 1)]
    while pending:
        tree, level = pending.pop()
        deepest = max(deepest, level)
        pending.extend([(child, level + 1) for child in children(tree)])
    return deepest
