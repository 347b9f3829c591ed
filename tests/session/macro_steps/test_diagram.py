"""A failing path as a run: its messages with their values, and the two whose order makes the difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.macro.explore import Plan
from possibly.control.macro.tree import Tree, from_document
from possibly.control.macro.why import violations
from possibly.session.macro_steps.diagram import PathRun, path_run
from possibly.session.macro_steps.tree import checked_program, explore

EXAMPLES = Path(__file__).parents[3] / "examples" / "macro"


def explored(name: str) -> Tree:
    tree, _ = explore(checked_program([str(EXAMPLES / f"{name}.py"), "lossy"], None), Plan())
    return tree


def words(run: PathRun) -> list[str]:
    return [run.trace.event(event).label or "" for event in range(run.shown)]


@pytest.mark.parametrize("name", ["threads", "processes", "tasks"])
def test_a_path_is_a_run_with_the_two_messages_that_decide(name: str) -> None:
    tree = explored(name)
    saved = from_document(tree.document())
    (first, *_) = violations(saved)
    assert first.difference is not None
    run = path_run(saved, first)
    assert words(run) == words(path_run(tree, violations(tree)[0]))
    assert [run.trace.event(event).msg for event in run.chosen] == [first.difference.chosen.message] * 2
    assert {run.trace.event(event).msg for event in run.other} == {first.difference.other.message}
    values = {label.partition(" = ")[2] for label in words(run) if label.startswith("Producer#")}
    assert {"1", "2"} <= values, "the items that the producer sends"


def test_a_tree_without_what_messages_carry_is_a_run_too() -> None:
    """As earlier versions have written it."""
    document = explored("threads").document()
    for node in document["nodes"]:
        del node["carried"]
        node["done"] = [{k: v for k, v in done.items() if k != "sends"} for done in node["done"]]
    older = from_document(document)
    run = path_run(older, violations(older)[0])
    assert len(run.trace) > 0
    assert run.chosen == ()
