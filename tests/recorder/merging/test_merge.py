"""Logs to lines: the order of several logs, what is missing in them, and the text."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from possibly.order.computation import Computation
from possibly.recorder import entries as e
from possibly.recorder.edges import ACTIONS, NOTES
from possibly.recorder.merging.lines import TextLines
from possibly.recorder.merging.merge import Merge
from possibly.recorder.merging.sources import Source
from possibly.trace import load
from possibly.trace.jsonl import write_lines
from tests.probes.programs import run

CASES = 100 * int(os.environ.get("POSSIBLY_CASES", "1"))


class Collected:
    """Events as objects."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def header(self, shared: Mapping[str, Any]) -> None:
        self.shared = dict(shared)

    def add_fields(self, fields: Mapping[str, Any]) -> None:
        self.events.append(dict(fields))


def log(key: str, *events: tuple[Any, ...], name: str = "") -> Source:
    site = (e.SITE, 1, "p.py:1", None, "x", "f")
    return Source(
        key, {"name": name}, {1: site, 2: (e.SITE, 2, "p.py:2", "here", "y", None)},
        {1: "MainThread", 2: "other"}, events=list(events),
    )  # fmt: skip


def told(action: str, thing: Any, time: float, detail: Any = None, process: int = 1) -> tuple[Any, ...]:
    return (e.SYNC, process, 1, action, thing, detail, time)


def mark(value: int, process: int = 1) -> tuple[Any, ...]:
    return (e.SET, process, 1, value)


def merged(*sources: Source) -> list[dict[str, Any]]:
    collected = Collected()
    merge = Merge(list(sources), collected)
    merge.begin()
    merge.go_on(is_over=True)
    return collected.events


def values(events: list[dict[str, Any]]) -> list[int]:
    return [event["set"]["x"] for event in events if "set" in event]


def test_what_happened_earlier_in_another_log_comes_first() -> None:
    one = log("1", told("put", "a", 1.0), mark(1), told("put", "b", 4.0), mark(4))
    two = log(
        "2", told("put", "c", 2.0), mark(2), told("put", "d", 3.0), mark(3), told("put", "f", 5.0), mark(5)
    )
    assert values(merged(one, two)) == [1, 2, 3, 4, 5]


def test_what_relies_on_another_log_waits_for_it_whatever_the_clocks_say() -> None:
    one = log("1", told("get", "a", 1.0), mark(2))
    two = log("2", mark(1), told("put", "a", 9.0), mark(3))
    events = merged(one, two)
    assert values(events).index(1) < values(events).index(2)
    sent, received = (event["msg"] for event in events if "msg" in event)
    assert sent == received


def test_what_a_killed_process_did_not_tell_any_more_is_missing_and_the_rest_keeps_its_order() -> None:
    killed = log("1", mark(1))
    waits = log("2", told("get", "lost", 1.0), mark(2), told("put", "kept", 2.0))
    last = log("3", told("get", "kept", 0.5), mark(3))
    events = merged(killed, last, waits)
    assert values(events)[-2:] == [2, 3], "only what is lost is given up"
    assert [event.get("msg") for event in events if event.get("kind") == "receive"] == [None, "m1"]


def test_a_joint_event_waits_for_everybody() -> None:
    sources = [log(f"{n}", mark(n), told("arrive", "r", n, 3), mark(10 + n), name=f"p{n}") for n in range(3)]
    events = merged(*sources)
    first = next(at for at, event in enumerate(events) if "meet" in event)
    assert [event.get("meet") for event in events[first : first + 3]] == ["meet1"] * 3
    assert sorted(values(events)[:3]) == [0, 1, 2]
    assert sorted(values(events)[3:]) == [10, 11, 12]


