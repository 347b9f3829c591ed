"""Races on traces written by hand, against the definition, and on programs."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from possibly.order.computation import Computation
from possibly.recorder.sharing.races import races
from possibly.session.checking.races import races_of
from possibly.session.record import Request, record_program
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


LOOKS = {
    "for each in {}: pass": "{}[9] = 9",
    "len({})": "{}.pop(0)",
    "9 in {}": "{}[9] = 9",
    "[*{}]": "{}.clear()",
    "print(*{})": "{}[0] = 5",
    "f'{{{}}}'": "{}[0] = 5",
    "{} == 1": "{}[0] = 5",
    "sum({})": "{}.update({{0: 7}})",
    "','.join(map(str, {}))": "{}[0] = 5",
    "dict({})": "{}[0] = 5",
    "first, = {}": "{}[0] = 5",
    "1 if {} else 0": "{}.popitem()",
}
"""Ways to look at a dictionary, and to change it."""
OF_LISTS = {
    "{}[0:1]": "{}[0] = 5",
    "{}[0]": "heapq.heappush({}, 0)",
    "{}[-1]": "bisect.insort({}, 9)",
    "bytes({})": "{}[0] = 5",
    "max({})": "{}[0:1] = [3]",
    "{}.index(1)": "{}.reverse()",
}
ORDERED = """
import queue
from concurrent.futures import Future
event, channel, future, gate = threading.Event(), queue.Queue(), Future(), threading.Barrier(2)
own, guarded, lock, added, counted = threading.local(), [0], threading.Lock(), [], {}
by_event, by_queue, by_future, by_gate = [0], [0], [0], [0]
def one():
    own.x = 1
    own.x += 1
    with lock: guarded[0] += 1
    added.append(1)
    counted.setdefault("k", 1)
    by_event[0] = 1; event.set()
    by_queue[0] = 1; channel.put(1)
    by_future[0] = 1; future.set_result(1)
    by_gate[0] = 1; gate.wait()
def other():
    own.x = 1
    own.x += 1
    with lock: guarded[0] += 1
    added.append(2)
    counted.setdefault("k", 2)
    event.wait(); print(by_event[0])
    channel.get(); print(by_queue[0])
    future.result(); print(by_future[0])
    gate.wait(); print(by_gate[0])
"""
THREADS = """
threads = [threading.Thread(target=each) for each in (one, other)]
for each in threads: each.start()
for each in threads: each.join()
"""


def test_who_looks_races_with_who_changes(tmp_path: Path) -> None:
    """Whichever way that is: by iteration, size, membership, slices, operators and functions in C."""
    ways = [(f"d{number}", "{0: 1}", *each) for number, each in enumerate(LOOKS.items())]
    ways += [(f"l{number}", "[1]", *each) for number, each in enumerate(OF_LISTS.items())]
    made = "".join(f"{name} = {value}\n" for name, value, _, _ in ways)
    one = "".join(f"    {look.format(name)}\n" for name, _, look, _ in ways)
    other = "".join(f"    {change.format(name)}\n" for name, _, _, change in ways)
    head = "import bisect, heapq, threading\nstarted = threading.Barrier(2)\n"
    source = (
        f"{head}{made}def one():\n    started.wait()\n{one}def other():\n    started.wait()\n{other}{THREADS}"
    )
    found = {race.variable for race in races(run(tmp_path, source, races=True).trace)}
    assert {name for name, *_ in ways} - {each.partition("[")[0] for each in found} == set()


def test_nothing_races_that_is_ordered_or_one_operation(tmp_path: Path) -> None:
    trace = run(tmp_path, f"import threading{ORDERED}{THREADS}", races=True).trace
    assert {race.variable for race in races(trace) if not race.is_atomic} == set()


BESIDE = """
import threading
status, items, both = {"a": 1}, [1], {"n": 0}
def one():
    dict(status)
    items[:]
    items.copy()
    both.update(dict(both))
def other():
    status["c"] = 3
    items.append(2)
    both.update(dict(both))
"""


def test_a_copy_beside_a_change_is_none_unless_something_is_written_back(tmp_path: Path) -> None:
    found = races(run(tmp_path, f"{BESIDE}{THREADS}", races=True).trace)
    noted = {race.variable.partition("[")[0] for race in found if race.is_atomic}
    assert {"status", "items"} <= noted
    assert {race.variable.partition("[")[0] for race in found if not race.is_atomic} == {"both"}


EVERY_ACCESS = """
import threading
added, kept, told, same = [], {}, {"n": 0}, {}
class Box:
    def __init__(self): self.items = []
box = Box()
def work(key):
    added.append(1)
    box.items.append(1)
    same["a"] = 1
    kept.setdefault(key, 1) if key else kept.update(b=1)
    told.update(dict(told))
def one(): work("a")
def other(): work("")
"""


def test_operations_of_the_interpreter_are_none_where_every_access_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"{EVERY_ACCESS}{THREADS}")
    done = record_program(Request((str(program),), str(tmp_path / "run.jsonl"), record="all", races=True))
    report = races_of(done.trace)
    assert report.reason is not None and "a loop over told, or a copy" in report.reason
    found = {race.variable: race.is_atomic for race in races(done.trace)}
    assert found == {
        "added[]": True, "box.items[]": True, "kept[]": True, "same['a']": False, "told[]": False,
    }  # fmt: skip
