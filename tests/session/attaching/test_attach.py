"""A process that hangs: what is read inside it, from inside and outside, and cycles of who waits for whom."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from possibly.errors import PossiblyError
from possibly.session.attaching.attach import SCRIPT, Attached, Waiter, attach, cycles
from possibly.views.cli.controlled.attach import document, dot_lines, lines_of
from tests.waiting import PATIENCE

PROGRAM = """
import json, os, queue, runpy, sys, threading
a, b, met = threading.Lock(), threading.RLock(), threading.Barrier(2)
def one():
    with a:
        met.wait()
        with b: pass
def two():
    with b, threading.Lock():
        met.wait()
        a.acquire()
def three():
    queue.Queue().get()
for target in (one, two, three):
    threading.Thread(target=target, name=target.__name__, daemon=True).start()
def told():
    runpy.run_path(sys.argv[1], {"ANSWER": sys.argv[2]})
    return json.load(open(sys.argv[2]))["waiters"]
while sum(each["waits_for"] is not None for each in told()) < 3:
    pass
print("ready", flush=True)
if len(sys.argv) > 3:
    sys.stdin.read()
os._exit(0)
"""


def test_the_script_tells_who_waits_for_whom(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    answer = tmp_path / "answer.json"
    words = [sys.executable, str(tmp_path / "program.py"), str(SCRIPT), str(answer)]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)
    found = {each["name"]: each for each in json.loads(answer.read_text())["waiters"]}
    assert (found["one"]["waits_for"], found["one"]["holders"]) == ("lock b", ["two"])
    assert (found["two"]["waits_for"], found["two"]["holders"]) == ("lock a", ["one"])
    assert (found["three"]["waits_for"], found["three"]["holders"]) == ("get of a Queue", [])
    assert found["one"]["where"][0].endswith("program.py:7")


ALONE = """
import concurrent.futures, json, os, runpy, sys, threading
class Box:
    def __init__(self):
        self.lock = threading.Lock()
    def outer(self):
        with self.lock:
            self.inner()
    def inner(self):
        with self.lock: pass
    def politely(self):
        with self.lock:
            self.lock.release()
            held.acquire()
            self.lock = held
            self.lock.acquire()
held = threading.Lock()
def pool(count, name):
    workers = concurrent.futures.ThreadPoolExecutor(count, thread_name_prefix=name)
    met = threading.Barrier(count)
    def waits():
        met.wait()
        workers.submit(int).result()
    return [workers.submit(waits) for _ in range(count)][0]
def limited(future):
    future.result(timeout=1000)
future = pool(1, "own")
pool(2, "pair")
for target in (Box().outer, Box().politely, future.result, lambda: limited(future)):
    name = getattr(target, "__name__", "")
    threading.Thread(target=target, name=name, daemon=True).start()
while True:
    runpy.run_path(sys.argv[1], {"ANSWER": sys.argv[2]})
    if sum(each["waits_for"] is not None for each in json.load(open(sys.argv[2]))["waiters"]) == 7:
        os._exit(0)
"""


def test_a_thread_can_wait_for_itself_and_a_pool_for_its_own_work(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(ALONE)
    answer = tmp_path / "answer.json"
    words = [sys.executable, str(tmp_path / "alone.py"), str(SCRIPT), str(answer)]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)
    told = json.loads(answer.read_text())["waiters"]
    found = {each["name"]: each["holders"] for each in told}
    assert (found["outer"], found["politely"]) == (["outer"], [])
    assert (found["own_0"], found["result"], found["<lambda>"]) == (["own_0"], ["own_0"], [])
    assert {*found["pair_0"]} == {*found["pair_1"]} == {"pair_0", "pair_1"}
    waiters = tuple(Waiter(e["name"], "thread", (), e["waits_for"], tuple(e["holders"])) for e in told)
    assert {frozenset(each) for each in cycles(waiters)} == {
        frozenset(["outer"]), frozenset(["own_0"]), frozenset(["pair_0", "pair_1"]),
    }  # fmt: skip


TASKS = """
import asyncio, json, runpy, sys
async def crossed(first, second, met):
    async with first:
        await met.wait()
        async with second: pass
