"""The events of an expression in a trace, each with its predecessors among them.

Here belongs the restriction of the order to the events that play some symbol. For every process, the
latest such events in its past are kept (its *frontier*) and, for each process, the last one known (its
*clock*): an event of a frontier is covered by another past exactly if that past knows it and has it not in
its own frontier. So nothing of the size of the trace is stored but what messages still carry.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from possibly.detection.paths.meaning import Meaning
from possibly.order.computation import Computation
from possibly.trace.model import Ints

Frontier = tuple[int, ...]
Clock = tuple[int, ...]
"""For each process its last projected step in some past, -1 for none."""
Past = tuple[Frontier, Clock]


class Projected(NamedTuple):
    """An event of the expression."""

    step: int
    symbols: tuple[int, ...]
    predecessors: Frontier
    """The latest events of the expression before it."""
    values: tuple[Hashable, ...]
    clock: Clock
    """What lies before it, itself included."""


class Pasts:
    """Follows the steps of a computation and knows the past of every process."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.process = computation.trace.process
        nothing: Past = ((), (-1,) * len(computation.lengths))
        self.now: list[Past] = [nothing] * len(computation.lengths)
        self._awaited = _successors(computation)
        """For each event how many events of other processes still follow it directly."""
        self._sent: dict[int, Past] = {}

    def before(self, step: int) -> Past:
        """The past of a step, itself not included."""
        if step not in self.computation.joint:
            past = self.now[self.process[step]]
            for other in self.computation.predecessors(step):
                past = self._joined(past, self._taken(other))
            return past
        lines = self.computation.events(step)
        past = self.now[self.process[lines[0]]]
        for line in lines:
            past = self._joined(past, self.now[self.process[line]])
            for other in self.computation.predecessors(line):
                if other not in lines:
                    past = self._joined(past, self._taken(other))
        return past

    def _taken(self, event: int) -> Past:
        """The past of an event for one of its successors; after the last of them it is forgotten."""
        past = self._sent[event]
        self._awaited[event] -= 1
        if not self._awaited[event]:
            del self._sent[event]
        return past

    def after(self, step: int, past: Past) -> None:
        """The step is executed, and this is its past with itself."""
        if step not in self.computation.joint:
            self.now[self.process[step]] = past
            if step in self._awaited:
                self._sent[step] = past
            return
        for line in self.computation.events(step):
            self.now[self.process[line]] = past
            if line in self._awaited:
                self._sent[line] = past

    def carried(self) -> Iterable[Past]:
        """The pasts of events that have successors on other processes."""
        return self._sent.values()

    def with_step(self, step: int, past: Past) -> Past:
        """The past after a step that belongs to the projection."""
        at = self.process[step]
        clock = past[1]
        return (step,), (*clock[:at], step, *clock[at + 1 :])

    def _joined(self, one: Past, two: Past) -> Past:
        if one is two or one == two:
            return one
        (first, known), (second, also) = one, two
        process = self.process
        kept = [step for step in first if step in second or also[process[step]] < step]
        kept += [step for step in second if step not in first and known[process[step]] < step]
        return tuple(sorted(kept)), tuple(map(max, known, also))


def _successors(computation: Computation) -> dict[int, int]:
    """For each event that has any: how many events of other processes have it as a direct predecessor."""
    found: dict[int, int] = {}
    predecessors, joint = computation.predecessors, computation.joint
    for event in range(len(computation.trace)):
        for other in predecessors(event):
            if event not in joint or other not in joint[event]:
                found[other] = found.get(other, 0) + 1
    return found


def projection(meaning: Meaning, pasts: Pasts | None = None) -> Iterator[Projected]:
    """The events of the expression in the recorded order; `pasts` may be watched meanwhile."""
    pasts = pasts or Pasts(meaning.computation)
    for step, symbols in meaning.played():
        past = pasts.before(step)
        if not symbols:
            pasts.after(step, past)
            continue
        whole = pasts.with_step(step, past)
        pasts.after(step, whole)
        values = meaning.values(step) if meaning.has_arguments else ()
        yield Projected(step, symbols, past[0], values, whole[1])


def simple_projection(meaning: Meaning) -> Iterator[tuple[int, tuple[int, ...], Frontier]]:
    """Event, symbols and predecessors, for a simple meaning: the same as `projection`, several times as fast.

    Clocks are lists that change in place; only an event that another process waits for copies its own.
    """
    computation = meaning.computation
    process = computation.trace.process
    awaited = _successors(computation)
    count = len(computation.lengths)
    frontier: list[Frontier] = [()] * count
    clock = [[-1] * count for _ in range(count)]
    sent: dict[int, Past] = {}
    predecessors = computation.predecessors
    for event, symbols in enumerate(meaning.simple_symbols()):
        at = process[event]
        for other in predecessors(event):
            latest, known = sent[other]
            awaited[other] -= 1
            if not awaited[other]:
                del sent[other]
            frontier[at], clock[at] = _merged(frontier[at], clock[at], latest, known, process)
        if symbols:
            yield event, symbols, frontier[at]
            frontier[at] = (event,)
            clock[at][at] = event
        if event in awaited:
            sent[event] = (frontier[at], tuple(clock[at]))


def _merged(
    first: Frontier, known: list[int], second: Frontier, also: Clock, process: Ints
) -> tuple[Frontier, list[int]]:
    if first == second:
        return first, [max(one, two) for one, two in zip(known, also, strict=True)]
    kept = [step for step in first if step in second or also[process[step]] < step]
    kept += [step for step in second if step not in first and known[process[step]] < step]
    return tuple(sorted(kept)), list(map(max, known, also))
