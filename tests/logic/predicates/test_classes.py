from __future__ import annotations

from random import Random

import pytest

from possibly.logic.bind import Vocabulary, bind
from possibly.logic.parser import parse
from possibly.logic.predicates import classes as module
from possibly.logic.predicates.classes import (
    CLOSED_UNDER_AND,
    CLOSED_UNDER_OR,
    COMPLEMENT,
    IMPLIED,
    SMALLEST_FIRST,
    Classification,
    chains,
    classify,
)
from possibly.logic.specification import CLASS_WORDS, read_specification
from possibly.logic.syntax import Done, Local, Node, Shared, Transit
from tests.logic.lattices import PROCESSES, SEMANTIC, has_class, random_computation

VOCABULARY = Vocabulary(
    PROCESSES,
    dict.fromkeys(PROCESSES, frozenset({"x", "y"})),
    frozenset({"n"}),
    functions=frozenset({"f"}),
    labels=frozenset({"m1"}),
)


def bound(text: str) -> Node:
    return bind(parse(text, "predicate"), VOCABULARY).formula


def classified(text: str, lets: str = "") -> Classification:
    found = bind(parse(text, "predicate"), VOCABULARY, read_specification(lets).lets)
    return classify(found.formula, found.declared)


@pytest.mark.parametrize(
    ("text", "smallest"),
    [
        ("P1.x > 1", "local"),
        ("P1.x > P1.y & !P1.x", "local"),
        ("n == 1 | n > 4", "local"),
        ("P1.x <-> P1.y", "local"),
        ('at(P1, "m1") & inside(P1, f) & done(P1)', "local"),
        ("transit(P1, P1) != 3", "local"),
        ("true", "local"),
        ("1 / 0 > transit()", "local"),
        ("P1.x > 1 & P2.x <= 3", "conjunctive"),
        ("P1.x > 1 & n == 2 & true", "conjunctive"),
        ("!(P1.x | P2.x)", "conjunctive"),
        ("0 < P1.x & P2.y == 1 & P1.x < 2", "conjunctive"),
        ("P1.x < 3 < P2.y", "conjunctive"),
        ("done(P1) & done(P2)", "conjunctive"),
        ("P1.x > 1 | P2.x <= 3", "disjunctive"),
        ("P1.x -> P2.x", "disjunctive"),
        ("!(P1.x & P2.x)", "disjunctive"),
        ("transit(P1, P2) <= 2", "regular"),
        ("3 > transit(P1, P2)", "regular"),
        ('transit(P1, P2, "a") == 1', "regular"),
        ("0 < transit(P1, P2) < 3", "regular"),
        ("transit(P1, P2)", "regular"),
        ("!transit(P1, P2)", "regular"),
        ("transit(P1, P2) != 0", "regular"),
        ("transit(P1, P2) == 1 & P3.x > 1 & transit() == 0", "regular"),
        ("transit() == 0", "regular"),
        ("transit() < 1", "regular"),
        ("transit() <= 0", "regular"),
        ("!transit()", "regular"),
        ("transit(P1, P2) != 2", "co-regular"),
        ("transit(P1, P2) != 2 | P1.x", "co-regular"),
        ("transit() > 0", "co-regular"),
        ("transit()", "co-regular"),
        ("0 != transit()", "co-regular"),
        ("done(P1) | done(P2) & done(P3)", "stable"),
        ("!(done(P1) | done(P2) & done(P3))", "co-stable"),
        ("P1.x + P2.x <= 3", "relational"),
        ("P1.x == P2.x - P3.x", "relational"),
        ("P1.x < n", "relational"),
        ("sum([P1.x, P2.x, P3.x]) == 1", "relational"),
        ("transit() <= 1", "arbitrary"),
        ("transit() == 1", "arbitrary"),
        ("transit() != 1", "arbitrary"),
        ("transit(P1, P2) in [0, 2]", "arbitrary"),
        ("transit(P1, P2) > P1.x", "arbitrary"),
        ("transit(P1, P2) + transit(P2, P1) <= 3", "arbitrary"),
        ("P1.x * P2.x == 1", "arbitrary"),
        ("!(P1.x + P2.x <= 3)", "arbitrary"),
        ("P1.x <-> P2.x", "arbitrary"),
        ("P1.x & P2.x | P3.x", "arbitrary"),
        ("P1.x + P2.x", "arbitrary"),
        ("(P1.x > 1) == (P2.x > 1)", "arbitrary"),
    ],
)
def test_smallest_class(text: str, smallest: str) -> None:
    found = classified(text)
    assert found.smallest == smallest
    assert {smallest, "arbitrary"} <= found.classes
    assert found.assumed == ()


