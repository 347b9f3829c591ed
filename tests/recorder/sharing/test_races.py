"""Races on traces written by hand, against the definition, and on programs."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from possibly.order.computation import Computation
from possibly.recorder.sharing.races import races
from possibly.trace import TraceBuilder
from possibly.trace.model import Trace
from tests.generate import random_trace
from tests.probes.programs import run


def trace_of(*events: dict[str, object]) -> Trace:
    builder = TraceBuilder()
    builder.header()
    for event in events:
        builder.add_fields(event)
    return builder.finish()


def test_a_race_and_an_ordered_pair() -> None:
    trace = trace_of(
        {"p": "P", "write": {"x": 1}, "at": "a.py:1"},
        {"p": "Q", "read": ["x"], "at": "a.py:2"},
        {"p": "Q", "write": {"y": 1}, "id": "q", "at": "a.py:3"},
        {"p": "P", "read": ["y"], "after": ["q"], "at": "a.py:4"},
        {"p": "Q", "read": ["x"], "at": "a.py:5"},
    )
    assert [(race.variable, race.first.event, race.second.event) for race in races(trace)] == [
        ("x", 0, 1),
        ("x", 0, 4),
    ]


def test_a_variable_races_iff_two_conflicting_accesses_are_concurrent() -> None:
    for seed in range(300 * int(os.environ.get("POSSIBLY_CASES", "1"))):
        check_races(random_trace(Random(seed), shared=True))


def check_races(trace: Trace) -> None:
    computation = Computation(trace, "sync")
    accesses = [
        (variable, event, how)
        for event in range(len(trace))
        for how, variables in (("r", trace.reads(event)), ("w", (name for name, _ in trace.writes(event))))
        for variable in variables
    ]
    expected = {
        one[0]
        for one in accesses
        for two in accesses
        if one[0] == two[0] and "w" in (one[2], two[2]) and computation.concurrent(one[1], two[1])
    }
    assert {race.variable for race in races(trace)} == expected


PROGRAM = """
import threading, collections
class Node:
    def __init__(self): self.v = 0; self.a = [self]
s = Node()
lock = threading.Lock()
safe = 0
items = {"k": 1, "other": 1}
def work(key):
    global safe
    s.a[0].v += 1
    items[key] += 1
    with lock: safe += 1
def outer():
    n = 0
    def inner():
        nonlocal n
        n += 1
    return inner
inner = outer()
threads = [threading.Thread(target=work, args=(key,)) for key in ("k", "other")]
threads += [threading.Thread(target=inner) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(safe, s.v)
"""


def test_races_of_a_program(tmp_path: Path) -> None:
    found = {race.variable for race in races(run(tmp_path, PROGRAM, races=True).trace)}
    assert found == {"s.v", "outer.n"}
