"""Formulas without what the run decides: the same truth at every cut."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.folded import FALSE, TRUE, Folding
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from tests.generate import random_formula, random_trace


def predicates_of(run: Trace) -> CutPredicates:
    computation = Computation(run)
    return CutPredicates(Lattice(computation), Readings(computation))


@pytest.mark.parametrize("seed", range(150))
def test_the_truth_at_every_cut_stays(seed: int) -> None:
    random = Random(seed)
    run = random_trace(random, events=7)
    predicates = predicates_of(run)
    texts = [random_formula(random, run, ["&", "|", "!"], 2).text for _ in range(2)]
    formula = bind(parse(f"({texts[0]}) -> ({texts[1]})", "ctl"), vocabulary(run)).formula
    shorter = Folding(predicates).of(formula)
    before, after = predicates(formula), predicates(shorter)
    assert all(before(cut) == after(cut) for cut in predicates.lattice.depth_first()), unparse(shorter)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("AG(P.x == 1 & P.y == 1 | Q.x == 2)", "AG(Q.x == 2)"),
        ("AG(P.x == 7 -> Q.x == 2)", "AG true"),
        ("EF(P.x <= 1 & Q.x == 2)", "EF(Q.x == 2)"),
        ("AG(Q.x == 9 | P.x == 7)", "AG false"),
        ("AG(EF(Q.x == 2 & P.x == 0))", "AG EF(Q.x == 2 & P.x == 0)"),
    ],
)
def test_what_is_left(text: str, folded: str) -> None:
    run = trace("P(x=0,y=0): a{x=1} b{x=0,y=1} | Q(x=0): c{x=2} d{x=0}")
    formula = bind(parse(text, "ctl"), vocabulary(run)).formula
    assert unparse(Folding(predicates_of(run)).of(formula)) == folded


def test_constants_are_told_apart() -> None:
    assert TRUE != FALSE
