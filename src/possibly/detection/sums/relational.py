"""Relational predicates: EF and AG of a sum compared with a constant, by maximum flow.

Here belongs which extremes of a sum answer a formula (Sen's thesis, section 4.3.2 and Table 6.1), and the
path that shows it. Reading atoms as sums is in `solver_sums`, the flow in `flow`.

Theory of operation. A formula is turned into *goals*: lean slices, each with at most one sum kept in a range;
a cut satisfies the formula iff it meets one of the goals. EF(p) asks whether some goal can be met, AG(p)
whether no goal of !p can. The least and the greatest value of the sum in a slice are minimum cuts of a
network. A bound on one side is met iff the extreme on that side meets it. Both bounds (`==` is the range of
one number) are met if both extremes allow it and no move inside the slice can jump over the range: then the
sum passes through the range on the way between the cuts of the two extremes, over their meet. A move of a
slice executes a set of events that its edges tie together, so it is the change over such a set that counts,
not that of one event. If a move could jump over it, the goal is not decided here (None): `==` is hard then.

Missing values: an atom is false where a term has none, so a sum's slice is restricted to the cuts where all
have one, and the negation of an atom has goals of its own for "this term has no value".

The path. The nearest cut where a sum meets a bound is a different question from the cut where it is extreme,
and hard in general (knapsacks with precedence). Up to `EXACT` steps the shortest path is found with
`solver_model`; if that is not settled in `PATIENCE` seconds the path is one to the best cut found. Beyond, it
is one to the extreme cut, cut off where it first meets a goal: valid, and perhaps longer than needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from possibly.detection.finding import ENDS_FALSE, ENDS_TRUE, Finding, Path, Shows
from possibly.detection.limits import Budget
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import MOST_ALTERNATIVES, Slicing
from possibly.detection.solver.model import Encoding
from possibly.detection.solver.nearest import nearest, size_of
from possibly.detection.solver.search import UndecidedError
from possibly.detection.solver.sums import Range, has_value, links, ranges_of
from possibly.detection.sums.flow import least_total, needs_of
from possibly.logic.syntax import And, Compare, Iff, Implies, Node, Not, Or, Temporal
from possibly.order.computation import Cut, meet
from possibly.order.slice import Slice, conjunction, whole
from possibly.order.tied import components

EXACT = 20_000
"""Steps up to which the shortest path is looked for."""
PATIENCE = 5.0
"""Seconds that the search for the shortest path may take."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The cuts of a lean slice where a sum, if there is one, lies in a range."""

    part: Slice
    range: Range | None = None


Goals = list[Goal]
"""Together all cuts that satisfy a formula; None in their place: not known."""


