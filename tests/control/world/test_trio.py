"""`trio` under control: what goes wrong in some order is found, what cannot is covered."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.control.runtime.running import explored

if find_spec("trio") is None:  # it is not imported here: programs shall import it themselves
    pytest.skip("trio is not installed", allow_module_level=True)

HEAD = """\
import trio
async def together(*functions):
    async with trio.open_nursery() as nursery:
        for each in functions: nursery.start_soon(each)
"""
RIGHT = {
    "a lock": """
n = 0
async def add():
    global n
    async with lock:
        now = n
        await trio.sleep(0.01)
        n = now + 1
async def main():
    global lock
    lock = trio.Lock()
    await together(add, add)
    assert n == 2
""",
    "an event": """
box = []
async def main():
    event = trio.Event()
    async def put():
        box.append(1)
        event.set()
    async def take():
        await event.wait()
        assert box == [1]
    await together(put, take)
""",
    "a channel": """
async def main():
    sender, receiver = trio.open_memory_channel(0)
    got = []
    async def send():
        async with sender:
            for number in range(2): await sender.send(number)
    async def receive():
        async for number in receiver: got.append(number)
    await together(send, receive)
    assert got == [0, 1]
""",
    "a deadline that is far": """
async def main():
    with trio.fail_after(60):
        await together(lambda: trio.sleep(3), lambda: trio.sleep(1))
    with trio.move_on_after(1) as scope: await trio.sleep(100)
    assert scope.cancelled_caught
""",
    "a thread": """
async def main():
    assert await trio.to_thread.run_sync(lambda: 3) == 3
""",
}
WRONG = {
    "a lost update": """
n = 0
async def add():
    global n
    now = n
    await trio.lowlevel.checkpoint()
    n = now + 1
async def main():
    await together(add, add)
    assert n == 2
""",
    "a time-out in between": """
moved = []
async def main():
    with trio.move_on_after(0.5):
        moved.append("from")
        await trio.sleep(0.1)
        moved.append("to")
    assert len(moved) == 2
""",
    "an order that trio does not promise": """
order = []
async def first(): order.append(1)
async def second(): order.append(2)
async def main():
    await together(first, second)
    assert order == [1, 2]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name] + "trio.run(main)\n")
    assert found.complete, found.open


@pytest.mark.parametrize("name", WRONG)
def test_it_is_found(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + WRONG[name] + "trio.run(main)\n")
    assert found.failure is not None and "AssertionError" in found.failure.message


def test_who_waits_for_ever_is_a_deadlock(tmp_path: Path) -> None:
    source = "async def main(): await trio.Event().wait()\ntrio.run(main)\n"
    found = explored(tmp_path, HEAD + source)
    assert found.failure is not None and found.failure.kind == "deadlock"
