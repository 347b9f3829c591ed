"""The recorded order followed step by step, beside the evaluation of each of its cuts."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.observed import Observed, shown_by
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node, Not, Temporal
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.generate import random_atom, random_trace
from tests.sampling import sampled


def parts_of(run: Trace, text: str) -> tuple[Lattice, CutPredicates, Node]:
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation), {})
    return lattice, predicates, bind(parse(text, "ctl"), vocabulary(run)).formula


@pytest.mark.parametrize("seed", range(sampled(60)))
def test_each_cut_of_the_path_is_told_as_it_is_by_itself(seed: int) -> None:
    random = Random(seed)
    run = random_trace(random, events=12)
    text = " & ".join(random_atom(random, run)[0] for _ in range(2))
    if random.random() < 0.4:
        text = f"({text}) | transit() > 1"
    lattice, predicates, formula = parts_of(run, text)
    holds, cut, expected = predicates(formula), lattice.initial, []
    for move in (None, *lattice.walk(lattice.computation.steps)):
        cut += 0 if move is None else move.delta
        expected.append(holds(cut))
    observed = Observed(lattice, predicates)
    bits = observed.bits(formula)
    assert [bool(bits >> place & 1) for place in range(len(expected))] == expected[::-1]
    assert observed.first(formula) == (expected.index(True) if True in expected else None)
    found = shown_by(observed, Temporal("AG", (Not(formula),)))
    assert (found is None) is (True not in expected)


def test_a_long_path_is_left_at_the_limit() -> None:
    run = trace("p: " + "send(m) recv(m) " + "_ " * 20_000 + "| q: x=1 send(k)")
    lattice, predicates, formula = parts_of(run, "transit() > 0")
    with pytest.raises(LimitReachedError):
        Observed(lattice, predicates, Budget(timeout=0.0).look).bits(formula)


def test_what_is_left_of_the_time_is_a_tenth_at_least() -> None:
    assert Budget().after_all().timeout is None
    assert Budget(timeout=10.0, started=-1e9).after_all().timeout == 1.0
    left = Budget(timeout=1000.0).after_all().timeout
    assert left is not None and 900 < left <= 1000
