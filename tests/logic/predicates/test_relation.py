from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.logic.bind import Vocabulary, bind
from possibly.logic.parser import parse
from possibly.logic.predicates.functions import MISSING, compile_predicate, compile_value, leaves
from possibly.logic.predicates.relation import relation
from possibly.logic.predicates.values import COMPARISONS
from possibly.logic.printer import unparse
from possibly.logic.syntax import Arithmetic, Compare, Literal, Local, Node

VOCABULARY = Vocabulary(
    ("P1", "P2", "P3"), dict.fromkeys(("P1", "P2", "P3"), frozenset("xq")), frozenset({"n"})
)


def shown(text: str) -> str | None:
    found = relation(bind(parse(text, "predicate"), VOCABULARY).formula)
    if found is None:
        return None
    terms = " ".join([f"{coefficient:+}*{unparse(term)}" for coefficient, term in found.terms])
    return f"{terms} {found.operator} {found.constant}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P1.x + P2.x <= 3", "+1*P1.x +1*P2.x <= 3"),
        ("P1.x == P2.x - P3.x", "+1*P1.x -1*P2.x +1*P3.x == 0"),
        ("P1.x < n", "+1*P1.x -1*n < 0"),
        ("3 - P1.x > 2 * (P2.x + 1)", "-1*P1.x -2*P2.x > -1"),
        ("-(P1.x - 2 * -P2.x) != 4 - 1", "-1*P1.x -2*P2.x != 3"),
        ("sum([P1.x, P2.x, 1]) >= 1", "+1*P1.x +1*P2.x >= 0"),
        ("len(P1.q) + P2.x * 3 < 9 // 2", "+1*len(P1.q) +3*P2.x < 4"),
        ("P1.x * P2.x == 1", "+1*P1.x * P2.x == 1"),
        ("1 < 2", " < 1"),
    ],
)
def test_relations(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "P1.x & P2.x",
        "P1.x",
        "1 < P1.x + P2.x < 3",
        "P1.x + P2.x in [1]",
        'P1.x + P2.x == "ab"',
        "P1.x + P2.x == 1 / 0",
        "(P1.x > 1) + (P2.x > 1) <= 1",
        "P1.x + len([P2.x > 1]) <= 1",
    ],
)
def test_no_relations(text: str) -> None:
    assert shown(text) is None


VARIABLES = [Local(name, "x") for name in ("P1", "P2", "P3")]
TERMS = st.recursive(
    st.one_of(st.sampled_from(VARIABLES), st.integers(0, 4).map(Literal)),
    lambda below: st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-"), st.tuples(below, below)),
        st.builds(Arithmetic, st.sampled_from("+-"), st.tuples(below)),
        st.builds(Arithmetic, st.just("*"), st.tuples(st.integers(0, 3).map(Literal), below)),
    ),
    max_leaves=8,
)


@given(
    TERMS, TERMS, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.tuples(*[st.integers(-4, 4)] * 3)
)
def test_the_promise_for_integers(left: Node, right: Node, operator: str, values: tuple[int, ...]) -> None:
    atom = Compare((left, right), (operator,))
    found = relation(atom)
    assert found is not None
    state = dict(zip(VARIABLES, values, strict=True))
    total = 0
    for coefficient, term in found.terms:
        total += coefficient * compile_value(term).evaluate([state[leaf] for leaf in leaves(term)])  # type: ignore[index]
    predicate = compile_predicate(atom)
    truth = predicate.evaluate([state[leaf] for leaf in predicate.leaves])  # type: ignore[index]
    assert truth == COMPARISONS[operator](total, found.constant)


@given(TERMS, st.sampled_from(["==", "!=", "<=", ">="]), st.sampled_from(VARIABLES))
def test_the_promise_for_missing_values(left: Node, operator: str, missing: Local) -> None:
    atom = Compare((left, missing), (operator,))
    predicate = compile_predicate(atom)
    assert predicate.evaluate([MISSING if leaf == missing else 1 for leaf in predicate.leaves]) is False
