"""Formulas about a few tasks at a time, on runs of any size: the lattice is projected to those tasks.

Here belongs `next`, `until`, `before` and the rest without the lattice, where no temporal operator stands
inside another. Under an assignment, what a formula without temporal operators says depends on the cell alone,
that is on the counts of the tasks it names (`cells`). A temporal one looks at strictly later slices, and the
operators here are strict, so it matters whether another task can still move (Frey, "Debugging parallel
programs using temporal logic specifications", section 4, speaks of nextslice+). For a slice S of a cell c
with the least slice L(c) and the greatest one U(c), and cells d above c:

    S has a later slice in the cell                       iff S is not U(c)
    a step leads from S into the next cell d              iff S contains U(c) meet L(d)
    S has a later slice in c before the least one in d    iff S does not contain U(c) meet L(d)

An `until` has an undisturbed goal behind S iff a goal follows within the cell, or there is a goal d above c
with no bad cell between c and d, and c is not bad, or S contains U(c) meet L(d). The goals that count are the
minimal ones above c: what lies before one of them lies before all that are above it. So every temporal
formula is, in a cell, a comparison of S with a few slices X(d) = U(c) meet L(d); its truth at their joins and
at U(c) is its truth everywhere, and each join is the least slice that looks so.

Of the cells of a region, in which nothing that is read differs, a few tell for all if the formula has one
temporal operator: the least and the greatest one, since a way from slice to slice can be moved down or up
within the region; of `next` also those in which a step of a task leaves the region.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, product
from math import prod
from typing import NamedTuple

from possibly.detection.limits import Budget
from possibly.detection.tasks.cells import Cell, Cells, Region, Stretch, Tables, is_below, met, stretches
from possibly.detection.tasks.cuts import Assignment, NotCoveredError, fulfils
from possibly.detection.tasks.local import UNSATISFIED, LocalFormulas
from possibly.detection.tasks.parts import (
    ONLY,
    Term,
    both,
    demands,
    goals_and_bad,
    says_of,
    stripped,
    timed_of,
    value,
)
from possibly.detection.tasks.passing import WORTH, Sieve, sieve_for
from possibly.logic.depth import deep
from possibly.logic.syntax import Node, Temporal
from possibly.logic.tasks.formulas import Says
from possibly.order.computation import Cut, join
from possibly.order.knowledge import Knowledge
from possibly.order.nets.net import Net

LOOK_EVERY = 64
"""Regions between two looks at the limits."""
MOST_STOPS = 4
"""Slices of a cell with which a formula compares; all joins of them are looked at."""
MOST_TASKS = 3
"""Task variables, all combinations of whose tasks are looked at."""
MOST_CELLS = 10_000
"""Cells of a region that are all looked at for the nearest failing slice."""


class Shape(NamedTuple):
    """Where in a cell something is true: everywhere, below its greatest slice, from X(d) on for some d."""

    is_constant: bool
    is_below_top: bool = False
    stops: tuple[Cell, ...] = ()


class Failing(NamedTuple):
    """A slice in which the formula is unsatisfied under the assignment."""

    assignment: Assignment
    cut: Cut


class Projected:
    """A formula under an assignment: the cells of the tasks that it names."""

    def __init__(self, fibers: Fibers, assignment: Assignment) -> None:
        named = dict.fromkeys(assignment[variable] for variable in fibers.variables)
        self.cells = Cells(fibers.net.computation, fibers.knowledge, tuple(named))
        self.assignment = assignment
        self.body = fibers.body
        self.timed = fibers.timed
        self._local = fibers.local
        self._places = {
            variable: self.cells.tasks.index(task) for variable, task in assignment.items() if task in named
        }
        self._goals: dict[int, tuple[tuple[Tables, ...], tuple[Tables, ...]]] = {}

    def failing(self, cell: Cell) -> Iterator[Cut]:
        """The least slice of each kind in which the formula is unsatisfied, the nearest first."""
        shapes = {id(node): self._shape(node, cell) for node in self.timed}
        at_least = {key: self._holds_at_least(cell, shape) for key, shape in shapes.items()}
        if self._value(cell, at_least) == UNSATISFIED:
            yield tuple(self.cells.past(cell))
        elif self._may_fail_elsewhere(cell, shapes, at_least):
            yield from self._elsewhere(cell, shapes)

    def _may_fail_elsewhere(
        self, cell: Cell, shapes: Mapping[int, Shape], at_least: Mapping[int, bool]
    ) -> bool:
        """What is not so in the least slice may be so from a stop on; what is so, not in the greatest one."""
        changes = {
            key: bool(shape.stops) != at_least[key] for key, shape in shapes.items() if not shape.is_constant
        }
        if not any(changes.values()):
            return False
        changed = {key: is_so != changes.get(key, False) for key, is_so in at_least.items()}
        return len(shapes) > 1 or self._value(cell, changed) == UNSATISFIED

    def _holds_at_least(self, cell: Cell, shape: Shape) -> bool:
        """Whether it is so in the least slice of the cell."""
        if shape.is_constant:
            return True
        if shape.is_below_top and self.cells.grows(cell, self.cells.computation.final):
            return True
        return any(not self.cells.grows(cell, self.cells.past(stop)) for stop in shape.stops)

    def _elsewhere(self, cell: Cell, shapes: Mapping[int, Shape]) -> Iterator[Cut]:
        top = tuple(self.cells.most(cell))
        stops = sorted({stop for shape in shapes.values() for stop in shape.stops})
        if len(stops) > MOST_STOPS:
            raise NotCoveredError
        slices = {stop: met(top, self.cells.past(stop)) for stop in stops}
        found = {top}
        for some in chain.from_iterable(combinations(stops, n) for n in range(1, len(stops) + 1)):
            cut = slices[some[0]]
            for stop in some[1:]:
                cut = join(cut, slices[stop])
            found.add(cut)
        yield from (cut for cut in sorted(found, key=sum) if self._fails(cell, cut, top, shapes, slices))

    def _fails(
        self, cell: Cell, cut: Cut, top: Cut, shapes: Mapping[int, Shape], slices: Mapping[Cell, Cut]
    ) -> bool:
        def holds(shape: Shape) -> bool:
            return (
                shape.is_constant
                or (shape.is_below_top and cut != top)
                or any(is_below(slices[stop], cut) for stop in shape.stops)
            )

        return self._value(cell, {key: holds(each) for key, each in shapes.items()}) == UNSATISFIED

    def fails_at(self, cut: Cut) -> bool:
        """Whether the formula is unsatisfied in this very slice."""
        cell = tuple(cut[task] for task in self.cells.tasks)
        shapes = {id(node): self._shape(node, cell) for node in self.timed}
        top = tuple(self.cells.most(cell))
        stops = {stop for shape in shapes.values() for stop in shape.stops}
        return self._fails(cell, cut, top, shapes, {each: met(top, self.cells.past(each)) for each in stops})

    # ---- truth --------------------------------------------------------------------------------------

    def _value(self, cell: Cell, timed: Mapping[int, bool]) -> int:
        return value(self.body, lambda says: self._table(says)[cell[self._places[says.tvar]]], timed)

    def _table(self, node: Says) -> bytes:
        return self._local.table(node.formula, self.assignment[node.tvar])

    def _shape(self, node: Temporal, cell: Cell) -> Shape:
        """Where in the cell it is true; of `always` and `before` the contrary."""
        goals, bad = self._goals_and_bad(node)
        if node.operator == "next":
            return self._next(goals, cell)
        if node.operator in ("until", "before"):
            return self._until(bad, goals, cell)
        is_later = any(True for term in goals for _ in self.cells.above(term, cell))
        return Shape(is_later, _has(goals, cell))

    def waits_for_all(self, node: Temporal) -> bool:
        """Whether every local state of the tasks is what the operator waits for."""
        return {} in self._goals_and_bad(node)[0]

    def _next(self, goals: tuple[Tables, ...], cell: Cell) -> Shape:
        """Where all that can follow is a goal, only the end of the run has no goal behind it."""
        if {} in goals:
            return Shape(list(cell) != self.cells.lengths, is_below_top=True)
        cells = list(self.cells.after_a_step(cell))
        stops = [stop for stop in cells if _has(goals, stop)]
        is_here = _has(goals, cell)
        if is_here and 0 < len(stops) == len(cells):
            return Shape(True)
        return Shape(False, is_here, tuple(stops))

    def _until(self, bad: tuple[Tables, ...], goals: tuple[Tables, ...], cell: Cell) -> Shape:
        found = {each for term in goals for each in self.cells.above(term, cell)}
        if found:
            disturbing = [each for term in bad for each in self.cells.above(term, cell)]
            found = {
                goal
                for goal in found
                if not any(each != goal and is_below(each, goal) for each in disturbing)
            }
        if found and not _has(bad, cell):
            return Shape(True)
        return Shape(False, _has(goals, cell), tuple(found))

    def _goals_and_bad(self, node: Temporal) -> tuple[tuple[Tables, ...], tuple[Tables, ...]]:
        """The cells that an operator waits for, and those that disturb it, each as a union of terms."""
        key = id(node)
        if key not in self._goals:
            goals, bad = (
                tuple([each for each in map(self._tables, terms) if each is not None])
                for terms in goals_and_bad(node)
            )
            self._goals[key] = goals, bad
        return self._goals[key]

    def _tables(self, term: Term) -> Tables | None:
        """The counts that a term allows; None: of some task it allows none."""
        found: dict[int, bytes] = {}
        for says, wanted in term.items():
            table, place = self._table(says).translate(ONLY[wanted]), self._places[says.tvar]
            found[place] = both(found[place], table) if place in found else table
            if 1 not in found[place]:
                return None
        return {place: table for place, table in found.items() if 0 in table}


def _has(terms: Sequence[Tables], cell: Cell) -> bool:
    return any(all(table[cell[place]] for place, table in term.items()) for term in terms)


class Fibers:
    """The slices where a formula is unsatisfied, whatever tasks its variables stand for."""

    def __init__(self, net: Net, local: LocalFormulas, formula: Node, budget: Budget) -> None:
        with deep():
            self.body, self._conditions, self._bound = stripped(formula)
            self._says = list(says_of(self.body))
            self.timed = list(timed_of(self.body))
            self._demands = list(demands(self.body, UNSATISFIED))
        self.net = net
        self.local = local
        self.budget = budget
        self.variables = tuple(dict.fromkeys(says.tvar for says in self._says))
        if not 0 < len(self.variables) <= MOST_TASKS:
            raise NotCoveredError
        self._parts: dict[tuple[tuple[str, ...], int], list[Stretch]] = {}
        self._weighed: dict[tuple[tuple[str, ...], int], list[int]] = {}
        self._regions = 0

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge(self.net.computation, self.budget.look)

    def projections(self) -> Iterator[Projected]:
        """One for each assignment that the conditions allow."""
        conditional = chain.from_iterable((each.left, each.right) for each in self._conditions)
        variables = dict.fromkeys((*self.variables, *conditional))
        tasks = [self._candidates(variable) for variable in variables]
        chosen = (dict(zip(variables, row, strict=True)) for row in product(*tasks))
        found = (dict.fromkeys(self._bound, 0) | each for each in chosen)
        allowed: list[Assignment] = [
            each for each in found if all(fulfils(self.net, c, each) for c in self._conditions)
        ]
        if self._sieve is not None and len(allowed) > WORTH:
            allowed = self._passed(self._sieve, allowed)
        for assignment in allowed:
            yield Projected(self, assignment)

    @cached_property
    def _sieve(self) -> Sieve | None:
        """What keeps back pairs of tasks under which the formula cannot fail."""
        if len(self.variables) != 2 or len(self.timed) != 1 or self.net.computation.joint:
            return None
        return sieve_for(self.body, self.timed[0], self._says, self.local.table)

    def _passed(self, sieve: Sieve, assignments: list[Assignment]) -> list[Assignment]:
        """Without the pairs of tasks that cannot fail."""
        one, two = self.variables
        pairs = [(each[one], each[two]) for each in assignments]
        stretched = [
            {task: self._demanded((name,), task) for task in set(tasks)}
            for name, tasks in zip(self.variables, zip(*pairs, strict=True), strict=True)
        ]
        lets_through = sieve.may_fail(self.knowledge, pairs, stretched, self.budget.look)
        return [each for each, passes in zip(assignments, lets_through, strict=True) if passes]

    def _candidates(self, variable: str) -> list[int]:
        """The tasks that have the local states that a failure demands of them."""
        found = range(len(self.net.tasks))
        mine = [(says, wanted) for says, wanted in self._demands if says.tvar == variable]
        return [
            task
            for task in found
            if all(wanted in self.local.table(says.formula, task) for says, wanted in mine)
        ]

    def nearest(self, steps: Callable[[Cut], int], joint: int) -> Failing | None:
        """A failing slice of the fewest steps; `joint` lines at most belong to a step with another one."""
        best: Failing | None = None
        fewest = 0
        with deep():
            for projected in self.projections():
                limit = None if best is None else fewest + joint
                for region, least in projected.cells.regions(self._stretches(projected, limit)):
                    self._look()
                    is_far = best is not None and sum(projected.cells.past(least)) - joint >= fewest
                    if is_far or not self._fails_in(projected, region, least):
                        continue
                    for cut in self._all_in(projected, region, least):
                        if best is None or steps(cut) < fewest:
                            best, fewest = Failing(projected.assignment, cut), steps(cut)
        return best

    def _look(self) -> None:
        self._regions += 1
        if not self._regions % LOOK_EVERY:
            self.budget.look()

    def _stretches(self, projected: Projected, limit: int | None) -> list[list[Stretch]]:
        """Of each task those in which it has the local states that a failure demands, and near enough."""
        found = []
        for task in projected.cells.tasks:
            variables = tuple(name for name in self.variables if projected.assignment[name] == task)
            own = self._demanded(variables, task)
            if limit is not None:
                own = own[: bisect_left(self._weights(variables, task), limit)]
            found.append(own)
        return found

    def _demanded(self, variables: tuple[str, ...], task: int) -> list[Stretch]:
        """Those of a task that stands for the variables."""
        key = variables, task
        if key not in self._parts:
            self.budget.look()
            self._parts[key] = list(self._found(variables, task))
        return self._parts[key]

    def _found(self, variables: tuple[str, ...], task: int) -> Iterator[Stretch]:
        def table(says: Says) -> bytes:
            return self.local.table(says.formula, task)

        read = {table(says) for says in self._says if says.tvar in variables}
        wanted = [(table(says), truth) for says, truth in self._demands if says.tvar in variables]
        for each in stretches(list(read), self.net.computation.lengths[task]):
            if all(known[each.first] == truth for known, truth in wanted):
                yield each

    def _weights(self, variables: tuple[str, ...], task: int) -> list[int]:
        """How many events must have happened where each of them begins."""
        key = variables, task
        if key not in self._weighed:
            past = self.knowledge.past
            self._weighed[key] = [sum(past(task, each.first)) for each in self._demanded(variables, task)]
        return self._weighed[key]

    # ---- the cells that tell ------------------------------------------------------------------------

    def _fails_in(self, projected: Projected, region: Region, least: Cell) -> bool:
        telling = dict.fromkeys(self._telling(projected, region, least))
        return any(True for cell in telling for _ in projected.failing(cell))

    def _telling(self, projected: Projected, region: Region, least: Cell) -> Iterator[Cell]:
        """Cells of which one has a failing slice if any of the region has."""
        cells = projected.cells
        if len(self.timed) > 1:
            yield from cells.inside(region)
            return
        yield least
        if self.timed and any(stretch.first < stretch.last for stretch in region):
            if self.timed[0].operator == "next" and not projected.waits_for_all(self.timed[0]):
                yield from cells.leaving(region)
            yield cells.greatest([stretch.last for stretch in region])

    def _all_in(self, projected: Projected, region: Region, least: Cell) -> Iterator[Cut]:
        """Failing slices of a region that has some, the nearest among them, if it is not too large."""
        size = prod(stretch.last - stretch.first + 1 for stretch in region)
        is_small = size <= MOST_CELLS
        found = projected.cells.inside(region) if is_small else self._telling(projected, region, least)
        for cell in found:
            self._look()
            yield from projected.failing(cell)
