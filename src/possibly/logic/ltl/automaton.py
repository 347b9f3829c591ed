"""Automata as a search reads them: states by number, advanced by the truth of the atoms at a state.

Here belongs the one port between a formula and a search, and its two implementations: the tableau as the
paper has it, and the progression, whose states are those of the tableau without the ones that demand more
than another does. Both accept the same words; the second stays small where the first splits into all ways
at once (twelve conjoined responses have half a million first nodes and one first state).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from possibly.logic.ltl.progression import Progression, State
from possibly.logic.ltl.tableau import Tableau
from possibly.logic.syntax import Node


class Automaton(Protocol):
    """An automaton on finite words, built where a word leads."""

    @property
    def atoms(self) -> Sequence[Node]:
        """The state predicates whose truth is asked for: bit i of a valuation is that of the i-th."""
        ...

    def start(self, valuation: int) -> Sequence[int]:
        """The states after reading a first letter."""
        ...

    def advance(self, state: int, valuation: int) -> Sequence[int]:
        """The states after reading one more letter."""
        ...

    def is_accepting(self, state: int) -> bool:
        """Whether the word may end here."""
        ...


class TableauAutomaton:
    """The tableau; a state is a node."""

    def __init__(self, formula: Node) -> None:
        self.tableau = Tableau(formula)
        self._steps: dict[tuple[int, int], tuple[int, ...]] = {}
        self._accepting: dict[int, bool] = {}

    @property
    def atoms(self) -> Sequence[Node]:
        return self.tableau.atoms

    def start(self, valuation: int) -> Sequence[int]:
        return self._compatible(self.tableau.initial, valuation)

    def advance(self, state: int, valuation: int) -> Sequence[int]:
        key = state, valuation
        if key not in self._steps:
            self._steps[key] = self._compatible(self.tableau.successors(state), valuation)
        return self._steps[key]

    def is_accepting(self, state: int) -> bool:
        if state not in self._accepting:
            self._accepting[state] = self.tableau.is_accepting(state)
        return self._accepting[state]

    def _compatible(self, nodes: Sequence[int], valuation: int) -> tuple[int, ...]:
        return tuple([node for node in nodes if self.tableau.is_compatible(node, valuation)])


class ReducedAutomaton:
    """The progression, its states numbered as they are met."""

    def __init__(self, formula: Node) -> None:
        self.progression = Progression(formula)
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._steps: dict[tuple[int, int], tuple[int, ...]] = {}

    @property
    def atoms(self) -> Sequence[Node]:
        return self.progression.atoms

    def start(self, valuation: int) -> Sequence[int]:
        return self._numbered(self.progression.advance(self.progression.initial, valuation))

    def advance(self, state: int, valuation: int) -> Sequence[int]:
        key = state, valuation
        if key not in self._steps:
            self._steps[key] = self._numbered(self.progression.advance(self.states[state], valuation))
        return self._steps[key]

    def is_accepting(self, state: int) -> bool:
        return self.states[state].may_end

    def _numbered(self, states: Sequence[State]) -> tuple[int, ...]:
        for state in states:
            if state not in self._numbers:
                self._numbers[state] = len(self.states)
                self.states.append(state)
        return tuple([self._numbers[state] for state in states])


def accepts(automaton: Automaton, word: Sequence[int]) -> bool:
    """Whether the automaton accepts a word, which must not be empty."""
    states = set(automaton.start(word[0]))
    for valuation in word[1:]:
        states = {after for state in states for after in automaton.advance(state, valuation)}
    return any(automaton.is_accepting(state) for state in states)
