from __future__ import annotations

import pytest

from possibly.detection.slices.declared import CHECKS, check_declared
from possibly.errors import FormulaError
from possibly.logic.bind import bind_property
from possibly.logic.specification import CLASS_WORDS, read_specification
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.trace.notation import trace

RUN = "P(x=0): a{x=1} b{x=0} | Q(y=0): c{y=1} d{y=0}"


def declare(word: str, predicate: str, run: str = RUN) -> None:
    specification = read_specification(f"let {word} it = {predicate}\nctl safe = AG(it)")
    computation = Computation(trace(run))
    lattice = Lattice(computation)
    bound = bind_property(specification.properties[0], vocabulary(computation.trace), specification.lets)
    check_declared(bound.declared, lattice, CutPredicates(lattice, Readings(computation)))


def test_every_word_has_a_check() -> None:
    assert {word.removeprefix("co-") for word in CLASS_WORDS} == set(CHECKS)


@pytest.mark.parametrize(
    ("word", "predicate"),
    [
        ("local", "P.x == 1"),
        ("conjunctive", "P.x == 1 & Q.y == 1"),
        ("disjunctive", "P.x == 1 | Q.y == 1"),
        ("regular", "P.x == 1 & Q.y == 1"),
        ("linear", "P.x == 1"),
        ("post-linear", "P.x == 1"),
        ("stable", "done(P)"),
        ("co-stable", "!done(P)"),
        ("observer-independent", "P.x == 1 | Q.y == 1"),
        ("relational", "P.x + Q.y == 1"),
    ],
)
def test_right_declarations_pass(word: str, predicate: str) -> None:
    declare(word, predicate)


@pytest.mark.parametrize(
    ("word", "predicate", "broken"),
    [
        (
            "stable",
            "P.x == 1",
            "it holds at {P: 1, Q: 0}, but no more at {P: 2, Q: 0}",
        ),
        (
            "linear",
            "P.x == 1 | Q.y == 1",
            "it holds at {P: 0, Q: 1} and {P: 1, Q: 0}, but not at their meet",
        ),
        (
            "post-linear",
            "P.x != Q.y",
            "it holds at {P: 0, Q: 1} and {P: 1, Q: 0}, but not at their join",
        ),
        (
            "disjunctive",
            "P.x == 1 & Q.y == 1",
            "it fails at {P: 1, Q: 2} and {P: 2, Q: 1}, but not at their meet",
        ),
        (
            "co-stable",
            "done(P)",
            "it fails at {P: 1, Q: 0}, but no more at {P: 2, Q: 0}",
        ),
        (
            "observer-independent",
            "P.x == 1 & Q.y == 1",
            "an observation passes {P: 1, Q: 1}, where it holds, and another no such cut",
        ),
    ],
)
def test_wrong_declarations_are_refused_with_the_cuts(word: str, predicate: str, broken: str) -> None:
    with pytest.raises(FormulaError) as caught:
        declare(word, predicate)
    assert caught.value.message == f"let it is declared {word}, but is not on this trace: {broken}"


def test_large_traces_are_not_checked() -> None:
    declare("stable", "P.x == 1", f"P(x=0): a{{x=1}} {'_ ' * 50} b{{x=0}} | Q: {'_ ' * 50}")
