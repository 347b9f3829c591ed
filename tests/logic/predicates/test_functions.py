from __future__ import annotations

import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.logic import words
from possibly.logic.bind import Vocabulary, bind
from possibly.logic.parser import parse
from possibly.logic.predicates.functions import (
    MISSING,
    compile_predicate,
    compile_value,
    is_state,
    leaves,
    maximal_predicates,
)
from possibly.logic.printer import unparse
from possibly.logic.syntax import (
    And,
    Arithmetic,
    At,
    Call,
    Compare,
    Done,
    Iff,
    Implies,
    Items,
    Literal,
    Local,
    Node,
    Not,
    Or,
    Shared,
    Subscript,
    Temporal,
    Transit,
)
from possibly.logic.walk import nodes
from tests.logic import interpreter, trees

VOCABULARY = Vocabulary(
    ("P1", "P2"),
    {"P1": frozenset("xy"), "P2": frozenset("xy")},
    frozenset({"turn", "d"}),
    labels=frozenset({"m8"}),
)


def bound(text: str, language: str = "predicate") -> Node:
    return bind(parse(text, language), VOCABULARY).formula


def evaluated(text: str, **values: Any) -> bool:
    """The truth of a predicate over x (of P1), y (of P2), turn and d; what is not given has no value."""
    names: dict[Node, str] = {
        Local("P1", "x"): "x",
        Local("P2", "y"): "y",
        Shared("turn"): "turn",
        Shared("d"): "d",
    }
    predicate = compile_predicate(bound(text))
    found = predicate.evaluate([values.get(names[leaf], MISSING) for leaf in predicate.leaves])
    assert isinstance(found, bool)
    return found


def test_leaves_are_distinct_and_in_the_order_of_the_text() -> None:
    text = 'P2.x + turn > P1.x & at(P1, "m8") & transit(P1, P2) < P2.x | done(P2)'
    assert leaves(bound(text)) == (
        Local("P2", "x"), Shared("turn"), Local("P1", "x"), At("P1", "m8"), Transit("P1", "P2"), Done("P2"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "values", "truth"),
    [
        ("P1.x > 1", {"x": 2}, True),
        ("P1.x > 1", {}, False),
        ("!(P1.x > 1)", {}, True),
        ("P1.x <= 1", {}, False),
        ("P1.x != 1", {}, False),
        ("P1.x", {}, False),
        ("!P1.x", {}, True),
        ("P1.x == null", {}, False),
        ("P1.x == null", {"x": None}, True),
        ("P1.x -> P2.y", {}, True),
        ("P1.x <-> P2.y", {"x": 0}, True),
        ("P1.x <-> P2.y", {"x": 5, "y": "a"}, True),
        ("P1.x + P2.y == 3", {"x": 3}, False),
        ("P1.x == P2.y", {"x": 1, "y": True}, True),
        ("P1.x == (P2.y > 1)", {"x": False}, True),
        ("1 < P1.x < 3", {"x": 2}, True),
        ("1 < P1.x < P2.y", {"x": 0}, False),
        ("3 > P1.x", {"x": 2}, True),
        ("P1.x in d", {"x": "k", "d": {"k": 1}}, True),
        ("P1.x not in d", {"x": 1, "d": [2]}, True),
        ("P1.x not in d", {"x": 1}, False),
        ('d["k"][0] == 1', {"d": {"k": [1]}}, True),
        ("(P1.x and P2.y) == true", {"x": 2, "y": 3}, True),
        ("(P1.x or P2.y) + 1 == 2", {"x": 2}, True),
        ("len(d) == 2 & all(d) & sum(d) == 3", {"d": [1, 2]}, True),
        ("any([P1.x > 1, P2.y > 1])", {"y": 2}, True),
        ("max(P1.x, P2.y) == 3", {"x": 3, "y": 1}, True),
        ("-P1.x ** 2 == -4", {"x": 2}, True),
        ("true", {}, True),
        ("null | 0 | []", {}, False),
    ],
)
def test_truth(text: str, values: dict[str, Any], truth: bool) -> None:
    assert evaluated(text, **values) is truth


