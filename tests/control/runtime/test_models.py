"""What programs can do with the models of `threading`, `queue` and `concurrent.futures`: exactly this."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.brute import reduced
from tests.control.runtime.running import explored, once

HEAD = "import queue, threading, time\nfrom concurrent.futures import *\nlog = []\n"
RUN = """
def run(*functions):
    threads = [threading.Thread(target=f, name=f.__name__) for f in functions]
    for t in threads: t.start()
    for t in threads: t.join()
"""
RESULTS = {
    "event woken although cleared": (
        """
e = threading.Event()
def waits(): e.wait(); log.append("woken")
def sets(): e.set(); e.clear()
run(waits, sets)
print(log)
""",
        {"finished ['woken']", "lost wake-up "},
    ),
    "condition wakes the first in line": (
        """
c = threading.Condition()
ready = []
def waits(n):
    with c:
        ready.append(n)
        c.wait()
        log.append(n)
def notifies():
    while True:
        with c:
            if len(ready) == 2:
                c.notify()
                break
    with c: c.notify()
a, b = [threading.Thread(target=waits, args=(n,)) for n in "ab"]
a.start(); b.start(); notifies(); a.join(); b.join()
print(sorted(log) == ["a", "b"])
""",
        {"finished True"},
    ),
    "semaphore": (
        """
s = threading.BoundedSemaphore(1)
inside = 0
def enters():
    global inside
    with s:
        inside += 1
        log.append(inside)
        inside -= 1
run(enters, enters)
try: s.release()
except ValueError: log.append("too many")
print(log)
""",
        {"finished [1, 1, 'too many']"},
    ),
    "try to acquire": (
        """
l = threading.Lock()
def tries():
    if l.acquire(blocking=False):
        log.append("got"); l.release()
    else: log.append("busy")
run(tries, tries)
print(sorted(log))
""",
        {"finished ['busy', 'got']", "finished ['got', 'got']"},
    ),
    "bounded queue": (
        """
q = queue.Queue(1)
def puts(): q.put(1); q.put(2)
def gets(): log.append(q.get()); log.append(q.get())
run(puts, gets)
print(log, q.empty())
""",
        {"finished [1, 2] True"},
    ),
    "priority queue": (
        """
q = queue.PriorityQueue()
def low(): q.put(2)
def high(): q.put(1)
def gets(): log.append(q.get()); log.append(q.get())
run(low, high, gets)
print(log)
""",
        {"finished [1, 2]", "finished [2, 1]"},
    ),
    "task done and join": (
        """
q = queue.Queue()
def works():
    while True:
        q.get(); log.append(1); q.task_done()
threading.Thread(target=works, daemon=True).start()
q.put(1); q.put(2); q.join()
print(len(log))
""",
        {"finished 2"},
    ),
    "time-out not before others have slept": (
        """
e = threading.Event()
def waits(): log.append(e.wait(3))
def sets(): time.sleep(1); e.set()
run(waits, sets)
print(log)
""",
        {"finished [True]"},
    ),
    "a sleep that comes late, but not later than the slack": (
        """
e = threading.Event()
def waits(): log.append(e.wait(2))
def sets(): time.sleep(1); e.set()
run(waits, sets)
print(log)
""",
        {"finished [True]", "finished [False]"},
    ),
    "time-out while another sleeps longer": (
        """
e = threading.Event()
def waits(): log.append(e.wait(1))
def sets(): time.sleep(2); e.set()
run(waits, sets)
print(log)
""",
        {"finished [True]", "finished [False]"},
    ),
    "time-out at the end of everything": (
        """
q = queue.Queue()
def gets():
    try: q.get(timeout=5)
    except queue.Empty: log.append(round(time.monotonic()) >= 1005)
run(gets)
print(log)
""",
        {"finished [True]"},
    ),
    "a timer never comes early": (
        """
t = threading.Timer(5, lambda: log.append("timer"))
t.start()
log.append("main")
t.join()
print(log)
""",
        {"finished ['main', 'timer']"},
    ),
    "a timer may come before what is late": (
        """
