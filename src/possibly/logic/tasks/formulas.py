"""The task logic as trees: local state formulas, temporal formulas over slices, quantifiers over tasks.

Here belong the node types that the task logic adds, their text and what can be asked of any formula; not
the grammar (`tasks_parser`), the names (`tasks_bind`) or the truth. The logic is that of Frey, "Debugging
parallel programs using temporal logic specifications", section 4. Connectives are those of `syntax`; inside
`t:(...)` they are the local ones, outside the temporal ones. A temporal operator is a `Temporal` with one
of the words `next sometime always until before`, and `all_next`, which only the checker introduces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from possibly.logic.depth import deep
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Iff,
    Implies,
    Literal,
    Local,
    Name,
    Node,
    Not,
    Or,
    Shared,
    Subscript,
    Temporal,
)
from possibly.logic.walk import children, fold, with_children

UNARY = ("next", "sometime", "always", "all_next")
BINARY = ("until", "before")


class Point(Node):
    """`start.f`, `in.f` or `term.f`: where the task stands in its calls."""

    observer: str
    function: str


class Says(Node):
    """`t:(lsf)`: the local state of task t satisfies the local state formula."""

    tvar: str
    formula: Node


class ForTask(Node):
    """`forall t (p)` or `exists t (p)`."""

    quantifier: str
    tvar: str
    body: Node


class Condition(Node):
    """`t1 == t2`, `t1 != t2` or, with `caller`, `t1 == caller(t2)`."""

    left: str
    operator: str
    right: str
    caller: bool


class Provided(Node):
    """`p if condition`."""

    body: Node
    condition: Condition


def parts(node: Node) -> tuple[Node, ...]:
    """The temporal formulas directly below one; a local state formula is not among them."""
    match node:
        case ForTask(_, _, body) | Provided(body, _):
            return (body,)
        case Says():
            return ()
    return children(node)


def subformulas(node: Node) -> Iterator[Node]:
    """Every temporal formula in it, itself first."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(reversed(parts(found)))


def free_variables(node: Node) -> frozenset[str]:
    """The task variables that no quantifier binds."""
    with deep():
        return _free(node)


def _free(node: Node) -> frozenset[str]:
    match node:
        case Says(tvar, _):
            return frozenset((tvar,))
        case ForTask(_, tvar, body):
            return _free(body) - {tvar}
        case Provided(body, condition):
            return _free(body) | {condition.left, condition.right}
    found: frozenset[str] = frozenset()
    for part in parts(node):
        found |= _free(part)
    return found


def variables_in_order(node: Node) -> tuple[str, ...]:
    """The free task variables as the text names them first."""
    free = free_variables(node)
    names: dict[str, None] = {}
    for part in subformulas(node):
        match part:
            case Says(tvar, _):
                names[tvar] = None
    names.update(dict.fromkeys(sorted(free)))
    return tuple(name for name in names if name in free)


# ---- text ---------------------------------------------------------------------------------------

_LEVELS = {Implies: 1, Or: 2, And: 3}
_WORDS = {Implies: " implies ", Or: " or ", And: " and "}
_BINARY, _UNARY = 4, 5


def task_text(node: Node) -> str:
    """The formula as its parser reads it back."""
    with deep():
        return _text(node)


def _text(node: Node) -> str:
    match node:
        case Says(tvar, formula):
            return f"{tvar}:({local_text(formula)})"
        case ForTask(quantifier, tvar, body):
            return f"{quantifier} {tvar} ({_text(body)})"
        case Provided(body, condition):
            return f"{_text(body)} if {condition_text(condition)}"
        case Not(operand):
            return f"not {_operand(operand, _UNARY)}"
        case Temporal(operator, (operand,)):
            return f"{operator} {_operand(operand, _UNARY)}"
        case Temporal(operator, (left, right)):
            return f"{_operand(left, _UNARY)} {operator} {_operand(right, _BINARY)}"
    return _joined(node)


def _joined(node: Node) -> str:
    level = _LEVELS[type(node)]
    below = parts(node)
    if isinstance(node, Implies):
        return f"{_operand(below[0], level + 1)} implies {_operand(below[1], level)}"
    texts = [_operand(part, level + 1) for part in below]
    return _WORDS[type(node)].join(texts)


def _operand(node: Node, lowest: int) -> str:
    match node:
        case ForTask() | Provided():
            level = 0
        case Temporal(_, (_, _)):
            level = _BINARY
        case _:
            level = _LEVELS.get(type(node), _UNARY)
    return _text(node) if level >= lowest else f"({_text(node)})"


def condition_text(condition: Condition) -> str:
    right = f"caller({condition.right})" if condition.caller else condition.right
    return f"{condition.left} {condition.operator} {right}"


def local_text(node: Node) -> str:
    """A local state formula; `not and or` in words, predicates as everywhere."""
    with deep():
        return _local(node, 0)


def _local(node: Node, lowest: int) -> str:
    match node:
        case Point(observer, function):
            return f"{observer}.{_function(function)}"
        case Not(operand):
            # Also around a predicate: `not x > 1` reads as if it negated x.
            inner = _local(operand, 0)
            return f"not {inner}" if isinstance(operand, Point | Not) else f"not ({inner})"
        case And() | Or() | Implies():
            level = _LEVELS[type(node)]
            first, *rest = children(node)
            others = level + (not isinstance(node, Implies))
            texts = [_local(first, level + 1), *[_local(part, others) for part in rest]]
            text = _WORDS[type(node)].join(texts)
            return text if level >= lowest else f"({text})"
        case Iff(left, right):
            return f"({_local(left, 1)} iff {_local(right, 1)})"
    return unparse(fold(node, _as_written))


def _as_written(node: Node, below: list[Node]) -> Node:
    """Bound variables as one writes them here: a bare name is never `shared("N")`."""
    match node:
        case Local(_, variable):
            return Shared(variable, explicit=True)
        case Shared(variable):
            entry = _ENTRY.fullmatch(variable)
            name = Name(tuple((entry["name"] if entry else variable).split(".")))
            return Subscript(name, Literal(int(entry["index"]))) if entry else name
    return with_children(node, below) if below else node


_ENTRY = re.compile(r"(?P<name>[^\[\]]+)\[(?P<index>\d+)\]")


def _function(name: str) -> str:
    import json

    plain = all(part.isidentifier() for part in name.split("."))
    return name if plain else json.dumps(name, ensure_ascii=False)
