"""The operators over paths as one law each, for every engine that visits cuts.

The lattice has no cycles, so an operator equals its fixpoint law read as a recursion:

    value = now | while & (some or every successor's value)

where the final cut, which has no successor, counts as if a successor had it, or not.
"""

from __future__ import annotations

from possibly.logic.syntax import Literal, Node, Temporal
from possibly.records import dataclass

TRUE, FALSE = Literal(True), Literal(False)


@dataclass(frozen=True, slots=True)
class Law:
    every: bool
    """All successors must have it, and there must be one; else some successor must."""
    at_end: bool
    """Whether the final cut counts as if a successor had it."""


LAWS = {
    "EF": Law(every=False, at_end=False),
    "EU": Law(every=False, at_end=False),
    "EG": Law(every=False, at_end=True),
    "AF": Law(every=True, at_end=False),
    "AU": Law(every=True, at_end=False),
    "AG": Law(every=True, at_end=True),
}


def now_and_while(node: Temporal) -> tuple[Node, Node]:
    """The two parts of the law: EF p is true U p, EG p has nothing that ends it early."""
    match node.operator:
        case "EF" | "AF":
            return node.operands[0], TRUE
        case "EG" | "AG":
            return FALSE, node.operands[0]
        case _:
            return node.operands[1], node.operands[0]
