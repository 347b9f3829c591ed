"""The events of an expression in a trace, each with its predecessors among them.

Here belongs the restriction of the order to the events that play some symbol (Modeling Concurrency in
Parallel Debugging, section 4.1: an event arrives with the latest events before it). For every process, the
latest such events in its past are kept (its *frontier*) and, for each process, the last one known (its
*clock*): an event of a frontier is covered by another past exactly if that past knows it and has it not in
its own frontier. So nothing of the size of the trace is stored but what messages still carry.

Runs without joint events are followed by `_projection.c`, which is built when a compiler is there, or by its
twin `plain_predecessors`; the two are tested against each other. Joint events go through `Pasts`.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from possibly.compiled import built
from possibly.detection.paths.meaning import Meaning
from possibly.order.computation import Computation
from possibly.trace.model import Ints

Frontier = tuple[int, ...]
Clock = tuple[int, ...]
"""For each process its last projected step in some past, -1 for none."""
Past = tuple[Frontier, Clock]
Symbols = tuple[int, ...]


class Projected(NamedTuple):
    """An event of the expression."""

    step: int
    symbols: Symbols
    predecessors: Frontier
    """The latest events of the expression before it."""
    values: tuple[Hashable, ...] = ()


def projection(meaning: Meaning) -> Iterator[Projected]:
    """The events of the expression in the recorded order."""
    for step, symbols, before in fed(meaning):
        yield Projected(step, symbols, before, meaning.values(step) if meaning.has_arguments else ())


def fed(meaning: Meaning) -> Iterator[tuple[int, Symbols, Frontier]]:
    """The same as plain triples without values: what `Run.feed_many` takes."""
    computation = meaning.computation
    if computation.joint:
        return _with_joint_events(meaning)
    symbols = meaning.all_symbols
    kernel = kernels()
    if kernel is None:
        return plain_predecessors(computation, symbols)
    return compiled_predecessors(kernel, computation, symbols)


def kernels() -> ModuleType | None:
    """The compiled module, if it was built."""
    return built("possibly.detection.paths._projection")


def compiled_predecessors(
    kernel: ModuleType, computation: Computation, symbols: Sequence[Symbols]
) -> Iterator[tuple[int, Symbols, Frontier]]:
    """Event, symbols and predecessors of every event that has symbols."""
    start, edges = computation.edge_columns
    columns = [flat(column) for column in (computation.trace.process, start, edges)]
    played = bytes(map(bool, symbols))
    ends, found = kernel.predecessors(*columns, played, len(computation.lengths))
    # A tuple each only while it is looked at: together they are many times the columns.
    return _from_columns(symbols, array("i", ends), array("i", found))


def _from_columns(
    symbols: Sequence[Symbols], ends: array[int], latest: array[int]
) -> Iterator[tuple[int, Symbols, Frontier]]:
    first = 0
    for (event, own), end in zip(((e, own) for e, own in enumerate(symbols) if own), ends, strict=True):
        yield event, own, tuple(latest[first:end])
        first = end


def flat(column: Ints) -> array[int]:
    return column if isinstance(column, array) and column.typecode == "i" else array("i", column)


def plain_predecessors(
    computation: Computation, symbols: Sequence[Symbols]
) -> Iterator[tuple[int, Symbols, Frontier]]:
    """The plain twin. Clocks change in place; only an event that another process waits for copies its own."""
    process = computation.trace.process
    awaited = _successors(computation)
    count = len(computation.lengths)
    frontier: list[Frontier] = [()] * count
    clock = [[-1] * count for _ in range(count)]
    sent: dict[int, Past] = {}
    predecessors = computation.predecessors
    for event, own in enumerate(symbols):
        at = process[event]
        for other in predecessors(event):
            latest, known = sent[other]
            awaited[other] -= 1
            if not awaited[other]:
                del sent[other]
            frontier[at], clock[at] = _merged(frontier[at], clock[at], latest, known, process)
        if own:
            yield event, own, frontier[at]
            frontier[at] = (event,)
            clock[at][at] = event
        if event in awaited:
            sent[event] = (frontier[at], tuple(clock[at]))


def _merged(
    first: Frontier, known: Sequence[int], second: Frontier, also: Sequence[int], process: Ints
) -> tuple[Frontier, list[int]]:
    if first == second:
        return first, list(map(max, known, also))
    kept = [step for step in first if step in second or also[process[step]] < step]
    kept += [step for step in second if step not in first and known[process[step]] < step]
    return tuple(sorted(kept)), list(map(max, known, also))


def _successors(computation: Computation) -> dict[int, int]:
    """For each event that has any: how many events of other processes have it as a direct predecessor."""
    found: dict[int, int] = {}
    predecessors, joint = computation.predecessors, computation.joint
    for event in range(len(computation.trace)):
        for other in predecessors(event):
            if event not in joint or other not in joint[event]:
                found[other] = found.get(other, 0) + 1
    return found


# ---- joint events -------------------------------------------------------------------------------


def _with_joint_events(meaning: Meaning) -> Iterator[tuple[int, Symbols, Frontier]]:
    pasts = Pasts(meaning.computation)
    for step, symbols in meaning.played():
        past = pasts.before(step)
        if symbols:
            yield step, symbols, past[0]
            past = pasts.with_step(step, past)
        pasts.after(step, past)


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
        for line in self.computation.events(step):
            self.now[self.process[line]] = past
            if line in self._awaited:
                self._sent[line] = past

    def with_step(self, step: int, past: Past) -> Past:
        """The past after a step that belongs to the projection."""
        at = self.process[step]
        clock = past[1]
        return (step,), (*clock[:at], step, *clock[at + 1 :])

    def _joined(self, one: Past, two: Past) -> Past:
        if one is two or one == two:
            return one
        frontier, clock = _merged(*one, *two, self.process)
        return frontier, tuple(clock)
