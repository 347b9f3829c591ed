from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from possibly.logic.syntax import And, Compare, Literal, Local, Name, Node, Not, Shared, Temporal
from tests.logic import trees


def deep(levels: int, leaf: Node) -> Node:
    for _ in range(levels):
        leaf = Not(leaf)
    return leaf


@given(trees.states())
def test_a_copy_is_equal_and_has_the_same_hash(tree: Node) -> None:
    copy = pickle.loads(pickle.dumps(tree))
    assert copy is not tree
    assert copy == tree
    assert hash(copy) == hash(tree)


def test_literals_of_different_types_differ() -> None:
    assert len({Literal(1), Literal(1.0), Literal(True), Literal("1"), Literal(None)}) == 5


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (And((Name(("a",)), Name(("b",)))), And((Name(("b",)), Name(("a",))))),
        (And((Name(("a",)),)), And((Name(("a",)), Name(("a",))))),
        (Local("P1", "x"), Local("x", "P1")),
        (Shared("x"), Name(("x",))),
        (Compare((Literal(1), Literal(2)), ("<",)), Compare((Literal(1), Literal(2)), ("<=",))),
        (Temporal("EX", (Literal(1),)), Temporal("EX", (Literal(1),), "P1")),
        (Literal(1), 1),
    ],
)
def test_different(one: object, two: object) -> None:
    assert one != two
    assert two != one


def test_spans_and_spelling_do_not_count() -> None:
    assert Shared("x", span=(0, 1)) == Shared("x", explicit=True)
    assert hash(Shared("x", span=(0, 1))) == hash(Shared("x", explicit=True))


def test_deep_trees_are_compared_and_hashed_without_recursion() -> None:
    one, two = deep(20_000, Literal(1)), deep(20_000, Literal(1))
    assert one == two
    assert hash(one) == hash(two)
    assert one != deep(20_000, Literal(2))
    assert {one: "found"}[two] == "found"


def test_nodes_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Literal(1).value = 2  # type: ignore[misc]


def test_a_changed_copy_has_its_own_hash() -> None:
    tree = Local("P1", "x")
    hash(tree)
    assert hash(tree.changed(variable="y")) == hash(Local("P1", "y"))
