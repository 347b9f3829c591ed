"""Tasks, threads and channels of `trio` and `anyio` give their edges and no more."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tests.probes.programs import run

TRIO = """
import trio, trio.testing
async def both(*works):
    async with trio.open_nursery() as nursery:
        for work in works: nursery.start_soon(work)
    pass  #: after
"""
ANYIO = """
import anyio, anyio.from_thread
async def both(*works):
    async with anyio.create_task_group() as group:
        for work in works: group.start_soon(work)
    pass  #: after
"""
TASKS = """
async def one():
    pass  #: one
async def two():
    await {library}.sleep(0.01)
    pass  #: two
{library}.run(both, one, two)
"""
EVENT = """
event = {library}.Event()
async def one():
    pass  #: one
    event.set()
    pass  #: later
async def two():
    await {library}.sleep({pause})
    await event.wait()
    pass  #: two
async def main():
    await both(one, two)
{library}.run(main)
"""
CHANNEL = """
async def main():
    sending, receiving = {library}.{channel}({size})
    async def one():
        pass  #: one
        await sending.send("value")
        pass  #: later
    async def two():
        await {library}.sleep({pause})
        assert await receiving.receive() == "value"
        pass  #: two
    await both(one, two)
{library}.run(main)
"""
JOBS = """
def first():
    pass  #: first
def second():
    pass  #: second
async def one():
    await {library}.to_thread.run_sync(first)
    pass  #: one
async def two():
    await {library}.sleep(0.05)
    await {library}.to_thread.run_sync(second)
    pass  #: two
{library}.run(both, one, two)
"""
BACK = """
def first():
    pass  #: first
    {library}.from_thread.run_sync(called)
    {library}.from_thread.run(awaited)
    pass  #: later
def called():
    pass  #: called
async def awaited():
    await {library}.sleep(0)
    pass  #: awaited
async def one():
    await {library}.to_thread.run_sync(first)
    pass  #: one
async def two():
    pass  #: two
{library}.run(both, one, two)
"""
LOCK = """
async def main():
    lock = {made}
    async def two():
        async with lock:
            pass  #: two
    async with {group} as group:
        async with lock:
            group.start_soon(two)
            pass  #: one
            {waited}
    pass  #: after
{library}.run(main)
"""
CONDITION = """
condition = trio.Condition()
ready = False
async def one():
    global ready
    async with condition:
        pass  #: one
        ready = True
        condition.notify_all()
async def two():
    async with condition:
        while not ready: await condition.wait()
        pass  #: two
trio.run(both, two, one)
"""
HEADS = {"trio": TRIO, "anyio": ANYIO}
SAID = "one<two two<after one<after"
BUFFERED, HANDED = {"size": "1", "pause": "0.01"}, {"size": "0", "pause": "0"}
CASES: dict[str, tuple[str, dict[str, str], str, str]] = {
    # name: (program, its words, pairs that are ordered, pairs that are concurrent)
    "tasks": (TASKS, {}, "one<after two<after", "one|two"),
    "an event that is waited for": (EVENT, {"pause": "0"}, SAID, "later|two"),
    "an event that is set": (EVENT, {"pause": "0.01"}, SAID, "later|two"),
    "a value in a buffer": (CHANNEL, BUFFERED, SAID, "later|two"),
    "a value that is handed over": (CHANNEL, HANDED, SAID, ""),
    "jobs of threads": (JOBS, {}, "first<one second<two first<after", "first|second one|second first|two"),
    "calls from a thread": (BACK, {}, "first<called called<awaited awaited<later later<one", "called|two"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("library", HEADS)
def test_edges(name: str, library: str, tmp_path: Path) -> None:
    source, words, ordered, concurrent = CASES[name]
    channel = "open_memory_channel" if library == "trio" else "create_memory_object_stream"
    check(tmp_path, library, source.format(library=library, channel=channel, **words), ordered, concurrent)


GROUPS = {"trio": "trio.open_nursery()", "anyio": "anyio.create_task_group()"}


@pytest.mark.parametrize("made", ["Lock()", "Semaphore(1)", "CapacityLimiter(1)"])
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("library", HEADS)
def test_who_gets_a_lock_comes_after_who_had_it(library: str, waits: bool, made: str, tmp_path: Path) -> None:
    module = "trio.testing" if library == "trio" else "anyio"
    waited = f"await {module}.wait_all_tasks_blocked()" if waits else ""
    words = {"library": library, "made": f"{library}.{made}", "group": GROUPS[library], "waited": waited}
    check(tmp_path, library, LOCK.format(**words), SAID, "")


def test_who_is_notified_comes_after_that(tmp_path: Path) -> None:
    check(tmp_path, "trio", CONDITION, SAID, "")


def check(tmp_path: Path, library: str, source: str, ordered: str, concurrent: str) -> None:
    pytest.importorskip(library)
    found = run(tmp_path, HEADS[library] + textwrap.dedent(source))
    assert found.status == 0
    for first, second in re.findall(r"(\w+)<(\w+)", ordered):
        assert found.before(first, second), f"{first} is not before {second}\n{found.lines()}"
    for first, second in re.findall(r"(\w+)\|(\w+)", concurrent):
        assert found.concurrent(first, second), f"{first} and {second} are ordered\n{found.lines()}"
