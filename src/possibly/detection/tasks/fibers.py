"""Formulas about one task at a time, on runs of any size: the lattice is projected to that task.

Here belongs `next`, `until`, `before` and the rest without the lattice, where a formula has one task variable
and no temporal operator stands inside another. Let t be the task and c a count of its events. The slices with
that count, the *fiber* of c, are a lattice with a least slice L(c) and a greatest one U(c). What a formula
without temporal operators says depends on c alone. A temporal one looks at strictly later slices, and the
operators here are strict, so it matters whether another task can still move (Frey, "Debugging parallel
programs using temporal logic specifications", section 4, speaks of nextslice+). For a slice S of the fiber:

    S has a later slice in the fiber               iff S is not U(c)
    the next event of t is enabled in S            iff S contains U(c) meet L(c + 1)
    S has a later slice in the fiber before d      iff S does not contain U(c) meet L(d), for d > c

The last line is about slices strictly between S and the least slice after S with count d. So every temporal
formula is, on the fiber, a comparison of S with slices X(d) = U(c) meet L(d), which are a chain; its truth at
L(c), at these, and at U(c) is its truth everywhere, and each is the least slice that looks so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from possibly.detection.limits import Budget
from possibly.detection.tasks.cuts import NotCoveredError
from possibly.detection.tasks.local import SATISFIED, UNDEFINED, UNSATISFIED, LocalFormulas
from possibly.logic.depth import deep
from possibly.logic.syntax import And, Implies, Node, Not, Or, Temporal
from possibly.logic.tasks.formulas import ForTask, Says
from possibly.order.computation import Cut
from possibly.order.knowledge import Knowledge
from possibly.order.nets.net import Net

LOOK_EVERY = 256
"""Fibers between two looks at the limits."""
NEGATION = (UNDEFINED, UNSATISFIED, SATISFIED)
TRUTH = {True: SATISFIED, False: UNSATISFIED}


class Shape(NamedTuple):
    """Where in a fiber something is true: below its greatest slice, or from X(`since`) on."""

    is_below_top: bool
    since: int | None

    @property
    def is_constant(self) -> bool:
        return not self.is_below_top and self.since is None


class Place(NamedTuple):
    """A slice of a fiber: X(`until`), which is U(c) if `is_top`."""

    until: int
    is_top: bool


class Failing(NamedTuple):
    task: int
    executed: int
    place: Place


def body_of(formula: Node) -> tuple[Node, str]:
    """What the one variable of the formula is asked about, and that variable."""
    while isinstance(formula, ForTask) and formula.quantifier == "forall":
        formula = formula.body
    variables = {part.tvar for part in _parts(formula, is_inside=False)}
    if len(variables) != 1:
        raise NotCoveredError
    return formula, variables.pop()


def _parts(node: Node, is_inside: bool) -> Iterator[Says]:
    match node:
        case Says():
            yield node
        case Temporal(_, operands) if not is_inside:
            for part in operands:
                yield from _parts(part, is_inside=True)
        case And(operands) | Or(operands):
            for part in operands:
                yield from _parts(part, is_inside)
        case Implies(left, right):
            yield from _parts(left, is_inside)
            yield from _parts(right, is_inside)
        case Not(operand):
            yield from _parts(operand, is_inside)
        case _:
            raise NotCoveredError


class Fibers:
    """The places where a formula of one variable is unsatisfied."""

    def __init__(self, net: Net, local: LocalFormulas, formula: Node, budget: Budget) -> None:
        with deep():
            self.body, self.variable = body_of(formula)
        self.net = net
        self.local = local
        self.budget = budget
        self.lengths = net.computation.lengths
        self.knowledge = Knowledge(net.computation, budget.look)
        self._tables: dict[int, bytes] = {}
        """By the identity of a part of the formula, for the task at hand."""
        self._task = 0

    def failing(self) -> Iterator[Failing]:
        for task in range(len(self.lengths)):
            self._task = task
            self._tables.clear()
            with deep():
                for count in self._candidates():
                    if not count % LOOK_EVERY:
                        self.budget.look()
                    for place in self._places(count):
                        if self._value(self.body, count, place) == UNSATISFIED:
                            yield Failing(task, count, place)

    def slice(self, found: Failing) -> Cut:
        """The slice itself."""
        task, count, place = found
        past = self.lengths if place.is_top else self.knowledge.past(task, place.until)
        most = [self.knowledge.ignorant(other, task, count) for other in range(len(self.lengths))]
        cut = list(map(min, past, most))
        cut[task] = count
        return tuple(cut)

    def least_size(self, found: Failing) -> int:
        """The slice has at least so many events."""
        return sum(self.knowledge.row(found.task, found.executed))

    # ---- the places of a fiber ----------------------------------------------------------------------

    def _candidates(self) -> Iterator[int]:
        """The counts at which the formula can be unsatisfied: an implication needs its left side."""
        length, body = self.lengths[self._task], self.body
        needed = body.left if isinstance(body, Implies) and _is_local(body.left) else None
        if needed is None:
            yield from range(length + 1)
            return
        table = self._table(needed)
        count = table.find(SATISFIED)
        while count >= 0:
            yield count
            count = table.find(SATISFIED, count + 1)

    def _places(self, count: int) -> Iterator[Place]:
        shapes = list(self._shapes(self.body, count))
        if all(shape.is_constant for shape in shapes):
            yield Place(count, is_top=False)
            return
        stops = sorted({shape.since for shape in shapes if shape.since is not None})
        before = count
        for stop in stops:
            if self._grows(count, before, stop):
                yield Place(before, is_top=False)
            before = stop
        if self._grows(count, before, None):
            yield Place(before, is_top=False)
            before = self.lengths[self._task] + 1
        yield Place(before, is_top=True)

    def _grows(self, count: int, first: int, second: int | None) -> bool:
        """Whether X(second) is more than X(first); None stands for U(count)."""
        task, of = self._task, self.knowledge.of
        row = self.knowledge.row(task, first)
        further = self.lengths if second is None else self.knowledge.row(task, second)
        if row is further:
            return False
        for other, (known, most) in enumerate(zip(row, further, strict=True)):
            if known < most and other != task and of(other, known + 1, task) <= count:
                return True
        return False

    def _shapes(self, node: Node, count: int) -> Iterator[Shape]:
        match node:
            case Temporal():
                yield self._shape(node, count)[1]
            case And(operands) | Or(operands):
                for part in operands:
                    yield from self._shapes(part, count)
            case Implies(left, right):
                yield from self._shapes(left, count)
                yield from self._shapes(right, count)
            case Not(operand):
                yield from self._shapes(operand, count)

    # ---- truth --------------------------------------------------------------------------------------

    def _value(self, node: Node, count: int, place: Place) -> int:
        match node:
            case Says():
                return self._table(node)[count]
            case Not(operand):
                return NEGATION[self._value(operand, count, place)]
            case And(operands):
                return self._from_the_left(operands, count, place, SATISFIED)
            case Or(operands):
                return self._from_the_left(operands, count, place, UNSATISFIED)
            case Implies(left, right):
                value = self._value(left, count, place)
                return self._value(right, count, place) if value == SATISFIED else NEGATION[value]
            case Temporal():
                return self._temporal(node, count, place)
        raise NotCoveredError

    def _from_the_left(self, operands: tuple[Node, ...], count: int, place: Place, goes_on: int) -> int:
        for part in operands:
            value = self._value(part, count, place)
            if value != goes_on:
                return value
        return goes_on

    def _temporal(self, node: Temporal, count: int, place: Place) -> int:
        is_constant, (is_below_top, since) = self._shape(node, count)
        found = is_constant or (is_below_top and not place.is_top)
        found = found or (since is not None and (place.is_top or since <= place.until))
        return TRUTH[found != (node.operator in ("always", "before"))]

    def _shape(self, node: Temporal, count: int) -> tuple[bool, Shape]:
        """Whether it is true in the whole fiber, else where; of `always` and `before` the contrary."""
        match node.operator, node.operands:
            case "next", (operand,):
                table = self._table(operand)
                is_next = table[count + 1 : count + 2] == bytes((SATISFIED,))
                return False, Shape(table[count] == SATISFIED, count + 1 if is_next else None)
            case "sometime" | "always" as operator, (operand,):
                return self._later(
                    self._table(operand), SATISFIED if operator == "sometime" else UNSATISFIED, count
                )
            case "until" | "before" as operator, (left, right):
                bad = UNSATISFIED if operator == "until" else SATISFIED
                return self._until(self._table(left), bad, self._table(right), count)
        raise NotCoveredError

    def _later(self, table: bytes, wanted: int, count: int) -> tuple[bool, Shape]:
        if table.find(wanted, count + 1) >= 0:
            return True, Shape(False, None)
        return False, Shape(table[count] == wanted, None)

    def _until(self, left: bytes, bad: int, right: bytes, count: int) -> tuple[bool, Shape]:
        """The first goal is the one that counts: what lies before a later one lies before it too."""
        is_here = right[count] == SATISFIED
        goal = right.find(SATISFIED, count + 1)
        if goal < 0 or left.find(bad, count + 1, goal) >= 0:
            return False, Shape(is_here, None)
        if left[count] != bad:
            return True, Shape(False, None)
        return False, Shape(is_here, goal)

    def _table(self, node: Node) -> bytes:
        """The truth of a formula without temporal operators for each count of the task."""
        table = self._tables.get(id(node))
        if table is None:
            table = self._tables[id(node)] = self._made(node)
        return table

    def _made(self, node: Node) -> bytes:
        if isinstance(node, Says):
            return self.local.table(node.formula, self._task)
        counts, anywhere = range(self.lengths[self._task] + 1), Place(0, is_top=False)
        return bytes([self._value(node, count, anywhere) for count in counts])


def _is_local(node: Node) -> bool:
    try:
        list(_parts(node, is_inside=True))
    except NotCoveredError:
        return False
    return True


def nearest(fibers: Fibers, steps: Callable[[Cut], int], joint: int) -> tuple[Failing, Cut] | None:
    """A failing slice of the fewest steps; `joint` lines at most belong to a step with another one."""
    best: tuple[Failing, Cut] | None = None
    fewest = 0
    for each in sorted(fibers.failing(), key=fibers.least_size):
        if best is not None and fibers.least_size(each) - joint >= fewest:
            break
        cut = fibers.slice(each)
        if best is None or steps(cut) < fewest:
            best, fewest = (each, cut), steps(cut)
    return best
