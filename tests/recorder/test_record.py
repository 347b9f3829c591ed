"""`possibly.record`: a part of a running program."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import possibly
from possibly.trace import load

total = 0


def add(amount: int) -> None:
    global total
    total += amount


def work() -> None:
    threads = [threading.Thread(target=add, args=(n,), name=f"adder{n}") for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    possibly.event("joined", amount=total)


def test_a_block_is_recorded_and_everything_is_as_before(tmp_path: Path) -> None:
    kinds = threading.Lock, threading.Thread.start, add.__code__
    with possibly.record(tmp_path / "run.jsonl", watch=["total"], calls=["add"]) as recorder:
        work()
    assert (threading.Lock, threading.Thread.start, add.__code__) == kinds
    trace = load(tmp_path / "run.jsonl")
    assert recorder.trace is not None and len(recorder.trace) == len(trace)
    assert {"adder1", "adder2"} <= {process.name for process in trace.processes}
    events = [trace.event(e) for e in range(len(trace))]
    assert [event.fn for event in events if event.kind == "enter"] == ["add", "add"]
    assert [dict(event.set) for event in events if event.label == "joined"] == [{"amount": total}]
    work()
    assert len(load(tmp_path / "run.jsonl")) == len(trace)


def test_two_recordings_at_once_are_refused(tmp_path: Path) -> None:
    with (
        possibly.record(tmp_path / "a.jsonl"),
        pytest.raises(possibly.UsageError, match="running already"),
        possibly.record(tmp_path / "b.jsonl"),
    ):
        pass


def test_events_of_ones_own_are_free_when_nobody_records() -> None:
    possibly.event("nothing")
    possibly.send("key")
    possibly.receive("key")
