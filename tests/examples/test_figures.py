"""The numbers that the thesis prints for the examples shipped."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import possibly
from possibly.logic.specification import read_specification
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.session.checking.check import Options, check_trace
from possibly.trace import load
from possibly.verdict.model import Report, Truth

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def order(name: str) -> Computation:
    return Computation(load(EXAMPLES / f"{name}.jsonl"))


def report(run: str, specification: str) -> Report:
    text = (EXAMPLES / specification).read_text()
    return check_trace(load(EXAMPLES / run), read_specification(text), Options())


def closed(cuts: Iterable[Cut]) -> set[Cut]:
    """The smallest sublattice that contains the cuts."""
    found = set(cuts)
    while more := {f(a, b) for a in found for b in found for f in (meet, join)} - found:
        found |= more
    return found


def join_irreducible(cuts: set[Cut]) -> set[Cut]:
    """Those that are no join of others below them, the least one left out."""
    found = set()
    for cut in cuts:
        below = [other for other in cuts if other != cut and join(other, cut) == cut]
        joined = below[0] if below else cut
        for other in below:
            joined = join(joined, other)
        if joined != cut:
            found.add(cut)
    return found


def test_figure_2_4_has_ten_interleavings() -> None:
    lattice = Lattice(order("figures/figure-2.4"))
    assert lattice.count_observations() == 10
    assert lattice.count_cuts() == 13


def test_figure_2_4_statements_of_example_2_19() -> None:
    computation = order("figures/figure-2.4")
    trace = computation.trace
    assert not computation.is_consistent((1, 0)), "{e1} misses the send f1"
    assert [trace.name(e) for e in computation.enabled((0, 1))] == ["e1", "f2"]
    assert "f3" not in [trace.name(e) for e in computation.enabled((1, 1))]
    assert [trace.name(e) for e in computation.frontier((3, 2))] == ["e3", "f2"]
    assert [trace.name(step) for step in computation.steps] == ["f1", "e1", "e2", "e3", "f2", "f3"]


def test_figure_2_4_error_at_a_cut_the_run_did_not_pass() -> None:
    no_error, ordered = report("figures/figure-2.4.jsonl", "figures/figure-2.4.spec").verdicts
    assert no_error.truth is Truth.VIOLATED and no_error.observed is True
    assert no_error.witness is not None and no_error.witness.cut == {"P1": 2, "P2": 3}
    assert ordered.truth is Truth.HOLDS


def test_figure_1_2_holds_in_the_run_and_fails_in_another_order() -> None:
    (mutex,) = report("mutex/run.jsonl", "mutex/mutex.spec").verdicts
    assert mutex.truth is Truth.VIOLATED and mutex.observed is True
    assert mutex.witness is not None
    assert mutex.witness.path == ("f0", "f1", "e0", "e1", "e2")
    assert mutex.explanation is not None and mutex.explanation.missing is not None
    missing = mutex.explanation.missing
    assert (missing.first.event, missing.second.event, missing.suffices) == ("f2", "e2", True)


def test_figure_1_2_places_are_lines_of_the_program() -> None:
    trace = load(EXAMPLES / "mutex/run.jsonl")
    lines = (EXAMPLES / "mutex/mutex.py").read_text().splitlines()
    places = {trace.name(e): trace.event(e).at for e in range(len(trace))}
    found = {name: lines[int(place.partition(":")[2]) - 1].strip() for name, place in places.items() if place}
    assert found == {
        "e0": 'print("P1 starts")',
        "e1": "turn.get()",
        "e2": 'enter("P1")',
        "f0": 'print("P2 starts")',
        "f1": 'turn.put(enter("P2"))',
        "f2": 'leave("P2")',
    }


def test_figure_4_1_irreducible_cuts_and_smallest_sublattice() -> None:
    run = possibly.load(EXAMPLES / "figures/figure-4.1.jsonl")
    cuts = set(Lattice(run.computation).lexical())
    assert len(join_irreducible(cuts)) == len(dict(run.computation.join_irreducible())) == 8
    shaded = {cut for cut in cuts if _is_shaded(run, cut)}
    sublattice = closed(shaded)
    assert len(sublattice - shaded) == 2, "P and Q complete the sublattice"
    assert len(join_irreducible(sublattice)) == 7, "T, U, V, W, X, Y and Z"
    for U in join_irreducible(sublattice):
        assert U in cuts


def _is_shaded(run: possibly.RecordedRun, cut: Cut) -> bool:
    from possibly.logic.bind import bind
    from possibly.logic.parser import parse
    from possibly.order.predicate import CutPredicates
    from possibly.order.state import Readings
    from possibly.order.vocabulary import vocabulary

    lattice = Lattice(run.computation)
    node = bind(parse("P1.x + P2.y - P3.z <= 1", "predicate"), vocabulary(run.trace)).formula
    return CutPredicates(lattice, Readings(run.computation))(node)(lattice.pack(cut))
