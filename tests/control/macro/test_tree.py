"""The tree: its verdict, its file, and going on with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.tree import Tree
from possibly.errors import PossiblyError
from tests.control.macro.simulated import Program, Simulated, explored, matchings

MASTER: Program = {
    "A": [("send", "M")],
    "B": [("send", "M")],
    "C": [("send", "M")],
    "M": [("recv", None), ("recv", None), ("recv", None)],
}


def test_the_whole_tree_counted_by_hand() -> None:
    """Three senders: 3! paths, each with the sends in one step, three receives and the end."""
    tree = explored(MASTER)
    assert tree.is_complete
    assert tree.verdict is True
    assert len(tree.leaves) == 6
    # root, sends, then 3 + 6 + 6 receives and 6 ends
    assert len(tree.nodes) == 1 + 1 + 3 + 6 + 6 + 6
    assert tree.executions == 6


def test_a_tree_is_saved_and_loaded_as_it_was(tmp_path: Path) -> None:
    tree = explored(MASTER, Plan(most=3))
    tree.program, tree.ranks = ("master.py", "3"), 4
    tree.marks["here"] = 2
    tree.save(tmp_path / "m.tree.json")
    loaded = Tree.load(tmp_path / "m.tree.json")
    assert json.dumps(loaded.document()) == json.dumps(tree.document())
    assert [path.name for path in tmp_path.iterdir()] == ["m.tree.json"]


def test_a_tree_that_was_loaded_is_gone_on_with(tmp_path: Path) -> None:
    part = explored(MASTER, Plan(most=2))
    assert not part.is_complete
    assert part.verdict is None
    part.save(tmp_path / "m.tree.json")
    whole = Explorer(lambda: Simulated(MASTER), Tree.load(tmp_path / "m.tree.json")).explore()
    assert whole.is_complete
    assert set(matchings(whole)) == set(matchings(explored(MASTER)))
    assert len(whole.leaves) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no tree of macro-steps"),
        ("[1, 2", "no tree of macro-steps"),
        ("[]", "no tree of macro-steps"),
        ('{"format": "other"}', "its format is 'other'"),
        ('{"format": "possibly-tree", "version": 99}', "from the future"),
        ('{"format": "possibly-tree", "version": 1, "program": []}', "no tree of macro-steps"),
    ],
)
def test_a_file_that_is_no_tree_is_refused_in_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.tree.json").write_text(text)
    with pytest.raises(PossiblyError) as error:
        Tree.load(tmp_path / "x.tree.json")
    assert message in str(error.value)
    assert "x.tree.json" in str(error.value)


def test_nodes_out_of_order_are_refused(tmp_path: Path) -> None:
    document = explored(MASTER).document()
    document["nodes"][0]["arcs"][0]["child"] = 1000
    (tmp_path / "x.tree.json").write_text(json.dumps(document))
    with pytest.raises(PossiblyError, match="not numbered in order"):
        Tree.load(tmp_path / "x.tree.json")


def test_the_tree_is_false_if_a_leaf_is_even_if_not_all_is_explored() -> None:
    program: Program = {**MASTER, "M": [*MASTER["M"], ("recv", "A")]}
    tree = explored(program, Plan(most=1))
    assert tree.verdict is False
    assert not tree.is_complete
