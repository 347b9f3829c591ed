"""The slice of a predicate for which EF can be tested: exact, on long runs, without visiting their cuts.

Here belongs the equivalence of slicing and EF (Sen's thesis, section 4.3: Algo 4.3 with theorem 4.5; Mittal,
Sen and Garg, "Solving computation slicing using predicate detection"): an edge (e, f) is in the slice iff
no satisfying cut contains f and not e. Which test there is depends on the class:

    stable              the greatest cut without e tells of all cuts without e: few evaluations, by halving,
                        and the slice is all cuts above its least one
    co-stable           the least cut with f tells of all cuts with f: the slice is all cuts below its last
    co-linear           a meet-closed complement is all of the cuts between two cuts iff it has their top and
                        all their meet-irreducible cuts (Algo 6.5), the greatest ones without one event each
    co-post-linear      the mirror image: the bottom and the join-irreducible cuts
    relational          the extremes of the sum between the two cuts: by those of a box around them where
                        these tell already, else by maximum flow

Theory of operation. J(f)[j] is the least number of events of process j in a satisfying cut with f. Along a
process it never sinks, so a search goes on from the event before. Every satisfying cut that a test finds
answers many later questions: of the cuts known so far, for each pair of processes (i, j), a staircase keeps
how far i gets with how few of j. A question asks for more than it needs, twice as much each time that this
succeeds; so the number of tests is that of the steps of J rather than that of events, unless steps are many.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from possibly.detection.limits import MissingExtraError
from possibly.detection.slices.slicing import Slicing
from possibly.detection.sums.bounds import SumBounds
from possibly.logic.predicates.classes import classify
from possibly.logic.predicates.functions import is_state
from possibly.logic.syntax import Node, Not
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.slice import Edge, Slice, nothing, whole
from possibly.records import replace

if TYPE_CHECKING:
    from possibly.detection.sums.relational import Goal, Relational

MOST_WORK = 4_000_000
"""Events times tests by maximum flow, after which an exact slice is given up."""
MOST_STAIRS = 4_000_000
"""Pairs of processes times events, as every cut that is found is noted for each pair."""
MOST_PAIRS = 4_000_000
"""Evaluations for a complement that is closed, which are one for each pair of events."""

Test = Callable[[Cut, Cut], Cut | None]
"""A satisfying cut between two cuts, if there is one. The first need not lie inside the second."""


class UndecidedTestError(Exception):
    """A test that does not know, or one too many."""


def slice_by_test(slicing: Slicing, formula: Node) -> Slice | None:
    """The exact slice of a predicate of one of the classes; None: it is of none, or that takes too long."""
    if not is_state(formula):
        return None
    classes = classify(formula, slicing.predicates.declared).classes
    if "stable" in classes:
        return _above(slicing, formula)
    if "co-stable" in classes:
        return _below(slicing, formula)
    try:
        if "co-linear" in classes and _has_room(slicing.computation):
            return _Search(slicing.computation, _Closed(slicing, formula, upward=False)).slice()
        if "co-post-linear" in classes and _has_room(slicing.computation):
            return _Search(slicing.computation, _Closed(slicing, formula, upward=True)).slice()
        return _relational(slicing, formula)
    except (UndecidedTestError, MissingExtraError):
        return None


def _has_room(computation: Computation) -> bool:
    return len(computation.trace) ** 2 <= MOST_PAIRS


def slice_of_complement(slicing: Slicing, formula: Node, low: Cut, high: Cut) -> Slice:
    """The slice of the negation of a regular predicate, of the cuts between two cuts alone."""
    test = _Closed(slicing, Not(formula), upward=False, within=(low, high))
    return _Search(slicing.computation, test, (low, high)).slice()


# ---- stable and co-stable ---------------------------------------------------------------------------


def _above(slicing: Slicing, formula: Node) -> Slice:
    """Every satisfying cut contains e iff the greatest cut without e does not satisfy a stable predicate."""
    computation, holds = slicing.computation, _holds(slicing, formula)
    if not holds(computation.final):
        return nothing(computation)

    def is_needed(process: int, position: int) -> bool:
        return not holds(_without(computation, process, position))

    low = [_last(length, partial(is_needed, process)) for process, length in _chains(computation)]
    return replace(whole(computation), low=tuple(low), lean=None)


def _below(slicing: Slicing, formula: Node) -> Slice:
    computation, holds = slicing.computation, _holds(slicing, formula)
    if not holds(computation.initial):
        return nothing(computation)

    def is_possible(process: int, position: int) -> bool:
        return holds(_with(computation, process, position))

    high = [_last(length, partial(is_possible, process)) for process, length in _chains(computation)]
    return replace(whole(computation), high=tuple(high), lean=None)


def _chains(computation: Computation) -> Iterator[tuple[int, int]]:
    return enumerate(computation.lengths)


def _last(length: int, is_so: Callable[[int], bool]) -> int:
    """The last position for which it is so; it is so up to there. By halving."""
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_so(middle) else (low, middle - 1)
    return low


def _holds(slicing: Slicing, formula: Node) -> Callable[[Sequence[int]], bool]:
    predicate, pack = slicing.predicates(formula), slicing.lattice.pack
    return lambda cut: predicate(pack(tuple(cut)))


def _with(computation: Computation, process: int, position: int) -> Cut:
    """The least cut that contains the event."""
    return computation.closure({process: position})


def _without(computation: Computation, process: int, position: int) -> Cut:
    """The greatest cut that does not contain the event."""
    high = list(computation.final)
    high[process] = position - 1
    found = replace(whole(computation), high=tuple(high)).greatest
    assert found is not None, "the initial cut is one"
    return found


# ---- complements that are closed --------------------------------------------------------------------


class _Closed:
    """A test for predicates whose complement is closed under meet, or (`upward`) under join."""

    def __init__(
        self, slicing: Slicing, formula: Node, *, upward: bool, within: tuple[Cut, Cut] | None = None
    ) -> None:
        self._holds = _holds(slicing, formula)
        self._upward = upward
        computation = slicing.computation
        make = _with if upward else _without
        self._first, last = within or (computation.initial, computation.final)
        self._irreducible = [
            [make(computation, process, position + 1) for position in range(first, end)]
            for process, (first, end) in enumerate(zip(self._first, last, strict=True))
        ]

    def __call__(self, low: Cut, high: Cut) -> Cut | None:
        for cut in self._candidates(low, high):
            if self._holds(cut):
                return cut
        return None

    def _candidates(self, low: Cut, high: Cut) -> Iterator[Cut]:
        """The top and the meet-irreducible cuts between the two; or the bottom and the join-irreducible."""
        yield low if self._upward else high
        for process, (cuts, first) in enumerate(zip(self._irreducible, self._first, strict=True)):
            for cut in cuts[low[process] - first : high[process] - first]:
                if self._upward:
                    if all(map(int.__le__, cut, high)):
                        yield join(low, cut)
                elif all(map(int.__le__, low, cut)):
                    yield meet(high, cut)


# ---- relational -------------------------------------------------------------------------------------


def _relational(slicing: Slicing, formula: Node) -> Slice | None:
    from possibly.detection.sums.relational import Relational

    computation = slicing.computation
    if len(computation.lengths) ** 2 * len(computation.trace) > MOST_STAIRS:
        return None
    engine = Relational(slicing)
    goals = engine.goals(formula)
    if goals is None or all(goal.range is None for goal in goals):
        return None
    test = _Sums(engine, goals)
    return _Search(slicing.computation, test).slice(_observed(slicing, formula))


class _Sums:
    """A test for goals of sums: by their bounds in a box where these tell, else by maximum flow."""

    def __init__(self, engine: Relational, goals: Sequence[Goal]) -> None:
        computation = engine.slicing.computation
        self._engine = engine
        self._goals = [
            (goal, None if goal.range is None else SumBounds(goal.range.total, computation.lengths))
            for goal in goals
        ]
        self._left = MOST_WORK // max(1, len(computation.trace))

    def __call__(self, low: Cut, high: Cut) -> Cut | None:
        for goal, bounds in self._goals:
            part = replace(goal.part, low=join(goal.part.low, low), high=meet(goal.part.high, high))
            if any(map(int.__gt__, part.low, part.high)):
                continue
            found = part.least if bounds is None else self._in_range(part, goal, bounds)
            if found is not None:
                return found
        return None

    def _in_range(self, part: Slice, goal: Goal, bounds: SumBounds) -> Cut | None:
        wanted = goal.range
        assert wanted is not None
        for bound, sign in ((wanted.most, 1), (wanted.least, -1)):
            if bound is None:
                continue
            value, point = bounds.extreme(part.low, part.high, sign)
            if sign * value > sign * bound:
                return None  # no point of the box meets it, so no cut does
            for cut in (part.least_from(point), part.greatest_from(point)):
                if cut is not None and wanted.contains(bounds.at(cut)):
                    return cut
        return self._by_flow(part, goal)

    def _by_flow(self, part: Slice, goal: Goal) -> Cut | None:
        self._left -= 1
        if self._left < 0:
            raise UndecidedTestError
        found, is_certain = self._engine.cut_in(dataclasses.replace(goal, part=part))
        if found is None and not is_certain:
            raise UndecidedTestError
        return found


def _observed(slicing: Slicing, formula: Node) -> Iterator[Cut]:
    """The satisfying cuts of the observed run: they cost little and answer much."""
    holds, computation = _holds(slicing, formula), slicing.computation
    cut = list(computation.initial)
    if holds(cut):
        yield tuple(cut)
    for step in computation.steps:
        for event in computation.events(step):
            process, position = computation.place(event)
            cut[process] = position
        if holds(cut):
            yield tuple(cut)


# ---- the search -------------------------------------------------------------------------------------


class _Staircase:
    """Of pairs (few of one process, far on another) those that no other one beats."""

    __slots__ = ("far", "few")

    def __init__(self) -> None:
        self.few: list[int] = []
        self.far: list[int] = []

    def reach(self, few: int) -> int:
        """How far one gets with at most so few; -1: nothing is known."""
        number = bisect_right(self.few, few)
        return self.far[number - 1] if number else -1

    def least(self, far: int) -> int | None:
        """With how few one is known to get that far."""
        number = bisect_right(self.far, far - 1)
        return self.few[number] if number < len(self.few) else None

    def add(self, few: int, far: int) -> None:
        if self.reach(few) >= far:
            return
        first = bisect_right(self.few, few - 1)
        last = first
        while last < len(self.few) and self.far[last] <= far:
            last += 1
        self.few[first:last] = [few]
        self.far[first:last] = [far]


class _Search:
    """Finds J(f) for every event f by tests between two cuts."""

    def __init__(self, computation: Computation, test: Test, within: tuple[Cut, Cut] | None = None) -> None:
        self.computation = computation
        self._test = test
        self._within = within or (computation.initial, computation.final)
        """No cut outside these two is of interest."""
        count = len(computation.lengths)
        self._stairs = [[_Staircase() for _ in range(count)] for _ in range(count)]
        """By i and j: how far i gets with how few of j."""
        self._stride = [[0] * count for _ in range(count)]
        """By how much more than needed is asked for."""

    def slice(self, known: Iterable[Cut] = ()) -> Slice:
        for cut in known:
            self._add(cut)
        computation = self.computation
        if not self._can(0, 0, 0, computation.final[0]) if computation.lengths else True:
            return self._without_processes()
        low = tuple(self._fewest(process, 0, process, 0) for process, _ in _chains(computation))
        high = tuple(_last(length, partial(self._gets, process)) for process, length in _chains(computation))
        edges = tuple(edge for process in range(len(low)) for edge in self._edges(process, low, high))
        return Slice(computation, low, high, edges=edges, lean=None)

    def _gets(self, process: int, position: int) -> bool:
        return self._can(process, position, process, self.computation.lengths[process])

    def _without_processes(self) -> Slice:
        """No cut satisfies it; a run without processes has one cut, the empty one."""
        is_there = not self.computation.lengths and self._test((), ()) is not None
        return whole(self.computation) if is_there else nothing(self.computation)

    def _edges(self, process: int, low: Cut, high: Cut) -> Iterator[Edge]:
        """J of each event where it is more than that of the one before and the trace's own order."""
        before = list(low)
        for position in range(low[process] + 1, high[process] + 1):
            clock = self.computation.clock(self.computation.at(process, position))
            for other in range(len(low)):
                bound = max(before[other], clock[other])
                before[other] = self._fewest(process, position, other, bound)
                if before[other] > bound:
                    yield (other, before[other]), (process, position)

    def _fewest(self, i: int, k: int, j: int, bound: int) -> int:
        """The least number of events of j, from the bound on, in a satisfying cut with k events of i."""
        if self._can(i, k, j, bound):
            return bound
        high = self._stairs[i][j].least(k)
        assert high is not None, "the greatest cut has been found"
        low = bound + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._can(i, k, j, middle) else (middle + 1, high)
        return low

    def _can(self, i: int, k: int, j: int, most: int) -> bool:
        """Whether a satisfying cut has at least k events of i and at most so many of j."""
        if self._stairs[i][j].reach(most) >= k:
            return True
        stride = self._stride[i][j]
        far = min(k + stride, self.computation.lengths[i])
        if far > k:
            self._stride[i][j] = 2 * stride if self._ask(i, far, j, most) else 0
            if self._stairs[i][j].reach(most) >= k:
                return True
        if not self._ask(i, k, j, most):
            return False
        self._stride[i][j] = max(1, self._stride[i][j])
        return True

    def _ask(self, i: int, k: int, j: int, most: int) -> bool:
        low, high = self._within
        if k > low[i]:
            low = join(low, self.computation.closure({i: k}))
        if low[j] > most or k > high[i]:
            return False
        if most < high[j]:
            high = meet(high, _without(self.computation, j, most + 1))
        if any(map(int.__gt__, low, high)):
            return False
        found = self._test(low, high)
        if found is not None:
            self._add(found)
        return found is not None

    def _add(self, cut: Cut) -> None:
        for i, far in enumerate(cut):
            for j, few in enumerate(cut):
                self._stairs[i][j].add(few, far)
