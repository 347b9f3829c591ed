"""Event loops: what one turn starts keeps its order, and nothing goes on for ever that does not have to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

IN_ORDER = """\
import asyncio
order = []
async def note(name): order.append(name)
async def main():
    await asyncio.gather(note("a"), note("b"), note("c"))
    assert order == ["a", "b", "c"]
asyncio.run(main())
"""
HEARTBEAT = """\
import asyncio
beats = 0
async def heart():
    global beats
    while True:
        await asyncio.sleep(1)
        beats += 1
async def main():
    task = asyncio.create_task(heart())
    await asyncio.sleep(3.5)
    task.cancel()
    assert beats in (2, 3, 4), beats
asyncio.run(main())
"""
CALLS_ITSELF = """\
import asyncio
calls, done = 0, False
def again():
    global calls
    calls += 1
    if not done: asyncio.get_running_loop().call_soon(again)
async def main():
    global done
    asyncio.get_running_loop().call_soon(again)
    await asyncio.sleep(0.1)
    done = True
    await asyncio.sleep(2)
    assert calls > 1
asyncio.run(main())
"""
LIMIT = """\
import asyncio
called = []
async def main():
    asyncio.get_running_loop().call_later(300, called.append, 1)
    try:
        await asyncio.wait_for(asyncio.sleep(10), timeout=1)
        assert False
    except asyncio.TimeoutError:
        assert not called
asyncio.run(main())
"""


@pytest.mark.parametrize("source", [IN_ORDER, HEARTBEAT, CALLS_ITSELF, LIMIT])
def test_holds_and_is_covered(tmp_path: Path, source: str) -> None:
    found = explored(tmp_path, source)
    assert found.complete, (found.failure, found.open)


def test_after_a_sleep_the_order_is_open(tmp_path: Path) -> None:
    source = IN_ORDER.replace("order.append(name)", "await asyncio.sleep(0); order.append(name)")
    assert explored(tmp_path, source).holds is False
    assert explored(tmp_path, source, fifo=True).complete
