"""With `--fifo` an event loop goes on as it would: what is ready in turn, what sleeps by the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

SLEEPS = """\
import asyncio
log = []
async def sleeps(seconds):
    await asyncio.sleep(seconds)
    log.append(seconds)
async def main():
    await asyncio.gather(*map(sleeps, (5, 1, 3)))
    assert ASSERTION, log
asyncio.run(main())
"""
BEATS = """\
import asyncio
beats = 0
async def beat():
    global beats
    while True:
        await asyncio.sleep(1)
        beats += 1
async def main():
    task = asyncio.create_task(beat())
    await asyncio.sleep(3.5)
    task.cancel()
    assert ASSERTION, beats
asyncio.run(main())
"""
TIMERS = """\
import asyncio
async def main():
    log = []
    loop = asyncio.get_running_loop()
    loop.call_later(0.2, log.append, 2)
    loop.call_later(0.1, log.append, 1)
    await asyncio.sleep(5)
    assert log == [1, 2], log
asyncio.run(main())
"""
LIMIT = """\
import asyncio
async def quick():
    await asyncio.sleep(0)
    return 1
async def main():
    slow = asyncio.create_task(asyncio.sleep(3))
    assert await asyncio.wait_for(quick(), timeout=60) == 1
    await slow
asyncio.run(main())
"""
CALLS = """\
import asyncio, threading
async def main():
    loop, log, done = asyncio.get_running_loop(), [], asyncio.Event()
    def call():
        loop.call_soon_threadsafe(log.append, 1)
        loop.call_soon_threadsafe(done.set)
    thread = threading.Thread(target=call)
    thread.start()
    await done.wait()
    thread.join()
    assert log == [1]
asyncio.run(main())
"""
CANCELLED = """\
import asyncio
log = []
async def sleeps():
    try:
        await asyncio.sleep(9)
    finally:
        log.append("cancelled")
async def main():
    task = asyncio.create_task(sleeps())
    await asyncio.sleep(1)
    task.cancel()
    other = asyncio.create_task(asyncio.sleep(0))
    other.add_done_callback(lambda _: log.append("other"))
    await asyncio.wait([task, other])
    assert log == ["cancelled", "other"], log
asyncio.run(main())
"""


@pytest.mark.parametrize(
    "source",
    [
        SLEEPS.replace("ASSERTION", "log == [1, 3, 5]"),
        BEATS.replace("ASSERTION", "2 <= beats <= 3"),  # the third beat may come late
        TIMERS,
        LIMIT,
        CALLS,
        CANCELLED,
    ],
)
def test_what_no_loop_does_is_not_done(tmp_path: Path, source: str) -> None:
    found = explored(tmp_path, source, fifo=True)
    assert found.complete, (found.failure, found.open)


@pytest.mark.parametrize(
    "source",
    [
        SLEEPS.replace("ASSERTION", "log == [5, 1, 3]"),
        BEATS.replace("ASSERTION", "beats != 2"),
        BEATS.replace("ASSERTION", "beats != 3"),
    ],
)
def test_what_a_loop_does_is_found(tmp_path: Path, source: str) -> None:
    assert explored(tmp_path, source, fifo=True).holds is False


@pytest.mark.parametrize(
    "source, is_beyond",
    [
        (BEATS.replace("ASSERTION", "beats <= 3"), True),
        (BEATS.replace("ASSERTION", "beats != 3"), False),
        (TIMERS, True),
    ],
)
def test_a_failure_tells_whether_the_loop_itself_goes_that_way(
    tmp_path: Path, source: str, is_beyond: bool
) -> None:
    found = explored(tmp_path, source, options=Options(explain=True))
    assert found.failure is not None and found.failure.cause is not None
    assert found.failure.cause.is_beyond is is_beyond
    assert not any("--fifo" in each for each in found.assumed)
