"""The lattice of a recorded run as a system: states are packed cuts, transitions are events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from possibly.control.temporal.system import Move, Reading, State
from possibly.logic.syntax import Leaf
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.lattice import Move as Step
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary


class EventMove(NamedTuple):
    """An event, or a joint event, of the trace."""

    name: str
    processes: tuple[str, ...]
    text: str


class LatticeSystem:
    """Steps through the cuts of one computation."""

    def __init__(self, computation: Computation) -> None:
        self.lattice = Lattice(computation)
        self.name = computation.trace.file or "trace"
        self.vocabulary = vocabulary(computation.trace)
        self._readings = Readings(computation)
        self._moves: dict[int, EventMove] = {}

    def initial(self) -> Sequence[State]:
        return [self.lattice.initial]

    def successors(self, state: State) -> Iterator[tuple[Move, State]]:
        for step in self.lattice.moves(state):
            yield self._moves.get(step.step) or self._described(step), state + step.delta

    def reading(self, leaf: Leaf) -> Reading:
        found, unpack = self._readings(leaf), self.lattice.unpack
        mask = 0
        for process in found.support:
            mask |= self.lattice.masks[process] << self.lattice.shifts[process]
        return Reading(lambda state: found.value(unpack(state)), mask)

    def places(self, state: State) -> Mapping[str, str]:
        trace, computation = self.lattice.computation.trace, self.lattice.computation
        found = {}
        for number, (process, count) in enumerate(
            zip(trace.processes, self.lattice.unpack(state), strict=True)
        ):
            of = computation.lengths[number]
            last = f", last {trace.name(computation.at(number, count))}" if count else ""
            found[process.name] = f"{count} of {of} events{last}"
        return found

    def _described(self, step: Step) -> EventMove:
        computation = self.lattice.computation
        trace = computation.trace
        facts = [trace.event(event) for event in computation.events(step.step)]
        words = [
            " ".join(filter(None, (fact.kind, fact.fn, fact.msg, fact.label, fact.at))) for fact in facts
        ]
        move = EventMove(
            name="+".join(fact.name for fact in facts),
            processes=tuple([trace.processes[number].name for number in step.processes]),
            text="; ".join(words),
        )
        self._moves[step.step] = move
        return move
