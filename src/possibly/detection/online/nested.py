"""EF and AG inside EF and AG, on-line.

Here belongs EF of a combination of state predicates with EF and AG of state predicates; AG is its dual.

Theory of operation. A predicate p is the union of its alternatives p_i, regular each, with a least cut and a
greatest one (Sen's thesis, chapter 4). A cut satisfies EF(q) iff it lies inside the greatest cut of some
alternative of q, and AG(q) iff it lies inside the greatest cut of no alternative of !q. So (Ogale and Garg,
"Detecting temporal logic predicates on distributed computations", have the same for whole traces):

    EF(p & EF q & EF r ...)   the least cut of some p_i lies inside the greatest of some q_j, of some r_k,
                              and so on: the less a cut contains the better. True is final
    EF(p & AG q & AG r ...)   the greatest cut of some p_i lies inside that of no alternative of !q, of !r,
                              and so on: the more it contains the better. May change both ways

A conjunction with both EF and AG beside each other would need the cuts between, and is refused. The greatest
cuts are kept by `online_slice`, at its cost, so the value is exact after every event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from possibly.detection.online.slice import OnlineSlice
from possibly.detection.online.standing import ByStep, Moment, Standing
from possibly.detection.online.terms import MOST_ALTERNATIVES, alternatives
from possibly.errors import FormulaError
from possibly.logic.predicates.functions import is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Iff, Implies, Literal, Node, Not, Or, Temporal
from possibly.order.computation import Cut
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step


@dataclass(frozen=True, slots=True)
class _Conjunction:
    states: tuple[Node, ...] = ()
    possibly: tuple[Node, ...] = ()
    """q of each EF q,"""
    possibly_not: tuple[Node, ...] = ()
    """and !q of each AG q."""

    def both(self, other: _Conjunction) -> _Conjunction:
        return _Conjunction(
            (*self.states, *other.states),
            (*self.possibly, *other.possibly),
            (*self.possibly_not, *other.possibly_not),
        )


def _conjunctions(node: Node, positive: bool) -> list[_Conjunction]:
    if is_state(node):
        return [_Conjunction((node if positive else Not(node),))]
    match node:
        case Not(operand):
            return _conjunctions(operand, not positive)
        case And(operands) | Or(operands):
            parts = [_conjunctions(part, positive) for part in operands]
            return _all(parts, node) if isinstance(node, And) == positive else _any(parts)
        case Implies(left, right):
            return _conjunctions(Or((Not(left), right)), positive)
        case Iff(left, right):
            return _conjunctions(Or((And((left, right)), And((Not(left), Not(right))))), positive)
        case Temporal("EF" | "AG", (operand,)) if is_state(operand):
            if (node.operator == "EF") == positive:
                return [_Conjunction(possibly=(operand if node.operator == "EF" else Not(operand),))]
            return [_Conjunction(possibly_not=(operand if node.operator == "EF" else Not(operand),))]
    raise FormulaError(
        f"{unparse(node)} cannot be followed on-line inside another temporal operator",
        hint="EF and AG of state predicates can",
    )


def _any(parts: Sequence[list[_Conjunction]]) -> list[_Conjunction]:
    return [each for part in parts for each in part]


def _all(parts: Sequence[list[_Conjunction]], node: Node) -> list[_Conjunction]:
    found = [_Conjunction()]
    for part in parts:
        if len(found) * len(part) > MOST_ALTERNATIVES:
            raise FormulaError(f"{unparse(node)} has more than {MOST_ALTERNATIVES} alternatives")
        found = [first.both(second) for first, second in product(found, part)]
    return found


class _Union:
    """A predicate as the slices of its alternatives."""

    def __init__(self, growing: Growing, predicate: Node) -> None:
        self.slices = [OnlineSlice.of(growing, alternative) for alternative in alternatives(predicate)]

    def take(self, step: Step) -> None:
        for part in self.slices:
            part.take(step)

    def least(self) -> list[Cut]:
        return [cut for part in self.slices if (cut := part.least) is not None]

    def greatest(self) -> list[Cut]:
        return [cut for part in self.slices if (cut := part.greatest) is not None]

    @property
    def faults(self) -> list[str]:
        return [fault for part in self.slices for fault in part.faults]


class _Reachable:
    """EF of one conjunction."""

    def __init__(self, growing: Growing, conjunction: _Conjunction) -> None:
        if conjunction.possibly and conjunction.possibly_not:
            raise FormulaError("EF and AG beside each other inside EF cannot be followed on-line")
        states = conjunction.states or (Literal(True),)
        self._here = _Union(growing, And(states) if len(states) > 1 else states[0])
        self._later = [_Union(growing, node) for node in conjunction.possibly]
        self._never = [_Union(growing, node) for node in conjunction.possibly_not]
        self.is_final = not self._never
        """Once it is true."""

    @property
    def unions(self) -> list[_Union]:
        return [self._here, *self._later, *self._never]

    def cut(self) -> Cut | None:
        """A cut that satisfies the conjunction, if there is one."""
        if not self._never:
            later = [union.greatest() for union in self._later]
            for cut in self._here.least():
                if all(any(_is_inside(cut, other) for other in cuts) for cuts in later):
                    return cut
            return None
        outside = [other for union in self._never for other in union.greatest()]
        for cut in self._here.greatest():
            if not any(_is_inside(cut, other) for other in outside):
                return cut
        return None


def _is_inside(cut: Cut, other: Cut) -> bool:
    return all(count <= most for count, most in zip(cut, other, strict=True))


class Nested(ByStep):
    """EF of a combination of state predicates with EF and AG of state predicates."""

    def __init__(self, growing: Growing, operand: Node) -> None:
        self._growing = growing
        self._parts = [_Reachable(growing, each) for each in _conjunctions(operand, True)]
        self._standing = Standing(False, False)
        self._look(None)

    def take(self, step: Step) -> None:
        if self._standing.is_final:
            return
        for part in self._parts:
            for union in part.unions:
                union.take(step)
        self._look(step)

    def _look(self, step: Step | None) -> None:
        found = [(part, cut) for part in self._parts if (cut := part.cut()) is not None]
        final = next(((part, cut) for part, cut in found if part.is_final), None)
        if final is None:
            self._standing = Standing(bool(found), False)
            return
        named = dict(zip(self._growing.processes, final[1], strict=False))
        moment = Moment(named, step[-1].name if step else None, self._growing.taken)
        self._standing = Standing(True, True, moment)

    @property
    def standing(self) -> Standing:
        return self._standing

    @property
    def size(self) -> int:
        unions = (union for part in self._parts for union in part.unions)
        return sum(each.size for union in unions for each in union.slices)

    @property
    def faults(self) -> tuple[str, ...]:
        found = [fault for part in self._parts for union in part.unions for fault in union.faults]
        return tuple(dict.fromkeys(found))
