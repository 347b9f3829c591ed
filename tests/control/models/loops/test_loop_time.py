"""The clock of an event loop says to a task that somebody woke no less than it said to whoever woke it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

AFTER_AN_EVENT = """\
import asyncio
async def main():
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    begun = loop.time()
    async def sets():
        await asyncio.sleep(5)
        event.set()
    other = asyncio.create_task(sets())
    await event.wait()
    assert loop.time() - begun == 5
    await asyncio.sleep(1)
    assert loop.time() - begun == 6
asyncio.run(main())
"""
AFTER_A_TIME_OUT = """\
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for count in range(1, 4):
        try:
            async with asyncio.timeout(2):
                await asyncio.Event().wait()
        except TimeoutError:
            assert loop.time() - begun == 2 * count
asyncio.run(main())
"""
TRIED_AGAIN = """\
import asyncio
async def main():
    got = []
    asyncio.get_running_loop().call_later(2, got.append, "answer")
    for _ in range(4):
        try:
            async with asyncio.timeout(1):
                await asyncio.Event().wait()
        except TimeoutError:
            pass
    assert got
asyncio.run(main())
"""
ONE_AFTER_ANOTHER = """\
import asyncio
async def main():
    event, done = asyncio.Event(), []
    async def sets():
        await asyncio.sleep(5)
        event.set()
    async def works():
        await asyncio.sleep(5.5)
        done.append(1)
    tasks = [asyncio.create_task(sets()), asyncio.create_task(works())]
    await event.wait()
    await asyncio.sleep(1)
    assert done
asyncio.run(main())
"""
FROM_A_THREAD = """\
import asyncio, time
async def main():
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.to_thread(time.sleep, 3)
    assert loop.time() - begun == 3
    await asyncio.sleep(1)
    assert loop.time() - begun == 4
asyncio.run(main())
"""
IN_TRIO = """\
import trio
async def main():
    event, begun = trio.Event(), trio.current_time()
    async def sets():
        await trio.sleep(5)
        event.set()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sets)
        await event.wait()
        assert trio.current_time() - begun == 5
        await trio.sleep(1)
        assert trio.current_time() - begun == 6
trio.run(main)
"""


@pytest.mark.parametrize(
    "source", [AFTER_AN_EVENT, AFTER_A_TIME_OUT, TRIED_AGAIN, ONE_AFTER_ANOTHER, FROM_A_THREAD, IN_TRIO]
)
def test_time_goes_on_with_whoever_wakes(source: str, tmp_path: Path) -> None:
    found = explored(tmp_path, source, slack=0.0)
    assert found.complete, (found.failure, found.open)
