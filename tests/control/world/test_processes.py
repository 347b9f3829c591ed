"""Processes that the program forks: what really happens is among what is explored, and is decided.

Each program is run for real, with pauses of several lengths, and its results must be among those that the
exploration shows, in which every pause may be of any length.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Exploration
from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored
from tests.waiting import PATIENCE

HEAD = """\
import multiprocessing as mp, queue, sys, time
lengths = list(map(float, sys.argv[1:]))
def pause(number): time.sleep(lengths[number] if lengths else 0)
def started(*processes):
    for each in processes: each.start()
    return processes
def joined(processes):
    for each in processes: each.join()
"""
PROGRAMS = {
    "a queue": """
def put(items, number):
    pause(number)
    items.put(number)
    items.put(number + 10)
items = mp.Queue()
processes = started(*(mp.Process(target=put, args=(items, each)) for each in range(2)))
print([items.get() for _ in range(4)])
joined(processes)
""",
    "a pipe that ends": """
def send(end, number):
    pause(number)
    end.send(number)
    end.close()
reader, writer = mp.Pipe(duplex=False)
processes = started(*(mp.Process(target=send, args=(writer, each)) for each in range(2)))
writer.close()
got = []
while True:
    try: got.append(reader.recv())
    except EOFError: break
print(got)
joined(processes)
""",
    "a value without a lock": """
def add(value, number):
    now = value.value
    pause(number)
    value.value = now + 1
value = mp.Value("i", 0, lock=False)
joined(started(*(mp.Process(target=add, args=(value, each)) for each in range(2))))
print(value.value)
""",
    "a time-out": """
def wait(event): print(event.wait(0.02), flush=True)
event = mp.Event()
processes = started(mp.Process(target=wait, args=(event,)))
pause(0)
event.set()
joined(processes)
print(processes[0].exitcode)
""",
    "a pool": """
def work(number):
    pause(number)
    return number
with mp.Pool(2) as pool:
    print(list(pool.imap_unordered(work, range(2))))
""",
}
LENGTHS = [("0", "0.1"), ("0.1", "0")]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.large("a pipe that ends")
def test_what_really_happens_is_explored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + PROGRAMS[name])
    found = {output.decode() for outcome, _, output in reduced(path)[0] if outcome == "finished"}
    for lengths in LENGTHS:
        real = subprocess.run(
            [sys.executable, str(path), *lengths], capture_output=True, text=True, timeout=PATIENCE
        )
        assert real.returncode == 0, real.stderr
        assert "".join(line for line in real.stdout.splitlines(True) if line[0] not in "TF") in found


def wrong(tmp_path: Path, source: str, kind: str = "assertion") -> Exploration:
    found = explored(tmp_path, HEAD + source)
    assert found.failure is not None and found.failure.kind == kind
    return found


def right(tmp_path: Path, source: str) -> Exploration:
    found = explored(tmp_path, HEAD + source)
    assert found.complete, found.open
    return found


COUNTED = """
def add(value):
    {under}
        value.value += 1
value = mp.Value("i", 0)
joined(started(*(mp.Process(target=add, args=(value,)) for _ in range(2))))
assert value.value == 2
"""


def test_an_update_gets_lost_unless_the_lock_is_held(tmp_path: Path) -> None:
    wrong(tmp_path, COUNTED.format(under="if True:"))
    right(tmp_path, COUNTED.format(under="with value.get_lock():"))


BLOCK = """
from multiprocessing.shared_memory import SharedMemory
def add(name, lock, number):
    block = SharedMemory(name)
    {under}
        block.buf[{place}] = block.buf[{place}] + 1
lock = mp.Lock()
block = SharedMemory(create=True, size=4)
joined(started(*(mp.Process(target=add, args=(block.name, lock, each)) for each in range(2))))
assert sum(bytes(block.buf)) == 2, bytes(block.buf)
block.unlink()
"""


@pytest.mark.alone  # an interpreter that has imported numpy hands out memory that nobody sees
def test_bytes_of_a_block_are_things_of_their_own(tmp_path: Path) -> None:
    wrong(tmp_path, BLOCK.format(under="if True:", place=0))
    right(tmp_path, BLOCK.format(under="with lock:", place=0))
    assert right(tmp_path, BLOCK.format(under="if True:", place="number")).executions == 1


def test_a_deadlock_of_two_processes_is_told_as_one(tmp_path: Path) -> None:
    source = """
def take(one, other):
    with one, other: pass
one, other = mp.Lock(), mp.Lock()
joined(started(mp.Process(target=take, args=(one, other)), mp.Process(target=take, args=(other, one))))
"""
    found = wrong(tmp_path, source, "deadlock")
    assert found.failure is not None
    assert "Process-1" in found.failure.message and "Process-2" in found.failure.message
    assert ":11)" in found.failure.message


def test_what_goes_wrong_in_a_process_is_told_with_its_line(tmp_path: Path) -> None:
    source = """