ATOMS = (
    "P1.x > 1", "P1.x == P1.y", "P2.x", "P3.y != 2", "n == 2", "n", 'at(P1, "m1")', "inside(P2, f)",
    "done(P1)", "done(P2)", "done(P3)", "transit(P1, P2) == 1", "transit(P2, P1) <= 1",
    "transit(P1, P2) >= 1", "transit(P2, P2) == 1", 'transit(P1, P3, "a") != 1', "transit(P3, P1) != 0",
    "transit()", "transit() == 0",
    "transit() < 1", "transit() <= 1", "transit() >= 2", "0 < transit(P1, P2) < 2", "P1.x < 2 < P2.y",
    "P1.x + P2.x <= 3", "P1.x == P2.y", "P1.x < n", "true", "false", "1 / 0", 'transit(P1, P2) < "a"',
)  # fmt: skip


def _random_text(random: Random, size: int) -> str:
    if size == 0:
        return random.choice(ATOMS)
    kind = random.choice(["!", "&", "&", "|", "|", "->", "<->"])
    if kind == "!":
        return f"!({_random_text(random, size - 1)})"
    split = random.randrange(size)
    return f"({_random_text(random, split)}) {kind} ({_random_text(random, size - 1 - split)})"


def _refuted(text: str, random: Random, computations: int) -> set[str]:
    """The classes that some random computation shows the predicate not to have."""
    node = bound(text)
    found: set[str] = set()
    for _ in range(computations):
        computation = random_computation(random, random.randrange(3, 8))
        cuts, satisfying = computation.cuts(), computation.satisfying(node)
        found |= {name for name in SEMANTIC if not has_class(name, satisfying, cuts)}
    return found


@pytest.mark.parametrize("text", ATOMS)
def test_atoms_have_the_classes_claimed(text: str) -> None:
    claimed = classified(text).classes
    assert not claimed & _refuted(text, Random(text), 60)


@pytest.mark.parametrize("seed", range(8))
def test_connectives_keep_what_is_claimed(seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        text = _random_text(random, random.randrange(1, 5))
        claimed = classified(text).classes
        if claimed & set(SEMANTIC):
            assert not claimed & _refuted(text, random, 12), text


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("P1.x & P2.x", {"co-linear", "co-post-linear", "observer-independent", "stable"}),
        ("P1.x | P2.x", {"linear", "post-linear", "co-observer-independent"}),
        ("transit(P1, P2) == 1", {"co-linear", "co-post-linear"}),
        ("transit() <= 1", {"linear", "post-linear"}),
        ("transit() >= 2", {"linear", "post-linear"}),
        ("transit() == 0", {"co-linear", "co-post-linear"}),
        ("done(P1) | done(P2)", {"linear", "co-stable"}),
        ("P1.x + P2.x <= 3", {"linear", "post-linear", "co-linear", "observer-independent"}),
        ("P1.x <-> P2.x", {"linear", "post-linear", "co-linear", "co-post-linear"}),
    ],
)
def test_what_is_not_claimed_is_false_somewhere(text: str, classes: set[str]) -> None:
    assert not classes & classified(text).classes
    assert classes <= _refuted(text, Random(1), 400)


def test_the_tables_speak_of_known_classes() -> None:
    known = set(SMALLEST_FIRST)
    assert set(IMPLIED) | {name for names in IMPLIED.values() for name in names} <= known
    assert known >= CLOSED_UNDER_AND | CLOSED_UNDER_OR
    assert set(CLASS_WORDS) <= known
    assert all(COMPLEMENT[COMPLEMENT[name]] == name for name in COMPLEMENT)


