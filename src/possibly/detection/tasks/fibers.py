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
from possibly.detection.tasks.local import SATISFIED, UNDEFINED, UNSATISFIED, LocalFormulas
from possibly.logic.depth import deep
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.logic.tasks.formulas import Condition, ForTask, Provided, Says
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
MOST_TERMS = 64
"""Terms of an operand."""
NEGATION = (UNDEFINED, UNSATISFIED, SATISFIED)
TRUTH = {True: SATISFIED, False: UNSATISFIED}
ONLY = {wanted: bytes(value == wanted for value in range(256)) for wanted in (SATISFIED, UNSATISFIED)}


class Shape(NamedTuple):
    """Where in a cell something is true: everywhere, below its greatest slice, from X(d) on for some d."""

    is_constant: bool
    is_below_top: bool = False
    stops: tuple[Cell, ...] = ()


class Weighed(NamedTuple):
    """Stretches of a task, each with the number of events that must have happened there."""

    stretches: list[Stretch]
    weights: list[int]

    def below(self, limit: int | None) -> list[Stretch]:
        return self.stretches if limit is None else self.stretches[: bisect_left(self.weights, limit)]


class Failing(NamedTuple):
    """A slice in which the formula is unsatisfied under the assignment."""

    assignment: Assignment
    cut: Cut


class Stripped(NamedTuple):
    """A formula without what stands before it."""

    body: Node
    conditions: tuple[Condition, ...]
    bound: tuple[str, ...]
    """The variables of the quantifiers."""


def stripped(formula: Node) -> Stripped:
    """The formula without the quantifiers and conditions that stand before it."""
    conditions: list[Condition] = []
    bound: list[str] = []
    while True:
        match formula:
            case ForTask("forall", tvar, body):
                if any(tvar in (each.left, each.right) for each in conditions):
                    raise NotCoveredError  # they speak of another task of that name
                bound.append(tvar)
                formula = body
            case Provided(body, condition):
                conditions.append(condition)
                formula = body
            case _:
                return Stripped(formula, tuple(conditions), tuple(bound))


def _says(node: Node, is_inside: bool = False) -> Iterator[Says]:
    """What it says of single tasks; refuses time inside time, and quantifiers inside."""
    match node:
        case Says():
            yield node
        case Temporal(_, operands) if not is_inside:
            for part in operands:
                yield from _says(part, is_inside=True)
        case And(operands) | Or(operands):
            for part in operands:
                yield from _says(part, is_inside)
        case Implies(left, right):
            yield from _says(left, is_inside)
            yield from _says(right, is_inside)
        case Not(operand):
            yield from _says(operand, is_inside)
        case _:
            raise NotCoveredError


def _timed(node: Node) -> Iterator[Temporal]:
    match node:
        case Temporal():
            yield node
        case And(operands) | Or(operands):
            yield from chain.from_iterable(map(_timed, operands))
        case Implies(left, right):
            yield from chain(_timed(left), _timed(right))
        case Not(operand):
            yield from _timed(operand)


def _demands(node: Node, wanted: int) -> Iterator[tuple[Says, int]]:
    """What single tasks must say for the formula to have that truth, whatever else it needs."""
    match node:
        case Says():
            yield node, wanted
        case Not(operand):
            yield from _demands(operand, NEGATION[wanted])
        case Implies(left, right) if wanted == UNSATISFIED:
            yield from chain(_demands(left, SATISFIED), _demands(right, UNSATISFIED))
        case And(operands) if wanted == SATISFIED:
            yield from chain.from_iterable(_demands(part, wanted) for part in operands)
        case Or(operands) if wanted == UNSATISFIED:
            yield from chain.from_iterable(_demands(part, wanted) for part in operands)


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
        self._goals: dict[tuple[int, int], tuple[Tables, ...]] = {}

    def failing(self, cell: Cell) -> Iterator[Cut]:
        """The least slice of each kind in which the formula is unsatisfied, the nearest first."""
        shapes = {id(node): self._shape(node, cell) for node in self.timed}
        at_least = {key: self._holds_at_least(cell, shape) for key, shape in shapes.items()}
        if self._value(self.body, cell, at_least) == UNSATISFIED:
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
        return len(shapes) > 1 or self._value(self.body, cell, changed) == UNSATISFIED

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

        return self._value(self.body, cell, {key: holds(each) for key, each in shapes.items()}) == UNSATISFIED

    def fails_at(self, cut: Cut) -> bool:
        """Whether the formula is unsatisfied in this very slice."""
        cell = tuple(cut[task] for task in self.cells.tasks)
        shapes = {id(node): self._shape(node, cell) for node in self.timed}
        top = tuple(self.cells.most(cell))
        stops = {stop for shape in shapes.values() for stop in shape.stops}
        return self._fails(cell, cut, top, shapes, {each: met(top, self.cells.past(each)) for each in stops})

    # ---- truth --------------------------------------------------------------------------------------

    def _value(self, node: Node, cell: Cell, timed: Mapping[int, bool]) -> int:
        match node:
            case Says():
                return self._table(node)[cell[self._places[node.tvar]]]
            case Not(operand):
                return NEGATION[self._value(operand, cell, timed)]
            case And(operands):
                return self._from_the_left(operands, cell, timed, SATISFIED)
            case Or(operands):
                return self._from_the_left(operands, cell, timed, UNSATISFIED)
            case Implies(left, right):
                value = self._value(left, cell, timed)
                return self._value(right, cell, timed) if value == SATISFIED else NEGATION[value]
            case Temporal(operator, _):
                return TRUTH[timed[id(node)] != (operator in ("always", "before"))]
        raise NotCoveredError

    def _from_the_left(
        self, operands: tuple[Node, ...], cell: Cell, timed: Mapping[int, bool], goes_on: int
    ) -> int:
        for part in operands:
            value = self._value(part, cell, timed)
            if value != goes_on:
                return value
        return goes_on

    def _table(self, node: Says) -> bytes:
        return self._local.table(node.formula, self.assignment[node.tvar])

    def _shape(self, node: Temporal, cell: Cell) -> Shape:
        """Where in the cell it is true; of `always` and `before` the contrary."""
        match node.operator, node.operands:
            case "next", (operand,):
                return self._next(self._terms(operand, SATISFIED), cell)
            case "sometime" | "always" as operator, (operand,):
                goals = self._terms(operand, SATISFIED if operator == "sometime" else UNSATISFIED)
                is_later = any(True for term in goals for _ in self.cells.above(term, cell))
                return Shape(is_later, _has(goals, cell))
            case "until" | "before" as operator, (left, right):
                bad = self._terms(left, UNSATISFIED if operator == "until" else SATISFIED)
                return self._until(bad, self._terms(right, SATISFIED), cell)
        raise NotCoveredError

    def is_everywhere(self, node: Node) -> bool:
        """Whether every local state of the tasks satisfies it."""
        return {} in self._terms(node, SATISFIED)

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

    def _terms(self, node: Node, wanted: int) -> tuple[Tables, ...]:
        """The cells in which a formula without temporal operators has that truth, as a union of terms."""
        key = id(node), wanted
        if key not in self._goals:
            self._goals[key] = tuple(self._union(node, wanted))
        return self._goals[key]

    def _union(self, node: Node, wanted: int) -> list[Tables]:
        match node:
            case Says(tvar, _):
                table = self._table(node).translate(ONLY[wanted])
                if 0 not in table:
                    return [{}]
                return [{self._places[tvar]: table}] if 1 in table else []
            case Not(operand):
                return self._union(operand, NEGATION[wanted])
            case Implies(left, right):
                return self._union(Or((Not(left), right)), wanted)
            case And(operands) | Or(operands):
                goes_on = SATISFIED if isinstance(node, And) else UNSATISFIED
                found = self._union(operands[-1], wanted)
                for part in reversed(operands[:-1]):
                    found = _product(self._union(part, goes_on), found)
                    if wanted != goes_on:
                        found += self._union(part, wanted)
                    if len(found) > MOST_TERMS:
                        raise NotCoveredError
                return found
        raise NotCoveredError


