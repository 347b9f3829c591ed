"""A slice that contains every cut of a formula, whatever the formula: the best that its parts give.

Here belongs the approximate slice (Sen's thesis, section 5.4.1) for formulas that slices do not know, the
operators AF, AX and until among them. What slices know is exact; of everything else a wider formula is
sliced, one that holds wherever the formula does:

    AF p, EF p             EF p
    E[p U q], A[p U q]     EF q, and p or q
    EG p, AG p             p
    EX p                   EF p; AX p holds at the final cut, so nothing is known of it
    not EF p, not EU(p, q) not p, not q; the other negations by duality

Every step keeps "contains every satisfying cut": conjunction, disjunction and EF of wider sets are wider.
"""

from __future__ import annotations

from possibly.detection.slices.slicing import Slicing
from possibly.logic.depth import deep
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.slice import Slice, conjunction, disjunction, nothing, whole
from possibly.records import replace


def wider_slice(slicing: Slicing, formula: Node) -> Slice:
    """An approximate slice: every cut that satisfies the formula, and perhaps others."""
    with deep():
        return replace(_wider(slicing, formula, True), lean=None, exact=False)


def _wider(slicing: Slicing, node: Node, positive: bool) -> Slice:
    known = slicing.alternatives(node, positive)
    if known is not None:
        return _united(slicing, known)
    match node:
        case Not(operand):
            return _wider(slicing, operand, not positive)
        case And(operands) | Or(operands):
            parts = [_wider(slicing, part, positive) for part in operands]
            if isinstance(node, And) == positive:
                return conjunction([whole(slicing.computation), *parts])
            return _united(slicing, parts)
        case Implies(left, right):
            return _wider(slicing, Or((Not(left), right)), positive)
        case Iff(left, right):
            return _wider(slicing, Or((And((left, right)), And((Not(left), Not(right))))), positive)
        case Temporal():
            return _temporal(slicing, node, positive)
    return whole(slicing.computation)


def _temporal(slicing: Slicing, node: Temporal, positive: bool) -> Slice:
    last = node.operands[-1]
    match node.operator, positive:
        case ("EF" | "AF" | "EX", True) | ("AG" | "EG" | "AX", False):
            return _before(slicing, _wider(slicing, last, positive))
        case ("EG" | "AG", True) | ("EF" | "AF" | "EU" | "AU", False):
            return _wider(slicing, last, positive)
        case (("EU" | "AU"), True):
            goal = _wider(slicing, last, True)
            either = _united(slicing, [goal, _wider(slicing, node.operands[0], True)])
            return conjunction([_before(slicing, goal), either])
    return whole(slicing.computation)


def _before(slicing: Slicing, part: Slice) -> Slice:
    """EF: the cuts inside some cut of the slice."""
    return _united(slicing, slicing.possible([part]) or [])


def _united(slicing: Slicing, parts: list[Slice]) -> Slice:
    filled = [part for part in parts if not part.is_empty]
    if len(filled) < 2:
        return filled[0] if filled else nothing(slicing.computation)
    return disjunction(filled)
