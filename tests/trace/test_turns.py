"""Turns of tasks of one loop: where each begins and ends, and since when its task was ready."""

from __future__ import annotations

from typing import Any

from possibly.trace import Trace, TraceBuilder
from possibly.trace.notation import trace
from possibly.trace.turns import Turns


def run(*lines: dict[str, Any]) -> Trace:
    builder = TraceBuilder("made.jsonl")
    builder.header([(name, {}) for name in dict.fromkeys(line["p"] for line in lines)], line=None)
    for number, line in enumerate(lines, start=2):
        builder.add_fields(line, number)
    return builder.finish()


def turn(task: str, loop: str = "l", **more: Any) -> dict[str, Any]:
    return {"p": task, "kind": "turn", "tag": loop, **more}


RUN = (
    {"p": "a"}, turn("a"), {"p": "a"}, turn("b", after=["a:1"]), {"p": "b"},
    turn("a", yielded=True), {"p": "a"},
    turn("c", "other"), {"p": "c"},
)  # fmt: skip


def test_a_run_that_tells_no_turns_has_none() -> None:
    turns = Turns(trace("a: one two | b: three"))
    assert not turns and list(turns.all()) == [] and turns.of(0) is None
    assert not turns.together(0, 1)


def test_each_event_is_in_the_turn_that_began_last() -> None:
    turns = Turns(run(*RUN))
    assert [(each.process, each.first, each.last) for each in turns.all()] == [
        (0, 2, 3),
        (0, 4, 5),
        (1, 1, 2),
        (2, 1, 2),
    ]
    found = [turns.of(event) for event in range(len(RUN))]
    assert found[0] is None and found[1] is found[2] and found[3] is found[4] and found[2] is not found[5]


def test_turns_of_one_loop_never_both_come_next() -> None:
    turns = Turns(run(*RUN))
    assert turns.together(2, 4) and turns.together(1, 5)
    assert not turns.together(4, 8), "they are of two loops"
    assert not turns.together(0, 4), "one is in no turn"


def test_since_when_a_task_was_ready() -> None:
    turns = Turns(run(*RUN))
    ready = [each.ready for each in turns.all()]
    assert ready[1] == 2, "it gave its turn away without waiting"
    assert turns.asked(4) == 1 and turns.asked(2) == 2
