"""The plain engine for ltl: a finite linear formula, with past, on every observation.

Here belongs the search for an observation that breaks the formula. It walks the product of the lattice
with the automaton of the negated formula (`logic.progression`), depth first, so that it stops at the first
observation found, or as soon as nothing that may follow can save the formula; pairs that lead nowhere are
kept and not entered twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from possibly.detection.finding import Finding, Path
from possibly.detection.limits import LOOK_EVERY, Budget, LimitReachedError
from possibly.detection.witness import any_path, changes, constrained_path, free_path
from possibly.logic.ltl.progression import Progression, State, TooLargeError, Valuation
from possibly.logic.syntax import Node, Not
from possibly.order.lattice import Lattice, Move
from possibly.order.predicate import CutPredicates

Pair = tuple[int, State]
"""A packed cut, and what the negated formula still demands after it."""


class Linear:
    """Looks for an observation of one lattice that breaks the formula."""

    def __init__(self, lattice: Lattice, predicates: CutPredicates, formula: Node, budget: Budget) -> None:
        self.lattice = lattice
        self.budget = budget
        self.broken = Progression(Not(formula), budget.look)
        self._atoms = [predicates(atom) for atom in self.broken.atoms]
        self._valuations: dict[int, Valuation] = {}
        self._dead: set[Pair] = set()

    def decide(self) -> Finding:
        """Whether every observation satisfies the formula."""
        try:
            return self._decide()
        except TooLargeError:
            raise LimitReachedError("the automaton of the formula is too large; split the formula") from None

    def _decide(self) -> Finding:
        path = self._search()
        if path is None:
            return Finding(True)
        return Finding(False, self._fewest_changes() or path)

    def holds_on(self, path: Sequence[Move]) -> bool:
        """Whether the formula holds on one observation."""
        ((_, states),) = deque(self._along(path), maxlen=1)
        return not any(state.may_end for state in states)

    def moment(self, path: Sequence[Move]) -> int | None:
        """After how many steps nothing that may follow can save the formula; None if only at the end."""
        for count, states in self._along(path):
            if any(state.accepts_all for state in states):
                return count if count < len(path) else None
        return None

    def _along(self, path: Sequence[Move]) -> Iterator[tuple[int, set[State]]]:
        """After each number of steps the states in which the negated formula may be."""
        cut, states = self.lattice.initial, set(self._start())
        yield 0, states
        for count, move in enumerate(path, start=1):
            if not count % LOOK_EVERY:
                self.budget.look()
            cut += move.delta
            valuation = self._valued(cut)  # not kept: there are as many as steps, and each is asked for once
            states = {after for state in states for after in self.broken.advance(state, valuation)}
            yield count, states

    def _start(self) -> Sequence[State]:
        return self.broken.advance(self.broken.initial, self._valuation(self.lattice.initial))

    def _valuation(self, cut: int) -> Valuation:
        if cut not in self._valuations:
            self._valuations[cut] = self._valued(cut)
        return self._valuations[cut]

    def _valued(self, cut: int) -> Valuation:
        self.budget.visit()
        return sum(holds(cut) << bit for bit, holds in enumerate(self._atoms))

    def _successors(self, pair: Pair) -> Iterator[tuple[Move, Pair]]:
        cut, state = pair
        for move in self.lattice.moves(cut):
            following = cut + move.delta
            for after in self.broken.advance(state, self._valuation(following)):
                yield move, (following, after)

    def _is_goal(self, pair: Pair) -> bool:
        return pair[0] == self.lattice.final and pair[1].may_end

    def _search(self) -> Path | None:
        for state in self._start():
            found = self._search_from((self.lattice.initial, state))
            if found is not None:
                return found
        return None

    def _search_from(self, start: Pair) -> Path | None:
        """All searches share the pairs that lead nowhere: one that leads to a goal is the last."""
        if start in self._dead:
            return None
        path = any_path(start, self._successors, self._decides, self.budget, self._dead)
        return None if path is None else self._completed(path)

    def _decides(self, pair: Pair) -> bool:
        return self._is_goal(pair) or pair[1].accepts_all

    def _completed(self, path: Sequence[Move]) -> Path:
        """The path continued to the final cut in any order."""
        cut, found = self.lattice.initial + sum(move.delta for move in path), list(path)
        while cut != self.lattice.final:
            move = next(iter(self.lattice.moves(cut)))
            cut += move.delta
            found.append(move)
        return tuple(found)

    def _fewest_changes(self) -> Path | None:
        """The same search by the number of changes; None if that takes too long."""
        if any(state.accepts_all for state in self._start()):
            return free_path(self.lattice, [self.lattice.final])
        starts = ((self.lattice.initial, state) for state in self._start())
        candidates = [constrained_path(start, self._successors, self._is_goal) for start in starts]
        found = [path for path in candidates if path is not None]
        return min(found, key=changes, default=None)
