"""Every kind of step that a model has is told in words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import possibly.control
from possibly.control.models import futures
from possibly.views.text.phrases import METHODS, PHRASES, phrase_of

STEPS = frozenset({"visible", "Operation"})
"""What makes a step; its kind comes first."""
DATABASES = {"query", "update", "commit", "rollback", "close"}
"""What a step of a database is; which one it is depends on the statement."""


def kinds() -> Iterator[str]:
    """The kinds that stand in the source of models and of the world, as they are given to a step."""
    for file in Path(possibly.control.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(args=[ast.Constant(str(kind)), *_]) if _called(node) in STEPS:
                    yield kind


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", "") or getattr(node.func, "id", "")


def test_every_kind_has_its_words() -> None:
    found = {*kinds(), *futures.CHANGES, *futures.LOOKS, *DATABASES}
    assert len(found) > 40 and not sorted(found - PHRASES.keys())


def test_words_take_the_thing_both_times_or_not_at_all() -> None:
    assert all(each.now.count("{}") == each.then.count("{}") < 2 for each in METHODS.values())


def test_a_kind_without_words_is_called_by_its_name() -> None:
    assert phrase_of("dance").then.format("the floor") == "dance the floor"
