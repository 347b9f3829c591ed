"""Predicates over several processes that take few values: one alternative for each combination of them.

Here belongs the expansion of an atom of no class, such as `P1.x * P2.y == 6`, into a disjunction of
conjunctive predicates: each process has finitely many values, of which those that make no difference are
one class (see `solver_tables`), and for every combination of classes of all processes but one the cuts that
satisfy the atom are a lean slice. So a formula becomes one of RCTL+ (Sen's thesis, section 5.4) that
`slicing` knows; its slice is the disjunction of these, and exact, whatever the number of cuts. Where there
are too many combinations there is no answer here (None).
"""

from __future__ import annotations

from itertools import product
from math import prod

from possibly.detection.slices.slicing import Alternatives, Slicing
from possibly.detection.solver.tables import Axis, Table, tabulated
from possibly.logic.syntax import And, Iff, Implies, Node, Not, Or
from possibly.order.bitmaps import Bits
from possibly.order.slice import whole
from possibly.order.state import Timeline
from possibly.records import replace

MOST_COMBINATIONS = 64
"""Alternatives for one atom."""


class ByValues(Slicing):
    """Makes alternatives of more formulas than `Slicing` does."""

    def _atomic(self, node: Node, positive: bool) -> Alternatives | None:
        found = super()._atomic(node, positive)
        if found is not None or isinstance(node, (Not, And, Or, Implies, Iff)):
            return found
        leaves = self.predicates.compiled(node).leaves
        if not all(isinstance(self.readings(leaf), Timeline) for leaf in leaves):
            return None
        table = tabulated(self, node, self.computation.initial, self.computation.final)
        return None if table is None else self._expanded(table, positive)

    def _expanded(self, table: Table, positive: bool) -> Alternatives | None:
        """The process with the most classes is left to each alternative, the others are fixed in it."""
        classes = table.classes()
        free = max(range(len(classes)), key=lambda axis: len(classes[axis]))
        fixed = [axis for axis in range(len(classes)) if axis != free]
        if prod(len(classes[axis]) for axis in fixed) > MOST_COMBINATIONS:
            return None
        found: Alternatives = []
        for combination in product(*(classes[axis] for axis in fixed)):
            chosen = dict(zip(fixed, combination, strict=True))
            members = {**chosen, free: _fitting(table, chosen, free, classes[free], positive)}
            if members[free]:
                states = (_union(table.axes[axis], numbers) for axis, numbers in members.items())
                found.append(replace(whole(self.computation), allowed=dict(states)))
        return found


def _fitting(
    table: Table, chosen: dict[int, list[int]], free: int, classes: list[list[int]], positive: bool
) -> list[int]:
    """The values of the free process with which the atom has the truth that is asked for."""
    found = []
    for members in classes:
        of = {**chosen, free: members}
        if table.truth([of[axis][0] for axis in range(len(of))]) == positive:
            found += members
    return found


def _union(axis: Axis, numbers: list[int]) -> tuple[int, Bits]:
    """The process of an axis, and its states with one of these values."""
    assert isinstance(axis.reading, Timeline)
    states = [int.from_bytes(axis.states[number], "little") for number in numbers]
    joined = states[0]
    for other in states[1:]:
        joined |= other
    return axis.reading.process, Bits.from_truths(joined.to_bytes(len(axis.states[0]), "little"))
