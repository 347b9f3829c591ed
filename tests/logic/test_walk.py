from __future__ import annotations

from hypothesis import given

from possibly.logic import syntax
from possibly.logic.parser import parse
from possibly.logic.syntax import Literal, Name, Node, Not, Quantified
from possibly.logic.walk import children, depth, fold, nodes, with_children
from tests.logic import trees


@given(trees.formulas("ctl"))
def test_a_tree_is_made_of_its_children(tree: Node) -> None:
    assert with_children(tree, list(children(tree))) == tree


@given(trees.formulas("ltl"))
def test_fold_sees_every_node_once(tree: Node) -> None:
    def count(node: Node, below: list[int]) -> int:
        assert len(below) == len(children(node))
        return 1 + sum(below)

    assert fold(tree, count) == len(list(nodes(tree)))


@given(trees.formulas("ctl"))
def test_fold_can_rebuild(tree: Node) -> None:
    assert fold(tree, with_children) == tree


@given(trees.states())
def test_depth_is_one_more_than_that_of_the_deepest_child(tree: Node) -> None:
    assert depth(tree) == 1 + max([depth(child) for child in children(tree)], default=0)


def test_nodes_come_in_the_order_of_the_text() -> None:
    tree = parse("a & (b -> c[d]) & e", "predicate")
    assert [node.parts[0] for node in nodes(tree) if isinstance(node, Name)] == ["a", "b", "c", "d", "e"]


def test_a_quantifier_may_lack_its_condition() -> None:
    tree = parse('forall i in "*": x', "predicate")
    assert isinstance(tree, Quantified)
    assert children(tree) == (Name(("x",)),)
    assert with_children(tree, [Literal(1)]) == Quantified("forall", ("i",), "*", None, Literal(1))


def test_walks_of_deep_trees_need_no_recursion() -> None:
    tree: Node = Literal(1)
    for _ in range(50_000):
        tree = Not(tree)
    assert depth(tree) == 50_001
    assert fold(tree, lambda node, below: 1 + sum(below)) == 50_001


def test_leaves_are_the_types_with_nothing_below() -> None:
    """A hash and a look for temporal operators stop at them."""
    kinds = [kind for kind in vars(syntax).values() if isinstance(kind, type) and issubclass(kind, Node)]
    assert len(kinds) > 20
    for kind in kinds:
        values = [
            (Literal(1),) if "tuple[Node" in each else Literal(1) for each in kind.__annotations__.values()
        ]
        below = kind is not Node and children(kind(*values[: len(kind.__match_args__)]))
        assert kind._is_leaf == (not below), kind


@given(trees.formulas("ctl"))
def test_what_is_known_at_once_is_not_looked_into(tree: Node) -> None:
    def size(node: Node, below: list[int]) -> int:
        return 1 + sum(below)

    def at_once(node: Node) -> int | None:
        return len(list(nodes(node))) if isinstance(node, Not) else None

    assert fold(tree, size, at_once) == fold(tree, size)