def random_log(chance: random.Random, key: str, things: list[str]) -> Source:
    """Entries of every kind; actions that rely on others may find nothing."""
    actions = [name for name, action in ACTIONS.items() if action.rule not in (NOTES, "meets", "waiter")]
    events: list[tuple[Any, ...]] = []
    for number in range(chance.randrange(40)):
        process = chance.randrange(1, 3)
        match chance.randrange(7):
            case 0:
                events.append((e.READ, process, 1))
            case 1:
                events.append(
                    (e.WRITE, process, 1, chance.choice([1, True, None, 1.5, "é\n", [1, {"a": 2}]]))
                )
            case 2:
                events.append((e.SET, process, chance.randrange(1, 3), number))
            case 3:
                events.append((e.MARK, process, 2))
            case _:
                name = chance.choice(actions)
                thing: Any = chance.choice([*things, chance.randrange(3)])
                detail: Any = [1] if name == "notify" else None
                detail = 1 if name in ("stream", "read", "passed") else detail
                time = float(number) if type(thing) is str else 0.0
                events.append(told(name, thing, time, detail, process))
    return log(key, *events, name=chance.choice(["", f"os{key}"]))


def locking_log(chance: random.Random, key: str) -> Source:
    """The same actions again and again; now and then a new lock has the number of an old one."""
    events = []
    for _ in range(60):
        actions = ["new", *["acquire", "release", "set", "await"] * 5]
        name, thing = chance.choice(actions), chance.randrange(2)
        events.append(told(name, thing, 0.0, "Lock" if name == "new" else None, chance.randrange(1, 3)))
    return log(key, *one_of_each(events))


def one_of_each(events: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Equal entries are one and the same, as the compiled reader makes them."""
    found: dict[str, tuple[Any, ...]] = {}
    return [found.setdefault(repr(each), each) for each in events]


def text_of(*sources: Source) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the events of the text."""
    written: list[bytes] = []
    lines = TextLines(written.append)
    merge = Merge(list(sources), lines)
    merge.begin()
    merge.go_on(is_over=True)
    count = lines.count
    lines.flush()
    header, *events = map(json.loads, b"".join(written).decode().splitlines())
    assert count == len(events)
    return header, events


def test_the_text_says_what_the_events_are() -> None:
    for case in range(CASES):
        things = ["a", "b", f"{case}"]
        as_objects = [random_log(random.Random(f"{case}-{n}"), str(n), things) for n in range(3)]
        as_text = [random_log(random.Random(f"{case}-{n}"), str(n), things) for n in range(3)]
        header, text = text_of(*as_text)
        assert text == merged(*as_objects)
        assert header["format"] == "possibly-trace"


def test_what_is_done_again_and_again_is_told_as_the_first_time() -> None:
    known = 0
    for case in range(CASES):
        as_objects, as_text = (locking_log(random.Random(case), "1") for _ in range(2))
        text = text_of(as_text)[1]
        assert text == merged(as_objects)
        known += len(as_text.usual)
    assert known > CASES, "nothing is done again"


PROGRAM = """
import threading, queue
x, items = 0, {}
lock, channel = threading.Lock(), queue.Queue(1)
class Thing: pass
thing = Thing()
import possibly
def work(name):
    global x
    with lock:
        x += 1  #: added
        items[name] = "\\ud800\\N{BULLET}\\""
        thing.y = 1.5
    channel.put(name)
threads = [threading.Thread(target=work, args=(f"w{n}",), name=f'odd "name" {n}') for n in range(3)]
for thread in threads: thread.start()
for thread in threads: channel.get()
for thread in threads: thread.join()
possibly.send("key")
possibly.event("label", y=2)
possibly.receive("key")
"""


def test_the_text_is_the_one_that_a_trace_is_written_as(tmp_path: Path) -> None:
    for races in (False, True):
        found = run(tmp_path, PROGRAM, watch=("x", "items", "thing.y"), calls=("work",), races=races)
        assert found.status == 0
        text = (tmp_path / "run.jsonl").read_text(encoding="utf-8")
        again = "\n".join(write_lines(load(tmp_path / "run.jsonl")))
        assert text.strip() == re.sub('"to":"[^"]*",', "", again), "only who receives is known later"
        Computation(found.trace, "causal")
