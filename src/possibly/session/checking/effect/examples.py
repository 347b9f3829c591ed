"""Where a property that holds takes effect: which order shows it.

`AG(a -> AF(b))` holds, and one wants to see that it says something: an order in which a happens and b
follows. Here belongs what to ask for; the engines find it as they find any order (`check`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from possibly.detection.observed import Observed
from possibly.logic.predicates.functions import is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Literal, Node, Temporal
from possibly.order.lattice import Lattice, Move, steps_of
from possibly.order.predicate import CutPredicates
from possibly.session.checking.effect.vacuity import implications

LATER = ("AF", "F", "AX", "X", "EF", "EX", "N")
"""Operators whose only operand is to come."""
UNTIL = ("AU", "U", "EU")
"""Operators whose second operand is to come."""


class Wanted(NamedTuple):
    """An order to be found."""

    formula: Node
    """Of branching time, true if there is one."""
    state: Node
    """What is to be true at its end."""
    summary: str
    left: Node


def wanted(formula: Node) -> Wanted | None:
    """The order that shows best what the formula demands; None: it demands nothing of what happens before."""
    for left, right in implications(formula):
        follows, is_later = _follows(right)
        if follows is None:
            return Wanted(Temporal("EF", (left,)), left, f"{unparse(left)} happens", left)
        state = And((left, follows))
        if not is_later:
            return Wanted(Temporal("EF", (state,)), state, f"{unparse(left)} happens, and so it is", left)
        whole = Temporal("EF", (And((left, Temporal("EF", (follows,)))),))
        return Wanted(whole, follows, f"{unparse(left)} happens, and {unparse(follows)} follows", left)
    return None


def order_of(asked: Wanted, path: Sequence[Move], lattice: Lattice, predicates: CutPredicates) -> Shown:
    """The order that leads to the left side, and on to the right one as the run went on."""
    known = list(steps_of(path))
    after = set(known)
    observed = Observed(lattice, predicates)
    observed.path = [*known, *(step for step in lattice.computation.steps if step not in after)]
    count = _first_from(observed, asked.state, len(known))
    if count is None:  # another order has it, which goes on otherwise
        return Shown(path, asked.left, f"{unparse(asked.left)} happens")
    return Shown(observed.moves(count), asked.state, asked.summary)


class Shown(NamedTuple):
    path: Sequence[Move]
    state: Node
    """What is true at its end."""
    summary: str


def _first_from(observed: Observed, formula: Node, start: int) -> int | None:
    """How many steps lead to the first cut, from one on, that satisfies it."""
    cuts = len(observed.path) + 1
    bits = observed.bits(formula) & (1 << cuts - start) - 1
    return cuts - bits.bit_length() if bits else None


def _follows(right: Node) -> tuple[Node | None, bool]:
    """The part of a right side that is to be seen, and whether that may come later."""
    match right:
        case Literal():
            return None, False
        case Temporal(operator, operands) if operator in LATER or operator in UNTIL:
            return _follows(operands[-1])[0], True
        case Temporal("AG" | "G", (inside,)) | And((inside, *_)) if not is_state(right):
            return _follows(inside)
        case _:
            return (right, False) if is_state(right) else (None, False)
