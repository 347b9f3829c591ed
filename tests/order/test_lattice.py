from __future__ import annotations

from math import comb
from random import Random

import pytest

from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.rows import Rows
from possibly.trace.build import TraceBuilder
from possibly.trace.notation import trace
from tests.generate import random_trace
from tests.reference import Reference


def lattice(text: str) -> Lattice:
    return Lattice(Computation(trace(text)))


def test_levels_of_the_figure() -> None:
    found = lattice("P1: recv(m) e2 e3 | P2: send(m) f2 f3")
    levels = [{found.unpack(cut) for cut in level} for level in found.levels()]
    assert levels == [
        {(0, 0)},
        {(0, 1)},
        {(1, 1), (0, 2)},
        {(2, 1), (1, 2), (0, 3)},
        {(3, 1), (2, 2), (1, 3)},
        {(3, 2), (2, 3)},
        {(3, 3)},
    ]


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (3, 4), (5, 5)])
def test_independent_processes_have_the_counts_of_the_grid(first: int, second: int) -> None:
    found = lattice(f"P: {'_ ' * first} | Q: {'_ ' * second}")
    assert found.count_cuts() == (first + 1) * (second + 1)
    assert found.count_observations() == comb(first + second, first)


def test_no_process_at_all_has_one_cut() -> None:
    from possibly.trace.build import TraceBuilder

    builder = TraceBuilder()
    builder.header(processes=[])
    found = Lattice(Computation(builder.finish()))
    assert found.count_cuts() == 1 and found.count_observations() == 1 and list(found.lexical()) == [()]


def test_packed_cuts_unpack() -> None:
    found = lattice("P: a b c d e | Q: | R: f g")
    for cut in found.computation.initial, found.computation.final, (3, 0, 1):
        assert found.unpack(found.pack(cut)) == cut


@pytest.mark.parametrize("seed", range(60))
def test_every_walk_visits_every_cut_once(seed: int) -> None:
    run = random_trace(Random(seed), events=7)
    found = Lattice(Computation(run))
    expected = sorted(Reference(run).counts(cut) for cut in Reference(run).cuts)
    assert list(found.lexical()) == expected
    assert sorted(found.unpack(cut) for cut in found.depth_first()) == expected
    assert sorted(found.unpack(cut) for level in found.levels() for cut in level) == expected
    assert found.count_observations() == sum(1 for _ in Reference(run).paths(frozenset()))


@pytest.mark.parametrize("seed", range(40))
def test_predecessors_are_the_successors_reversed(seed: int) -> None:
    found = Lattice(Computation(random_trace(Random(seed), events=7)))
    forward = {(cut, cut + move.delta) for cut in found.depth_first() for move in found.moves(cut)}
    backward = {(before, cut) for cut in found.depth_first() for _, before in found.predecessors(cut)}
    assert forward == backward


@pytest.mark.parametrize("seed", range(40))
def test_rows_hold_exactly_the_cuts(seed: int) -> None:
    order = Computation(random_trace(Random(seed), events=7))
    rows = Rows(order)
    found = []
    for row, counts in enumerate(rows.prefixes):
        for count in range(rows.low[row], rows.high[row] + 1):
            cut = [0] * len(order.lengths)
            for process, number in zip(rows.prefix, counts, strict=True):
                cut[process] = number
            cut[rows.last] = count
            assert rows.row_of(cut) == row
            found.append(tuple(cut))
    assert sorted(found) == list(Lattice(order).lexical())
    assert rows.cuts == len(found)


def test_a_long_path_keeps_the_numbers_of_its_steps_alone() -> None:
    from possibly.order.lattice import LONG, Walk, steps_of

    builder = TraceBuilder()
    for name in ["P"] * LONG + ["Q"]:
        builder.add(name)
    lattice = Lattice(Computation(builder.finish()))
    walk = lattice.walk(lattice.computation.steps)
    assert isinstance(walk, Walk) and len(walk) == LONG + 1
    assert sum(move.delta for move in walk) == lattice.final
    assert walk[LONG].processes == (1,) and isinstance(walk[:5], Walk)
    short = lattice.walk(lattice.computation.steps[:3])
    assert isinstance(short, tuple) and [move.step for move in short] == steps_of(short) == [0, 1, 2]
    assert list(steps_of(lattice.joined(short, walk[3:]))) == list(lattice.computation.steps)
