"""What a property says of calls is right whatever kind of tasks make them.

Two tasks call a function each, at the same time or under a lock: both calls can be under way
in the first program only.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.views.cli.main import main
from tests.session.exploring.test_traces import asked

CALLS = """
def f():
    pass
def g():
    pass
def one({lock}):
    {hold}
        f()
def two({lock}):
    {hold}
        g()
"""
AWAITED = """
async def f():
    await {rest}
async def g():
    await {rest}
async def one(lock):
    {hold}
        await f()
async def two(lock):
    {hold}
        await g()
"""
THREADS = "import threading\nlock = threading.Lock()\n" + CALLS.replace("{lock}", "")
PROCESSES = "import multiprocessing\n" + CALLS.replace("{lock}", "lock")
WORKERS = (
    "import multiprocessing, concurrent.futures\n"
    "def begin(given):\n    global lock\n    lock = given\n" + CALLS.replace("{lock}", "")
)
WITH, ASYNC_WITH = "with lock:", "async with lock:"
PROGRAMS = {
    "threads": (THREADS, WITH, """
tasks = [threading.Thread(target=each) for each in (one, two)]
for each in tasks: each.start()
for each in tasks: each.join()
"""),
    "threads that nobody joins": (THREADS, WITH, """
for each in one, two: threading.Thread(target=each).start()
"""),
    "timers": (THREADS, WITH, """
for each in one, two: threading.Timer(0.01, each).start()
"""),
    "a pool": (THREADS, WITH, """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    for each in [pool.submit(one), pool.submit(two)]: each.result()
"""),
    "threads of a loop": (THREADS, WITH, """
import asyncio
async def main():
    await asyncio.gather(asyncio.to_thread(one), asyncio.to_thread(two))
asyncio.run(main())
"""),
    "tasks": ("import asyncio" + AWAITED.replace("{rest}", "asyncio.sleep(0)"), ASYNC_WITH, """
async def main():
    lock = asyncio.Lock()
    await asyncio.gather(one(lock), two(lock))
asyncio.run(main())
"""),
    "a group of tasks": ("import asyncio" + AWAITED.replace("{rest}", "asyncio.sleep(0.01)"), ASYNC_WITH, """
async def main():
    lock = asyncio.Semaphore(1)
    async with asyncio.TaskGroup() as group:
        group.create_task(one(lock))
        group.create_task(two(lock))
asyncio.run(main())
"""),
    "a nursery": ("import trio" + AWAITED.replace("{rest}", "trio.sleep(0)"), ASYNC_WITH, """
async def main():
    lock = trio.Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one, lock)
        nursery.start_soon(two, lock)
trio.run(main)
"""),
    "processes": (PROCESSES, WITH, """
if __name__ == "__main__":
    lock = multiprocessing.Lock()
    both = [multiprocessing.Process(target=each, args=(lock,)) for each in (one, two)]
    for each in both: each.start()
    for each in both: each.join()
"""),
    "spawned processes": (PROCESSES, WITH, """
if __name__ == "__main__":
    kind = multiprocessing.get_context("spawn")
    lock = kind.Lock()
    both = [kind.Process(target=each, args=(lock,)) for each in (one, two)]
    for each in both: each.start()
    for each in both: each.join()
"""),
    "a pool of processes": (WORKERS, WITH, """
if __name__ == "__main__":
    with multiprocessing.Pool(2, begin, (multiprocessing.Lock(),)) as pool:
        for each in [pool.apply_async(one), pool.apply_async(two)]: each.get()
"""),
    "an executor of processes": (WORKERS, WITH, """
if __name__ == "__main__":
    lock = multiprocessing.Lock()
    with concurrent.futures.ProcessPoolExecutor(2, initializer=begin, initargs=(lock,)) as pool:
        for each in [pool.submit(one), pool.submit(two)]: each.result()
"""),
    "a fork": ("import fcntl, os\nfile = os.open('held', 66)\n" + CALLS.replace("{lock}", ""),
               "if fcntl.flock(file, fcntl.LOCK_EX) is None:", """
other = os.fork()
if other == 0:
    file = os.open('held', os.O_RDWR)
    one()
    fcntl.flock(file, fcntl.LOCK_UN)
    os._exit(0)
two()
fcntl.flock(file, fcntl.LOCK_UN)
os.waitpid(other, 0)
"""),
}  # fmt: skip
APART = 'forall one, two in "*" if one != two: AG(!(inside(one, f) & inside(two, g)))'
BEGUN = 'EF(exists one in "*": inside(one, f)) & EF(exists one in "*": inside(one, g))'


def written(name: str, is_locked: bool) -> str:
    functions, hold, rest = PROGRAMS[name]
    return functions.replace("{hold}", hold if is_locked else "if True:") + rest


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_are_at_the_same_time_unless_a_lock_is_held(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "a nursery":
        pytest.importorskip("trio")
    monkeypatch.chdir(tmp_path)
    for is_locked in (False, True):
        found = asked(tmp_path, written(name, is_locked), APART, ("f", "g"))
        assert found.holds is is_locked, (found.open, found.failure)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_call_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "a nursery":
        pytest.importorskip("trio")
    monkeypatch.chdir(tmp_path)
    assert asked(tmp_path, written(name, True), BEGUN, ("f", "g")).holds is True


CLAIMS = """
import multiprocessing, possibly
def work(shared):
    count = shared.value
    if multiprocessing.current_process().name == "A":
        possibly.claim("G(A.count < {limit})")
    shared.value = count + 1
    count = shared.value
if __name__ == "__main__":
    shared = multiprocessing.Value("i", 0)
    both = [multiprocessing.Process(target=work, args=(shared,), name=name) for name in "AB"]
    for each in both: each.start()
    for each in both: each.join()
"""


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_claims_of_other_processes_are_asked(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What A counts is 1 if it is the first, and 2 where B has counted before."""
    monkeypatch.chdir(tmp_path)
    Path("claims.py").write_text(CLAIMS.replace("{limit}", str(limit)))
    status = main(["explore", "claims.py"])
    assert status == (0 if limit == 3 else 1)