async def main():
    a, b, met = asyncio.Lock(), asyncio.Lock(), asyncio.Event()
    one = asyncio.create_task(crossed(a, b, met), name="one")
    two = asyncio.create_task(crossed(b, a, met), name="two")
    three = asyncio.create_task(asyncio.Queue().get(), name="three")
    both = asyncio.create_task(asyncio.wait_for(asyncio.gather(one, two), 60), name="both")
    await asyncio.sleep(0)
    met.set()
    for _ in range(9):
        await asyncio.sleep(0)
    runpy.run_path(sys.argv[1], {"ANSWER": sys.argv[2]})
    sys.stdout.flush(), __import__("os")._exit(0)
asyncio.run(main())
"""


def test_tasks_wait_for_locks_and_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(TASKS)
    answer = tmp_path / "answer.json"
    words = [sys.executable, str(tmp_path / "tasks.py"), str(SCRIPT), str(answer)]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)
    found = {each["name"]: each for each in json.loads(answer.read_text())["waiters"]}
    assert (found["one"]["waits_for"], found["one"]["holders"]) == ("acquire of a Lock", ["two"])
    assert (found["two"]["waits_for"], found["two"]["holders"]) == ("acquire of a Lock", ["one"])
    assert (found["three"]["waits_for"], found["three"]["holders"]) == ("get of a Queue", [])
    waiters = tuple(Waiter(n, "task", (), e["waits_for"], tuple(e["holders"])) for n, e in found.items())
    assert [set(each) for each in cycles(waiters)] == [{"one", "two"}]


@pytest.mark.skipif(shutil.which("gdb") is None or sys.platform != "linux", reason="needs gdb")
def test_from_outside(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, str(tmp_path / "program.py"), str(SCRIPT), str(tmp_path / "answer.json"), "stay"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            found = attach(process.pid)
        except PossiblyError as error:
            pytest.skip(f"gdb is not allowed to: {error}")
        finally:
            process.kill()
    assert [set(cycle) for cycle in found.cycles] == [{"one", "two"}]
    assert {each.name for each in found.waiters} == {"MainThread", "one", "two", "three"}


WAITERS = (
    Waiter("p", "thread", ("x.py:1",), "lock a", ("q",)),
    Waiter("q", "thread", (), "the end of p", ("p",)),
    Waiter("r", "task", (), "a future"),
    Waiter("s", "thread", (), None),
    Waiter("t", "thread", (), "lock b", ("p", "q")),
)


def test_cycles_and_their_words() -> None:
    found = Attached(7, WAITERS, tuple(cycles(WAITERS)))
    assert found.cycles == (("p", "q"),)
    assert list(lines_of(found)) == [
        "DEADLOCK  p and q wait for each other",
        "thread p  waits for lock a, held by q  x.py:1",
        "thread q  waits for the end of p",
        "task r  waits for a future",
        "thread s  runs, or waits outside Python",
        "thread t  waits for lock b, held by p or q",
    ]
    drawn = list(dot_lines(found))
    assert '  "p" -> "q" [label="lock a", color=red];' in drawn
    assert '  "t" -> "p" [label="lock b"];' in drawn
    assert '  "r: a future" [label="a future", shape=box];' in drawn and '  "r" -> "r: a future";' in drawn
    assert document(found)["deadlocks"] == [["p", "q"]]


def test_whoever_may_be_let_go_on_by_a_free_one_is_in_no_ring() -> None:
    def waiter(name: str, *holders: str) -> Waiter:
        return Waiter(name, "thread", (), "it", holders)

    assert cycles((waiter("a", "a"),)) == [("a",)]
    assert cycles((waiter("a", "a", "b"), waiter("b"))) == []
    assert cycles((waiter("a", "b", "c"), waiter("b", "a"), waiter("c", "a"))) == [("a", "b", "c")]
    lines = list(lines_of(Attached(7, (waiter("a", "a"),), (("a",),))))
    assert lines == ["DEADLOCK  a waits for itself", "thread a  waits for it, held by a"]


def test_no_process_is_one_sentence() -> None:
    with pytest.raises(PossiblyError, match="there is no process"):
        attach(2**22 + 1)
