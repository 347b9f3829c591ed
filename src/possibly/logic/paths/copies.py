"""Copies that cannot be taken for each other: what an `@` is made of where each copy hangs together.

Here belongs when the copies of `A@` are the parts of a run that nothing connects. Events of different copies
are not ordered. If every run of A hangs together (`a; b` does, `a & b` does not), then a run is one of `A@`
iff each of its connected parts is one of A: no reading has to guess which copy an event belongs to, and each
part is recognised on its own, in the memory of one.
"""

from __future__ import annotations

from possibly.logic.paths.compiled import Compiled, Kind, Part
from possibly.records import replace


def copied(expression: Compiled) -> Compiled | None:
    """The A of an expression `A@` whose runs all hang together; None if it is no such expression."""
    root = expression.parts[expression.root]
    if root.kind != Kind.MANY or not hangs_together(expression.parts, root.left):
        return None
    return replace(expression, parts=expression.parts[: root.left + 1])


def hangs_together(parts: list[Part], number: int) -> bool:
    """Whether in every run of the part each event is connected with each other one."""
    part = parts[number]
    match part.kind:
        case Kind.EVENT:
            return True
        case Kind.SEQUENCE:
            # What is not empty on both sides is connected by the order between them.
            first, second = parts[part.left], parts[part.right]
            return (not second.can_be_empty or hangs_together(parts, part.left)) and (
                not first.can_be_empty or hangs_together(parts, part.right)
            )
        case Kind.CHOICE:
            return hangs_together(parts, part.left) and hangs_together(parts, part.right)
        case Kind.REPEAT | Kind.COUNT | Kind.SCOPE:
            return hangs_together(parts, part.left)
    return False
