"""The order that `sync` rules establish.

Here belongs what the stabiliser of Modeling Concurrency in Parallel Debugging, sections 3.1 and 4.2, knows
about synchronisation primitives: the pattern of two events that carry the same value is one
synchronisation, from the first to the second. Each second event takes the earliest first event that no
other one has taken, as tokens of a semaphore are taken; one with no such event has taken an initial token,
and nothing precedes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from possibly.detection.paths.meaning import Meaning
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.rules import Rule
from possibly.logic.paths.syntax import Atom, Control, Variable
from possibly.order.computation import Computation
from possibly.trace.model import Trace

Event = TypeVar("Event")


def synchronised(trace: Trace, order: str, rules: Iterable[Rule]) -> Computation:
    """The computation with the order of the rules added."""
    plain = Computation(trace, order)
    pairs = [pair for rule in rules for pair in pairs_of(plain, rule)]
    return Computation(trace, order, pairs) if pairs else plain


def pairs_of(computation: Computation, rule: Rule) -> Iterator[tuple[int, int]]:
    """The synchronisations of one rule: first and second event."""
    expression = compiled(rule.expression)
    meaning = Meaning(expression, computation)
    tokens: Tokens[int] = Tokens(rule, len(expression.symbols))
    for step, symbols in meaning.played():
        if symbols:
            for earlier in tokens.taken(symbols, meaning.values(step), step):
                if earlier < step:
                    yield earlier, step


class Tokens(Generic[Event]):
    """The first events of a rule that no second event has taken yet."""

    def __init__(self, rule: Rule, symbols: int) -> None:
        first, second = rule.expression.atoms
        self._two = symbols - 1
        self._keys = [_common(first, second), _common(second, first)]
        self._waiting: dict[tuple[Hashable, ...], deque[Event]] = {}

    def taken(self, symbols: tuple[int, ...], values: tuple[Hashable, ...], event: Event) -> Iterator[Event]:
        """The event plays these symbols of the rule: the earlier one that it synchronises with, if any."""
        if self._two in symbols:
            waiting = self._waiting.get(_key(values, self._keys[1]))
            if waiting:
                yield waiting.popleft()
        if 0 in symbols:
            self._waiting.setdefault(_key(values, self._keys[0]), deque()).append(event)


def _common(atom: Atom, other: Atom) -> tuple[int, ...]:
    """Where the arguments of an atom hold the variables of both, in the order of their names."""
    names = sorted(_variables(atom).keys() & _variables(other).keys())
    return tuple([_variables(atom)[name] for name in names])


def _variables(atom: Atom) -> dict[str, int]:
    given = atom.event.arguments if isinstance(atom.event, Control) else None
    return {argument.name: at for at, argument in enumerate(given or ()) if isinstance(argument, Variable)}


def _key(values: tuple[Hashable, ...], places: tuple[int, ...]) -> tuple[Hashable, ...]:
    return tuple([values[place] if place < len(values) else None for place in places])
