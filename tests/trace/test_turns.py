"""Turns of tasks of one loop: where each begins and ends, and since when its task was ready."""

from __future__ import annotations

from possibly.trace.notation import trace
from possibly.trace.turns import Turns

RUN = """
a: turn(l)@"x:1" one
b: one
"""


def test_a_run_that_tells_no_turns_has_none() -> None:
    turns = Turns(trace("a: one two | b: three"))
    assert not turns and list(turns.all()) == [] and turns.of(0) is None
    assert not turns.together(0, 1)