def look(event): assert event.is_set()
event = mp.Event()
processes = started(mp.Process(target=look, args=(event,)))
event.set()
joined(processes)
"""
    found = wrong(tmp_path, source)
    assert found.failure is not None and str(found.failure.details["place"]).endswith("program.py:10")


def test_objects_of_a_manager_change_call_by_call(tmp_path: Path) -> None:
    source = """
def add(held): held["n"] = held["n"] + 1
with mp.Manager() as manager:
    held = manager.dict(n=0)
    joined(started(*(mp.Process(target=add, args=(held,)) for _ in range(2))))
    assert held["n"] == 2
"""
    wrong(tmp_path, source)


POLLING = """
def wait(flag):
    while not flag.value: {between}
flag = mp.Value("i", 0)
processes = started(mp.Process(target=wait, args=(flag,)))
{set}
joined(processes)
"""


@pytest.mark.parametrize("between", ["pass", "time.sleep(0.1)"])
def test_a_process_that_polls_waits_for_a_change(tmp_path: Path, between: str) -> None:
    right(tmp_path, POLLING.format(between=between, set="flag.value = 1"))
    wrong(tmp_path, POLLING.format(between=between, set=""), "livelock")


def test_rounds_that_only_the_process_can_tell_apart_are_no_livelock(tmp_path: Path) -> None:
    source = """
def look(flag):
    rounds = {"done": 0}
    while not flag.value and rounds["done"] < 3: rounds["done"] += 1
flag = mp.Value("i", 0)
joined(started(mp.Process(target=look, args=(flag,))))
"""
    right(tmp_path, source)


def test_a_value_without_its_lock_is_not_locked(tmp_path: Path) -> None:
    wrong(tmp_path, COUNTED.format(under="for value in [value.get_obj()]:"))


def test_pools_and_executors_are_covered(tmp_path: Path) -> None:
    assert ProcessPoolExecutor.__name__  # who asks first puts the plain class into its package
    source = """
from concurrent.futures import ProcessPoolExecutor
def double(number): return 2 * number
with ProcessPoolExecutor(2) as pool:
    assert list(pool.map(double, [1, 2])) == [2, 4]
"""
    right(tmp_path, source)


ANEW = """
held = []
def add(value, number):
    assert not held  # it has nothing of what its parent put there
    {under}
        value.value += 1
if __name__ == "__main__":
    held.append(1)
    context = mp.get_context("{method}")
    value = context.Value("i", 0)
    joined(started(*(context.Process(target=add, args=(value, each)) for each in range(2))))
    assert value.value == 2
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_begin_anew_are_under_control(method: str, tmp_path: Path) -> None:
    wrong(tmp_path, ANEW.format(method=method, under="if True:"))
    found = right(tmp_path, ANEW.format(method=method, under="with value.get_lock():"))
    assert any("spawned" in each for each in found.assumed)


ONE_LINE = """
def take(held): {looks}
if __name__ == "__main__":
    with mp.Manager() as manager:
        held = {held}
        joined(started(mp.Process(target=take, args=(held,))))
        {looks}
"""


@pytest.mark.parametrize(
    ("held", "looks"),
    [
        ("manager.list([1, 2])", "assert list(held) == [1, 2]"),
        ("manager.dict(a=1, b=1)", "assert dict(held) == {'a': 1, 'b': 1}"),
        ("manager.list([1, 2])", "assert list(map(held.count, (1, 2, 1))) == [1, 1, 1]"),
        ('mp.Array("i", [3, 3, 3])', "assert list(held) == [3, 3, 3] and sum(held) == 9"),
    ],
    ids=["a list", "a dictionary", "a method", "an array"],
)
def test_what_one_line_asks_for_is_no_round(tmp_path: Path, held: str, looks: str) -> None:
    right(tmp_path, ONE_LINE.format(held=held, looks=looks))


def test_what_a_pool_calls_back_is_no_round(tmp_path: Path) -> None:
    source = """
def double(number): return 2 * number
got = []
with mp.Pool(1) as pool:
    pool.apply_async(double, (1,), callback=got.append)
    pool.close()
    pool.join()
assert got == [2]
"""
    right(tmp_path, source)


def test_a_daemon_that_is_terminated_ends(tmp_path: Path) -> None:
    source = """
def wait(event): event.wait()
event = mp.Event()
process = mp.Process(target=wait, args=(event,))
process.start()
process.terminate()
process.join()
assert process.exitcode == -15
"""
    right(tmp_path, source)


def test_a_process_that_is_killed_is_so_between_any_two_steps(tmp_path: Path) -> None:
    source = """
from multiprocessing.sharedctypes import RawValue
def work(value):
    value.value = 1
    value.value = 2
value = RawValue("i", 0)
process = mp.Process(target=work, args=(value,))
process.start()
process.kill()
process.join()
assert {claim}
"""
    wrong(tmp_path, source.format(claim="value.value != 1"))
    right(tmp_path, source.format(claim="value.value in (0, 1, 2)"))


