"""EF and AG of any state predicate, searched inside the slice of what can be sliced of it.

Here belongs the exact search that the thesis asks for behind a slice that is not lean (Algo 6.1, line 6), for
non-temporal predicates: the conjuncts that are unions of lean slices are sliced, and only the cuts of these
slices are visited, smallest first, until one satisfies the rest. So the path found is a shortest one.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from possibly.detection.finding import ENDS_FALSE, ENDS_TRUE, Finding, Shows
from possibly.detection.limits import Budget
from possibly.detection.slices.sliced import Sliced
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.order.computation import Cut
from possibly.order.slice import Slice


class Inside:
    """Searches the cuts of slices."""

    def __init__(self, sliced: Sliced, budget: Budget) -> None:
        self.sliced = sliced
        self.slicing = sliced.slicing
        self.budget = budget

    def decide(self, formula: Node) -> Finding | None:
        match formula:
            case Temporal("EF", (operand,)) if is_state(operand):
                return self._search(operand, Shows(ENDS_TRUE, operand), True)
            case Temporal("AG", (operand,)) if is_state(operand):
                return self._search(Not(operand), Shows(ENDS_FALSE, operand), False)
        return None

    def _search(self, predicate: Node, shows: Shows, value: bool) -> Finding | None:
        conjuncts = list(_conjuncts(predicate))
        known = [part for part in conjuncts if self.slicing.alternatives(part) is not None]
        if not known or self.slicing.computation.joint:
            return None
        parts = self.slicing.alternatives(And(tuple(known)) if len(known) > 1 else known[0])
        if parts is None:
            return None
        holds, pack = self.slicing.predicates(predicate), self.slicing.lattice.pack
        for cut in self._smallest_first(parts):
            self.budget.visit()
            if holds(pack(cut)):
                return Finding(value, self.sliced.path_to([cut]), shows)
        return Finding(not value)

    def _smallest_first(self, parts: list[Slice]) -> Iterator[Cut]:
        """The cuts of all slices by their number of events."""
        todo = [(sum(part.least), part.least, n) for n, part in enumerate(parts) if part.least is not None]
        heapify(todo)
        # A cut of two slices is followed in each: what comes after it may belong to one alone.
        seen = {(number, cut) for _, cut, number in todo}
        while todo:
            _, cut, number = heappop(todo)
            yield cut
            part = parts[number]
            for process, count in enumerate(cut):
                if count < part.high[process]:
                    following = part.least_from((*cut[:process], count + 1, *cut[process + 1 :]))
                    if following is not None and (number, following) not in seen:
                        seen.add((number, following))
                        heappush(todo, (sum(following), following, number))


def _conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a conjunction, negations of disjunctions opened."""
    match node:
        case And(operands):
            for part in operands:
                yield from _conjuncts(part)
        case Not(Or(operands)):
            for part in operands:
                yield from _conjuncts(Not(part))
        case Not(Implies(left, right)):
            yield from _conjuncts(left)
            yield from _conjuncts(Not(right))
        case Not(Not(operand)):
            yield from _conjuncts(operand)
        case _:
            yield node
