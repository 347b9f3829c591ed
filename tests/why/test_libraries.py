"""Failures inside packages: a cure and what decides name the user's line that called them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.execution import CALLED_FROM
from possibly.session.exploring.exploration import Options
from possibly.trace.place import place_in
from possibly.views.text.why import why_lines
from tests.control.runtime.running import explored

PACKAGE = """\
class Account:
    def __init__(self): self.balance = 100
    def read(self):
        return self.balance
    def put(self, value):
        self.balance = value
"""
PROGRAM = """\
import threading
from strangerbank import Account
account = Account()
def draw():
    seen = account.read()
    account.put(seen - 10)
threads = [threading.Thread(target=draw) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert account.read() == 80
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages with that one in it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "strangerbank.py").write_text(PACKAGE)
    monkeypatch.setattr(sys, "path", [sys.path[0], str(folder), *sys.path[1:]])
    yield tmp_path
    sys.modules.pop("strangerbank", None)


def test_they_are_named_beside_those_of_the_package(installed: Path) -> None:
    found = explored(installed, PROGRAM, Options(explain=True))
    assert found.failure is not None
    lines = why_lines(found.failure)
    assert "(line 5, in strangerbank.py:4)" in lines[1] and "(line 6, in strangerbank.py:6)" in lines[1]
    assert lines[-1] == "cure (read-modify-write): hold one lock from line 5 to line 6"


def test_without_time_to_explain_it_too(installed: Path) -> None:
    found = explored(installed, PROGRAM, Options(minimise=0))
    assert found.failure is not None
    steps = [step for step in found.failure.execution.steps if step.operation.at.startswith("strangerbank")]
    lines = {(place_in(step.operation.at).line, place_in(step.detail[CALLED_FROM]).line) for step in steps}
    assert lines == {(4, 5), (6, 6), (4, 10)}


HANDED_ON = """\
import asyncio, aiosqlite
async def visit(base):
    async with base.execute("select n from visits") as found:
        (n,) = await found.fetchone()
    await base.execute("update visits set n = ?", (n + 1,))
async def main():
    async with aiosqlite.connect(":memory:") as base:
        await base.execute("create table visits (n integer)")
        await base.execute("insert into visits values (0)")
        await asyncio.gather(visit(base), visit(base))
        async with base.execute("select n from visits") as found:
            assert await found.fetchone() == (2,)
asyncio.run(main())
"""


def decided(folder: Path, source: str) -> list[str]:
    """What is said below the schedule of a program that fails, which fits on a screen."""
    (folder / "program.py").write_text(source)
    command = [sys.executable, "-m", "possibly", "explore", "--time", "600", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and len(done.stdout.splitlines()) <= 50, done.stdout + done.stderr
    return done.stdout.partition("what decides:\n")[2].splitlines()


def test_coroutines_that_hand_their_work_to_a_thread(tmp_path: Path) -> None:
    """No interval of steps could be atomic there: that they pass one after the other is executed."""
    pytest.importorskip("aiosqlite")
    lines = decided(tmp_path, HANDED_ON)
    assert "visit#2 had its turn (line 2) before visit#1 had its turn (line 3)" in lines[0]
    assert lines[1] == "  with visit#1 at its end before visit#2 begins it does not fail"
    words = "hold one asyncio.Lock around what visit() does (line 2): its calls come between each other"
    assert f"cure (not atomic): {words}" in lines


CACHED = """\
import asyncio
from aiocache import SimpleMemoryCache
cache = SimpleMemoryCache()
loads = 0
async def get(key):
    global loads
    found = await cache.get(key)
    if found is None:
        loads += 1
        await asyncio.sleep(0)
        found = key.upper()
        await cache.set(key, found)
    return found
async def main():
    await asyncio.gather(get("a"), get("a"))
    assert loads == 1, loads
asyncio.run(main())
"""


def test_coroutines_whose_library_starts_tasks_for_them(tmp_path: Path) -> None:
    """The pair that decides is of tasks of the library's own: the lock belongs where they were asked for."""
    pytest.importorskip("aiocache")
    lock = "hold one asyncio.Lock from line 7 to line 12, or do not await in between"
    assert f"cure (not atomic): {lock}" in decided(tmp_path, CACHED)


BOUNDED = """\
import threading
from cachetools import LRUCache
cache = LRUCache(maxsize=2)
def load(key):
    if key in cache:
        return cache[key]
    cache[key] = key.upper()
    return cache[key]
def use(keys):
    for key in keys:
        assert load(key) == key.upper()
cache["a"] = "A"
threads = [threading.Thread(target=use, args=(keys,)) for keys in (["a"], ["b", "c"])]
for each in threads: each.start()
for each in threads: each.join()
"""


def test_an_object_of_a_library_that_is_not_made_for_several_tasks(tmp_path: Path) -> None:
    pytest.importorskip("cachetools")
    cure = (
        "cure (not atomic): LRUCache#1 of cachetools is not made for several tasks at a time: "
        "hold one lock around each use of it (line 7)"
    )
    assert cure in decided(tmp_path, BOUNDED)
