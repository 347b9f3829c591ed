"""`possibly.record`: a part of a running program."""

from __future__ import annotations

import builtins
import gc
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import possibly
from possibly.trace import load
from tests.waiting import PATIENCE

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
    assert not [name for name in vars(builtins) if name.startswith("_possibly")]
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


MADE_BEFORE = """
import asyncio, multiprocessing, queue, threading
from concurrent.futures import Future
import possibly

async def use_tasks(lock, semaphore, condition, event, channel, future, barrier):
    async with lock, semaphore, condition:
        condition.notify_all()
    event.set()
    assert await event.wait() and event.is_set()
    await channel.put(1)
    assert await channel.get() == 1
    channel.task_done()
    await channel.join()
    future.set_result(2)
    assert await future == 2
    async with barrier:
        pass

def use_threads(lock, rlock, condition, semaphore, event, barrier, channels, future):
    with lock, rlock, semaphore:
        pass
    with condition:
        condition.notify_all()
        condition.wait(0)
    event.set()
    assert event.wait() and event.is_set()
    barrier.wait()
    for channel in channels:
        channel.put(1)
        assert channel.get() == 1
    channels[0].task_done()
    channels[0].join()
    future.set_result(1)
    assert future.result() == 1

def use_processes(lock, rlock, condition, semaphore, event, barrier, channel, value):
    use_threads(lock, rlock, condition, semaphore, event, barrier, [channel], Future())
    with value:
        value.value += 1

kinds = asyncio.Lock, asyncio.Semaphore, asyncio.Condition, asyncio.Event, asyncio.Queue
names = "Lock", "RLock", "Condition", "Semaphore", "Event"

async def main():
    tasks = [kind() for kind in kinds] + [asyncio.get_running_loop().create_future(), asyncio.Barrier(1)]
    lines = [queue.Queue(), queue.LifoQueue(), queue.PriorityQueue(), queue.SimpleQueue()]
    threads = [getattr(threading, name)() for name in names] + [threading.Barrier(1), lines, Future()]
    processes = [getattr(multiprocessing, name)() for name in names]
    processes += [multiprocessing.Barrier(1), multiprocessing.JoinableQueue(), multiprocessing.Value("i", 0)]
    with possibly.record("run.jsonl"):
        await use_tasks(*tasks)
        use_threads(*threads)
        use_processes(*processes)
    print("used")

asyncio.run(main())
"""


def test_what_was_made_before_goes_on_to_work(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(MADE_BEFORE)
    command = [sys.executable, "program.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.stdout, done.returncode) == ("used\n", 0), done.stderr
    load(tmp_path / "run.jsonl")


def test_what_was_frozen_before_is_recorded_too(tmp_path: Path) -> None:
    gc.freeze()
    try:
        with possibly.record(tmp_path / "run.jsonl", calls=["add"]):
            work()
    finally:
        gc.unfreeze()
    trace = load(tmp_path / "run.jsonl")
    entered = [trace.event(e).fn for e in range(len(trace)) if trace.event(e).kind == "enter"]
    assert entered == ["add", "add"]
