"""Beside threads a turn of an event loop is interrupted only where a thread can make a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

OWN = """\
import asyncio, threading
log, other = [], []
async def turn(name):
    for _ in range(5):
        log.append(name)
    await asyncio.sleep(0)
    log.append(name)
async def main():
    thread = threading.Thread(target=other.append, args=(1,))
    thread.start()
    await asyncio.gather(turn("a"), turn("b"))
    thread.join()
    assert len(log) == 12 and other == [1]
asyncio.run(main())
"""
SHARED = """\
import asyncio, threading
count = 0
async def turn():
    global count
    count = count + 1
    await asyncio.sleep(0)
    count = count + 1
def add():
    global count
    count = count + 1
async def main():
    thread = threading.Thread(target=add)
    thread.start()
    await asyncio.gather(turn(), turn())
    thread.join()
    assert count == 5, count
asyncio.run(main())
"""
TWO_LOOPS = """\
import asyncio, threading
count = 0
async def turn():
    global count
    count = count + 1
async def main():
    await asyncio.gather(turn(), turn())
thread = threading.Thread(target=lambda: asyncio.run(main()))
thread.start()
asyncio.run(main())
thread.join()
assert count == 4, count
"""


def test_memory_of_one_loop_interrupts_no_turn(tmp_path: Path) -> None:
    found = explored(tmp_path, OWN)
    assert found.complete, found.open
    assert found.executions <= 6  # each turn is one step, whatever the thread does


def test_a_thread_comes_in_between(tmp_path: Path) -> None:
    assert explored(tmp_path, SHARED).holds is False


def test_another_loop_comes_in_between(tmp_path: Path) -> None:
    assert explored(tmp_path, TWO_LOOPS).holds is False


LOCKED = """\
import asyncio, threading
n, lock = 0, threading.Lock()
def add():
    global n
    with lock: n += 1
async def main():
    await asyncio.gather(*(asyncio.to_thread(add) for _ in range(3)))
    assert n == {n}
asyncio.run(main())
"""


def test_handing_a_call_to_a_thread_belongs_to_the_turn(tmp_path: Path) -> None:
    """It was three choices, and what came back was in an order of its own: more than 350 executions."""
    found = explored(tmp_path, LOCKED.format(n=3), Options(minimise=0))
    assert found.holds and found.executions <= 50
    assert explored(tmp_path, LOCKED.format(n=2), Options(minimise=0)).holds is False


BY_ANYIO = """\
import anyio
n = 0
def add():
    global n
    seen = n
    n = seen + 1
async def main():
    async with anyio.create_task_group() as group:
        for _ in range(2): group.start_soon(anyio.to_thread.run_sync, add)
    assert n <= 2
anyio.run(main)
"""


def test_nobody_asks_for_what_anyio_keeps_weakly_of_its_tasks(tmp_path: Path) -> None:
    """Which ended in the middle of turns, so that no search of such a program was complete."""
    pytest.importorskip("anyio")
    found = explored(tmp_path, BY_ANYIO, Options(minimise=0, executions=15))
    assert found.failure is None and not any("weak" in each for each in found.open), found.open