@pytest.mark.parametrize(
    ("text", "value", "fault"),
    [
        ("P1.x < 3", "a", "P1.x < 3: cannot compare str with int"),
        ("3 < P1.x", "a", "3 < P1.x: cannot compare int with str"),
        ("P1.x >= P1.x", {}, "P1.x >= P1.x: cannot compare dict with dict"),
        ("0 < P1.x < 3", None, "0 < P1.x < 3: cannot compare int with null"),
        ("P1.x in 5", 1, "P1.x in 5: cannot search int for int"),
        ("P1.x[3] == 1", [1], "P1.x[3] == 1: index out of range"),
        ('P1.x["k"]', {}, 'P1.x["k"]: no such key'),
        ("1 / P1.x", 0, "1 / P1.x: division by zero"),
        ("P1.x % 0.0 < 1", 1, "P1.x % 0.0 < 1: division by zero"),
        ("P1.x + 1", "a", "P1.x + 1: cannot compute str + int"),
        ("P1.x * 1.5 > 1", 10**400, "P1.x * 1.5 > 1: too large"),
        ("9 ** 9 ** P1.x > 1", 9, "9 ** 9 ** P1.x > 1: too large"),
        ('"a" * P1.x == 1', 10**12, '"a" * P1.x == 1: too large'),
        ("[0] * P1.x == 1", 10**9, "[0] * P1.x == 1: too large"),
        ('"%999999999d" % P1.x == 1', 1, '"%999999999d" % P1.x == 1: cannot compute str % int'),
        ("min(P1.x) == 1", [], "min(P1.x) == 1: min of nothing"),
    ],
)
def test_faults(text: str, value: Any, fault: str) -> None:
    predicate = compile_predicate(bound(text))
    assert not predicate.faults
    for _ in range(2):
        assert predicate.evaluate([value]) is False
    assert list(predicate.faults) == [fault]
    assert compile_predicate(Not(predicate.node)).evaluate([value]) is True


@pytest.mark.parametrize("name", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("value", [1, 2, 3])
def test_constants_on_either_side(name: str, value: int) -> None:
    compare = interpreter.COMPARISONS[name]
    assert evaluated(f"2 {name} P1.x", x=value) is compare(2, value)
    assert evaluated(f"P1.x {name} 2", x=value) is compare(value, 2)
    assert evaluated(f"P1.x {name} P2.y", x=value, y=2) is compare(value, 2)


def test_constant_faults_are_found_when_evaluated() -> None:
    predicate = compile_predicate(bound("9 ** 9 ** 9 ** 9 > 1 | 1 / 0"))
    assert not predicate.faults
    assert predicate.evaluate(()) is False
    assert list(predicate.faults) == ["9 ** 9 ** 9 ** 9 > 1: too large", "1 / 0: division by zero"]


def test_what_is_not_reached_leaves_no_fault() -> None:
    predicate = compile_predicate(bound("P1.x != 0 & 1 / P1.x > 0"))
    assert predicate.evaluate([0]) is False
    assert not predicate.faults


def test_text_is_that_of_the_formula() -> None:
    assert compile_predicate(bound("(P1.x>1)and not turn")).text == "P1.x > 1 & !turn"


def test_values() -> None:
    term = compile_value(bound("P1.x * 2 + turn"))
    assert term.leaves == (Local("P1", "x"), Shared("turn"))
    assert term.text == "P1.x * 2 + turn"
    assert term.evaluate([3, 1]) == 7
    assert term.evaluate([3, MISSING]) is MISSING
    assert not term.faults
    assert term.evaluate(["a", 1]) is MISSING
    assert list(term.faults) == ["P1.x * 2 + turn: cannot compute str + int"]
    assert compile_value(bound("P1.x > 1")).evaluate([MISSING]) is False


def test_missing_shows_its_name() -> None:
    assert repr(MISSING) == "MISSING"
    assert not MISSING


def test_state_and_temporal_formulas() -> None:
    assert is_state(bound("P1.x > 1 & turn"))
    assert not is_state(bound("P1.x > 1 & (turn | EF turn)", "ctl"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("P1.x & turn", ["P1.x & turn"]),
        ("AG(P1.x & turn -> EF(P2.x == 1))", ["P1.x & turn", "P2.x == 1"]),
        ("P1.x & turn & EF(P1.x | !turn)", ["P1.x", "turn", "P1.x | !turn"]),
        ("E[P1.x U EX[P1] P1.x]", ["P1.x"]),
    ],
)
def test_maximal_predicates(text: str, parts: list[str]) -> None:
    assert [unparse(part) for part in maximal_predicates(bound(text, "ctl"))] == parts


def test_only_state_predicates_are_compiled() -> None:
    with pytest.raises(TypeError, match="Temporal"):
        compile_predicate(bound("EF turn", "ctl"))


@pytest.mark.parametrize(
    "text",
    [
        "!(" * 1000 + "turn" + ")" * 1000,
        "turn & (" * 1000 + "turn" + ")" * 1000,
        "turn" + " + turn" * 1000 + " == 1001",
        "turn -> " * 1000 + "turn",
        "-" * 1000 + "turn == 1",
        "abs(" * 1000 + "turn" + ")" * 1000,
    ],
)
def test_a_thousand_operators(text: str) -> None:
    limit = sys.getrecursionlimit()
    predicate = compile_predicate(bound(text))
    assert predicate.evaluate([1]) is True
    assert sys.getrecursionlimit() == limit
    assert predicate.text == unparse(predicate.node)


def test_small_formulas_with_huge_results_end_soon() -> None:
    text = " + ".join([f"(turn ** {exponent}) ** 9 ** 9" for exponent in range(2, 30)]) + " == 1"
    predicate = compile_predicate(bound(text))
    start = time.process_time()
    assert predicate.evaluate([7]) is False
    assert time.process_time() - start < 1


# ---- against the interpreter --------------------------------------------------------------------

LEAVES = (Local("P1", "x"), Local("P2", "y"), Shared("turn"))
SCALARS = st.one_of(st.integers(-3, 5), st.sampled_from([0.5, 2.0, -1.5, "a", "ab", "", True, False, None]))
VALUES: st.SearchStrategy[Any] = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2)
)


