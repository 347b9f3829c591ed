"""Atoms over several processes, as one alternative for each combination of values."""

from __future__ import annotations

import os
from random import Random

import pytest

from possibly.detection.choose import answer
from possibly.detection.limits import Budget
from possibly.detection.slices.by_values import ByValues
from possibly.detection.slices.closure import slice_of
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.detection.slices.test_slicing import Case
from tests.generate import random_trace

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))
CASES = 500 * MANY if MANY > 1 else 125

ATOMS = ["{a} * {b} == {k}", "{a} < {b}", "{a} + {b} > {c}", "abs({a} - {b}) != {k}", "{a} == {b} == {c}"]
SHAPES = ["{}", "!({})", "({}) & ({})", "({}) | !({})", "EF(({}) & ({}))", "AG({}) | EX({})"]


def atom(random: Random, names: list[str]) -> str:
    terms = {letter: f"{random.choice(names)}.x" for letter in "abc"}
    return random.choice(ATOMS).format(**terms, k=random.randint(0, 4))


def test_alternatives_are_exactly_the_satisfying_cuts() -> None:
    """Values that are missing or no numbers among them: there the atom is false, and its negation true."""
    beyond = 0
    for seed in range(CASES):
        random = Random(seed)
        case = Case(random_trace(random, random.randint(1, 8)))
        names = [name for name, known in vocabulary(case.trace).locals.items() if "x" in known]
        if not names:
            continue
        text = random.choice(SHAPES).format(*(atom(random, names) for _ in range(2)))
        node = bind(parse(text, "ctl"), vocabulary(case.trace)).formula
        parts = ByValues(case.slicing.lattice, case.slicing.predicates).alternatives(node)
        if parts is None:
            continue
        found = {cut for part in parts for cut in part.cuts()}
        assert found == case.satisfying(text), (seed, text)
        beyond += case.slicing.alternatives(node) is None
    assert beyond > CASES // 3


def long_run(processes: int, events: int) -> Trace:
    builder = TraceBuilder()
    builder.header([(f"P{number}", {"x": 0}) for number in range(processes)])
    random = Random(1)
    for _ in range(events):
        for number in range(processes):
            builder.add(f"P{number}", set={"x": random.randint(0, 3)})
    return builder.finish()


@pytest.mark.parametrize(
    "text", ["P0.x * P1.x == 6", "P0.x < P1.x & P2.x * P3.x == 2", "EF(P0.x * P1.x == 9)"]
)
def test_the_slice_of_a_long_run_is_exact(text: str) -> None:
    """Some 10 ** 10 cuts; the least cut with an event is the meet of those of the alternatives."""
    case = Case(long_run(5, 100))
    node = bind(parse(text, "ctl"), vocabulary(case.trace)).formula
    found = slice_of(case.slicing, node)
    assert found.exact and not found.is_empty
    parts = ByValues(case.slicing.lattice, case.slicing.predicates).alternatives(node)
    assert parts is not None
    leasts = [part.least_from(found.computation.closure({0: 50})) for part in parts]
    expected = [cut for cut in leasts if cut is not None]
    assert found.least_from(found.computation.closure({0: 50})) == tuple(map(min, *expected, expected[0]))


def test_too_many_combinations_are_left_to_others() -> None:
    builder = TraceBuilder()
    builder.header([("P", {"x": 0}), ("Q", {"x": 0})])
    for number in range(100):
        builder.add("P", set={"x": number})
        builder.add("Q", set={"x": 100 - number})
    case = Case(builder.finish())
    wide = ByValues(case.slicing.lattice, case.slicing.predicates)
    few = bind(parse("P.x * Q.x == 60", "ctl"), vocabulary(case.trace)).formula
    assert wide.alternatives(few) is not None, "most values make no difference"
    many = bind(parse("P.x < Q.x", "ctl"), vocabulary(case.trace)).formula
    assert wide.alternatives(many) is None


@pytest.mark.parametrize("language", ["ctl", "ltl"])
def test_the_engine_answers_as_the_plain_one(language: str) -> None:
    """Nested formulas, with the shortest path."""
    shapes = {
        "ctl": ["AG(({}) -> EF({}))", "EF(({}) & AG({}))", "EG({})", "AF({})", "EF({})", "AG({})"],
        "ltl": ["G({})", "F({})", "G(({}) -> F({}))"],
    }[language]
    answered = 0
    for seed in range(CASES):
        random = Random(f"{language} {seed}")
        case = Case(random_trace(random, random.randint(1, 8)))
        names = [name for name, known in vocabulary(case.trace).locals.items() if "x" in known]
        if not names:
            continue
        text = random.choice(shapes).format(*(atom(random, names) for _ in range(2)))
        node = bind(parse(text, language), vocabulary(case.trace)).formula
        found = answer(language, node, case.lattice, case.predicates, Budget(), "values").finding
        if found is None:
            continue
        plain_name = "exhaustive" if language == "ctl" else "linear"
        plain = answer(language, node, case.lattice, case.predicates, Budget(), plain_name).finding
        assert plain is not None and found.value == plain.value, (seed, text)
        assert (found.path is None) == (plain.path is None), (seed, text)
        if language == "ctl" and found.path is not None and plain.path is not None:
            assert len(found.path) == len(plain.path), (seed, text)
        answered += 1
    assert answered > CASES // 4, answered


def test_auto_takes_it_for_nested_formulas_on_a_long_run() -> None:
    case = Case(long_run(5, 60))
    text = "AG(P0.x * P1.x == 6 -> EF(P2.x < P3.x))"
    node = bind(parse(text, "ctl"), vocabulary(case.trace)).formula
    found = answer("ctl", node, case.lattice, case.predicates, Budget(max_cuts=0), "auto")
    assert found.engine == "values" and found.finding is not None
