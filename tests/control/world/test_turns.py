"""Turns of event loops: what is taken away could have come before, and who polls lets others go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.explore import Options
from tests.control.runtime.running import explored

TIMERS = """\
import asyncio
won = []
async def main():
    loop, timers = asyncio.get_running_loop(), {{}}
    def fire(mine, other):
        won.append(mine)
        timers[other].cancel()
    timers["a"] = loop.call_later(0.5, fire, "a", "b")
    timers["b"] = loop.call_later(0.5, fire, "b", "a")
    await asyncio.sleep(5)
    assert won != ["{which}"]
asyncio.run(main())
"""
POLLING = """\
import asyncio
held = []
async def main():
    async def give():
        await asyncio.sleep(1)
        {gives}
    giving = asyncio.create_task(give())
    event, items = asyncio.Event(), asyncio.Queue()
    while {waits}:
        await asyncio.sleep({nap})
    await giving
asyncio.run(main())
"""
POLLS = {
    "held.append(1)": "not held",
    "event.set()": "not event.is_set()",
    "items.put_nowait(1)": "items.empty()",
    "pass": "not giving.done()",
}


@pytest.mark.parametrize("which", "ab")
def test_a_timer_that_is_cancelled_may_have_come_before(which: str, tmp_path: Path) -> None:
    assert explored(tmp_path, TIMERS.format(which=which), Options(minimise=0)).holds is False


@pytest.mark.parametrize("nap", [0, 0.01])
@pytest.mark.parametrize("gives", POLLS)
def test_who_polls_waits_for_what_is_read(gives: str, nap: float, tmp_path: Path) -> None:
    found = explored(tmp_path, POLLING.format(gives=gives, waits=POLLS[gives], nap=nap))
    assert found.holds, found.open or found.failure


def test_who_polls_what_nobody_changes_is_a_livelock(tmp_path: Path) -> None:
    found = explored(tmp_path, POLLING.format(gives="pass", waits="not held", nap=0), Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "livelock"