t = threading.Timer(1, lambda: log.append("timer"))
t.start()
log.append("main")
t.join()
print(log)
""",
        {"finished ['main', 'timer']", "finished ['timer', 'main']"},
    ),
    "a timer that is cancelled in time": (
        """
t = threading.Timer(5, lambda: log.append("timer"))
t.start(); t.cancel(); t.join()
print(log)
""",
        {"finished []"},
    ),
    "threads that start threads": (
        """
def child(n): log.append(n)
def parent(): t = threading.Thread(target=child, args=(2,)); t.start(); log.append(1); t.join()
run(parent)
print(log)
""",
        {"finished [1, 2]", "finished [2, 1]"},
    ),
    "a subclass of Thread": (
        """
class Worker(threading.Thread):
    def run(self): log.append(self.name)
ws = [Worker(name=n) for n in "ab"]
for w in ws: w.start()
for w in ws: w.join()
print(log, [w.is_alive() for w in ws])
""",
        {"finished ['a', 'b'] [False, False]", "finished ['b', 'a'] [False, False]"},
    ),
    "a pool": (
        """
with ThreadPoolExecutor(2) as pool:
    done = [f.result() for f in as_completed([pool.submit(pow, 2, n) for n in (1, 2)])]
print(done)
""",
        {"finished [2, 4]", "finished [4, 2]"},
    ),
    "a pool that maps": (
        """
with ThreadPoolExecutor(1) as pool:
    print(list(pool.map(lambda n: n * n, range(3))))
""",
        {"finished [0, 1, 4]"},
    ),
    "a barrier": (
        """
b = threading.Barrier(2)
def meets(): log.append(1); b.wait(); log.append(len(log) >= 2)
run(meets, meets)
print(log)
""",
        {"finished [1, 1, True, True]"},
    ),
    "nested items": (
        """
class S: pass
s = S(); s.a = [S()]; s.a[0].v = 0
def adds(): s.a[0].v += 1
run(adds, adds)
print(s.a[0].v)
""",
        {"finished 1", "finished 2"},
    ),
    "a class attribute": (
        """
class S: total = 0
def adds(): S.total += 1
run(adds, adds)
print(S.total)
""",
        {"finished 1", "finished 2"},
    ),
    "slots": (
        """
class S:
    __slots__ = ("v",)
s = S(); s.v = 0
def adds(): s.v += 1
run(adds, adds)
print(s.v)
""",
        {"finished 1", "finished 2"},
    ),
    "a variable of an enclosing function": (
        """
def count():
    n = 0
    def adds():
        nonlocal n
        n += 1
    run(adds, adds)
    return n
print(count())
""",
        {"finished 1", "finished 2"},
    ),
    "a dictionary grows while it is gone through": (
        """
d = {1: 1}
def grows(): d[2] = 2
def reads():
    try: log.append(sum(d[k] for k in d))
    except RuntimeError: log.append("changed")
run(grows, reads)
print(log)
""",
        {"finished [1]", "finished [3]", "finished ['changed']"},
    ),
    "each append is one step": (
        """
def adds(): log.append(1)
run(adds, adds, adds)
print(len(log))
""",
        {"finished 3"},
    ),
    "an exception holds nobody up": (
        """
l = threading.Lock()
def fails():
    with l: raise KeyError("x")
def works():
    with l: log.append(1)
run(fails, works)
print(log)
""",
        {"exception [1]"},
    ),
    "local data of threads": (
        """
