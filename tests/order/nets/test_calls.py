"""Locals of calls: recorded from real nested and recursive functions, and traces that tell them otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from possibly.order.nets.net import Net
from possibly.trace.jsonl import read_trace
from possibly.trace.model import Trace
from possibly.trace.notation import trace

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
PROGRAM = """\
import random
import sys
import threading

choice = random.Random(int(sys.argv[1]))
seen = -1


def outer(k, depth):
    global seen
    seen = k
    for _ in range(choice.randint(0, 2)):
        if depth < 4:
            choice.choice((outer, inner, without))(choice.randint(0, 9), depth + 1)
            seen = k
        if choice.random() < 0.5:
            k = choice.randint(0, 9)
            seen = k
    if choice.random() < 0.2:
        raise ValueError


def inner(given, depth):
    global seen
    if choice.random() < 0.5 and depth < 4:
        outer(given, depth + 1)
    k = given + 10
    seen = k
    if depth < 4:
        inner(given, depth + 1)
        seen = k


def without(given, depth):
    outer(given, depth + 1)


def main():
    for _ in range(10):
        try:
            outer(choice.randint(0, 9), 0)
        except ValueError:
            pass


thread = threading.Thread(target=main, name="worker")
thread.start()
thread.join()
"""


@pytest.mark.parametrize("seed", range(2 * CASES))
def test_a_local_is_what_the_program_sees(seed: int, tmp_path: Path) -> None:
    (tmp_path / "calls.py").write_text(PROGRAM)
    (tmp_path / "calls.spec").write_text("tl one = t:(k >= 0) implies t:(seen >= -1)\n")
    words = ["run", "--spec", "calls.spec", "-o", "calls.jsonl", "calls.py", str(seed)]
    subprocess.run([sys.executable, "-m", "possibly", *words], cwd=tmp_path, capture_output=True, check=True)
    run = read_trace(str(tmp_path / "calls.jsonl"))
    net, task = Net(run), [each.name for each in run.processes].index("worker")
    looked = 0
    for count, event in enumerate(run.events_of[task], 1):
        for name, value in run.writes(event):
            if name == "seen":
                assert net.values(task, count, "k") == (value,), run.name(event)
                looked += 1
    assert looked > 20
    assert net.values(task, len(run.events_of[task]), "k") is None, "all calls are over"


def values(run: Trace, variable: str) -> list[tuple[Any, ...] | None]:
    net = Net(run)
    return [net.values(0, count, variable) for count in range(len(run) + 1)]


def recorded(text: str) -> Trace:
    """Each letter an event: `(` enters f, `)` leaves it, a digit is assigned to x there."""
    from possibly.trace.build import TraceBuilder

    builder = TraceBuilder()
    builder.header([("p", {})])
    for letter in text:
        if letter in "()":
            builder.add("p", kind="enter" if letter == "(" else "exit", fn="f")
        else:
            value = int(letter) if letter.isdecimal() else None
            builder.add("p", set={} if value is None else {"x": value, "f.x": value})
    return builder.finish()


def test_a_recursive_call_gives_way_to_its_caller() -> None:
    run = recorded("(1(.2).)..")
    assert values(run, "x") == [None, None, (1,), None, None, (2,), (2,), (1,), (1,), None, None]
    assert [found if found is None else found[0] for found in values(run, "f.x")][5:8] == [2, 2, 1]


def test_a_second_call_begins_without_a_value() -> None:
    assert values(recorded("(1)(."), "x") == [None, None, (1,), (1,), None, None]


def test_what_is_not_told_by_a_recorder_stays() -> None:
    run = trace("p: a{x=1} b{x=2} c")
    assert values(run, "x") == [None, (1,), (2,), (2,)]
    assert values(recorded("1(2)."), "x") == [None, (1,), (1,), (2,), (2,), (2,)], "set outside of f too"
