"""Slices against the plain engine: the same cuts, the same least and greatest ones, on generated cases."""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from types import FrameType
from typing import Any

import pytest

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice, conjunction, disjunction, whole
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.generate import Formula, random_formula, random_trace
from tests.sampling import sampled
from tests.twins import needs_kernels

OPERATORS = ["EF", "AG", "EG", "AF", "EX[]", "EX", "AX"]


class Case:
    """A trace with its slices, and the plain engine for the same lattice."""

    def __init__(self, run: Trace) -> None:
        self.trace = run
        self.computation = Computation(run)
        self.lattice = Lattice(self.computation)
        self.predicates = CutPredicates(self.lattice, Readings(self.computation))
        self.slicing = Slicing(self.lattice, self.predicates)
        self.plain = Exhaustive(self.lattice, self.predicates, Budget())

    def satisfying(self, text: str) -> set[Cut]:
        node = bind(parse(text, "ctl"), vocabulary(self.trace)).formula
        cuts = self.lattice.depth_first()
        return {self.lattice.unpack(cut) for cut in cuts if self.plain.at(node, cut)}

    def alternatives(self, text: str) -> list[Slice] | None:
        return self.slicing.alternatives(bind(parse(text, "ctl"), vocabulary(self.trace)).formula)


def check(slices: list[Slice], expected: set[Cut], lattice: Lattice, what: str) -> None:
    everything = {lattice.unpack(cut) for cut in lattice.depth_first()}
    assert {cut for cut in everything if any(part.contains(cut) for part in slices)} == expected, what
    for part in slices:
        cuts = {cut for cut in everything if part.contains(cut)}
        assert set(part.cuts()) == cuts, what
        assert part.is_empty == (not cuts)
        assert part.least == (min(cuts, key=sum) if cuts else None), what
        assert part.greatest == (max(cuts, key=sum) if cuts else None), what
        assert all(meet(c, d) in cuts and join(c, d) in cuts for c in cuts for d in cuts), what


@pytest.mark.parametrize("batch", range(20))
def test_alternatives_are_exactly_the_satisfying_cuts(batch: int) -> None:
    sliced: Counter[bool] = Counter()
    for seed in range(batch * 10_000, batch * 10_000 + sampled(40)):
        random = Random(seed)
        case = Case(random_trace(random, events=random.randint(0, 7)))
        formula: Formula = random_formula(random, case.trace, OPERATORS, random.randint(0, 3))
        found = case.alternatives(formula.text)
        sliced[found is not None] += 1
        if found is not None:
            lines = "\n".join(str(case.trace.event(e)) for e in range(len(case.trace)))
            check(found, case.satisfying(formula.text), case.lattice, f"{formula.text}\n{lines}")
    assert sliced[True] > sampled(15)


def test_nested_temporal_formulas_of_conjunctive_predicates_are_always_sliced() -> None:
    case = Case(trace("P(x=0): a{x=1} send(m) b{x=0} | Q(y=0): c{y=1} recv(m) d{y=2}"))
    for text in (
        "EF(P.x == 1 & EG(Q.y > 0))",
        "AG(P.x == 1 -> AF(Q.y == 2))",
        "AG(EF(P.x == 0 & Q.y == 2))",
        "EX[P](EF(Q.y == 1) & transit(P, Q) <= 0)",
        "!EF(AG(P.x == 0) & transit() == 0)",
    ):
        found = case.alternatives(text)
        assert found is not None, text
        check(found, case.satisfying(text), case.lattice, text)


@pytest.mark.parametrize("seed", range(60))
def test_disjunction_is_the_smallest_sublattice(seed: int) -> None:
    random = Random(seed)
    case = Case(random_trace(random, events=7))
    parts: list[Slice] = []
    while len(parts) < 2:
        found = case.alternatives(random_formula(random, case.trace, ["&"], 1).text)
        parts += found[:2] if found else []
    union = {cut for part in parts for cut in part.cuts()}
    while more := {f(c, d) for c in union for d in union for f in (meet, join)} - union:
        union |= more
    slice_ = disjunction(parts)
    assert set(slice_.cuts()) == union
    assert (slice_.least, slice_.greatest) == (
        min(union, key=sum, default=None),
        max(union, key=sum, default=None),
    )