OTHER_NAMES = {
    "sharedctypes": "from multiprocessing.sharedctypes import RawValue as make\nvalue = make('i', 0)",
    "structure": """
import ctypes
from multiprocessing.sharedctypes import Value
class Pair(ctypes.Structure): _fields_ = [("value", ctypes.c_int), ("other", ctypes.c_int)]
value = Value(Pair, 0, 0)""",
}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_values_are_watched_by_whatever_name_they_are_made(name: str, tmp_path: Path) -> None:
    source = """
def add(value): value.value += 1
joined(started(*(mp.Process(target=add, args=(value,)) for _ in range(2))))
assert value.value == 2
"""
    wrong(tmp_path, OTHER_NAMES[name] + source)


CONNECTED = {
    "queues": """
from multiprocessing.queues import Queue
items = Queue(ctx=mp.get_context())
def put(number): items.put(number)
def taken(): return items.get()
""",
    "connection": """
from multiprocessing.connection import Pipe
out, into = Pipe(False)
def put(number): into.send(number)
def taken(): return out.recv()
""",
}


@pytest.mark.parametrize("name", CONNECTED)
def test_queues_and_pipes_are_watched_by_whatever_name(name: str, tmp_path: Path) -> None:
    source = """
processes = started(*(mp.Process(target=put, args=(each,)) for each in range(2)))
got = [taken(), taken()]
joined(processes)
assert got == [0, 1]
"""
    wrong(tmp_path, CONNECTED[name] + source)


def test_results_of_a_pool_come_after_what_gave_them(tmp_path: Path) -> None:
    source = """
value = mp.Value("i", 0)
def add(number):
    with value.get_lock(): value.value += number
    return number
with mp.Pool(2) as pool: assert pool.map(add, [1, 2]) == [1, 2]
assert value.value == 3
"""
    right(tmp_path, source)


OPEN = {
    "mmap": """
import mmap
shared = mmap.mmap(-1, 16)
def write(): shared[0] = 1
joined(started(mp.Process(target=write)))
""",
    "a pipe or socket of the system": """
import os, socket
out, into = socket.socketpair()
def write(): os.write(into.fileno(), b"1")
joined(started(mp.Process(target=write)))
""",
    "which a forked process changes by code that is not watched": """
import os, zipfile
def write(): zipfile.ZipFile("made", "w").close()
joined(started(mp.Process(target=write)))
os.remove("made")
""",
}


@pytest.mark.parametrize("word", OPEN)
def test_what_is_not_under_control_is_named(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = explored(tmp_path, HEAD + OPEN[word])
    assert found.holds is None
    assert any(word in reason for reason in found.open)


def test_no_process_stays_behind(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    source = (
        f"def wait(event):\n    with open({str(mark)!r}) as held:\n        event.wait()\n"
        "mp.Process(target=wait, args=(mp.Event(),)).start()\n"
    )
    found = explored(tmp_path, HEAD + source)
    assert found.failure is not None and found.failure.kind == "deadlock"
    for _ in range(200):  # it is told to end; when it does is up to the system
        if not is_held(mark):
            return
        time.sleep(0.05)
    pytest.fail("it is still there")


def is_held(file: Path) -> bool:
    """Whether some process has the file open."""
    for each in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # it has just ended, or is none of ours
            if os.readlink(each) == str(file):
                return True
    return False


FULL = """
{before}
def put(there): {puts}
process = mp.Process(target=put, args=(there,))
process.start()
{order}
"""
PIPES = {
    "Queue": ("here = there = mp.Queue()", "there.put(b'x' * size)", "here.get()"),
    "SimpleQueue": ("here = there = mp.SimpleQueue()", "there.put(b'x' * size)", "here.get()"),
    "Pipe": ("here, there = mp.Pipe()", "there.send(b'x' * size)", "here.recv()"),
    "one way": ("here, there = mp.Pipe(False)", "there.send_bytes(b'x' * size)", "here.recv_bytes()"),
}


@pytest.mark.parametrize("name", PIPES)
def test_a_process_that_has_sent_much_ends_when_it_is_taken(name: str, tmp_path: Path) -> None:
    before, puts, takes = PIPES[name]
    for size, first, holds in ((10**6, False, False), (10**6, True, True), (10, False, True)):
        order = [takes, "process.join()"] if first else ["process.join()", takes]
        text = HEAD + FULL.format(before=f"size = {size}\n{before}", puts=puts, order="\n".join(order))
        found = explored(tmp_path, text)
        assert found.holds is holds, (size, first, found.failure, found.open)
        assert holds or (found.failure is not None and found.failure.kind == "deadlock")


def test_processes_of_joblib_are_under_control(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    source = """
from joblib import Parallel, delayed
def square(number): return number * number
assert Parallel(n_jobs=2)(delayed(square)(each) for each in range(2)) == [0, 1]
"""
    found = explored(tmp_path, source, within=frozenset({"program"}))
    assert found.failure is None, found.failure
    assert any("joblib" in each for each in found.assumed)
    assert not any("another program" in each for each in found.open)