def _has(terms: Sequence[Tables], cell: Cell) -> bool:
    return any(all(table[cell[place]] for place, table in term.items()) for term in terms)


def _product(ones: list[Tables], others: list[Tables]) -> list[Tables]:
    found = [_both(one, other) for one in ones for other in others]
    return [term for term in found if all(1 in table for table in term.values())]


def _both(one: Tables, other: Tables) -> Tables:
    found = dict(one)
    for place, table in other.items():
        mine = found.get(place)
        found[place] = table if mine is None else bytes(map(int.__and__, mine, table))
    return found


class Fibers:
    """The slices where a formula is unsatisfied, whatever tasks its variables stand for."""

    def __init__(self, net: Net, local: LocalFormulas, formula: Node, budget: Budget) -> None:
        with deep():
            self.body, self._conditions, self._bound = stripped(formula)
            self._says = list(_says(self.body))
            self.timed = list(_timed(self.body))
            self._demands = list(_demands(self.body, UNSATISFIED))
        self.net = net
        self.local = local
        self.budget = budget
        self.variables = tuple(dict.fromkeys(says.tvar for says in self._says))
        if not 0 < len(self.variables) <= MOST_TASKS:
            raise NotCoveredError
        self._parts: dict[tuple[tuple[str, ...], int], Weighed] = {}
        self._regions = 0

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge(self.net.computation, self.budget.look)

    def projections(self) -> Iterator[Projected]:
        """One for each assignment that the conditions allow."""
        conditional = chain.from_iterable((each.left, each.right) for each in self._conditions)
        variables = dict.fromkeys((*self.variables, *conditional))
        tasks = [self._candidates(variable) for variable in variables]
        for chosen in product(*tasks):
            assignment = dict.fromkeys(self._bound, 0) | dict(zip(variables, chosen, strict=True))
            if all(fulfils(self.net, condition, assignment) for condition in self._conditions):
                yield Projected(self, assignment)

    def _candidates(self, variable: str) -> list[int]:
        """The tasks that have the local states that a failure demands of them."""
        found = range(len(self.net.tasks))
        demands = [(says, wanted) for says, wanted in self._demands if says.tvar == variable]
        return [
            task
            for task in found
            if all(wanted in self.local.table(says.formula, task) for says, wanted in demands)
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
            key = variables, task
            if key not in self._parts:
                self._parts[key] = self._demanded(variables, task)
            found.append(self._parts[key].below(limit))
        return found

    def _demanded(self, variables: Sequence[str], task: int) -> Weighed:
        def table(says: Says) -> bytes:
            return self.local.table(says.formula, task)

        read = {table(says) for says in self._says if says.tvar in variables}
        demands = [(table(says), wanted) for says, wanted in self._demands if says.tvar in variables]
        found = [
            each
            for each in stretches(list(read), self.net.computation.lengths[task])
            if all(known[each.first] == wanted for known, wanted in demands)
        ]
        return Weighed(found, [sum(self.knowledge.past(task, each.first)) for each in found])

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
            if self.timed[0].operator == "next" and not projected.is_everywhere(self.timed[0].operands[0]):
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