def test_conjunction_keeps_all_constraints() -> None:
    case = Case(trace("P(x=0): a{x=1} b{x=0} | Q(y=0): c{y=1}"))
    first, second = case.alternatives("P.x == 1"), case.alternatives("Q.y == 1")
    assert first and second
    both = conjunction([*first, *second])
    assert set(both.cuts()) == {(1, 1)} and both.lean is True and both.exact
    assert set(whole(case.computation).cuts()) == {case.lattice.unpack(c) for c in case.lattice.depth_first()}


def test_edges_of_a_slice_give_its_cuts() -> None:
    """The cuts of the trace plus the listed edges are the cuts of the slice."""
    for seed in range(100):
        random = Random(seed)
        case = Case(random_trace(random, events=7))
        found = case.alternatives(random_formula(random, case.trace, ["EF", "AG", "EG"], 2).text)
        for part in found or []:
            edges = list(part.all_edges())
            cuts = {
                cut for cut in map(case.lattice.unpack, case.lattice.depth_first()) if _closed(cut, edges)
            }
            assert cuts == set(part.cuts())


def _closed(cut: Cut, edges: list[tuple[tuple[int, int] | None, tuple[int, int] | None]]) -> bool:
    def inside(place: tuple[int, int] | None, fictitious: bool) -> bool:
        return fictitious if place is None else cut[place[0]] >= place[1]

    return all(inside(e, False) or not inside(f, True) for e, f in edges)


def four_among(processes: int) -> Trace:
    """Four processes that send to each other, and others with one event each."""
    random, builder = Random(1), TraceBuilder()
    builder.header([(f"P{number}", {"x": 0}) for number in range(processes)])
    for number in range(100):
        sender, receiver = random.sample(range(4), 2)
        builder.add(f"P{sender}", kind="send", msg=f"m{number}", set={"x": random.randrange(3)})
        builder.add(f"P{receiver}", kind="receive", msg=f"m{number}", set={"x": random.randrange(3)})
    for number in range(4, processes):
        builder.add(f"P{number}", set={"x": 1})
    return builder.finish()


def lines_for(run: Trace, text: str) -> int:
    """How many lines of Python it takes to slice a formula and to find the ends of its slices."""
    node, counted = bind(parse(text, "ctl"), vocabulary(run)).formula, Counter[str]()
    computation = Computation(run)

    def count(frame: FrameType, event: str, argument: object) -> Any:
        counted[event] += 1
        return count

    for _ in range(2):
        lattice = Lattice(computation)
        slicing = Slicing(lattice, CutPredicates(lattice, Readings(computation)))
        before = sys.gettrace()
        counted.clear()
        sys.settrace(count)
        try:
            parts = slicing.alternatives(node)
            found = [(part.least, part.greatest) for part in parts or ()]
        finally:
            sys.settrace(before)
        assert found
    return counted["line"]


@needs_kernels
@pytest.mark.parametrize(
    "text",
    [
        "P0.x == 1 & P1.x == 2 & EG(P0.x != 9 & P1.x != 9)",
        "EF(P0.x == 1 & P1.x == 1 & P2.x == 2) & P3.x == 1",
        "P0.x == 1 & AG(P1.x != 3 & P2.x != 3)",
        "EF(P0.x == 1 & EF(P2.x == 2 & AG(P0.x != 5 & EG(P1.x != 7))))",
    ],
)
def test_processes_that_a_formula_does_not_name_cost_no_python(text: str) -> None:
    """Whatever is done for each of them is done by the kernels, or to whole columns."""
    few, many = lines_for(four_among(10), text), lines_for(four_among(500), text)
    assert few == many > 10
