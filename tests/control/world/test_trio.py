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


# ---- open files ---------------------------------------------------------------------------------

ECHO = """\
import trio
count = 0
async def serve(stream):
    global count
    data = await stream.receive_some(10)
    {before}
    await stream.send_all(data.upper())
async def client(port):
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"a")
        assert await stream.receive_some(1) == b"A"
async def main():
    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        port = listener.socket.getsockname()[1]
        async with trio.open_nursery() as clients:
            for _ in range({clients}): clients.start_soon(client, port)
        nursery.cancel_scope.cancel()
    assert count == {clients}, count
trio.run(main)
"""
LOST = "now = count; await trio.sleep(0.01); count = now + 1"
PAIR = """\
import trio
async def main():
    one, other = trio.socket.socketpair()
    async def read():
        assert await one.recv(10) == b"hello"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await other.send(b"hello")
    one.close()
trio.run(main)
"""
CLOSED = """\
import trio
async def main():
    one, other = trio.socket.socketpair()
    async def read():
        try:
            await one.recv(10)
            assert False
        except trio.ClosedResourceError:
            pass
        except OSError:
            pass  # it was closed before
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.sleep(1)
        one.close()
trio.run(main)
"""
GIVEN_UP = """\
import trio
async def main():
    one, other = trio.socket.socketpair()
    with trio.move_on_after(5) as scope:
        await one.recv(10)
    assert scope.cancelled_caught
    await other.send(b"x")
    assert await one.recv(10) == b"x"
trio.run(main)
"""


@pytest.mark.parametrize("source", [PAIR, CLOSED, GIVEN_UP])
def test_sockets_are_under_control(source: str, tmp_path: Path) -> None:
    found = explored(tmp_path, source)
    assert found.holds, found.open or found.failure


def test_a_server_and_its_clients_are_under_control(tmp_path: Path) -> None:
    found = explored(tmp_path, ECHO.format(before=LOST, clients=2), Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "assertion" and not found.open
    some = Options(executions=10, minimise=0)
    found = explored(tmp_path, ECHO.format(before="count += 1", clients=1), some)
    assert found.failure is None and not any("not under control" in each for each in found.open)


# ---- what makes no difference -------------------------------------------------------------------

ENDS = """\
import trio
async def work(): await trio.sleep({0})
async def main():
    async with trio.open_nursery() as nursery:
        for _ in range(3): nursery.start_soon(work)
trio.run(main)
"""
COUNTED = """\
import trio
async def work(): pass
async def main():
    async with trio.open_nursery() as nursery:
        for _ in range(2): nursery.start_soon(work)
        await trio.sleep(0)
        assert len(nursery.child_tasks) == 2
trio.run(main)
"""
CLOSED_TO_OTHERS = """\
import trio
async def nothing(): pass
async def main():
    async with trio.open_nursery() as outer:
        async with trio.open_nursery() as inner:
            async def late():
                await trio.sleep(0)
                inner.start_soon(nothing)
            outer.start_soon(late)
            inner.start_soon(trio.sleep, 0)
trio.run(main)
"""


@pytest.mark.parametrize("seconds", [0, 1])
def test_in_what_order_tasks_of_a_nursery_end_makes_no_difference(seconds: int, tmp_path: Path) -> None:
    found = explored(tmp_path, ENDS.format(seconds))
    assert found.complete and found.executions <= 2


def test_who_counts_the_tasks_of_a_nursery_sees_their_ends(tmp_path: Path) -> None:
    assert explored(tmp_path, COUNTED).holds is False


def test_a_nursery_may_be_closed_to_tasks_outside(tmp_path: Path) -> None:
    assert explored(tmp_path, CLOSED_TO_OTHERS).holds is False
