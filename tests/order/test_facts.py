"""Facts of one run: what is false in all states of a process, and which values a variable has."""

from __future__ import annotations

from possibly.order.computation import Computation
from possibly.order.facts import RunFacts
from possibly.order.lattice import Lattice
from possibly.order.state import Readings
from possibly.trace.notation import trace

RUN = trace("shared(s=0) p(x=0): {x=2} {x=true} w(s=1) | q: {y=1}")


def facts() -> RunFacts:
    computation = Computation(RUN, "causal")
    return RunFacts(Lattice(computation), Readings(computation))


def test_values() -> None:
    assert [*map(repr, sorted(facts().values("p", "x"), key=repr))] == ["0", "2", "True"]
    assert list(facts().values("q", "y")) == [1] and list(facts().values("q", "x")) == []
