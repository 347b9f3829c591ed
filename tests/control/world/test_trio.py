"""`trio` under control: what goes wrong in some order is found, what cannot is covered."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
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
@pytest.mark.large("a channel")
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


POLLED = """\
import trio
done = []
async def work():
    await trio.sleep(0.5)
    done.append(1)
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        while not done:
            await trio.sleep(0.2)
trio.run(main)
"""
OVERDUE = """\
import trio
async def other(): await trio.sleep(0)
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        with trio.move_on_after(0) as scope:
            await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught
trio.run(main)
"""
FROM_THREADS = """\
import trio
count = 0
def add():
    global count
    count += 1
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, add)
        nursery.start_soon(trio.to_thread.run_sync, add)
    assert count == 2
trio.run(main)
"""


def test_deadlines_come_one_by_one(tmp_path: Path) -> None:
    """Who polls sets new ones while another passes: what passes does not depend on who set it first."""
    found = explored(tmp_path, POLLED)
    assert found.holds, found.open or found.failure


def test_a_deadline_that_is_up_when_it_is_set_passes_at_once(tmp_path: Path) -> None:
    found = explored(tmp_path, OVERDUE)
    assert found.holds, found.open or found.failure


def test_calls_from_threads_are_no_deadlock(tmp_path: Path) -> None:
    found = explored(tmp_path, FROM_THREADS, Options(executions=25, minimise=0))
    assert found.failure is None or found.failure.kind == "assertion", found.failure
    assert not any("went on before" in each for each in found.open)


GUEST = """
import trio, queue
calls, done = queue.Queue(), []
async def main():
    await trio.sleep(0)
trio.lowlevel.start_guest_run(main, run_sync_soon_threadsafe=calls.put, done_callback=done.append)
while not done:
    calls.get()()
"""


def test_a_run_that_another_loop_drives_is_left_open(tmp_path: Path) -> None:
    found = explored(tmp_path, GUEST)
    assert found.holds is None
    assert "trio as the guest of another loop" in str(found.open)
