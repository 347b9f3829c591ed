"""One process and the next step: the answers of the plain engine, and in linear time."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.detection.branching import decide
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.steps import Steps
from possibly.errors import FormulaError
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Temporal
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice, steps_of
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from tests.generate import random_trace

CASES = 150 * int(os.environ.get("POSSIBLY_CASES", "1"))
PLAIN = ("P1.x == 1", "P1.x > 0", "done(P1)", "true", "P1.x == 0 | P1.x == 2")


def body(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        plain = random.choice(PLAIN)
        return random.choice([f"EX[P1]({plain})", f"EX({plain})", f"AX({plain})", f"({plain})"])
    one, two = body(random, depth - 1), body(random, depth - 1)
    return random.choice([f"!{one}", f"({one} & {two})", f"({one} | {two})", f"({one} -> {two})"])


def test_the_answers_are_those_of_the_plain_engine() -> None:
    answers = {True: 0, False: 0}
    for seed in range(CASES):
        random = Random(seed)
        run = random_trace(random, events=random.randint(3, 9), joint=False)
        text = f"{random.choice(['AG', 'EF'])}({body(random, 2)})"
        try:
            formula = bind(parse(text, "ctl"), vocabulary(run)).formula
        except FormulaError:
            continue  # P1 has no x
        lattice = Lattice(Computation(run))
        predicates = CutPredicates(lattice, Readings(lattice.computation))
        found = Steps(lattice, predicates, lambda: None).decide(formula)
        plain = Exhaustive(lattice, predicates, Budget())
        if found is None:
            assert "X" not in text or "P1" not in text
            continue
        assert found.value == decide(plain, formula).value, (seed, text)
        answers[found.value] += 1
        if found.path is not None:
            counts = [0] * len(run.processes)
            for step in steps_of(found.path):
                counts[run.process[step]] += 1
            assert isinstance(formula, Temporal)
            holds = plain.function(formula.operands[0])
            assert holds(lattice.pack(tuple(counts))) == found.value, (seed, text)
    assert min(answers.values()) > CASES / 10


LEFT = ("AG(EX[P1](P2.x == 1))", "AG(P1.x == 1 -> EX(P2.x == 1))", "AG(P2.x == 1 -> EX[P1](true))")


@pytest.mark.parametrize("text", LEFT)
def test_other_formulas_are_left_alone(text: str) -> None:
    run = random_trace(Random(4), joint=False)
    formula = bind(parse(text, "ctl"), vocabulary(run)).formula
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    assert Steps(lattice, predicates, lambda: None).decide(formula) is None
