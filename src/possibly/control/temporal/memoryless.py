"""Memoryless search: no state is kept, each is regenerated from the names of transitions.

"We may perform breadth first search with increasingly higher depth (up to some user defined limit). We keep
in the search stack only information that allows us to generate different sequences according to some order,
and to regenerate a state" ("Temporal debugging for concurrent systems", section 5, after Verisoft). The
stack holds, a level, the name of the transition taken. To try the next one, the state before it is
regenerated from the start. The automaton is read along as the set of its states, so a sequence of
transitions is reported once. Pairs are not compared, so a cycle is unrolled up to the limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.control.temporal.options import DEEPEST, Options
from possibly.control.temporal.product import Product
from possibly.control.temporal.search import PAUSE_EVERY, Path, Search
from possibly.control.temporal.system import State, followed

Readers = frozenset[int]


class Memoryless(Search):
    """Iterative deepening by the number of states of a step."""

    def __init__(self, product: Product, options: Options) -> None:
        self.product = product
        self.limit = options.bound or DEEPEST
        self.goes_on = options.size == "each"
        self._reached = False

    def paths(self) -> Iterator[Path | None]:
        for size in range(1, self.limit + 1):
            self._reached = False
            yield from self._of_size(size)
            if not self._reached:
                return
        self.was_cut = True

    def _of_size(self, size: int) -> Iterator[Path | None]:
        """The steps of exactly so many states, in the order of the transitions."""
        names: list[str] = []
        after: str | None = None
        """The transition tried last from the present end; None: none was."""
        while True:
            self.visited += 1
            if self.visited % PAUSE_EVERY == 0:
                yield None
            moves, states = followed(self.product.system, self.product.start, names)
            readers = self._read(states)
            if after is None and self._is_end(readers, len(names) + 1, size):
                if len(names) + 1 == size and self._accepts(readers):
                    yield Path(tuple(moves), tuple(states))
                following = None
            else:
                following = self._following(states[-1], after)
            if following is not None:
                names.append(following)
                after = None
            elif names:
                after = names.pop()
            else:
                return

    def _is_end(self, readers: Readers, length: int, size: int) -> bool:
        """Whether to go no further: rejected, accepted (a minimal step goes on no more), or deep enough."""
        ended = not self.goes_on and self._accepts(readers)
        if readers and length == size and not ended:
            self._reached = True
        return not readers or length == size or ended

    def _following(self, state: State, after: str | None) -> str | None:
        names = [move.name for move, _ in self.product.system.successors(state)]
        position = 0 if after is None else names.index(after) + 1
        return names[position] if position < len(names) else None

    def _read(self, states: list[State]) -> Readers:
        automaton, valuations = self.product.automaton, self.product.valuations
        readers = frozenset(automaton.start(valuations(states[0])))
        for state in states[1:]:
            valuation = valuations(state)
            readers = frozenset([r for reader in readers for r in automaton.advance(reader, valuation)])
        return readers

    def _accepts(self, readers: Readers) -> bool:
        return any(map(self.product.automaton.is_accepting, readers))
