from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import possibly
from possibly.detection.slices.closure import sublattice
from possibly.errors import FormulaError
from possibly.order.computation import Computation, join, meet
from possibly.order.lattice import Lattice
from possibly.order.slice import Slice
from possibly.session.checking.slicing import slice_trace
from possibly.trace.notation import trace
from tests.detection.slices.test_slicing import Case
from tests.generate import CTL, random_formula, random_trace

FIGURES = Path(__file__).parents[3] / "examples" / "figures"


def test_figure_4_1_slice_has_the_two_cuts_that_complete_the_sublattice() -> None:
    run = possibly.load(FIGURES / "figure-4.1.jsonl")
    found = possibly.slice(run, "P1.x + P2.y - P3.z <= 1")
    cuts = list(found.cuts())
    assert (len(cuts), found.lean, found.exact) == (16, False, True)
    assert set(found.edges) == {("e1", "f1"), ("f2", "f1")}, "those that the trace does not imply"
    assert found.least == {"P1": 0, "P2": 0, "P3": 0} and found.greatest == {"P1": 3, "P2": 3, "P3": 2}


def test_all_channels_empty_makes_send_and_receive_one() -> None:
    """Figure 4.3: the slice for "all channels are empty" adds an edge from the receive to the send."""
    found = slice_trace(trace("P: e2!send(m>Q) e3 | Q: f2 f3!recv(m)"), "transit() == 0")
    assert found.edges == [("f3", "e2")] and found.slice.lean is True
    assert len(list(found.cuts())) == 4


def test_slice_of_a_predicate_that_nothing_satisfies_is_empty() -> None:
    found = slice_trace(trace("P(x=0): a{x=1}"), "P.x == 7")
    assert found.slice.is_empty and found.least is None and found.greatest is None
    assert found.edges == [("_top", "_bottom")] and list(found.cuts()) == []


def test_conjunctive_slice_lists_its_edges_with_the_fictitious_events() -> None:
    found = slice_trace(trace("P(x=0): a{x=1} b{x=0} c{x=1}"), "P.x == 1")
    assert set(found.edges) == {("a", "_bottom"), ("c", "b")}
    assert list(found.cuts()) == [{"P": 1}, {"P": 3}]
    last = slice_trace(trace("P(x=0): a{x=1} b{x=0}"), "P.x == 1")
    assert set(last.edges) == {("a", "_bottom"), ("_top", "b")}


@pytest.mark.parametrize("operators", [["&"], CTL])
@pytest.mark.parametrize("seed", range(80))
def test_slice_is_the_smallest_sublattice(seed: int, operators: list[str]) -> None:
    """For every formula, of whatever class, on traces small enough to visit."""
    random = Random(seed)
    case = Case(random_trace(random, events=7))
    text = random_formula(random, case.trace, operators, random.randint(0, 2)).text
    satisfying = case.satisfying(text)
    closed = set(satisfying)
    while more := {f(c, d) for c in closed for d in closed for f in (meet, join)} - closed:
        closed |= more
    found = slice_trace(case.trace, text)
    assert set(found.slice.cuts()) == closed, text
    assert found.slice.exact and found.slice.lean == (closed == satisfying)


def test_approximate_slice_contains_every_satisfying_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.detection.slices.closure.FEW_CUTS", 3)
    for seed in range(40):
        random = Random(seed)
        case = Case(random_trace(random, events=7))
        parts = [random_formula(random, case.trace, ["&"], 1).text for _ in range(2)]
        text = f"({parts[0]}) & ({parts[1]})"
        found: Slice = slice_trace(case.trace, text).slice
        assert case.satisfying(text) <= set(found.cuts()), text
        assert found.exact or found.lean is None


def test_sublattice_of_one_cut_is_that_cut() -> None:
    order = Computation(trace("P: a b | Q: c"))
    assert list(sublattice(order, [(1, 1)]).cuts()) == [(1, 1)]
    assert len(list(sublattice(order, Lattice(order).lexical()).cuts())) == 6


def test_errors_point_into_the_predicate() -> None:
    with pytest.raises(FormulaError) as caught:
        slice_trace(trace("P(x=0): a"), "P.x == ", what="PREDICATE")
    assert (caught.value.file, caught.value.column) == ("PREDICATE", 7)


def test_the_skeletal_representation_of_figure_4_1_has_its_cuts() -> None:
    run = possibly.load(FIGURES / "figure-4.1.jsonl")
    found = possibly.slice(run, "P1.x + P2.y - P3.z <= 1")
    edges = list(found.skeleton())
    assert ("f2", "f1") in edges and ("e1", "f1") in edges
    places = {run.trace.name(event): run.computation.place(event) for event in range(len(run.trace))}
    bare = Slice(
        run.computation,
        run.computation.initial,
        run.computation.final,
        edges=tuple((places[e], places[f]) for e, f in edges),
    )
    assert {tuple(cut.values()) for cut in found.cuts()} == set(bare.cuts())


@pytest.mark.parametrize("word", ["and", "or"])
@pytest.mark.parametrize("seed", range(40))
def test_joined_slices_have_the_cuts_of_the_whole(seed: int, word: str) -> None:
    """Where it calls itself exact, the join of two slices is the slice of both predicates together."""
    random = Random(seed)
    run = random_trace(random, events=7)
    first, second = (random_formula(random, run, ["&"], 1).text for _ in range(2))
    joined = slice_trace(run, first, joined=word, more=(second,))
    whole = slice_trace(run, f"({first}) {'&' if word == 'and' else '|'} ({second})")
    cuts = {tuple(cut.items()) for cut in joined.cuts()}
    wanted = {tuple(cut.items()) for cut in whole.cuts()}
    assert cuts == wanted if joined.slice.exact else cuts >= wanted
