"""Tables of what an atom reads: none where they would be large, and nothing is noted before that is known."""

from __future__ import annotations

import pytest

from possibly.detection.slices.slicing import Slicing
from possibly.detection.solver import tables
from possibly.detection.solver.tables import Table, tabulated
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.notation import trace


def table(text: str, formula: str) -> Table | None:
    run = trace(text)
    computation = Computation(run)
    lattice = Lattice(computation)
    slicing = Slicing(lattice, CutPredicates(lattice, Readings(computation), {}))
    node = bind(parse(formula, "ctl"), vocabulary(run)).formula
    return tabulated(slicing, node, computation.initial, computation.final)


COUNTERS = "p(n=0): " + " ".join(f"n={k}" for k in range(1, 9)) + " | q(n=0): n=1 n=2 n=1"


def test_an_axis_has_each_value_once() -> None:
    found = table(COUNTERS, "p.n * q.n == 6")
    assert found is not None
    assert sorted(len(axis.values) for axis in found.axes) == [3, 9]
    assert sum(found.truths.values()) == 2


@pytest.mark.parametrize(("limit", "value"), [("MOST_BYTES", 9 * 8), ("MOST_COMBINATIONS", 26)])
def test_too_many_values_make_no_table(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, limit, value)
    assert table(COUNTERS, "p.n * q.n == 6") is None
    monkeypatch.setattr(tables, limit, value + 9)
    assert table(COUNTERS, "p.n * q.n == 6") is not None
