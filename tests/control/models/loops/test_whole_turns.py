"""Beside threads a turn of an event loop is interrupted only where a thread can make a difference."""

from __future__ import annotations

from pathlib import Path

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
