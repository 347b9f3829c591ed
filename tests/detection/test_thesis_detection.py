"""Figures 5.12, 6.3, 6.5, 6.10 and 6.12 of Sen's thesis, as far as its text tells them.

The drawings are lost. Every cut and every edge that the text names agrees with the computation of figure
2.4 (three events each, f1 before e1), which is taken for all of them. Where the text does not say which cuts
satisfy a predicate, the predicate is one for which all that it says is true; such a choice is named.
"""

from __future__ import annotations

import possibly
from possibly.detection.limits import Budget
from possibly.detection.slices.closure import slice_of, sublattice
from possibly.detection.slices.oracle import Oracle
from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import Declaration, bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node, Not
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.notation import trace

RUN = trace(
    """
    P1(x=0): e1!recv(m){x=1} e2{x=2} e3{x=3}
    P2(y=0): f1!send(m){y=1} f2{y=2} f3{y=3}
    """
)
"""x and y count the events, so that a predicate can name cuts."""


class Figure:
    def __init__(self, text: str, declared: str | None = None) -> None:
        self.lattice = Lattice(Computation(RUN))
        self.predicate: Node = bind(parse(text, "ctl"), vocabulary(RUN)).formula
        words = {self.predicate: Declaration("p", declared)} if declared else {}
        self.predicates = CutPredicates(self.lattice, Readings(self.lattice.computation), words)
        self.slicing = Slicing(self.lattice, self.predicates)

    def cuts(self) -> set[Cut]:
        return {self.lattice.unpack(cut) for cut in self.lattice.depth_first()}

    def holds(self, cut: Cut) -> bool:
        return self.predicates(self.predicate)(self.lattice.pack(cut))

    def successors(self, cut: Cut) -> set[Cut]:
        return {self.lattice.unpack(after) for after in self.lattice.successors(self.lattice.pack(cut))}

    def meet_irreducible(self) -> set[Cut]:
        """Exactly one upper cover."""
        return {cut for cut in self.cuts() if len(self.successors(cut)) == 1}


def at(*cuts: Cut) -> str:
    """A predicate that is true at these cuts alone."""
    return " | ".join(f"P1.x == {x} & P2.y == {y}" for x, y in cuts)


def test_figure_5_12_a_nested_formula_by_slices_of_its_parts() -> None:
    """p is y >= 6, q is 2 <= x <= 4 and y >= 2. Chosen: the values, so that AG's slice is empty as told."""
    run = trace(
        """
        P1(x=0): e1!recv(m){x=2} e2{x=4} e3{x=5}
        P2(y=0): f1!send(m){y=1} f2{y=3} f3{y=6}
        """
    )
    p, q = "P2.y >= 6", "2 <= P1.x & P1.x <= 4 & P2.y >= 2"
    slices = {
        text: {tuple(cut.values()) for cut in possibly.slice(run, text).cuts()}
        for text in (q, f"EF({q})", p, f"{p} & EF({q})", f"AG({p} & EF({q}))")
    }
    assert slices[q] == {(1, 2), (1, 3), (2, 2), (2, 3)}
    assert slices[f"EF({q})"] == {(x, y) for x in range(3) for y in range(4) if y or not x}
    assert slices[p] == {(x, 3) for x in range(4)}
    assert slices[f"{p} & EF({q})"] == {(0, 3), (1, 3), (2, 3)}
    assert possibly.slice(run, f"AG({p} & EF({q}))").is_empty
    # Section 6.3: the initial cut is not in the empty slice, so it is false; its formula there is the second.
    for text in (f"AG({p} & EF({q}))", f"AG(!({p}) | EF({q}))"):
        found = possibly.check(run, ctl=text)
        assert found.holds is False and found.verdict.engine == "slice"


