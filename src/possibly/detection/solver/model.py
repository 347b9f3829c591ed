"""Cuts of a slice and predicates on them, as clauses and linear constraints.

Here belongs the encoding; `solver_search` solves it, `solver` knows what for.

Theory of operation. A literal (process, count) says that the cut contains at least that many events of the
process. Only the counts that some constraint speaks of get one; a cut between two of them satisfies the same
constraints as the lower one, so the fewest events are always at a count with a literal. "A cut with f
contains e" is a clause of two literals. All else is said under a literal t, "if t is true, then", which
suffices as no part is used negated (negations are pushed down to atoms; each atom knows its own):

    in a slice        clauses for bounds, edges and forbidden states
    a sum in a range  a linear constraint on the literals of the events that change it
    any other atom    a table over *value classes*: the states of a chain that no combination with the other
                      chains tells apart are one class, a class is a slice, and for every combination of
                      classes of all chains but the last a clause lists the classes of the last one
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver.search import TRUE, Assignment, Linear, Problem
from possibly.detection.solver.sums import Range, changes_of, has_value, links, ranges_of, writes_of
from possibly.detection.solver.tables import Axis, tabulated
from possibly.detection.sums.flow import needs_of
from possibly.logic.syntax import And, Compare, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.bitmaps import States
from possibly.order.computation import Cut, Place
from possibly.order.slice import Slice, whole
from possibly.order.state import Chain, Sum


class OutsideError(Exception):
    """The formula has a part that cannot be encoded."""


class Encoding:
    """Collects constraints on one cut of a slice."""

    def __init__(self, slicing: Slicing, region: Slice | None = None) -> None:
        self.slicing = slicing
        self.computation = slicing.computation
        region = whole(self.computation) if region is None else region
        assert region.least is not None and region.greatest is not None, "the region has no cut"
        self.low: Cut = region.least
        self.high: Cut = region.greatest
        self._problem = Problem()
        self._literals: list[dict[int, int]] = [{} for _ in self.low]
        for f, e in needs_of(region, self.low, self.high):
            self.clause(-self.at_least(f), self.at_least(e))

    # ---- literals -------------------------------------------------------------------------------

    def new(self) -> int:
        self._problem.variables += 1
        return self._problem.variables

    def at_least(self, place: Place) -> int:
        """The literal that says that the cut contains this event; the event may be beyond the last one."""
        process, count = place
        if count <= self.low[process]:
            return TRUE
        if count > self.high[process]:
            return -TRUE
        known = self._literals[process]
        if count not in known:
            known[count] = self.new()
        return known[count]

    def clause(self, *literals: int) -> None:
        if TRUE not in literals:
            self._problem.clauses.append(tuple([number for number in literals if number != -TRUE]))

    def problem(self) -> Problem:
        """All constraints, with the order of literals of one process, and the number of steps as cost."""
        for process, literals in enumerate(self._literals):
            before = self.low[process]
            for count in sorted(literals):
                if before > self.low[process]:
                    self.clause(-literals[count], literals[before])
                self._problem.cost.append((self._steps(process, before, count), literals[count]))
                before = count
        return self._problem

    def _steps(self, process: int, before: int, count: int) -> int:
        """How many steps named by an event of this process lie between; a joint event counts once."""
        if not self.computation.joint:
            return count - before
        events = self.computation.trace.events_of[process][before:count]
        return sum(self.computation.step(event) == event for event in events)

    def cut(self, found: Assignment) -> Cut:
        """The least cut that the literals describe."""
        counts = [
            max((count for count, literal in literals.items() if found[literal]), default=self.low[process])
            for process, literals in enumerate(self._literals)
        ]
        return tuple(counts)

    # ---- slices and sums ------------------------------------------------------------------------

    def inside(self, part: Slice) -> int:
        """A literal that is true only if the cut belongs to the slice."""
        given = self.new()
        self.require(part, given)
        return given

    def require(self, part: Slice, given: int) -> None:
        if part.void:
            self.clause(-given)
        for process, (low, high) in enumerate(zip(part.low, part.high, strict=True)):
            if low > self.low[process]:
                self.clause(-given, self.at_least((process, low)))
            if high < self.high[process]:
                self.clause(-given, -self.at_least((process, high + 1)))
        for process, states in part.allowed.items():
            self._among(self._of_process(process), states, given)
        for e, f in part.edges:
            self.clause(-given, -self.at_least(f), self.at_least(e))

    def _of_process(self, process: int) -> Callable[[int], int]:
        return lambda state: self.at_least((process, state))

    def _among(self, reached: Callable[[int], int], states: States, given: int) -> None:
        """The chain, which has come to state s iff `reached(s)`, stops at one of the states marked 1."""
        state = states.find(0)
        while state >= 0:
            following = states.find(1, state)
            beyond = -TRUE if following < 0 else reached(following)
            self.clause(-given, -(TRUE if state == 0 else reached(state)), beyond)
            state = -1 if following < 0 else states.find(0, following)

    def keep(self, wanted: Range, given: int) -> None:
        """The sum lies in its range, at cuts where all its terms have a value."""
        self._linear(wanted.total.start, wanted.total.changes.items(), wanted.least, wanted.most, given)

    def _linear(
        self,
        start: int,
        changes: Iterable[tuple[Place, int]],
        least: int | None,
        most: int | None,
        given: int,
    ) -> None:
        terms: list[tuple[int, int]] = []
        for place, change in changes:
            literal = self.at_least(place)
            if literal == TRUE:
                start += change
            elif literal != -TRUE:
                terms.append((change, literal))
        below = None if least is None else least - start
        above = None if most is None else most - start
        self._problem.linear.append(Linear(given, tuple(terms), below, above))

    # ---- formulas -------------------------------------------------------------------------------

    def formula(self, node: Node, positive: bool = True) -> int:
        """A literal that is true only if the formula (or its negation) is true at the cut."""
        match node:
            case Not(operand):
                return self.formula(operand, not positive)
            case And(operands) | Or(operands):
                parts = [self.formula(part, positive) for part in operands]
                return self._every(parts) if isinstance(node, And) == positive else self._some(parts)
            case Implies(left, right):
                parts = [self.formula(left, not positive), self.formula(right, positive)]
                return self._some(parts) if positive else self._every(parts)
            case Iff(left, right):
                both = [self.formula(left), self.formula(right, positive)]
                neither = [self.formula(left, False), self.formula(right, not positive)]
                return self._some([self._every(both), self._every(neither)])
        return self._atom(node, positive)

    def _every(self, parts: Sequence[int]) -> int:
        given = self.new()
        for part in parts:
            self.clause(-given, part)
        return given

    def _some(self, parts: Sequence[int]) -> int:
        given = self.new()
        self.clause(-given, *parts)
        return given

    def _atom(self, node: Node, positive: bool) -> int:
        slices = self.slicing.alternatives(node, positive)
        if slices is not None:
            return self._some([self.inside(part) for part in slices])
        if isinstance(node, Temporal):
            raise OutsideError
        if isinstance(node, Compare) and len(node.operators) > 1:
            return self.formula(links(node), positive)
        ranges = ranges_of(self.slicing, node, positive)
        return self._table(node, positive) if ranges is None else self._sum(ranges, positive)

    def _sum(self, ranges: Sequence[Range], positive: bool) -> int:
        terms = [has_value(term) for term in ranges[0].total.partial]
        sums = [self.new() for _ in ranges]
        for given, wanted in zip(sums, ranges, strict=True):
            self.keep(wanted, given)
        known = self._every([self._some(sums), *(self._atom(term, True) for term in terms)])
        if positive:
            return known
        return self._some([known, *(self._atom(term, False) for term in terms)])

    # ---- tables ---------------------------------------------------------------------------------

    def _table(self, node: Node, positive: bool) -> int:
        table = tabulated(self.slicing, node, self.low, self.high)
        if table is None:
            raise OutsideError
        choices = [
            [(members[0], self._class(axis, members)) for members in classes]
            for axis, classes in zip(table.axes, table.classes(), strict=True)
        ]
        given = self.new()
        for choice in choices:
            self.clause(-given, *(literal for _, literal in choice))
        for combination in product(*choices[:-1]):
            first = [number for number, _ in combination]
            fitting = [
                literal for number, literal in choices[-1] if table.truth([*first, number]) == positive
            ]
            self.clause(-given, *(-literal for _, literal in combination), *fitting)
        return given

    def _class(self, axis: Axis, members: Sequence[int]) -> int:
        """A literal that is true only if the axis has one of these values."""
        if isinstance(axis.reading, Sum):
            return self._some([self._number(axis.reading, axis.values[member][0]) for member in members])
        given = self.new()
        marked = bytes(map(any, zip(*(axis.states[member] for member in members), strict=True)))
        if isinstance(axis.reading, Chain):
            writes = [(0, 0), *writes_of(axis.reading)]
            self._among(lambda state: self.at_least(writes[state]), marked, given)
        else:
            self._among(self._of_process(axis.reading.process), marked, given)
        return given

    def _number(self, messages: Sum, number: int) -> int:
        given = self.new()
        self._linear(0, changes_of(messages).items(), number, number, given)
        return given
