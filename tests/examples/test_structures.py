"""Concurrent structures with well-known faults: the wrong ones are found, the right ones not blamed."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

import possibly

FOLDER = Path(__file__).parents[2] / "examples" / "structures"
SOAK = pytest.mark.skipif("POSSIBLY_CASES" not in os.environ, reason="takes long: for make soak")
FOUND = {
    "counting": [["increment()"], ["increment()"]],
    "bounded": [["offer(1)"], ["offer(1)"]],
    "search_tree": [["add(7)"], ["add(7)"]],
    "accounts": [["transfer(0, 1, 5)"], ["transfer(1, 0, 5)"]],
    "multimap": [["add('k', 1)", "get('k')"], ["add('k', 1)"]],
    "two_ends": [["add_first(8)", "peek_last()"], ["take_first()"]],
    "stack_with_size": [["pop()", "size()"], ["push(1)"]],
    "ring": [["put(1)", "take()"], ["take()"]],
}
"""The smallest scenario that fails."""


def structure(name: str) -> ModuleType:
    described = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert described is not None and described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def test_all_of_them_are_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*FOUND, "blocking_queue"}


@pytest.mark.alone
@pytest.mark.parametrize("name", ["counting", *(pytest.param(name, marks=SOAK) for name in list(FOUND)[1:])])
def test_the_wrong_one_is_found(name: str) -> None:
    module = structure(name)
    found = possibly.linearizable(module.Wrong, module.OPERATIONS)
    assert found.holds is False and found.scenario is not None
    assert [[str(call) for call in calls] for calls in found.scenario] == FOUND[name]


@pytest.mark.alone
@SOAK
@pytest.mark.parametrize("name", FOUND)
def test_the_right_one_is_linearizable(name: str) -> None:
    module = structure(name)
    found = possibly.linearizable(module.Right, module.OPERATIONS, examples=12)
    assert found.holds is True, found.explain()


@pytest.mark.alone
@SOAK
@pytest.mark.parametrize("kind", ["Wrong", "Right"])
def test_a_queue_that_blocks(kind: str) -> None:
    module = structure("blocking_queue")
    found = possibly.explore(lambda: module.main(getattr(module, kind)()))
    assert found.holds is (kind == "Right")
