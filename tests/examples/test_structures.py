"""Concurrent structures with well-known faults: the wrong ones are found, the right ones not blamed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


TRY = """
import sys
sys.path.insert(0, sys.argv[1])
import possibly
module = __import__(sys.argv[2])
found = possibly.linearizable(getattr(module, sys.argv[3]), module.OPERATIONS, examples=int(sys.argv[4]))
print(found.holds, [[str(call) for call in calls] for calls in found.scenario or ()])
"""


def tried(name: str, kind: str, examples: int) -> str:
    """What its scenarios show, in an interpreter of its own, as a user has it."""
    words = [sys.executable, "-c", TRY, str(FOLDER), name, kind, str(examples)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


def test_all_of_them_are_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*FOUND, "blocking_queue"}


@pytest.mark.parametrize("name", ["counting", *(pytest.param(name, marks=SOAK) for name in list(FOUND)[1:])])
def test_the_wrong_one_is_found(name: str) -> None:
    assert tried(name, "Wrong", 30) == f"False {FOUND[name]}"


@SOAK
@pytest.mark.parametrize("name", FOUND)
def test_the_right_one_is_linearizable(name: str) -> None:
    assert tried(name, "Right", 12) == "True []"


@SOAK
@pytest.mark.parametrize(("words", "status"), [([], 1), (["right"], 0)])
def test_a_queue_that_blocks(words: list[str], status: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "possibly", "explore", str(FOLDER / "blocking_queue.py"), *words]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == status