def test_figure_6_3_the_condition_on_meet_irreducible_cuts_is_not_needed() -> None:
    """The successor of {f3} satisfies p, so theorem 6.10 does not apply; yet AF(p) is false.

    Chosen: p is true at that successor, {e1, f3}, alone."""
    figure = Figure(at((1, 3)))
    assert (0, 3) in figure.meet_irreducible() and figure.successors((0, 3)) == {(1, 3)}
    assert {(2, 3), (3, 2)} <= figure.meet_irreducible(), "the predecessors of the final cut"
    assert not figure.holds((0, 0)) and figure.holds((1, 3))
    found = possibly.check(RUN, ctl=f"AF({at((1, 3))})")
    assert found.holds is False and found.witness is not None and len(found.witness.path) == 6


def test_figure_6_5_the_slice_of_the_complement_may_be_everything() -> None:
    """AF(p) holds, and the closure of the cuts without p is all cuts: theorem 6.16 does not tell.

    Chosen: p is true at {f1} alone, which every observation passes."""
    figure = Figure(at((0, 1)))
    outside = {cut for cut in figure.cuts() if not figure.holds(cut)}
    assert outside == figure.cuts() - {(0, 1)}
    assert set(sublattice(figure.lattice.computation, outside).cuts()) == figure.cuts()
    assert set(slice_of(figure.slicing, Not(figure.predicate)).cuts()) == figure.cuts()
    assert possibly.check(RUN, ctl=f"AF({at((0, 1))})").holds is True


def test_figure_6_10_a_full_path_is_found_backwards() -> None:
    """The full path that the text gives; chosen: p is true along it alone, so it is the only one."""
    path = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 3), (3, 3)]
    figure = Figure(at(*path), "linear")
    assert all(meet(a, b) in path for a in path for b in path), "linear"
    engine = Oracle(figure.lattice, figure.predicates, Budget(), figure.predicates.declared)
    formula = bind(parse(f"EG({at(*path)})", "ctl"), vocabulary(RUN)).formula
    found = engine.decide(formula)
    assert found is not None and found.value and found.path is not None
    cut, passed = figure.lattice.initial, [(0, 0)]
    for move in found.path:
        cut += move.delta
        passed.append(figure.lattice.unpack(cut))  # type: ignore[arg-type]
    assert passed == path and found.assumed == ("p: linear",)


def test_figure_6_12_meet_irreducible_cuts_are_as_many_as_events() -> None:
    """The four that the text names, {f2} as their meet, and every cut as the meet of those above it."""
    figure = Figure("true")
    irreducible = figure.meet_irreducible()
    named = {(0, 3), (1, 3), (2, 3), (3, 2)}
    assert named <= irreducible and len(irreducible) == len(RUN)
    above = {cut for cut in irreducible if join(cut, (0, 2)) == cut}
    assert above == named
    final = figure.lattice.computation.final
    for cut in figure.cuts():
        found = final
        for other in irreducible:
            found = meet(found, other) if join(other, cut) == other else found
        assert found == cut


def test_figure_6_12_an_invariant_needs_those_cuts_alone() -> None:
    """AG of a linear predicate that fails at {f2} alone of its kind: it must fail at one of them too."""
    figure = Figure(at(*(Figure("true").cuts() - {(0, 2)})))
    inside = {cut for cut in figure.cuts() if figure.holds(cut)}
    assert not all(meet(a, b) in inside for a in inside for b in inside), "so this one is not linear"
    for broken in Figure("true").meet_irreducible() | {(3, 3)}:
        text = at(*(Figure("true").cuts() - {broken}))
        one = Figure(text, "linear")
        engine = Oracle(one.lattice, one.predicates, budget := Budget(), one.predicates.declared)
        found = engine.decide(bind(parse(f"AG({text})", "ctl"), vocabulary(RUN)).formula)
        assert found is not None and not found.value and found.path is not None
        assert one.lattice.unpack(one.lattice.initial + sum(move.delta for move in found.path)) == broken
        assert budget.visited <= len(RUN) + 1
