from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.logic.bind import Vocabulary, bind
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, At, Done, Literal, Local, Node, Shared, Stack, Temporal, Transit
from tests.logic import trees

LANGUAGES = ("predicate", "ctl", "ltl")


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
def test_what_is_printed_is_read_back_as_the_same_tree(language: str, data: st.DataObject) -> None:
    tree = data.draw(trees.formulas(language))
    assert parse(unparse(tree), language) == tree


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
def test_printing_is_stable(language: str, data: st.DataObject) -> None:
    text = unparse(data.draw(trees.formulas(language)))
    assert unparse(parse(text, language)) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("predicate", "a & b | c & d"),
        ("predicate", "(a | b) & (c | d)"),
        ("predicate", "a & (b & c)"),
        ("predicate", "(a -> b) -> c -> d"),
        ("predicate", "a <-> b <-> c"),
        ("predicate", "a <-> (b <-> c)"),
        ("predicate", "!(x > 1)"),
        ("predicate", "!!a"),
        ("predicate", "a - (b - c) - d"),
        ("predicate", "(a + b) * c // d"),
        ("predicate", "(-a) ** -b ** c"),
        ("predicate", "-a ** b"),
        ("predicate", "(a < b) < c < d"),
        ("predicate", "x not in [1, 2.5, \"s\"][0]"),
        ("predicate", "(a + b)[0][\"k\"]"),
        ("predicate", "max(a, b) == len(P1.q)"),
        ("predicate", '(forall i in "P*": i.x) & y'),
        ("predicate", 'y & forall i in "P*": i.x'),
        ("predicate", '(y & forall i in "P*": i.x) | z'),
        ("predicate", '!exists i, j in "P*" if i != j: i.x & j.x'),
        ("predicate", '"worker-1".x == P1."odd name"'),
        ("predicate", 'transit() == 0 & transit(P1, "p 2", "token") > 1'),
        ("predicate", 'at(P1, "m8") | inside(P1, m.f) | done(P2)'),
        ("ctl", "AG(x == 1 -> EF y)"),
        ("ctl", "EX[P1](a & b) & EX a"),
        ("ctl", "EX([1])"),
        ("ctl", "E[a & b U A[c U d]]"),
        ("ctl", "!EF AG a"),
        ("ctl", "AG EF(x == 1)"),
        ("ltl", "(a U b) U c U d"),
        ("ltl", "G(!a -> F b) & (a | b U c)"),
        ("ltl", "H O Y Z a S b"),
    ],
)  # fmt: skip
def test_needs_no_further_brackets(language: str, text: str) -> None:
    assert unparse(parse(text, language)) == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Local("P1", "x"), "P1.x"),
        (Local("worker-1", "f.x"), '"worker-1".f.x'),
        (Local("P1", "f.odd name"), 'P1."f.odd name"'),
        (Local("not", "in"), "not.in"),
        (Shared("turn"), "turn"),
        (Shared("bank.total"), "bank.total"),
        (Shared("turn", explicit=True), 'shared("turn")'),
        (Shared("G"), 'shared("G")'),
        (Shared("A"), 'shared("A")'),
        (Shared("in"), 'shared("in")'),
        (Shared("odd name"), 'shared("odd name")'),
        (Transit("P1", "a b"), 'transit(P1, "a b")'),
        (Done("a b"), 'done("a b")'),
        (At("P1", "m8"), 'at(P1, "m8")'),
        (Stack("term", "P1", "<lambda>"), 'term(P1, "<lambda>")'),
        (Temporal("EX", (Shared("x"),), "P1"), "EX[P1] x"),
        (Literal(-1), "-1"),
        (Literal("tab\tend\u2028"), '"tab\\tend\\u2028"'),
    ],
)
def test_bound_leaves(node: Node, text: str) -> None:
    assert unparse(node) == text


NAMES = st.sampled_from(["P1", "F", "worker-1", "not", "", "a.b", "\n"])
VARIABLES = st.sampled_from(["x", "f.x", "odd name", "G", "U", "true", "a.b", "E", ".", "x\\", "len"])


@given(st.lists(st.one_of(st.builds(Local, NAMES, VARIABLES), VARIABLES.map(Shared)), min_size=2, max_size=4))
def test_bound_trees_survive_print_parse_bind(variables: list[Node]) -> None:
    vocabulary = Vocabulary(
        ("P1", "F", "worker-1", "not", "", "a.b", "\n"),
        dict.fromkeys(["P1", "F", "worker-1", "not", "", "a.b", "\n"], frozenset(VARIABLES_KNOWN)),
        frozenset(VARIABLES_KNOWN),
    )
    tree = And(tuple(variables))
    for language in LANGUAGES:
        assert bind(parse(unparse(tree), language), vocabulary).formula == tree


VARIABLES_KNOWN = ["x", "f.x", "odd name", "G", "U", "true", "a.b", "E", ".", "x\\", "len"]
