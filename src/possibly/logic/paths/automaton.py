"""The predecessor automaton of an expression in full, for pictures and figures.

Here belongs the 5-tuple of Modeling Concurrency in Parallel Debugging, section 4.1: states, events,
transitions that carry an event and its predecessors, an initial state and final ones. It is found by
exploring the machine with the composition procedure of section 4.4 (a set of states to visit, a set of
visited ones), so it is deterministic, stabilised (figure 4-4: a transition is only where its predecessors
have occurred) and unambiguous. States are numbered in the order in which they are found. A predecessor is
called by its event; where two events of one name are remembered at once, the number of its atom is added,
as the paper's renaming does with states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from possibly.logic.paths.classes import subclass
from possibly.logic.paths.machine import Machine, State
from possibly.logic.paths.nets.net import Net, net

MOST_STATES = 2_000
MOST_WORK = 30_000
"""Readings of all states together, times the events that these remember: where each state has more of them
than the one before, there is no end of states."""
MOST_MOVED = 3_000
"""The same for all moves together where copies are made: of so many that are alike each choice is a move."""
UNBOUNDED = ("general", "extended")
"""Classes whose expressions make copies."""
SHOWN = 40
"""Transitions that a note shows."""


@dataclass(frozen=True, slots=True)
class Transition:
    source: int
    event: str
    predecessors: tuple[str, ...]
    target: int

    @property
    def label(self) -> str:
        """As the paper writes it: `d c b`, `a .` for an event without predecessors."""
        return " ".join([self.event, *(self.predecessors or (".",))])


@dataclass(frozen=True, slots=True)
class Automaton:
    """`states` are 0, 1, ...; 0 is initial."""

    states: int
    transitions: tuple[Transition, ...]
    final: frozenset[int]

    def step(self, state: int, event: str, predecessors: Iterable[str]) -> int | None:
        """The next state on an event with these predecessors."""
        wanted = set(predecessors)
        for each in self.transitions:
            if each.source == state and each.event == event and set(each.predecessors) == wanted:
                return each.target
        return None


Names = tuple[tuple[int, str], ...]
"""For each slot the atom and the name of its event."""


def automaton(machine: Machine, most: int = MOST_STATES) -> Automaton | None:
    """The whole automaton, None if it has more states than that (or infinitely many)."""
    if not machine.tells:
        look = machine.look
        machine = Machine(machine.expression, tells=True)  # each reading by itself
        machine.look = look
    first: tuple[State, Names] = (machine.initial, ())
    numbers = {_key(machine, *first): 0}
    final = {0} if machine.initial.ends else set()
    pending = deque([first])
    transitions: dict[Transition, None] = {}
    symbols = machine.expression.symbols
    looked_into = moved = 0
    copies = subclass(machine.expression.expression).name in UNBOUNDED
    while pending:
        state, names = pending.popleft()
        looked_into += len(state.readings) * (1 + len(state.past))
        if looked_into > MOST_WORK:
            return None
        source = numbers[_key(machine, state, names)]
        for symbol, before in machine.choices(state):
            moved += len(state.readings) * (1 + len(state.past))
            if moved > MOST_MOVED and copies:
                return None
            move = machine.move(state, (symbol,), before, _values(machine, symbol))
            if move.state is None:
                continue
            known = (*names, (move.origins[0][1][0], symbols[symbol].text))
            there = (move.state, tuple([known[old] for old in move.kept]))
            key = _key(machine, *there)
            if key not in numbers:
                if len(numbers) == most:
                    return None
                numbers[key] = len(numbers)
                pending.append(there)
                if move.state.ends:
                    final.add(numbers[key])
            called = tuple(sorted([_called(names, slot) for slot in before]))
            transitions[Transition(source, symbols[symbol].text, called, numbers[key])] = None
    return Automaton(len(numbers), tuple(transitions), frozenset(final))


def _key(machine: Machine, state: State, names: Names) -> Hashable:
    """A state with its slots numbered by their atoms: it does not matter which event came first."""
    order = sorted(range(len(names)), key=lambda slot: names[slot])
    place = {slot: number for number, slot in enumerate(order)}
    readings = tuple(sorted([machine.renamed(reading, place) for reading in state.readings]))
    past = tuple(
        [tuple(sorted([place[one] for one in order if state.past[slot] >> one & 1])) for slot in order]
    )
    return readings, past, tuple([names[slot] for slot in order])


def _values(machine: Machine, symbol: int) -> tuple[int, ...]:
    part = next(part for part in machine.parts if part.symbol == symbol)
    return (0,) * len(part.variables)


def _called(names: tuple[tuple[int, str], ...], slot: int) -> str:
    atom, name = names[slot]
    return f"{name}.{atom}" if [other for _, other in names].count(name) > 1 else name


def picture_notes(machine: Machine, kind: str) -> tuple[str, ...]:
    """The semantic model as lines of text: the automaton, or for the unbounded classes the net."""
    if kind in UNBOUNDED:
        return _net_notes(net(machine.expression))
    found = automaton(machine)
    if found is None:
        return ("its automaton has too many states to list them",)
    head = f"automaton: {found.states} states, final {', '.join(map(str, sorted(found.final))) or 'none'}"
    lines = [f"{each.source} --({each.label})--> {each.target}" for each in found.transitions]
    return (head, *_shown(lines))


def _net_notes(found: Net) -> tuple[str, ...]:
    start, end = found.initial.index(1), found.final.index(1)
    head = f"net: {found.places} places, from p{start} to p{end}"
    lines = [
        f"{_places(each.inputs)} --({each.label or 'silent'}{_tests(each.empty)})--> {_places(each.outputs)}"
        for each in found.transitions
    ]
    return (head, *_shown(lines))


def _places(places: tuple[int, ...]) -> str:
    return " ".join(f"p{place}" for place in places) or "nothing"


def _tests(places: tuple[int, ...]) -> str:
    return f", if {_places(places)} is empty" if places else ""


def _shown(lines: list[str]) -> list[str]:
    left = len(lines) - SHOWN
    return lines[:SHOWN] + ([f"... and {left} more transitions"] if left > 0 else [])
