"""The answer about a program that was explored by macro-steps: of trees that were made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.control.macro.choices import Branch
from possibly.control.macro.tree import Tree, arcs_of
from possibly.session.exploring.exploration import Exploration
from possibly.session.macro_steps.answer import FailingPath, answer_of
from possibly.session.macro_steps.between import Between
from possibly.verdict.reasons import Reason


def leaf_tree(end: str = "finished", **more: Any) -> Tree:
    """Of one path that ends at once."""
    tree = Tree(("app.py",), executions=1, **more)
    node = tree.add(None)
    node.end, node.detail = end, "" if end == "finished" else "P1 waits for P2"
    return tree


def test_a_whole_tree_without_a_failing_path_holds() -> None:
    found = answer_of({"app.tree.json": leaf_tree(assumed=["nobody writes"])}, None)
    assert (found.holds, found.complete, found.open) == (True, True, {})
    assert found.assumed == ("nobody writes",)


def test_a_path_that_ends_badly_is_the_failure() -> None:
    found = answer_of({"one": leaf_tree(), "two": leaf_tree("deadlock")}, None)
    assert isinstance(found.failure, FailingPath)
    assert (found.failure.kind, found.failure.message) == ("deadlock", "P1 waits for P2")
    assert (found.holds, found.executions) == (False, 2)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"uncontrolled": ["a lock"]}, "a lock"),
        ({"diverged": ["breakpoint 3"]}, "breakpoint 3"),
    ],
)
def test_what_was_not_controlled_leaves_it_open_with_a_remedy(more: dict[str, Any], what: str) -> None:
    found = answer_of({"one": leaf_tree(**more)}, None)
    assert found.holds is None and found.open[what].remedy


def test_a_branch_that_was_not_taken_leaves_it_open() -> None:
    tree = Tree(("app.py",))
    tree.add(None).arcs = arcs_of([Branch((), frozenset())])
    found = answer_of({"one": tree}, None)
    assert (found.holds, list(found.open)) == (None, ["a branch was not taken"])


def test_the_search_step_by_step_decides_what_macro_steps_do_not_control() -> None:
    trees = {"one": leaf_tree(uncontrolled=["a lock"])}
    covered = Between(Exploration(complete=True), (), None)
    assert (answer_of(trees, covered).holds, answer_of(trees, covered).open) == (True, {})
    left = Between(Exploration(open={"the limit of 9 executions": Reason(remedy="more")}), (), None)
    found = answer_of(trees, left)
    assert (found.holds, list(found.open)) == (None, ["a lock", "step by step: the limit of 9 executions"])
