"""The least deterministic automaton of a formula, for monitoring: one look-up a state.

Here belongs making it: sets of states of the progression, one table row each, by every valuation of the
atoms; then states that no word tells apart are merged (Moore's refinement). It needs all valuations, 2 to
the number of atoms, so it is for formulas with few: `MOST_ATOMS`. A formula with more is read by
`automaton.ReducedAutomaton`, which makes only what a word leads to.
"""

from __future__ import annotations

from collections.abc import Sequence

from possibly.logic.ltl.progression import Progression, State
from possibly.logic.syntax import Node
from possibly.records import dataclass

MOST_ATOMS = 10
MOST_STATES = 20_000


class TooManyStatesError(Exception):
    """No deterministic automaton within the limits of this file."""


@dataclass(frozen=True, slots=True)
class MinimalAutomaton:
    """A complete deterministic automaton; state 0 is before the first letter."""

    atoms: tuple[Node, ...]
    table: tuple[tuple[int, ...], ...]
    """The next state, by state and valuation."""
    accepting: tuple[bool, ...]
    """Whether the word may end here; at state 0, before any letter, it may not."""

    def accepts(self, word: Sequence[int]) -> bool:
        state = 0
        for valuation in word:
            state = self.table[state][valuation]
        return self.accepting[state]

    def __len__(self) -> int:
        return len(self.table)


def minimal_automaton(formula: Node) -> MinimalAutomaton:
    """The automaton with the fewest states that accepts the words on which the formula holds."""
    progression = Progression(formula)
    if len(progression.atoms) > MOST_ATOMS:
        raise TooManyStatesError(f"{len(progression.atoms)} atoms; at most {MOST_ATOMS}")
    table, accepting = _determined(progression)
    return _merged(tuple(progression.atoms), table, accepting)


def _determined(progression: Progression) -> tuple[list[list[int]], list[bool]]:
    """The subset construction; the initial set is a state of its own, since no empty word is read."""
    letters = range(1 << len(progression.atoms))
    start = frozenset([progression.initial])
    numbers: dict[frozenset[State], int] = {}
    sets = [start]
    table: list[list[int]] = []
    for states in sets:
        row = []
        for valuation in letters:
            after = frozenset([s for state in states for s in progression.advance(state, valuation)])
            if after not in numbers:
                numbers[after] = len(sets)
                sets.append(after)
                if len(sets) > MOST_STATES:
                    raise TooManyStatesError(f"more than {MOST_STATES:,} sets of states")
            row.append(numbers[after])
        table.append(row)
    return table, [False, *[any(state.may_end for state in states) for states in sets[1:]]]


def _merged(atoms: tuple[Node, ...], table: list[list[int]], accepting: list[bool]) -> MinimalAutomaton:
    """Moore: states are split as long as some letter leads two of one class into different ones."""
    classes = [int(accept) for accept in accepting]
    count = len(set(classes))
    while True:
        signatures: dict[tuple[int, ...], int] = {}
        refined = []
        for state, row in enumerate(table):
            signature = (classes[state], *[classes[after] for after in row])
            refined.append(signatures.setdefault(signature, len(signatures)))
        if len(signatures) == count:
            break
        classes, count = refined, len(signatures)
    # Classes are numbered by their first state, so the class of state 0 is 0.
    first: dict[int, int] = {}
    for state, found in enumerate(refined):
        first.setdefault(found, state)
    rows = [tuple([refined[after] for after in table[state]]) for state in first.values()]
    return MinimalAutomaton(atoms, tuple(rows), tuple([accepting[state] for state in first.values()]))
