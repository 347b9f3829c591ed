"""What a task of an event loop waits for when nobody wakes it: the primitive, who has it, what it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.control.runtime.running import explored, once

WAITS: dict[str, dict[str, Any]] = {
    "lock = asyncio.Lock(); await lock.acquire(); await lock.acquire()": {
        "does": "acquire", "thing": "lock", "for": ["0.1"],
    },
    "queue = asyncio.Queue(); await queue.get()": {"does": "get", "thing": "queue", "for": []},
    "full = asyncio.Queue(1); await full.put(1); await full.put(2)": {"does": "put", "thing": "full"},
    "event = asyncio.Event(); await event.wait()": {"does": "wake", "thing": "event"},
    "units = asyncio.Semaphore(0); await units.acquire()": {"does": "take"},
    "jobs = asyncio.Queue(); jobs.put_nowait(1); await jobs.join()": {"does": "await", "thing": "jobs"},
    "await asyncio.create_task(asyncio.Queue().get())": {"does": "await", "for": ["0.1.1"]},
    "await asyncio.gather(asyncio.Queue().get(), asyncio.Event().wait())": {"for": ["0.1.1", "0.1.2"]},
    "await asyncio.Future()": {"does": "await", "for": []},
}  # fmt: skip


def rows_of(source: str, tmp_path: Path) -> list[dict[str, Any]]:
    failure = once(tmp_path, f"import asyncio\n{source}\nasyncio.run(main())\n").failure
    assert failure is not None and failure["kind"] == "deadlock"
    return list(failure["waiting"])


@pytest.mark.parametrize(("body", "told"), WAITS.items())
def test_the_primitive_is_told(body: str, told: dict[str, Any], tmp_path: Path) -> None:
    row = rows_of("async def main():\n    " + body.replace("; ", "\n    "), tmp_path)[0]
    assert {key: row[key] for key in told} == told


CROSSED = """\
async def main():
    left, right = asyncio.Lock(), asyncio.Lock()
    async def both(one, other):
        async with one:
            await asyncio.sleep(0)
            async with other:
                pass
    async with asyncio.Lock():
        pass
    await asyncio.gather(both(left, right), both(right, left))
"""


def test_locks_that_are_taken_crosswise(tmp_path: Path) -> None:
    found = explored(tmp_path, f"import asyncio\n{CROSSED}\nasyncio.run(main())\n").failure
    assert found is not None
    _, first, second = found.details["waiting"]
    assert (first["thing"], first["for"], [each["thing"] for each in first["holds"]]) == (
        "right", ["0.1.2"], ["left"],
    )  # fmt: skip
    assert (second["thing"], second["for"], [each["thing"] for each in second["holds"]]) == (
        "left", ["0.1.1"], ["right"],
    )  # fmt: skip