mine = threading.local()
def sets(): mine.x = 1; log.append(mine.x)
run(sets, sets)
print(log)
""",
        {"finished [1, 1]"},
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_exactly_these_results(name: str, tmp_path: Path) -> None:
    source, expected = RESULTS[name]
    path = tmp_path / "program.py"
    path.write_text(HEAD + RUN + source)
    found, _ = reduced(path)
    assert {f"{kind or outcome} {output.decode().strip()}" for outcome, kind, output in found} == expected


def test_early_time_outs_may_come_at_any_moment(tmp_path: Path) -> None:
    source = HEAD + "e = threading.Event()\nthreading.Thread(target=e.set).start()\nassert e.wait(9)\n"
    patient = explored(tmp_path, source)
    assert patient.complete and patient.holds
    hasty = explored(tmp_path, source, early_timeouts=True)
    assert hasty.failure is not None and hasty.failure.kind == "assertion"


def test_what_is_assumed_of_time_outs_is_told(tmp_path: Path) -> None:
    source = "def slow(): time.sleep({0})\nthread = threading.Thread(target=slow)\nthread.start()\n"
    source += "thread.join(5)\nassert not thread.is_alive()\n"
    found = explored(tmp_path, HEAD + source.format(3))
    assert found.complete
    late = "sleeps, timers and time-outs come late by at most 1 s, and never early (--slack)"
    assert found.assumed == (late,)
    assert explored(tmp_path, HEAD + source.format(4)).failure is not None
    assert explored(tmp_path, HEAD + source.format(4), slack=0.5).complete
    exact = explored(tmp_path, HEAD + source.format(4.9), slack=0.0)
    assert exact.assumed == ("sleeps, timers and time-outs come in time (--slack 0)",) and exact.complete


def test_random_numbers_and_time_do_not_depend_on_the_schedule(tmp_path: Path) -> None:
    source = """
import random, threading, time, uuid
got = {}
def draws(n):
    time.sleep(n)
    got[n] = (random.random(), random.Random().random(), time.time(), str(uuid.uuid4()))
threads = [threading.Thread(target=draws, args=(n,)) for n in (1, 2)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(got.items()))
"""
    path = tmp_path / "program.py"
    path.write_text(source)
    found, executions = reduced(path)
    assert len(found) == 1
    assert executions == 3  # which of the two stores its item first; and one before uuid was watched


def test_a_loop_that_waits_is_recognised(tmp_path: Path) -> None:
    source = (
        HEAD
        + RUN
        + """
flag = False
def waits():
    while not flag: time.sleep(0.1)
def sets():
    global flag
    flag = True
run(waits, sets)
"""
    )
    assert explored(tmp_path, source).complete


def test_a_loop_that_counts_is_no_loop_that_waits(tmp_path: Path) -> None:
    source = (
        HEAD
        + RUN
        + """
import itertools
seen = 0
def looks():
    for _ in itertools.repeat(None, 3): log.append(seen)
def sets():
    global seen
    seen = 1
run(looks, sets)
assert len(log) == 3
"""
    )
    found = explored(tmp_path, source)
    assert found.complete
    assert found.executions == 4


def test_endless_polling_is_a_livelock(tmp_path: Path) -> None:
    source = (
        HEAD
        + RUN
        + """
lock = threading.Lock()
done = False
def polls():
    while True:
        with lock:
            if done: return
        time.sleep(1)
run(polls, polls)
"""
    )
    found = explored(tmp_path, source)
    assert found.failure is not None
    assert found.failure.kind == "livelock"


def test_the_cycle_of_a_deadlock(tmp_path: Path) -> None:
    source = (
        HEAD
        + RUN
        + """
a, b = threading.Lock(), threading.Lock()
def one():
    with a:
        with b: pass
def two():
    with b:
        with a: pass
run(one, two)
"""
    )
    found = explored(tmp_path, source)
    assert found.failure is not None
    assert found.failure.kind == "deadlock"
    rows = {row["name"]: row for row in found.failure.details["waiting"]}
    assert rows["one"]["thing"] == "b" and rows["one"]["holds"][0]["thing"] == "a"
    assert rows["two"]["thing"] == "a" and rows["two"]["holds"][0]["thing"] == "b"
    assert sorted(found.failure.details["cycle"]) == ["0.1", "0.2"]


def test_what_hangs_outside_control_leaves_it_open(tmp_path: Path) -> None:
    from possibly.control.forking.zygote import script
    from possibly.session.exploring.explore import explore

    path = tmp_path / "program.py"
    path.write_text("import signal\nsignal.sigwait({signal.SIGUSR1})\n")
    with script((str(path),)) as program:
        program.zygote().patience = 1.0  # type: ignore[attr-defined] # a Zygote
        found = explore(program, Options(executions=1))
    assert found.holds is None
    assert any("outside control" in reason for reason in found.open)


def test_a_process_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    execution = once(tmp_path, "import os\nos._exit(3)\n")
    assert "ended by itself" in execution.uncontrolled[0]


def test_output_and_status(tmp_path: Path) -> None:
    execution = once(tmp_path, "import sys\nprint(sys.argv[1])\nsys.exit(4)\n", "word")
    assert execution.output == b"word\n"
    assert execution.failure is not None
    assert execution.failure["message"] == "the program ends with status 4"


def test_input_is_given_to_every_execution(tmp_path: Path) -> None:
    source = "import sys, threading\nt = threading.Thread(target=print)\nt.start()\nassert input() == 'a'\n"
    source += "assert sys.stdin.read() == 'b\\n'\nt.join()\n"
    assert explored(tmp_path, source, input="a\nb\n").holds


def test_what_is_outside_control_is_told(tmp_path: Path) -> None:
    source = "import subprocess\nsubprocess.run(['true'], check=True)\n"
    found = explored(tmp_path, source)
    assert found.holds is None
    assert "another program (subprocess), which is not under control" in found.open


def test_the_order_of_a_loop(tmp_path: Path) -> None:
    source = """
