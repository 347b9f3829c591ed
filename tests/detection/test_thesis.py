"""Examples of Sen's thesis that can be rebuilt from its text, as slices given by their edges.

The drawings are lost in the text. The computation of figure 5.1 is taken to be that of figure 2.4, with
which every cut that the text lists agrees.
"""

from __future__ import annotations

from itertools import pairwise

from possibly.detection.slices.slicing import Slicing
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation, Cut
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.slice import Slice, whole
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.records import replace
from possibly.trace.notation import trace

FIGURE_5_1 = Computation(trace("P1: e1!recv(m) e2 e3 | P2: f1!send(m) f2 f3"))
E1, E2, E3 = (0, 1), (0, 2), (0, 3)
F1, F2, F3 = (1, 1), (1, 2), (1, 3)


def slicing() -> Slicing:
    lattice = Lattice(FIGURE_5_1)
    return Slicing(lattice, CutPredicates(lattice, Readings(FIGURE_5_1)))


def with_edges(*edges: tuple[tuple[int, int], tuple[int, int]]) -> Slice:
    return replace(whole(FIGURE_5_1), edges=edges)


def cuts(slices: list[Slice] | None) -> set[tuple[int, ...]]:
    assert slices is not None
    return {cut for part in slices for cut in part.cuts()}


def test_figure_5_6_ag_keeps_the_cuts_that_contain_f2() -> None:
    """The slice has the edge (f2, e3); its cuts without f2 are {}, {f1}, {e1, f1} and {e2, f1}."""
    slice_ = with_edges((F2, E3))
    assert {cut for cut in slice_.cuts() if cut[1] < 2} == {(0, 0), (0, 1), (1, 1), (2, 1)}
    invariant = cuts(slicing().invariant_of([slice_]))
    assert invariant == {cut for cut in slice_.cuts() if cut[1] >= 2}


def test_figure_5_6_eg_changes_nothing_without_a_component() -> None:
    slice_ = with_edges((F2, E3))
    assert cuts(slicing().controllable([slice_])) == set(slice_.cuts())


def test_figure_5_8_eg_keeps_the_cuts_that_contain_the_component() -> None:
    """Edges (e2, e1) and (f3, e3): only the first makes a component, so e2 is in every cut."""
    slice_ = with_edges((E2, E1), (F3, E3))
    controllable = cuts(slicing().controllable([slice_]))
    assert controllable == {cut for cut in slice_.cuts() if cut[0] >= 2}


def test_figure_5_4_ef_is_everything_up_to_the_greatest_cut() -> None:
    slice_ = replace(whole(FIGURE_5_1), high=(2, 2))
    assert cuts(slicing().possible([slice_])) == {
        cut for cut in whole(FIGURE_5_1).cuts() if cut[0] <= 2 and cut[1] <= 2
    }


def test_figure_5_10_ex_moves_edges_to_the_predecessors() -> None:
    """Edges (f1, e1) and (f2, e3) become f1 in every cut and (f2, e2), for the next event of process 1."""
    slice_ = with_edges((F1, E1), (F2, E3))
    found = slicing().next_of(slice_, 0)
    assert found is not None
    expected = {
        cut for cut in whole(FIGURE_5_1).cuts() if cut[0] < 3 and slice_.contains((cut[0] + 1, cut[1]))
    }
    assert set(found.cuts()) == {cut for cut in expected if cut[1] >= 1}
    assert found.low == (0, 1) and (F2, E2) in found.edges


def test_figure_5_11_ex_with_one_process_does_not_keep_the_final_cut() -> None:
    """The printed form of Algo 5.4 does, if the predecessor of the first event is not itself."""
    computation = Computation(trace("P: a b"))
    lattice = Lattice(computation)
    single = Slicing(lattice, CutPredicates(lattice, Readings(computation)))
    found = single.next_of(whole(computation), 0)
    assert found is not None and set(found.cuts()) == {(0,), (1,)}


def test_figure_6_8_until_goes_to_the_least_cut_that_satisfies_q() -> None:
    """E[p U q], p: z < 6 and x < 4, q: channels empty and x > 1; the path leads to {e1, f1, f2, g1}."""
    from possibly import check

    run = trace(
        """
        P1(x=0): e1{x=2} e2{x=5}
        P2(y=0): f1 f2!recv(m)
        P3(z=0): g1!send(m>P2){z=3}
        """,
        order="f1 e1 g1 f2 e2",
    )
    found = check(run, ctl="E[P3.z < 6 & P1.x < 4 U transit() == 0 & P1.x > 1]")
    assert found.holds is True and found.verdict.engine == "slice"
    assert found.witness is not None and found.witness.path == ("e1",)


