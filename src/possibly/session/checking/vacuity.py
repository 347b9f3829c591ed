"""Properties that hold because what they speak of never happens.

Here belongs finding the left sides of implications that are true in no order of a run: `AG(a -> b)` holds
then, whatever b is. For a property that holds each left side is asked for by `EF`; as a rule of slices alone,
which answer in no time or not at all, and with `--vacuity` of all engines. What is not known is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from possibly.logic.predicates.functions import is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Implies, Literal, Node, Or, Temporal

Ask = Callable[[Node], bool | None]
"""Whether a formula of branching time holds; None: it is not known."""

FEW, MANY = 20, 2_000
"""Left sides of one property that are looked at, as a rule and when asked for: quantifiers make thousands."""

UNDER = ("AG", "AF", "AX", "AU", "G", "F", "X", "N", "U", "R", "W")
"""Operators below which an implication speaks of many states."""


def never_true(formula: Node, ask: Ask, thoroughly: bool = False) -> tuple[Node, ...]:
    """The left sides that are known to be true in no order."""
    most = MANY if thoroughly else FEW
    found: dict[Node, None] = {}
    for left in _left_sides(formula):
        if len(found) >= most:
            break
        found[left] = None
    return tuple(left for left in found if ask(Temporal("EF", (left,))) is False)


def _left_sides(formula: Node) -> Iterator[Node]:
    """Left sides without time, of implications under an operator over all orders."""
    pending = [(formula, False)]
    while pending:
        node, is_under = pending.pop()
        match node:
            case Implies(left, right):
                if is_under and is_state(left) and not isinstance(left, Literal):
                    yield left
                pending.append((right, is_under))
            case And(operands) | Or(operands):
                pending += [(part, is_under) for part in reversed(operands)]
            case Temporal(operator, operands) if operator in UNDER:
                pending += [(part, True) for part in reversed(operands)]


def told(name: str, lefts: Sequence[Node], where: str = "order of this run") -> str:
    """One sentence for a property."""
    text = unparse(lefts[0])
    shown = text if len(text) <= 100 else text[:97] + "..."
    more = f" (and {len(lefts) - 1} more like it)" if len(lefts) > 1 else ""
    return f"{name} holds without effect: {shown} is true in no {where}{more}"
