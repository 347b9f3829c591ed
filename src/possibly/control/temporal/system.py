"""What can be stepped through: one small port, and what follows from it.

A `System` has initial states, successors with a name for each transition, and facts that predicates read at
a state. States are anything hashable; equal states are the same. Nothing else is asked of it, so a model
file, the lattice of a recorded run and a live program that is executed again are stepped through alike.
Somebody who adds a system implements `System` and registers how to open it (`session.debug`).

Every system has one more fact: `stuck`, which holds in a state without successors (deadlock or termination).
A step is a finite sequence that may end anywhere, so `N false` says only that the sequence ends.

Laws. `successors` of equal states are equal, in the same order. The names of the transitions of one state
differ, so that a state can be regenerated from an initial one by names (`followed`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from possibly.errors import PossiblyError
from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import CompiledValue, Predicate, compile_predicate, compile_value
from possibly.logic.syntax import Leaf, Node, Shared
from possibly.records import replace

State = Any
"""Hashable; each system has its own."""


class Move(Protocol):
    """A transition."""

    @property
    def name(self) -> str: ...

    @property
    def processes(self) -> tuple[str, ...]:
        """Those that take part."""
        ...

    @property
    def text(self) -> str:
        """What it does, as the source has it."""
        ...


class ChangedError(PossiblyError):
    """What counts as a step turns out to be another than it was taken for: no state that was known is one.

    The stack is empty by then. A search that begins at the start can be made again at once.
    """


class Reading(NamedTuple):
    """A fact of a state."""

    value: Callable[[State], Any]
    mask: int | None = None
    """Of a system whose states are integers: the bits that the fact depends on."""


class System(Protocol):
    """A system to step through."""

    name: str
    vocabulary: Vocabulary

    def initial(self) -> Sequence[State]: ...

    def successors(self, state: State) -> Iterable[tuple[Move, State]]: ...

    def reading(self, leaf: Leaf) -> Reading:
        """What a predicate reads; raises PossiblyError if this system has no such fact."""
        ...

    def places(self, state: State) -> Mapping[str, str]:
        """Where each process is, in words."""
        ...


class NoSuchTransitionError(PossiblyError):
    """A name that no transition of a state has."""


def followed(system: System, state: State, names: Iterable[str]) -> tuple[list[Move], list[State]]:
    """The transitions of these names one after the other, and the states from the first to the last."""
    moves: list[Move] = []
    states = [state]
    for name in names:
        found = next(
            ((move, after) for move, after in system.successors(states[-1]) if move.name == name), None
        )
        if found is None:
            raise NoSuchTransitionError(f"no transition {name} is possible after {len(moves)} others")
        moves.append(found[0])
        states.append(found[1])
    return moves, states


KEPT = 1_000_000
"""Valuations that are remembered."""


class Valuations:
    """The truth of some predicates at a state as one number, bit i that of the i-th.

    Where the system says which bits of a state its facts depend on, a valuation is kept by those bits; a
    system may have a method `narrowed` that makes a predicate read less.
    """

    def __init__(self, system: System, atoms: Sequence[Node]) -> None:
        narrowed: Callable[[Node], Node] = getattr(system, "narrowed", lambda node: node)
        self.predicates = [compile_predicate(narrowed(atom)) for atom in atoms]
        self._readers = [_readers(system, predicate) for predicate in self.predicates]
        masks = [reading.mask for readers in self._readers for reading in readers]
        self.mask = None if None in masks else _union(masks)
        """The bits of a state that the predicates depend on; None: not known."""
        self._known: dict[Hashable, int] = {}

    def __call__(self, state: State) -> int:
        key: Hashable = state if self.mask is None else state & self.mask
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            known = self._known[key] = self._computed(state)
        return known

    def _computed(self, state: State) -> int:
        found = 0
        for bit, (predicate, readers) in enumerate(zip(self.predicates, self._readers, strict=True)):
            if predicate.evaluate([reading.value(state) for reading in readers]):
                found |= 1 << bit
        return found

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be evaluated somewhere, and so counted as false there."""
        return tuple(dict.fromkeys([fault for predicate in self.predicates for fault in predicate.faults]))


def value_at(system: System, node: Node, state: State) -> tuple[Any, tuple[str, ...]]:
    """The value of an expression at a state, and what could not be evaluated."""
    compiled = compile_value(node)
    value = compiled.evaluate([reading.value(state) for reading in _readers(system, compiled)])
    return value, tuple(compiled.faults)


STUCK = "stuck"


def words_of(system: System) -> Vocabulary:
    """What formulas about the system may speak of."""
    return replace(system.vocabulary, shared=system.vocabulary.shared | {STUCK})


def _readers(system: System, compiled: Predicate | CompiledValue) -> list[Reading]:
    return [_reading(system, leaf) for leaf in compiled.leaves]


def _reading(system: System, leaf: Leaf) -> Reading:
    if leaf == Shared(STUCK) and STUCK not in system.vocabulary.shared:
        return Reading(lambda state: not any(True for _ in system.successors(state)))
    return system.reading(leaf)


def _union(masks: Iterable[int | None]) -> int:
    found = 0
    for mask in masks:
        found |= mask or 0
    return found
