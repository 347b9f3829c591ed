"""Atoms that are neither slices nor sums, as tables over the values that they read.

Here belongs evaluating an atom for all combinations of values that its chains take, and telling which values
of a chain need not be told apart. A chain is a process (all that the atom reads of it together), a shared
variable, or a number of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from possibly.detection.slices.slicing import Slicing
from possibly.logic.predicates.functions import compile_predicate
from possibly.logic.syntax import Leaf, Node
from possibly.order.computation import Cut
from possibly.order.slice import whole
from possibly.order.state import Chain, Reading, Sum, Timeline
from possibly.records import replace
from possibly.trace.model import Value

MOST_COMBINATIONS = 50_000
"""Combinations of values for which one atom is evaluated."""
MOST_BYTES = 50_000_000
"""Values of one chain times its states up to which it is noted where each is."""
MOST_LOOKS = 200
"""Combinations that cannot be evaluated for which it is looked up whether a cut has them."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What an atom reads of one chain: each combination of values once."""

    reading: Reading
    leaves: tuple[Leaf, ...]
    values: Sequence[tuple[Value, ...]]
    """One value a leaf."""
    states: Sequence[bytes] = ()
    """For each of `values` one byte a state of the chain: 1 where it has them. Of messages, nothing."""


@dataclass(slots=True)
class Table:
    """The truth of an atom for every combination of one entry an axis."""

    axes: Sequence[Axis]
    truths: Mapping[tuple[int, ...], bool] = field(default_factory=dict)

    def truth(self, combination: Sequence[int]) -> bool:
        return self.truths[tuple(combination)]

    def classes(self) -> list[list[list[int]]]:
        """For each axis its entries, those together that make no difference to the atom."""
        return [self._classes(number) for number in range(len(self.axes))]

    def _classes(self, axis: int) -> list[list[int]]:
        columns: list[list[bool]] = [[] for _ in self.axes[axis].values]
        for combination, truth in self.truths.items():
            columns[combination[axis]].append(truth)
        found: dict[bytes, list[int]] = {}
        for number, column in enumerate(columns):
            found.setdefault(bytes(column), []).append(number)
        return list(found.values())


def tabulated(slicing: Slicing, node: Node, low: Cut, high: Cut) -> Table | None:
    """The table of an atom for cuts between two; None if it would be too large."""
    predicate = compile_predicate(node)
    axes: list[Axis] = []
    for axis in _axes(slicing, predicate.leaves, low, high):
        if axis is None or prod(len(each.values) for each in (*axes, axis)) > MOST_COMBINATIONS:
            return None
        axes.append(axis)
    order = {leaf: index for index, leaf in enumerate(leaf for axis in axes for leaf in axis.leaves)}
    places = [order[leaf] for leaf in predicate.leaves]
    truths: dict[tuple[int, ...], bool] = {}
    faults: dict[str, list[tuple[int, ...]]] = {}
    for combination in product(*(range(len(axis.values)) for axis in axes)):
        read = [
            value for axis, number in zip(axes, combination, strict=True) for value in axis.values[number]
        ]
        truths[combination] = predicate.evaluate([read[place] for place in places])
        for message in predicate.faults:
            faults.setdefault(message, []).append(combination)
        predicate.faults.clear()
    table = Table(axes, truths)
    for combinations in faults.values():
        _report(slicing, node, table, combinations)
    return table


def _axes(slicing: Slicing, leaves: Sequence[Leaf], low: Cut, high: Cut) -> Iterator[Axis | None]:
    """What is read, chain by chain; None in place of one with too many values."""
    processes: dict[int, list[Leaf]] = {}
    for leaf in leaves:
        reading = slicing.readings(leaf)
        match reading:
            case Timeline(process):
                processes.setdefault(process, []).append(leaf)
            case Chain(values):
                yield _entries(reading, (leaf,), [values], 0, len(values) - 1)
            case Sum(parts):
                nets = [net[low[process] : high[process] + 1] for process, net in parts]
                least, most = sum(map(min, nets)), sum(map(max, nets))
                yield Axis(reading, (leaf,), [(number,) for number in range(least, most + 1)])
    for process, read in processes.items():
        timelines = [slicing.readings(leaf) for leaf in read]
        columns = [timeline.values for timeline in timelines if isinstance(timeline, Timeline)]
        yield _entries(timelines[0], tuple(read), columns, low[process], high[process])


def _entries(
    reading: Reading, leaves: tuple[Leaf, ...], columns: Sequence[Sequence[Value]], first: int, last: int
) -> Axis | None:
    """Each combination once. The same value is one object in a trace's table; a copy costs an entry more."""
    most = min(MOST_COMBINATIONS, MOST_BYTES // len(columns[0]))
    states: dict[tuple[int, ...], bytearray] = {}
    values: dict[tuple[int, ...], tuple[Value, ...]] = {}
    for state in range(first, last + 1):
        here = tuple([column[state] for column in columns])
        key = tuple(map(id, here))
        if key not in states:
            if len(states) >= most:
                return None
            states[key] = bytearray(len(columns[0]))
            values[key] = here
        states[key][state] = 1
    return Axis(reading, leaves, list(values.values()), list(map(bytes, states.values())))


def _report(slicing: Slicing, node: Node, table: Table, combinations: Sequence[tuple[int, ...]]) -> None:
    """An atom that cannot be evaluated at some cut is a fault of the property.

    Whether a cut has these values is asked of the processes; shared variables and messages are not asked.
    """
    for combination in combinations[:MOST_LOOKS]:
        chosen = list(zip(table.axes, combination, strict=True))
        allowed = {
            axis.reading.process: axis.states[number]
            for axis, number in chosen
            if isinstance(axis.reading, Timeline)
        }
        if not replace(whole(slicing.computation), allowed=allowed).is_empty:
            read = {
                leaf: value
                for axis, number in chosen
                for leaf, value in zip(axis.leaves, axis.values[number], strict=True)
            }
            predicate = slicing.predicates.compiled(node)
            predicate.evaluate([read[leaf] for leaf in predicate.leaves])
            return
