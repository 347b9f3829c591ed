"""Many lines at once: the compiled way takes in what the plain one does, and leaves it what it cannot."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.order.growing.batches import Batch, Watched
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from tests.detection.online.arrivals import growing_like, lines_of
from tests.generate import random_trace
from tests.twins import needs_kernels

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


class Heard:
    """Remembers what was taken in, step by step or as columns."""

    def __init__(self, growing: Growing, *, wants_steps: bool) -> None:
        self.wants_steps = wants_steps
        self.steps: list[Step] = []
        self.events: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []
        self.relevant: list[tuple[str, dict[str, Any]]] = []
        self.taken: list[int] = []
        self.batched = 0
        self._growing = growing
        growing.follow_batches(self)

    def take(self, step: Step) -> None:
        self.steps.append(step)
        self.taken.append(self._growing.taken)
        self.events += [(line.process, line.position, line.needs) for line in step]

    def take_batch(self, batch: Batch) -> None:
        self.batched += batch.count
        process, position = memoryview(batch.process).cast("i"), memoryview(batch.position).cast("q")
        start, needs = memoryview(batch.start).cast("i"), memoryview(batch.needs).cast("q")
        assert self._growing.taken == batch.before + batch.count
        for n in range(batch.count):
            own = range(start[n], start[n + 1])
            pairs = tuple((needs[2 * i], needs[2 * i + 1]) for i in own)
            self.events.append((process[n], position[n], pairs))
        self.relevant += [(batch.name(n), dict(fields)) for n, _, fields in batch.relevant]


def arrive_all(growing: Growing, lines: list[Any], size: int) -> list[str]:
    """In pieces of that many lines; what was wrong."""
    errors = []
    for begin in range(0, len(lines), size):
        piece = lines[begin : begin + size]
        at = 0
        while at < len(piece):
            at += growing.arrive_many(piece, at)
            if at < len(piece):
                try:
                    growing.arrive(piece[at])
                except TraceError as error:
                    errors.append(str(error))
                at += 1
    return errors


def tables(growing: Growing) -> list[object]:
    names = "_names _odd _messages _last_write _reads _early_names _met _spoken_of taken lengths processes"
    return [getattr(growing, name) for name in names.split()]


def spoilt(line: dict[str, Any], random: Random) -> dict[str, Any]:
    """Some of these are wrong, some only unusual."""
    extra: list[dict[str, Any]] = [
        {"kind": "receive", "msg": "nothing"},
        {"kind": "exit", "fn": "nowhere"},
        {"k": 7},
        {"k": True},
        {"set": {"x": float("inf")}},
        {"set": []},
        {"to": "nobody"},
        {"after": ["P1:1", "P2:1"]},
        {"after": "P1:1"},
        {"id": f"Q{random.randint(1, 3)}:1"},
        {"id": f"name{random.randint(1, 5)}"},
        {"t": 1.5, "at": "file.py:3", "label": "here", "odd": [1, {"a": None}]},
        {"t": "late"},
        {"p": "Q1"},
        {"p": ""},
        {"read": ["turn", "turn"], "write": {"turn": 1}},
        {"kind": "send", "msg": "m1", "to": ["P1", "P2"]},
        {"odd": "\ud800"},
    ]
    return {**line, **random.choice(extra)}


@needs_kernels
@pytest.mark.parametrize("batch", range(4))
def test_both_ways_take_in_the_same(batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * 100_000, batch * 100_000 + 150 * MANY):
        random = Random(seed)
        run = random_trace(random, events=random.randint(1, 14), joint=random.random() < 0.3)
        lines = lines_of(run, random, addressed=random.random() < 0.5)
        if random.random() < 0.4:
            random.shuffle(lines)
        if random.random() < 0.5:
            number = random.randrange(len(lines))
            lines[number] = spoilt(lines[number], random)
        order, remember = random.choice(["causal", "sync"]), random.random() < 0.5
        plain, fast = growing_like(run, order), growing_like(run, order)
        plain.remember = fast.remember = remember
        one, other = Heard(plain, wants_steps=True), Heard(fast, wants_steps=random.random() < 0.5)
        errors = []
        for line in lines:
            try:
                plain.arrive(line)
            except TraceError as error:
                errors.append(str(error))
        assert arrive_all(fast, lines, random.randint(1, 8)) == errors, seed
        assert other.events == one.events, seed
        assert tables(fast) == tables(plain), seed
        if other.wants_steps:
            assert other.steps == one.steps and other.taken == one.taken, seed
        seen["many"] += other.batched
        seen["wrong"] += len(errors)
    assert seen["many"] > 150 * MANY and seen["wrong"] > 5 * MANY, seen


@needs_kernels
def test_only_lines_that_set_what_is_read_are_relevant() -> None:
    growing = Growing([("P", {}), ("Q", {})])
    heard = Heard(growing, wants_steps=False)
    growing.watched.add(0, ["x"])
    lines = [
        {"p": "P", "set": {"x": 1}},
        {"p": "P", "set": {"y": 1}},
        {"p": "Q", "set": {"x": 2}},
        {"p": "P"},
    ]
    assert growing.arrive_many(lines) == 4
    assert heard.relevant == [("P:1", lines[0])]
    growing.watched.add(1, None)
    assert growing.arrive_many(lines) == 4
    assert [name for name, _ in heard.relevant] == ["P:1", "P:4", "Q:2"]


def test_what_is_watched_adds_up() -> None:
    watched = Watched()
    watched.add(1, ["x"])
    watched.add(1, ["y"])
    assert watched.variables == [None, {"x", "y"}]
    watched.add(1, None)
    watched.add(1, ["z"])
    assert watched.variables == [None, True]


def test_who_wants_steps_alone_gets_every_line_by_itself() -> None:
    growing = Growing([("P", {})])
    steps: list[Step] = []
    growing.follow(steps.append)
    assert growing.arrive_many([{"p": "P"}]) == 0
    growing.arrive({"p": "P"})
    assert len(steps) == 1


@needs_kernels
@pytest.mark.parametrize("depth", [150, 400])
def test_deep_values_are_left_to_python(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    growing = Growing([("P", {})])
    Heard(growing, wants_steps=False)
    assert growing.arrive_many([{"p": "P", "set": {"x": value}}]) == (depth < 200)