def test_figure_6_15_the_nearest_cut_of_a_conjunction() -> None:
    """Two cuts satisfy both predicates; the least is the nearest."""
    from possibly import check

    run = trace("P1(a=false): e2{a=true} e3{a=false} | P2(b=true): f2 f3{b=false}")
    found = check(run, ctl="EF(P1.a & P2.b)")
    assert found.witness is not None and found.witness.cut == {"P1": 1, "P2": 0}


# ---- figures 4.3 to 4.5: slicing and EF -----------------------------------------------------------------

FIGURE_4_3 = trace("P: e2!send(m>Q) e3 | Q: f2 f3!recv(m)")
"""Example 4.14; e1, f1 and e4, f4 are the fictitious events before and after."""


def of_figure_4_3() -> tuple[Computation, Slice]:
    computation = Computation(FIGURE_4_3)
    lattice = Lattice(computation)
    found = Slicing(lattice, CutPredicates(lattice, Readings(computation)))
    empty = found.slice_of(bind(parse("transit() == 0", "ctl"), vocabulary(FIGURE_4_3)).formula)
    assert empty is not None
    return computation, empty


def split(e: tuple[int, int], f: tuple[int, int]) -> tuple[set[Cut], set[Cut]]:
    """The cuts of G[e, f], with the edge (e, f) added, and of the other half: with f and without e."""
    everything = whole(of_figure_4_3()[0])
    low, high = list(everything.low), list(everything.high)
    low[f[0]], high[e[0]] = f[1], e[1] - 1
    half = replace(everything, low=tuple(low), high=tuple(high))
    return set(replace(everything, edges=((e, f),)).cuts()), set(half.cuts())


def test_figure_4_3_all_channels_empty() -> None:
    """The slice adds the edge (f3, e2)."""
    computation, empty = of_figure_4_3()
    assert empty.edges == (((1, 2), (0, 1)),)
    assert len(list(whole(computation).cuts())) == 8
    assert set(empty.cuts()) == {(0, 0), (0, 1), (1, 2), (2, 2)}


def test_figure_4_4_a_cut_of_the_other_half_satisfies_p_so_there_is_no_path() -> None:
    """G[e3, e2]: lemma 4.13, and theorem 4.15 in one direction."""
    computation, empty = of_figure_4_3()
    first, second = split((0, 2), (0, 1))
    assert first | second == set(whole(computation).cuts()) and not first & second
    assert first == {(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)} and second == {(1, 0), (1, 1), (1, 2)}
    assert {cut for cut in second if empty.contains(cut)} == {(1, 2)}
    assert empty.least_from((1, 0)) == (1, 2), "e2 does not need e3 in the slice"


def test_figure_4_5_no_cut_of_the_other_half_satisfies_p_so_there_is_a_path() -> None:
    """G[f3, e3]: theorem 4.15 in the other direction."""
    computation, empty = of_figure_4_3()
    first, second = split((1, 2), (0, 2))
    assert first | second == set(whole(computation).cuts()) and not first & second
    assert second == {(2, 0), (2, 1)} and not any(map(empty.contains, second))
    assert empty.least_from((2, 0)) == (2, 2), "e3 needs f3 in the slice"


# ---- figures 5.1 and 5.2: temporal operators range over the computation -----------------------------------


def test_figure_5_1_the_computation_has_thirteen_cuts() -> None:
    assert set(whole(FIGURE_5_1).cuts()) == {(x, y) for x in range(4) for y in range(4) if y or not x}


def test_figure_5_2_a_path_of_the_slice_is_none_of_the_computation() -> None:
    """Section 5.3.3: e1 and e2 are one step in the slice (a), and e3 is in none of its cuts."""
    slice_ = replace(with_edges((E2, E1)), high=(2, 3))
    computation, inside = set(whole(FIGURE_5_1).cuts()), set(slice_.cuts())
    of_computation = [(2, 1), (3, 1), (3, 2), (3, 3)]
    of_slice = [(0, 1), (0, 2), (2, 2), (2, 3)]
    assert set(of_computation) <= computation and set(of_slice) <= inside
    assert (2, 1) in inside and (3, 1) not in inside, "its successor does not satisfy p"
    assert all(sum(b) - sum(a) == 1 for a, b in pairwise(of_computation))
    assert [sum(b) - sum(a) for a, b in pairwise(of_slice)] == [1, 2, 1]
    assert slice_.least_from((1, 2)) == (2, 2), "one step of the slice"
    # So AG(p) holds at {e2, f1} of the slice alone, and not of the computation.
    assert cuts(slicing().invariant_of([slice_])) == set()
