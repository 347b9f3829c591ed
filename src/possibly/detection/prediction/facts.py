"""What a search among other orders has to tell apart: facts of processes, what variables hold, which race.

Here belongs the numbering of values, so that two ways that nobody can tell apart are equal tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from possibly.detection.prediction.orders import Sight
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import Leaf, Node, Shared, Temporal, Transit
from possibly.logic.walk import nodes
from possibly.order.computation import Computation
from possibly.order.knowledge import Knowledge
from possibly.order.state import Readings, Timeline
from possibly.trace.model import Trace


class Interned:
    """What is seen in variables, as numbers from 1 on: equal if nobody can tell them apart."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._values: list[object] = [MISSING]

    def of(self, name: str, sight: Sight) -> int:
        key = name, sight.key
        number = self._numbers.setdefault(key, len(self._values))
        if number == len(self._values):
            self._values.append(sight.value if sight.has_value else MISSING)
        return number

    def value(self, number: int) -> object:
        return self._values[number]


class Facts:
    """What leaves read of single processes, as numbers that are equal where they read the same."""

    def __init__(self, trace: Trace, leaves: Sequence[Leaf]) -> None:
        self._trace = trace
        readings = Readings(Computation(trace, "sync"))
        mine = dict.fromkeys(leaf for leaf in leaves if not isinstance(leaf, Shared | Transit))
        self.place: dict[Leaf, int] = {leaf: place for place, leaf in enumerate(mine)}
        """Where the number of each leaf stands."""
        self._lines = [line for leaf in mine if isinstance(line := readings(leaf), Timeline)]
        self._rows = [_classes(line.values) for line in self._lines]
        self._of_process: dict[int, list[int]] = {}
        for place, line in enumerate(self._lines):
            self._of_process.setdefault(line.process, []).append(place)
        self.start = tuple(row[0] for row in self._rows)

    def after(self, facts: tuple[int, ...], event: int) -> tuple[int, ...]:
        places = self._of_process.get(self._trace.process[event])
        if not places:
            return facts
        found = list(facts)
        for place in places:
            found[place] = self._rows[place][self._trace.position[event]]
        return tuple(found)

    def set_by(self, event: int) -> Iterator[tuple[Leaf, int]]:
        """The leaves that the event changes, and the number of what they read then."""
        position, leaves = self._trace.position[event], tuple(self.place)
        for place in self._of_process.get(self._trace.process[event], ()):
            row = self._rows[place]
            if row[position] != row[position - 1]:
                yield leaves[place], row[position]

    def at(self, cut: Sequence[int]) -> tuple[int, ...]:
        return tuple([row[cut[line.process]] for row, line in zip(self._rows, self._lines, strict=True)])

    def tells(self, event: int) -> bool:
        """Whether it changes one of them."""
        return any(True for _ in self.set_by(event))

    def value(self, place: int, number: int) -> object:
        return self._lines[place].values[number]


def _classes(values: Sequence[object]) -> list[int]:
    """For each count the first one with the same value."""
    first: dict[str, int] = {}
    return [
        first.setdefault(f"{type(value).__name__} {value!r}", count) for count, value in enumerate(values)
    ]


def racing(trace: Trace, computation: Computation) -> set[str]:
    """The variables of which two accesses, one of them a write, are ordered by nothing."""
    knowledge, found = Knowledge(computation), set[str]()
    writes: dict[str, dict[int, int]] = {}
    reads: dict[str, dict[int, int]] = {}
    for event in range(len(trace)):
        process, position = trace.process[event], trace.position[event]
        row = knowledge.row(process, position)

        def is_free(earlier: dict[int, int], row: Sequence[int] = row, process: int = process) -> bool:
            return any(row[other] < place for other, place in earlier.items() if other != process)

        written = [name for name, _ in trace.writes(event)]
        for name in (*trace.reads(event), *written):
            if is_free(writes.get(name, {})) or (name in written and is_free(reads.get(name, {}))):
                found.add(name)
        for name in trace.reads(event):
            reads.setdefault(name, {})[process] = position
        for name in written:
            writes.setdefault(name, {})[process] = position
    return found


def says_next(formula: Node) -> bool:
    """Whether it tells a step that changes nothing from no step."""
    return any(isinstance(part, Temporal) and part.operator in _NEXT for part in nodes(formula))


_NEXT = frozenset("XNYZ")