class Relational(Sliced):
    """Answers EF and AG of relational predicates, and whatever slices answer around them."""

    def __init__(self, slicing: Slicing, budget: Budget | None = None) -> None:
        super().__init__(slicing)
        self.budget = budget or Budget()

    def _temporal(self, formula: Temporal) -> Finding | None:
        exists = formula.operator == "EF"
        if not exists and formula.operator != "AG":
            return super()._temporal(formula)
        operand = formula.operands[0]
        goals = self.goals(operand, exists)
        if goals is None:
            return None
        return self._reached(goals, exists, Shows(ENDS_TRUE if exists else ENDS_FALSE, operand))

    def _reached(self, goals: Goals, value: bool, shows: Shows) -> Finding | None:
        known, open_ = [], False
        for goal in goals:
            self.budget.look()
            found, decided = self.cut_in(goal)
            open_ = open_ or not decided
            known += [(goal, found)] if found is not None else []
        if not known:
            return None if open_ else Finding(not value)
        return Finding(value, self._path(goals, known), shows)

    # ---- goals ----------------------------------------------------------------------------------

    def goals(self, formula: Node, positive: bool = True) -> Goals | None:
        """The cuts that satisfy the formula (or its negation) as goals."""
        slices = self.slicing.alternatives(formula, positive)
        if slices is not None:
            return [Goal(part) for part in slices if not part.is_empty]
        match formula:
            case Not(operand):
                return self.goals(operand, not positive)
            case And(operands) | Or(operands):
                parts = [self.goals(part, positive) for part in operands]
                return _all(parts) if isinstance(formula, And) == positive else _any(parts)
            case Implies(left, right):
                parts = [self.goals(left, not positive), self.goals(right, positive)]
                return _any(parts) if positive else _all(parts)
            case Iff(left, right):
                both = [self.goals(left), self.goals(right, positive)]
                neither = [self.goals(left, False), self.goals(right, not positive)]
                return _any([_all(both), _all(neither)])
            case Compare(_, operators) if len(operators) > 1:
                return self.goals(links(formula), positive)
            case Compare():
                return self._atom(formula, positive)
        return None

    def _atom(self, node: Node, positive: bool) -> Goals | None:
        ranges = ranges_of(self.slicing, node, positive)
        if ranges is None:
            return None
        terms = [has_value(term) for term in ranges[0].total.partial]
        given = self.slicing.alternatives(And(tuple(terms)))
        if given is None:
            return None
        found = [Goal(part, each) for part in given if not part.is_empty for each in ranges]
        if not positive:
            for term in terms:
                missing = self.slicing.alternatives(term, False)
                if missing is None:
                    return None
                found += [Goal(part) for part in missing if not part.is_empty]
        return found

    # ---- extremes -------------------------------------------------------------------------------

    def cut_in(self, goal: Goal) -> tuple[Cut | None, bool]:
        """A cut that meets the goal, or none; and whether that is certain."""
        if goal.range is None:
            return goal.part.least, True
        part, wanted, total = goal.part, goal.range, goal.range.total
        if wanted.least is not None and wanted.most is not None and wanted.least > wanted.most:
            return None, True
        ends: list[Cut] = []
        for is_bounded, sign in ((wanted.most is not None, 1), (wanted.least is not None, -1)):
            if not is_bounded:
                continue
            changes = {place: sign * change for place, change in total.changes.items()}
            end = least_total(part, changes, self.budget.room_for)
            if end is None:
                return None, True
            value = total.at(end)
            if wanted.contains(value):
                return end, True
            # The extreme on the side of this bound: if it does not meet this bound, no cut does.
            if (value > (wanted.most or 0)) if sign > 0 else (value < (wanted.least or 0)):
                return None, True
            ends.append(end)
        lowest, highest = ends
        return self._between(part, wanted, lowest, highest)

    def _between(self, part: Slice, wanted: Range, lowest: Cut, highest: Cut) -> tuple[Cut | None, bool]:
        """The sum is below the range at one cut and above it at the other: walk from one to the other.

        A walk that misses the range proves only that a move jumps over it, so then nothing is certain.
        """
        bottom = meet(lowest, highest)
        for end in (lowest, highest):
            for cut, value in self._walk(part, wanted, bottom, end):
                if wanted.contains(value):
                    return tuple(cut), True
        return None, False

    def _walk(self, part: Slice, wanted: Range, start: Cut, end: Cut) -> Iterator[tuple[Sequence[int], int]]:
        """Cuts of the slice from one to a greater one, each with as few events more as the slice allows."""
        cut, value = list(start), wanted.total.at(start)
        yield cut, value
        for group in components(start, end, needs_of(part, start, end)):
            for process, count in group:
                cut[process] = max(cut[process], count)
                value += wanted.total.changes.get((process, count), 0)
            yield cut, value

    # ---- paths ----------------------------------------------------------------------------------

    def _path(self, goals: Goals, known: Sequence[tuple[Goal, Cut]]) -> Path:
        paths = [self._cut_off(self.path_to([cut]), goal) for goal, cut in known]
        path = min(paths, key=len)
        if not path or all(goal.range is None for goal in goals) or len(self.computation) > EXACT:
            return path
        cut = self._nearest_to(goals, len(path))
        return path if cut is None or size_of(self.computation, cut) >= len(path) else self.path_to([cut])

    def _nearest_to(self, goals: Goals, farthest: int) -> Cut | None:
        """The cut with the fewest steps that meets a goal, as far as it is found in time."""

        def add(encoding: Encoding) -> None:
            literals = [encoding.inside(goal.part) for goal in goals]
            for goal, literal in zip(goals, literals, strict=True):
                if goal.range is not None:
                    encoding.keep(goal.range, literal)
            encoding.clause(*literals)

        try:
            return nearest(self.slicing, whole(self.computation), add, PATIENCE, farthest)
        except UndecidedError:
            return None

    def _cut_off(self, path: Path, goal: Goal) -> Path:
        """The path up to its first cut that meets the goal."""
        if goal.range is None:
            return path
        trace, changes = self.slicing.computation.trace, goal.range.total.changes
        cut = list(self.computation.initial)
        value = goal.range.total.start
        for length, move in enumerate((None, *path)):
            for event in () if move is None else self.computation.events(move.step):
                place = trace.process[event], trace.position[event]
                cut[place[0]] = place[1]
                value += changes.get(place, 0)
            if goal.range.contains(value) and goal.part.contains(cut):
                return path[:length]
        return path


def _any(parts: Sequence[Goals | None]) -> Goals | None:
    found: Goals = []
    for part in parts:
        if part is None:
            return None
        found += part
    return found if len(found) <= MOST_ALTERNATIVES else None


def _all(parts: Sequence[Goals | None]) -> Goals | None:
    """Every combination of one goal each; two different sums at once are outside the class."""
    found: Goals | None = None
    for part in parts:
        if part is None or (found is not None and len(found) * len(part) > MOST_ALTERNATIVES):
            return None
        if found is None:
            found = part
            continue
        combined = [_both(first, second) for first, second in product(found, part)]
        if None in combined:
            return None
        found = [goal for goal in combined if goal is not None and not goal.part.is_empty]
    return found


def _both(first: Goal, second: Goal) -> Goal | None:
    part = conjunction([first.part, second.part])
    if first.range is None or second.range is None or part.is_empty:
        return Goal(part, first.range or second.range)
    shared = first.range.both(second.range)
    return None if shared is None else Goal(part, shared)
