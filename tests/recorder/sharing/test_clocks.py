"""Clocks know what probes order: what was left is learnt by whoever takes it, and by nobody else."""

from __future__ import annotations

import pytest

from possibly.recorder.sharing.clocks import Clocks


def knows(clocks: Clocks, process: int, other: int, when: int) -> bool:
    return clocks.now(process).get(other, 0) >= when


@pytest.mark.parametrize(("give", "take"), [("release", "acquire"), ("put", "get"), ("spawn", "start")])
def test_who_takes_knows_what_was_done_before(give: str, take: str) -> None:
    from possibly.recorder.edges import ACTIONS

    if give not in ACTIONS or take not in ACTIONS:
        pytest.skip("no such action")
    clocks = Clocks()
    when = clocks.now(1)[1]
    detail = (0, 0) if give == "put" else None
    clocks.told(give, 1, "thing", detail)
    later = clocks.now(1)[1]
    clocks.told(take, 2, "other thing", None)
    assert not knows(clocks, 2, 1, when)
    clocks.told(take, 2, "thing", None)
    assert knows(clocks, 2, 1, when) and not knows(clocks, 2, 1, later)


def test_a_process_knows_itself() -> None:
    assert Clocks().now(7) == {7: 1}
