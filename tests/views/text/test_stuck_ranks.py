"""What cures a deadlock of ranks and processes, by what each of them waits in."""

from __future__ import annotations

import pytest

from possibly.control.macro.tree import TreeNode
from possibly.views.text.macro import deadlock_cure

SEND, RECEIVE = ("rank0", "ssend(rank1)", "a.py:5"), ("rank1", "recv(rank0)", "a.py:7")
BARRIER = ("rank2", "barrier", "a.py:9")


@pytest.mark.parametrize(
    ("pending", "pattern", "words"),
    [
        ([SEND, ("rank1", "ssend(rank0)", "")], "all send first", "let one receive first"),
        ([RECEIVE, ("rank0", "recv(rank1)", "")], "all receive first", "let one send first"),
        ([RECEIVE], "missing message", "what rank1 waits for in recv(rank0) at a.py:7"),
        ([SEND], "missing receive", "what rank0 sends in ssend(rank1) at a.py:5"),
        ([RECEIVE, BARRIER], "not all take part", "barrier at a.py:9"),
        ([SEND, RECEIVE, BARRIER], "not all take part", "barrier at a.py:9"),
    ],
)
def test_the_cure_is_about_what_all_of_them_wait_in(
    pending: list[tuple[str, str, str]], pattern: str, words: str
) -> None:
    found = deadlock_cure(TreeNode(1, 0, 1, end="deadlock", pending=pending))
    assert found is not None and found[0] == pattern and words in found[1]


def test_nobody_who_waits_is_no_pattern() -> None:
    assert deadlock_cure(TreeNode(1, 0, 1, end="deadlock")) is None