def _branches(below: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    pairs = st.tuples(below, below)
    names = st.sampled_from([*sorted(words.COMPARISONS), "not in"])
    return st.one_of(
        st.builds(Compare, pairs, st.tuples(names)),
        st.builds(Compare, st.tuples(below, below, below), st.tuples(names, names)),
        st.builds(Arithmetic, st.sampled_from([*words.ARITHMETIC_LEVELS, "**"]), pairs),
        st.builds(Arithmetic, st.sampled_from("+-"), st.tuples(below)),
        st.builds(Subscript, below, below),
        st.lists(below, max_size=3).map(lambda items: Items(tuple(items))),
        st.builds(Call, st.sampled_from(sorted(words.FUNCTIONS)), st.tuples(below)),
        st.builds(Call, st.sampled_from(["min", "max"]), pairs),
        st.builds(Not, below),
        st.lists(below, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(below, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
        st.builds(Implies, below, below),
        st.builds(Iff, below, below),
    )


BOUND = st.recursive(st.one_of(st.sampled_from(LEAVES), SCALARS.map(Literal)), _branches, max_leaves=10)


@given(BOUND, st.lists(st.one_of(VALUES, st.just(MISSING)), min_size=3, max_size=3))
def test_equals_the_interpreter(node: Node, values: list[Any]) -> None:
    state = dict(zip(LEAVES, values, strict=True))
    predicate = compile_predicate(node)
    found = predicate.evaluate([state[leaf] for leaf in predicate.leaves])
    assert found is interpreter.truth(node, state)


@given(trees.formulas("ctl"))
def test_a_state_formula_has_no_temporal_operator_anywhere(tree: Node) -> None:
    """Asked of the whole and of each part, in both orders, as the answers are kept."""
    for part in [tree, *reversed(list(nodes(tree))), *nodes(tree)]:
        assert is_state(part) == (not any(isinstance(below, Temporal) for below in nodes(part)))


def test_defined_asks_whether_there_is_a_value() -> None:
    predicate = compile_predicate(bound("defined(P1.x) & !defined(P1.x[1])"))
    found = [predicate.evaluate([value]) for value in (MISSING, [7], [7, 8])]
    assert found == [False, True, False] and not predicate.faults
