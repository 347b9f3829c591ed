"""The two events whose missing order makes a path possible.

Here belongs the search for such a pair. The path differs from the observed run in that some event f came
before an event e that was observed before it: had e to come before f, the path would be closed. Of all such
pairs those are tried first that touch what the property speaks of; a pair is best if adding its order to
the run makes the property true.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from possibly.logic.predicates.functions import leaves
from possibly.logic.syntax import At, Done, Local, Node, Shared, Stack, Transit
from possibly.order.computation import Computation
from possibly.order.lattice import Move
from possibly.records import dataclass

CANDIDATES = 8
"""How many pairs are tried."""

REACH = 1000
"""How many events of a process are looked through on either side of a cut."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Steps: `first` was observed before `second`, but nothing makes it so."""

    first: int
    second: int
    suffices: bool | None = None


Test = Callable[[Pair], bool | None]
"""Whether the property is true once the order of the pair is added; None: not known."""


def missing_order(
    computation: Computation, path: Sequence[Move], formula: Node, whole: bool, test: Test
) -> Pair | None:
    """The best pair for this path; None if the path does not leave the observed order."""
    place = {step: number for number, step in enumerate(computation.steps)}
    relevant = _Relevance(computation, formula)
    found = _in_observation(path, place) if whole else _at_cut(computation, path, place, relevant)
    ranked = sorted(dict.fromkeys(found), key=lambda pair: -relevant.of_pair(*pair))
    pairs = [Pair(first, second) for first, second in islice(ranked, CANDIDATES)]
    tried = [Pair(pair.first, pair.second, test(pair)) for pair in pairs]
    best = next((pair for pair in tried if pair.suffices), None)
    if best is None:
        return tried[0] if tried else None
    return best if whole else _earliest(computation, path, best, test)


def _earliest(computation: Computation, path: Sequence[Move], pair: Pair, test: Test) -> Pair:
    """The earliest event of the first one's process whose order suffices.

    An order from a later event of a process implies those from its earlier ones, so this is a binary search.
    """
    process, position = computation.place(pair.first)
    inside = sum(process in move.processes for move in path)
    low, high = inside + 1, position
    while low < high:
        middle = (low + high) // 2
        step = computation.step(computation.at(process, middle))
        if test(Pair(step, pair.second)):
            high = middle
        else:
            low = middle + 1
    return Pair(computation.step(computation.at(process, high)), pair.second, True)


class _Relevance:
    """Whether a step touches what the formula reads."""

    def __init__(self, computation: Computation, formula: Node) -> None:
        self.computation = computation
        self.local: set[tuple[str, str]] = set()
        self.shared: set[str] = set()
        self.processes: set[str] = set()
        for leaf in leaves(formula):
            match leaf:
                case Local(process, variable):
                    self.local.add((process, variable))
                case Shared(variable):
                    self.shared.add(variable)
                case At(process) | Stack(_, process) | Done(process):
                    self.processes.add(process)
                case Transit(sender, receiver):
                    self.processes.update(name for name in (sender, receiver) if name is not None)

    def of(self, step: int) -> int:
        return 2 if any(map(self._assigns, self.computation.events(step))) else 0

    def of_pair(self, first: int, second: int) -> int:
        return self.of(first) + self.of(second)

    def _assigns(self, event: int) -> bool:
        trace = self.computation.trace
        process = trace.processes[trace.process[event]].name
        return (
            process in self.processes
            or any((process, name) in self.local for name, _ in trace.sets(event))
            or any(name in self.shared for name, _ in trace.writes(event))
        )


def _at_cut(
    computation: Computation, path: Sequence[Move], place: dict[int, int], relevant: _Relevance
) -> Iterator[tuple[int, int]]:
    """Pairs of a step outside the cut that was observed before one inside it."""
    cut = [0] * len(computation.lengths)
    for move in path:
        for process in move.processes:
            cut[process] += 1
    backward = (_steps(computation, process, range(count, 0, -1)) for process, count in enumerate(cut))
    inside = [_ends(steps, relevant) for steps in backward]
    for process, (count, length) in enumerate(zip(cut, computation.lengths, strict=True)):
        later = list(islice(_steps(computation, process, range(count + 1, length + 1)), REACH))
        touching = [step for step in later if relevant.of(step)]
        others = (step for there, steps in enumerate(inside) if there != process for step in steps)
        for second in others:
            for steps in (touching, later):
                # Steps of one process were observed in their order: those before `second` come first.
                observed = bisect_left(steps, place[second], key=place.__getitem__)
                if observed:
                    yield steps[0], second
                    yield steps[observed - 1], second
                    break


def _steps(computation: Computation, process: int, positions: range) -> Iterator[int]:
    return (computation.step(computation.at(process, position)) for position in positions)


def _ends(steps: Iterator[int], relevant: _Relevance) -> list[int]:
    """The first step, and the first one that touches what matters."""
    found: list[int] = []
    for step in islice(steps, REACH):
        if relevant.of(step):
            return [step, *found]
        if not found:
            found.append(step)
    return found


def _in_observation(path: Sequence[Move], place: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Neighbours on the path that were observed the other way round: these have no order."""
    for before, after in pairwise(path):
        if place[after.step] < place[before.step]:
            yield after.step, before.step