def test_or_is_the_dual_of_and() -> None:
    assert {COMPLEMENT[name] for name in CLOSED_UNDER_AND} == CLOSED_UNDER_OR


def test_implications_hold_of_complements_too() -> None:
    for name, implied in IMPLIED.items():
        for other in implied:
            assert COMPLEMENT[other] in {*IMPLIED[COMPLEMENT[name]], *_twice(COMPLEMENT[name])}


def _twice(name: str) -> set[str]:
    return {further for other in IMPLIED.get(name, ()) for further in IMPLIED.get(other, ())}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("P1.x > 1", "P1.x > 1 is local: it reads P1 alone"),
        ("n", "n is local: it reads n alone"),
        ("true", "true is local: it reads nothing"),
        (
            "P1.x & P2.x",
            "P1.x & P2.x is conjunctive: it is a conjunction of parts that read one chain each",
        ),
        (
            "transit() == 0",
            "transit() == 0 is regular: if two cuts satisfy it, so do their meet and their join",
        ),
        ("transit() == 1", "transit() == 1 is arbitrary: its form promises nothing"),
    ],
)
def test_reasons(text: str, why: str) -> None:
    assert classified(text).why == why


def test_long_predicates_are_clipped_in_reasons() -> None:
    assert len(classified(" & ".join(["P1.x"] * 500)).why) < 150


def test_a_declared_class_is_believed_and_listed() -> None:
    found = classified("dead", "let stable dead = P1.x + P2.x == 3")
    assert found.smallest == "stable"
    assert {"observer-independent", "post-linear", "relational"} <= found.classes
    assert found.assumed == ("dead: stable",)
    assert found.why == "P1.x + P2.x == 3 is stable: once true it stays true (declared: dead: stable)"


def test_a_declared_class_is_carried_upward() -> None:
    found = classified("dead & done(P3)", "let stable dead = P1.x + P2.x == 3")
    assert (found.smallest, found.assumed) == ("stable", ("dead: stable",))
    assert classified("!dead", "let stable dead = P1.x + P2.x == 3").smallest == "co-stable"


def test_a_declaration_that_is_provable_is_not_assumed() -> None:
    found = classified("a & b", "let regular a = P1.x > 1\nlet conjunctive b = P1.x & P2.x")
    assert (found.smallest, found.assumed) == ("conjunctive", ())


@pytest.mark.parametrize("word", CLASS_WORDS)
def test_every_class_can_be_declared(word: str) -> None:
    assert word in classified("a", f"let {word} a = P1.x * P2.x == 1").classes


def test_chains_of_leaves() -> None:
    assert chains(Local("P1", "x")) == chains(Done("P1")) == {("process", "P1")}
    assert chains(Shared("P1")) == {("shared", "P1")}
    assert chains(Transit("P1", "P2")) == {("process", "P1"), ("process", "P2")}
    assert chains(Transit()) == frozenset()


def test_temporal_formulas_have_no_class() -> None:
    with pytest.raises(TypeError):
        classify(bind(parse("EF n", "ctl"), VOCABULARY).formula)


@pytest.mark.parametrize(
    ("text", "smallest"),
    [
        ("!(" * 1000 + "n" + ")" * 1000, "local"),
        ("P1.x & (" * 1000 + "n" + ")" * 1000, "conjunctive"),
        ("P1.x + n" + " + P1.x" * 1000 + " <= 3", "relational"),
    ],
)
def test_a_thousand_operators(text: str, smallest: str) -> None:
    assert classified(text).smallest == smallest


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">=", "in", "not in"])
@pytest.mark.parametrize("constant", ["1", "1.5", "'a'", "true", "null", "[1]"])
def test_what_is_known_at_once_is_what_the_parts_say(
    operator: str, constant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"P1.x {operator} {constant}", f"P1.x {operator} {constant} & P2.x {operator} {constant} & P1.y"]
    at_once = [classified(text) for text in texts]
    monkeypatch.setattr(module, "_plain_comparison", lambda node: None)
    assert at_once == [classified(text) for text in texts]


def test_a_declared_comparison_is_not_passed_over() -> None:
    found = classified("P2.x == 1 & p", "let stable p = P1.x == 1")
    assert found.assumed == ("p: stable",)
