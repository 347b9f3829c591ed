"""Event loops: what one turn starts keeps its order, and nothing goes on for ever that does not have to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.judged import results
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
THREAD_ANSWERS = """\
import asyncio, queue, threading
line = queue.SimpleQueue()
def serve():
    while (found := line.get()) is not None:
        found[0].call_soon_threadsafe(found[1].set_result, 1)
async def ask():
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    line.put((loop, future))  # in the middle of a turn: no other task of the loop comes between
    assert await future == 1
async def main():
    worker = threading.Thread(target=serve)
    worker.start()
    await asyncio.gather(ask(), ask())
    line.put(None)
    worker.join()
asyncio.run(main())
"""
READY_BEFORE = """\
import asyncio
seen = []
async def quick(): seen.append("task")
async def other(): await asyncio.sleep(5)
async def main():
    beside = asyncio.create_task(other())
    await asyncio.wait_for(quick(), 1)  # who is ready goes on before the clock is looked at
    asyncio.get_running_loop().call_later(1, seen.append, "timer")
    asyncio.create_task(quick())
    await beside
    assert seen == ["task", "task", "timer"], seen
asyncio.run(main())
"""
ASKED_AGAIN = """\
import asyncio
async def main():
    line = asyncio.Queue()
    asyncio.get_running_loop().call_later(1, line.put_nowait, "answer")
    times = 0
    while times < 4:
        try:
            await asyncio.wait_for(line.get(), 1)
            break
        except asyncio.TimeoutError:
            times += 1
    assert times < 4
asyncio.run(main())
"""

STOPPED_CALLBACK = """\
import asyncio, threading
count = 0
lock = threading.Lock()
def add():
    global count
    with lock: count += 1
def add_later(): asyncio.get_running_loop().call_soon(add)
async def main():
    thread = threading.Thread(target=add)
    thread.start()
    asyncio.get_running_loop().call_soon(add_later)
    await asyncio.sleep(0)  # ready for its next turn when the callback waits for the lock
    thread.join()
    assert 1 <= count <= 2
asyncio.run(main())
"""


@pytest.mark.parametrize(
    "source",
    [IN_ORDER, HEARTBEAT, CALLS_ITSELF, LIMIT, THREAD_ANSWERS, READY_BEFORE, ASKED_AGAIN, STOPPED_CALLBACK],
)
def test_holds_and_is_covered(tmp_path: Path, source: str) -> None:
    found = explored(tmp_path, source)
    assert found.complete, (found.failure, found.open)


def test_after_a_sleep_the_order_is_open(tmp_path: Path) -> None:
    source = IN_ORDER.replace("order.append(name)", "await asyncio.sleep(0); order.append(name)")
    assert explored(tmp_path, source).holds is False
    assert explored(tmp_path, source, fifo=True).complete


BACKGROUND = """\
import asyncio
saved = []
async def save(item):
    await asyncio.sleep({0})
    saved.append(item)
async def main():
    asyncio.create_task(save(1))
    for _ in range(3):
        await asyncio.sleep({0})
asyncio.run(main())
print(saved)
"""
FAILING = """\
import asyncio
done = []
async def fails():
    await asyncio.sleep(0)
    raise ValueError
async def first():
    done.append(1)
async def second():
    await asyncio.sleep(0)
    done.append(2)
async def main():
    try:
        await asyncio.gather(fails(), first(), second())
    except ValueError:
        print(done)
asyncio.run(main())
"""
GATHERED = """\
import asyncio
n = 0
async def work():
    global n
    await asyncio.sleep(0)
    value = n
    await asyncio.sleep(0)
    n = value + 1
async def main():
    await asyncio.gather(*(work() for _ in range(3)))
    print(n)
asyncio.run(main())
"""


def _printed(path: Path, source: str) -> tuple[set[str], int]:
    """What the program prints in any of its executions, and how many there are."""
    path.write_text(source)
    found = results(path, Dpor)
    assert found is not None
    return {output.decode().strip() for _, _, output in found[0]}, found[1].tree.executions


@pytest.mark.parametrize("delay", ["0", "0.01"])
def test_a_task_that_nobody_waits_for_may_be_too_late(delay: str, tmp_path: Path) -> None:
    assert _printed(tmp_path / "program.py", BACKGROUND.format(delay))[0] == {"[]", "[1]"}


def test_whoever_gathers_goes_on_when_the_first_fails(tmp_path: Path) -> None:
    assert _printed(tmp_path / "program.py", FAILING)[0] == {"[1]", "[1, 2]"}


def test_which_of_those_that_are_gathered_is_the_last_makes_no_difference(tmp_path: Path) -> None:
    printed, executions = _printed(tmp_path / "program.py", GATHERED)
    assert printed == {"1", "2", "3"}
    assert executions == 36


CALLBACKS = """\
import asyncio
log = []
async def main():
    future = asyncio.get_running_loop().create_future()
    def note(_): log.append(0)
    async def add(name):
        await asyncio.sleep(0.01)
        future.add_done_callback(lambda _: log.append(name))
    async def remove():
        await asyncio.sleep(0.01)
        future.remove_done_callback(note)
    async def end():
        await asyncio.sleep(0.01)
        future.done() or future.set_result(0)
    {what}
    await asyncio.sleep(5)
asyncio.run(main())
assert log == {log}
"""
BOTH = {
    "added in any order": ("await asyncio.gather(add(1), add(2)); await end()", [1, 2]),
    "removed too late": ("future.add_done_callback(note); await asyncio.gather(end(), remove())", [0]),
}


@pytest.mark.parametrize("name", BOTH)
def test_callbacks_of_a_future_are_seen(name: str, tmp_path: Path) -> None:
    what, log = BOTH[name]
    assert explored(tmp_path, CALLBACKS.format(what=what, log=log)).holds is False


def test_callbacks_by_which_asyncio_wakes_who_waits_are_its_own(tmp_path: Path) -> None:
    waits = "await asyncio.wait([asyncio.create_task(end()), asyncio.create_task(end())])"
    found = explored(tmp_path, CALLBACKS.format(what=waits, log=[]))
    assert found.complete, found.open
    assert found.executions <= 4


def test_who_leaves_a_loop_comes_after_its_last_task_and_that_is_no_choice(tmp_path: Path) -> None:
    program = "import asyncio\nasync def main():\n    assert await asyncio.to_thread(abs, -1) == 1\n"
    found = explored(tmp_path, program + "asyncio.run(main())\n")
    assert found.complete, found.open
    most = 2 + (sys.version_info >= (3, 12))  # where the pool's threads are waited for with a time-out
    assert found.executions <= most, "the result is there before it is asked for, or comes afterwards"
