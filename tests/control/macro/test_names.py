"""Queues are called as the program calls them, alike in all executions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from possibly.control.macro.inside import gate, threads
from possibly.control.macro.inside.names import channel_name
from possibly.control.macro.model import process_of

SOURCE = """\
class Box:
    def __init__(self, make):
        self.items = make()


def several(make):
    left, n, right = make(), 0, make()
    many = [
        make(),
        make(),
    ]
    again: object = make()
    return Box(make), Box(make)


def nameless(make):
    print(make(), file=None) if False else make()


def both(make):
    several(make)
    nameless(make)
    nameless(make)
"""


def names(process: str, tmp_path: Path, function: str) -> list[str]:
    import sys

    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    space: dict[str, Any] = {}
    exec(compile(SOURCE, str(file), "exec"), space)  # noqa: S102
    found: list[str] = []
    made: dict[str, int] = {}
    space[function](lambda: found.append(channel_name(process, "queue", sys._getframe(1), made)))
    return found


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("several", ["left", "right", "many", "many-2", "again", "Box.items", "Box.items-2"]),
        ("nameless", ["main.queue1"]),
        (
            "both",
            [
                "left",
                "right",
                "many",
                "many-2",
                "again",
                "Box.items",
                "Box.items-2",
                "main.queue1",
                "main.queue2",
            ],
        ),
    ],
)
def test_variables(function: str, expected: list[str], tmp_path: Path) -> None:
    assert names("main", tmp_path, function) == expected
    assert names("Task-1", tmp_path, function)[0] in ("left", "Task-1.queue1")


def test_what_others_make_has_their_name_before_it(tmp_path: Path) -> None:
    assert names("worker", tmp_path, "several")[:2] == ["worker.left", "worker.right"]


def test_no_source_no_variable() -> None:
    made: dict[str, int] = {}
    assert channel_name("main", "queue", None, made) == "main.queue1"
    assert eval("call()", {"call": lambda: _of_caller(made)}) == "main.queue2"  # noqa: S307


def _of_caller(made: dict[str, int]) -> str:
    import sys

    return channel_name("main", "queue", sys._getframe(1), made)


def test_no_two_tasks_have_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if the program chooses a name that another one gets by its number, or that of the process."""
    monkeypatch.setattr(threads, "_names", {})
    monkeypatch.setattr(gate, "first", "main")
    given = ["a", "a", "a-2", "a", "main", "main-2", "main", "", "", "-2", ""]
    found = [threads.unique(name) for name in given]
    assert len({"main", *found}) == len(found) + 1
    assert found[:2] == ["a", "a-2"]


@pytest.mark.parametrize("process", ["P", "", "#1", "a?1", "a#b?2", "p1", "two\nlines", "12"])
@pytest.mark.parametrize("mark", ["#", "?"])
def test_a_message_says_whose_it_is_whatever_that_is_called(process: str, mark: str) -> None:
    assert process_of(f"{process}{mark}12") == process