import asyncio
log = []
async def says(n):
    await asyncio.sleep(0)
    log.append(n)
async def main():
    await asyncio.gather(says(1), says(2))
    assert log == [1, 2]
asyncio.run(main())
"""
    assert explored(tmp_path, source).holds is False
    assert explored(tmp_path, source, fifo=True).holds


COVERED = {
    "pool with more calls than threads": """
total, lock = 0, threading.Lock()
def add(n):
    global total
    with lock: total += n
with ThreadPoolExecutor(2) as pool: list(pool.map(add, [1, 2, 3]))
assert total == 6
""",
    "daemon that only sleeps": """
def forever():
    while True: time.sleep(1)
threading.Thread(target=forever, daemon=True).start()
""",
    "polling an event": """
stop = threading.Event()
def waits():
    while not stop.wait(0.1): pass
t = threading.Thread(target=waits)
t.start(); stop.set(); t.join()
""",
}


@pytest.mark.parametrize("name", COVERED)
def test_covered_completely(tmp_path: Path, name: str) -> None:
    found = explored(tmp_path, HEAD + COVERED[name])
    assert found.failure is None and not found.open, found.open


def test_daemon_that_works_for_ever_comes_to_an_end(tmp_path: Path) -> None:
    source = "def forever():\n    while True: log.append(1); time.sleep(1)\n"
    found = explored(tmp_path, HEAD + source + "threading.Thread(target=forever, daemon=True).start()\n")
    assert found.complete, found.open


ODD = """
import asyncio, threading, time
from fractions import Fraction
class Odd:
    __module__ = None
    def __init__(self): self.x = 0
class Numbered(threading.Thread):
    @property
    def name(self): return 5
    @name.setter
    def name(self, given): pass
odd, done = Odd(), threading.Event()
def work():
    odd.x = 1
    time.sleep(True)
    done.set()
threads = [threading.Thread(target=work, daemon=1), threading.Thread(target=done.wait, name=7)]
threads.append(Numbered(target=done.wait, args=(3,)))
for each in threads: each.start()
for each in threads: each.join(timeout=100)
asyncio.run(asyncio.sleep(Fraction(1, 3)))
assert odd.x == 1
"""


def test_what_is_odd_to_type_checkers_is_allowed(tmp_path: Path) -> None:
    found = explored(tmp_path, ODD)
    assert found.failure is None and found.complete


@pytest.mark.parametrize("call", ["threading.Event().wait", "time.sleep", "threading.Lock().acquire"])
def test_a_time_that_is_no_float_is_refused_as_by_python(call: str, tmp_path: Path) -> None:
    given = "True, Fraction(1, 2)" if "acquire" in call else "Fraction(1, 2)"
    source = f"import threading, time\nfrom fractions import Fraction\n{call}({given})\n"
    plain = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    execution = once(tmp_path, source)
    assert execution.failure is not None
    assert execution.failure["message"] == plain.stderr.splitlines()[-1]
    assert execution.failure["place"].endswith("program.py:3")
    assert "kernel.py" not in execution.failure["traceback"]
