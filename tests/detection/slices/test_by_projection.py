"""Slices from the cuts of what a formula reads: the smallest sublattice, as by closing these cuts."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.slices.by_projection import slice_by_projection
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.slicing import slice_trace
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.generate import BINARY, Formula, random_atom, random_trace
from tests.reference import Reference
from tests.sampling import sampled


class Case:
    """A run of several processes, and a formula that some but seldom all of its cuts satisfy."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.trace = random_trace(random, events=10)
        self.formula = formula(random, self.trace)
        self.node = bind(parse(self.formula.text, "ctl"), vocabulary(self.trace)).formula
        self.lattice = Lattice(Computation(self.trace))
        self.slicing = Slicing(self.lattice, CutPredicates(self.lattice, Readings(self.lattice.computation)))

    def satisfying(self) -> set[Cut]:
        """By the definition, of every cut as a set of events."""
        trace, reference, found = self.trace, Reference(self.trace), set()
        for cut in self.lattice.depth_first():
            counts = self.lattice.unpack(cut)
            inside = [e for e in range(len(trace)) if trace.position[e] <= counts[trace.process[e]]]
            if reference.satisfies(frozenset(inside), self.formula):
                found.add(counts)
        return found


def formula(random: Random, trace: Trace) -> Formula:
    def atom() -> Formula:
        text, meaning = random_atom(random, trace)
        return Formula("atom", text_of_atom=text, meaning=meaning)

    def state() -> Formula:
        return Formula(random.choice(["|", "&", "<->"]), (atom(), atom()))

    operator = random.choice(["AF", "EG", "AU", "EU", "AG", "EF", None])
    if operator is None:
        return state()
    found = Formula(operator, (state(), state()) if operator in BINARY else (state(),))
    return Formula("|", (found, atom())) if random.random() < 0.4 else found


def closed(cuts: set[Cut]) -> set[Cut]:
    found = set(cuts)
    while more := {f(c, d) for c in found for d in found for f in (meet, join)} - found:
        found |= more
    return found


@pytest.mark.parametrize("batch", range(20))
def test_it_is_the_smallest_sublattice(batch: int) -> None:
    made = 0
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(40)):
        case = Case(seed)
        found = slice_by_projection(case.slicing, case.node)
        if found is None or case.lattice.count_cuts() > 200:
            continue
        slice_, satisfies = found
        expected = case.satisfying()
        whole = closed(expected)
        assert set(slice_.cuts()) == whole, (seed, case.formula.text)
        assert {cut for cut in whole if satisfies(cut)} == expected, (seed, case.formula.text)
        made += 1
    assert made


def test_cuts_between_those_that_satisfy_it_are_in_the_slice() -> None:
    cases = [Case(seed) for seed in range(60)]
    found = [case.satisfying() for case in cases if case.lattice.count_cuts() <= 200]
    assert any(closed(cuts) > cuts for cuts in found)


MANY = " | ".join(f"p{number}: " + " ".join(f"x={k % 3}" for k in range(30)) for number in range(5))


def test_a_run_with_more_cuts_than_can_be_visited() -> None:
    """5 processes with 30 events each: 28 million cuts, of which 961 matter."""
    found = slice_trace(trace(MANY), "AF(p0.x == 2 & p1.x == 0)").slice
    assert found.exact and not found.is_empty
    assert "there are few" in slice_trace(trace(MANY), "A[p0.x < 2 U p1.x == 2]").made[0]


def test_too_many_cuts_and_counted_steps_are_left_to_others() -> None:
    for text in ("AF(p0.x + p1.x + p2.x + p3.x == 7)", "AX(p0.x < 2 | p1.x < 2)"):
        assert "there are few" not in slice_trace(trace(MANY), text).made[0]
