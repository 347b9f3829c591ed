"""The product of a system and the automaton of a formula, made where a search leads.

"The states R are the elements of S x X where the components have compatible labelling" ("Temporal debugging
for concurrent systems", section 3). A pair here is (system state, automaton state). It exists only if the
automaton state has read the system state, so labels are compatible by construction.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.control.temporal.system import Move, State, System, Valuations
from possibly.logic.ltl.automaton import Automaton

Pair = tuple[State, int]


class Product:
    """One search space: each temporal step has a fresh one."""

    def __init__(self, system: System, automaton: Automaton, start: State) -> None:
        self.system = system
        self.automaton = automaton
        self.start = start
        self.valuations = Valuations(system, automaton.atoms)

    def roots(self) -> list[Pair]:
        """The current state with each automaton state that can have read it."""
        return [(self.start, first) for first in self.automaton.start(self.valuations(self.start))]

    def successors(self, pair: Pair) -> Iterator[tuple[Move, Pair]]:
        state, reader = pair
        advance, valuations = self.automaton.advance, self.valuations
        for move, after in self.system.successors(state):
            for reading in advance(reader, valuations(after)):
                yield move, (after, reading)

    def is_accepting(self, pair: Pair) -> bool:
        return self.automaton.is_accepting(pair[1])
