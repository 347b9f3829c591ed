"""Engines for declared and derived classes, for AF of regular predicates, and the search inside a slice."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from possibly.detection.branching import decide
from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.detection.slices.declared import check_declared
from possibly.detection.slices.definitely import Definitely
from possibly.detection.slices.inside import Inside
from possibly.detection.slices.oracle import RULES, Oracle
from possibly.detection.slices.sliced import Sliced
from possibly.detection.slices.slicing import Slicing
from possibly.errors import FormulaError
from possibly.logic.bind import Declaration, bind
from possibly.logic.parser import parse
from possibly.logic.syntax import Node, Temporal
from possibly.order.vocabulary import vocabulary
from tests.detection.test_definition import Case, _check_witness
from tests.generate import Formula, random_formula
from tests.sampling import sampled

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
OPERATORS = ["EF", "AF", "EG", "AG"]


def prepared(random: Random, operator: str, depth: int = 1) -> tuple[Case, Node]:
    """A trace, and one operator over a generated state predicate."""
    case = Case(random.randrange(10**9), ["&"], "ctl", 0, 7)
    inner = random_formula(random, case.trace, ["&"], depth)
    case.formula = Formula(operator, (inner,))
    case.node = bind(parse(case.formula.text, "ctl"), vocabulary(case.trace)).formula
    assert isinstance(case.node, Temporal)
    return case, case.node.operands[0]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("word", ["stable", "co-stable", "observer-independent", "linear", "post-linear"])
def test_declared_class_gives_the_answer_of_the_plain_engine(word: str, operator: str) -> None:
    """Predicates for which the declaration is true on the trace, whatever their syntax."""
    answered = 0
    for seed in range(sampled(150)):
        case, operand = prepared(Random(f"{word} {operator} {seed}"), operator)
        declared = {operand: Declaration("it", word)}
        try:
            check_declared(declared, case.lattice, case.predicates)
        except FormulaError:
            continue
        found = Oracle(case.lattice, case.predicates, Budget(), declared).decide(case.node)
        if found is None:
            continue
        expected = Exhaustive(case.lattice, case.predicates, Budget()).at(case.node, case.lattice.initial)
        assert found.value == expected, case.describe()
        if found.path is not None:
            _valid(case, found.path)
        answered += 1
    assert answered > 5 or (word, operator) not in RULES


def _valid(case: Case, path) -> None:  # type: ignore[no-untyped-def]
    cuts = case.cuts(path)
    truths = [case.reference.satisfies(cut, case.formula.operands[0]) for cut in cuts]
    match case.formula.operator:
        case "EF":
            assert truths[-1]
        case "AG":
            assert not truths[-1]
        case "EG":
            assert all(truths) and len(cuts) == len(case.lattice.computation) + 1
        case "AF":
            assert not any(truths) and len(cuts) == len(case.lattice.computation) + 1


def test_relied_on_declarations_are_named() -> None:
    from possibly.logic.specification import read_specification
    from possibly.session.checking.check import Options, check_trace
    from possibly.trace.notation import trace

    run = trace("P(x=0): a{x=1} | Q(y=0): b{y=1}")
    specification = read_specification(
        "let stable both = P.x * Q.y == 1\nctl may = EF(both)\nctl must = AF(both)"
    )
    for verdict in check_trace(run, specification, Options()).verdicts:
        assert (verdict.engine, verdict.holds, verdict.assumed) == ("oracle", True, ("both: stable",))
    undeclared = read_specification("ctl may = EF(P.x * Q.y == 1)")
    assert check_trace(run, undeclared, Options()).verdicts[0].assumed == ()


@pytest.mark.parametrize("operator", ["AF", "EG"])
def test_af_of_regular_predicates_is_searched_in_the_interval(operator: str) -> None:
    answered = 0
    for seed in range(sampled(300)):
        case, _ = prepared(Random(f"{operator} {seed}"), operator)
        found = Definitely(Slicing(case.lattice, case.predicates), Budget()).decide(case.node)
        if found is None:
            continue
        expected = Exhaustive(case.lattice, case.predicates, Budget()).at(case.node, case.lattice.initial)
        assert found.value == expected, case.describe()
        assert (found.path is not None) == (found.value == (operator == "EG"))
        if found.path is not None:
            _valid(case, found.path)
        answered += 1
    assert answered > sampled(60)


@pytest.mark.parametrize("operator", ["EF", "AG"])
def test_search_inside_the_slice_finds_the_nearest_cut(operator: str) -> None:
    answered: Counter[bool] = Counter()
    for seed in range(600 * MANY if MANY > 1 else 100):
        case, _ = prepared(Random(f"{operator} {seed}"), operator, depth=2)
        found = Inside(Sliced(Slicing(case.lattice, case.predicates)), Budget()).decide(case.node)
        if found is None:
            continue
        plain = decide(Exhaustive(case.lattice, case.predicates, Budget()), case.node)
        assert found.value == plain.value, case.describe()
        if found.path is not None:
            assert plain.path is not None and len(found.path) == len(plain.path)
            _check_witness(case, case.cuts(found.path), case.formula, found.value)
        answered[found.value] += 1
    assert min(answered[True], answered[False]) > 5
