"""AF of any regular predicate: the interval that matters, conditions that tell, then a search inside it.

Here belongs Algo 6.2 of Sen's thesis. All cuts that satisfy a regular p lie between its least cut I and its
greatest cut S. AF(p) holds of the computation iff it holds of the interval from C, the meet of the
predecessors of I, to D, the join of the successors of S (theorem 6.7): outside it p is false. In turn:

    theorem 6.14   a cut that neither contains I nor lies inside S leads past all of p: AF(p) fails
    theorem 6.10   a path through the interval without p, taken step by step; where the successor of every
                   meet-irreducible cut lacks p the search never turns back
    theorem 6.11   the same from the end, one predecessor after another
    theorem 6.16   two steps neither of which can be executed first without p: AF(p) holds. Such steps are a
                   component of the slice for not p, of the interval alone (Algo 4.3 and 5.3)

and then the search goes on, depth first; no cut is entered twice. No polynomial algorithm is known for this
class; conjunctive predicates go to `intervals` instead. Departures: a cut as theorem 6.14 wants it is found
among n clocks instead of by a slice of n * n disjuncts; the conditions of 6.10 and 6.11 are not tested at all
irreducible cuts, but what follows from them is tried, which succeeds more often; line 15 compares with the
slice of EG(not p), as printed it is wrong.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator

from possibly.detection.finding import ALWAYS, NEVER, Finding, Path, Shows
from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.slices.extension import extension
from possibly.detection.slices.slicing import Slicing
from possibly.detection.witness import any_path, moves_inside
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import Node, Not, Temporal
from possibly.order.computation import Cut, join, meet
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import Holds

FIRST_CUTS = 3_000
"""Cuts of the interval that are searched before the conditions that cost more are asked."""

MOST_DEAD_ENDS = 10_000
"""Cuts from which there is no way back without p that are left behind before the search gives up."""

MOST_EVENTS = 400
"""Events of the interval up to which theorem 6.16 is tried, which evaluates p for each pair of them."""


class Definitely:
    """Answers AF of a regular predicate, and EG of the negation of one."""

    def __init__(self, slicing: Slicing, budget: Budget) -> None:
        self.slicing = slicing
        self.computation = slicing.computation
        self.lattice: Lattice = slicing.lattice
        self.budget = budget

    def decide(self, formula: Node) -> Finding | None:
        match formula:
            case Temporal("AF", (operand,)) if is_state(operand):
                return self._avoid(operand, Shows(NEVER, operand, to_the_end=True), False)
            case Temporal("EG", (operand,)) if is_state(operand):
                return self._avoid(Not(operand), Shows(ALWAYS, operand, True), True)
        return None

    def _avoid(self, predicate: Node, shows: Shows, value: bool) -> Finding | None:
        """Whether some observation passes no cut of the predicate; `value` is the answer if one does."""
        part = self.slicing.slice_of(predicate)
        if part is None:
            return None
        if part.least is None or part.greatest is None:
            return Finding(value, self._along(self.computation.initial, self.computation.final), shows)
        beside = self.beside(part.least, part.greatest)
        if beside is not None:
            ends = (self.computation.initial, beside, self.computation.final)
            return Finding(value, self.lattice.joined(self._along(*ends[:2]), self._along(*ends[1:])), shows)
        low, high = self.interval(part.least, part.greatest)
        path = self._through(predicate, low, high)
        if path is None:
            return Finding(not value)
        before = self._along(self.computation.initial, low)
        after = self._along(high, self.computation.final)
        return Finding(value, self.lattice.joined(before, path, after), shows)

    def _along(self, start: Cut, end: Cut) -> Path:
        path = extension(self.lattice, start, end, look=self.budget.look)
        assert path is not None, "the order of a computation has no cycle"
        return path

    def interval(self, least: Cut, greatest: Cut) -> tuple[Cut, Cut]:
        """Theorem 6.7: the ends of the interval that matters."""
        low, high = least, greatest
        for _, before in self.lattice.predecessors(self.lattice.pack(least)):
            low = meet(low, self.lattice.unpack(before))
        for following in self.lattice.successors(self.lattice.pack(greatest)):
            high = join(high, self.lattice.unpack(following))
        return low, high

    def beside(self, least: Cut, greatest: Cut) -> Cut | None:
        """Theorem 6.14: a cut that does not contain the least one and is not inside the greatest one.

        If there is any, then also the least cut with the first event beyond the greatest one, of a process.
        """
        for process, count in enumerate(greatest):
            if count < self.computation.lengths[process]:
                cut = self.computation.closure({process: count + 1})
                if any(map(int.__lt__, cut, least)):
                    return cut
        return None

    def _through(self, predicate: Node, low: Cut, high: Cut) -> Path | None:
        """A path from low to high on which the predicate is never true."""
        holds = self.slicing.predicates(predicate)
        if holds(self.lattice.pack(low)) or holds(self.lattice.pack(high)):
            return None
        part = self.budget.part(FIRST_CUTS)
        try:
            return self._searched(holds, low, high, part)
        except LimitReachedError:
            if not part.stopped_at_bound:
                raise
        finally:
            self.budget.visited = part.visited
        path = self.backward(holds, low, high)
        if path is not None:
            return path
        if sum(high) - sum(low) <= MOST_EVENTS and self.must_pass(predicate, low, high):
            return None
        return self._searched(holds, low, high, self.budget)

    def _searched(self, holds: Holds, low: Cut, high: Cut, budget: Budget) -> Path | None:
        def successors(cut: int) -> Iterator[tuple[Move, int]]:
            following = ((move, cut + move.delta) for move in moves_inside(self.lattice, cut, high))
            return ((move, after) for move, after in following if not holds(after))

        return any_path(self.lattice.pack(low), successors, self.lattice.pack(high).__eq__, budget)

    def backward(self, holds: Callable[[int], bool], low: Cut, high: Cut) -> Path | None:
        """Theorem 6.11: from the end back, always to some predecessor without it."""
        if not self.computation.joint:
            return self._backward(holds, low, high)
        cut, start, path = self.lattice.pack(high), self.lattice.pack(low), list[Move]()
        while cut != start:
            self.budget.visit()
            steps = (
                (move, before)
                for move, before in self.lattice.predecessors(cut)
                if not holds(before) and all(map(int.__ge__, self.lattice.unpack(before), low))
            )
            found = next(steps, None)
            if found is None:
                return None
            move, cut = found
            path.append(move)
        return tuple(reversed(path))

    def _backward(self, holds: Callable[[int], bool], low: Cut, high: Cut) -> Path | None:
        """The same without joint events, round dead ends; of the way back the numbers of events are kept."""
        lattice, back = self.lattice, WayBack(self.lattice, low, high)
        cut, steps = lattice.pack(high), array("i")
        start, dead = lattice.pack(low), set[int]()
        while cut != start:
            self.budget.visit()
            for process in back.free:
                before = cut - lattice.units[process]
                if before not in dead and not holds(before):
                    steps.append(back.take(process))
                    cut = before
                    break
            else:
                dead.add(cut)
                if not steps or len(dead) > MOST_DEAD_ENDS:
                    return None
                cut += lattice.units[back.put_back(steps.pop())]
        steps.reverse()
        return lattice.walk(steps)

    def must_pass(self, predicate: Node, low: Cut, high: Cut) -> bool:
        """Theorem 6.16: whether steps of the interval can only be executed together without it."""
        from possibly.detection.slices.by_test import slice_of_complement
        from possibly.order.components import last_of_several_steps

        part = slice_of_complement(self.slicing, predicate, low, high)
        return part.is_empty or any(map(int.__gt__, last_of_several_steps(part), low))


class WayBack:
    """A cut on the way back to a lower one, without joint events: whose last event there nothing follows.

    Only a step that is taken back, and what it needs, can make a difference to that: a cut of a thousand
    processes need not be looked through for each step.
    """

    def __init__(self, lattice: Lattice, low: Cut, high: Cut) -> None:
        self.lattice = lattice
        self.low = low
        self.counts = list(high)
        self.free: list[int] = [process for process in range(len(high)) if self._is_free(process)]
        """In the order of their numbers."""

    def take(self, process: int) -> int:
        """Takes the last event of a process back."""
        event = self.lattice.computation.at(process, self.counts[process])
        self.counts[process] -= 1
        self._look_around(process, event)
        return event

    def put_back(self, event: int) -> int:
        """The process whose event is in the cut again."""
        process = self.lattice.computation.trace.process[event]
        self.counts[process] += 1
        self._look_around(process, event)
        return process

    def _look_around(self, process: int, event: int) -> None:
        first, edges = self.lattice.computation.edge_columns
        column = self.lattice.computation.trace.process
        self._look_at(process)
        for earlier in edges[first[event] : first[event + 1]]:
            self._look_at(column[earlier])

    def _look_at(self, process: int) -> None:
        place = bisect_left(self.free, process)
        is_there = place < len(self.free) and self.free[place] == process
        if is_there and not self._is_free(process):
            del self.free[place]
        elif not is_there and self._is_free(process):
            self.free.insert(place, process)

    def _is_free(self, process: int) -> bool:
        count = self.counts[process]
        if count == self.low[process]:
            return False
        return not self.lattice.is_followed_in(self.counts, self.lattice.computation.at(process, count))
