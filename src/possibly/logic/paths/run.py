"""One run of a machine: events are fed one at a time, with their predecessors.

Here belongs what the machine leaves to its caller: which events and values the slots stand for. Memory is
that of the slots, which for a safe expression are bounded, however long the run.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from types import ModuleType

from possibly.compiled import built
from possibly.logic.paths.machine import ONLY_NEW, SOME, Machine, Move, State

Fed = tuple[int, tuple[int, ...], tuple[int, ...]]
"""An event, the symbols that it may play, and its predecessors."""
MOST_SLOTS = 62
"""What the compiled twin can hold."""


def kernels() -> ModuleType | None:
    """The compiled module, if it was built."""
    return built("possibly.logic.paths._feed")


class Run:
    """The run so far. A run that failed stays failed."""

    __slots__ = ("machine", "slots", "state", "values")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.state: State | None = machine.initial
        self.slots: list[int] = []
        """The events that the slots of the state stand for."""
        self.values: list[Hashable] = []

    @property
    def is_complete(self) -> bool:
        return self.state is not None and self.state.ends

    def feed(
        self,
        event: int,
        symbols: tuple[int, ...],
        predecessors: Iterable[int] = (),
        values: tuple[Hashable, ...] = (),
    ) -> bool:
        """Whether the event fits; `predecessors` are the latest events before it."""
        if self.state is None:
            return False
        slots = self.slots
        try:
            at = sorted([slots.index(other) for other in predecessors])
        except ValueError:
            # An event that nobody remembers precedes nothing any more.
            self.state = None
            return False
        move = self.machine.move(self.state, symbols, tuple(at), self.numbers(values))
        self.follow(move, event)
        return self.state is not None

    def feed_many(self, events: Iterable[Fed]) -> int:
        """How many of these fit, one after the other, up to the first misfit.

        The same as `feed` without values, with everything at hand: millions of events a second.
        """
        if self.state is None:
            return 0
        stream = iter(events)
        fitted = 0
        kernel = kernels()
        if kernel is not None and len(self.slots) <= MOST_SLOTS:
            move, slots = self.machine.move, tuple(self.slots)
            found: tuple[int, State | None, tuple[int, ...], Fed | None]
            found = kernel.feed(stream, self.state, slots, move)
            fitted, self.state, slots, left = found
            self.slots = list(slots)
            if left is None:
                return fitted
            stream = chain((left,), stream)
        return fitted + self._plain_feed(stream)

    def _plain_feed(self, events: Iterable[Fed]) -> int:
        """The plain twin of `_feed.c`."""
        state, slots, fitted = self.state, tuple(self.slots), 0
        compute = self.machine.move
        for event, symbols, predecessors in events:
            if state is None:
                break
            if predecessors == slots:
                at = state.all_slots
            elif slots[: len(predecessors)] == predecessors:
                at = state.all_slots[: len(predecessors)]
            else:
                try:
                    at = tuple(sorted([slots.index(other) for other in predecessors]))
                except ValueError:
                    state = None
                    break
            move = state.moves.get((symbols, at, ())) or compute(state, symbols, at)
            state, kept, _, _, keeps = move
            if keeps == ONLY_NEW:
                slots = (event,)
            else:
                slots = (*slots, event)
                if keeps == SOME:
                    slots = tuple([slots[old] for old in kept])
            fitted += state is not None
        self.state, self.slots = state, list(slots)
        return fitted

    def follow(self, move: Move, event: int) -> None:
        """Takes a move of the machine on this event."""
        self.state = move.state
        slots = (*self.slots, event)
        self.slots = [slots[old] for old in move.kept]
        if self.values:
            self.values = [self.values[old] for old in move.kept_values]

    def numbers(self, values: tuple[Hashable, ...]) -> tuple[int, ...]:
        """The values as numbers; new ones are added."""
        for value in values:
            if value not in self.values:
                self.values.append(value)
        return tuple([self.values.index(value) for value in values])

    def copy(self) -> Run:
        other = Run(self.machine)
        other.state, other.slots, other.values = self.state, self.slots, list(self.values)
        return other
