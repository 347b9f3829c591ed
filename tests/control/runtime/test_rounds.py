"""Executions that can go on for ever: starvation, livelock, and programs that need not end."""

from __future__ import annotations

from pathlib import Path

from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

STARTS = """
threads = [threading.Thread(target=work, name=name) for name, work in works.items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
READERS = """
import threading
turnstile, lock, readers = threading.Lock(), threading.Lock(), 0
def reader():
    global readers
    while True:
        pass
        with lock:
            readers += 1
        with lock:
            readers -= 1
def writer():
    while True:
        with lock:
            if readers == 0:
                return
works = {"reader-1": reader, "reader-2": reader, "writer": writer}
"""
ON_A_CONDITION = """
import threading
changed, readers = threading.Condition(), 0
def reader():
    global readers
    while True:
        with changed:
            readers += 1
        with changed:
            readers -= 1
            changed.notify_all()
def writer():
    with changed:
        while readers > 0:
            changed.wait()
works = {"reader-1": reader, "reader-2": reader, "writer": writer}
"""
POLITE = """
import threading
left, right = threading.Lock(), threading.Lock()
def polite(first, second):
    while True:
        with first:
            if second.acquire(False):
                second.release()
                return
works = {"a": lambda: polite(left, right), "b": lambda: polite(right, left)}
"""
SERVERS = """
import threading
lock, n = threading.Lock(), 0
def server():
    global n
    while True:
        with lock:
            n = 1 - n
works = {"one": server, "two": server}
"""
TRYING = """
import threading, time
lock, stop, order = threading.Lock(), False, []
def holds():
    with lock:
        time.sleep(1)
        order.append(1)
def tries():
    while not stop and not lock.acquire(False):
        time.sleep(0.1)
    order.append(2)
    lock.release()
works = {"holds": holds, "tries": tries}
"""


def explored(folder: Path, source: str, executions: int = 40) -> Exploration:
    path = folder / "program.py"
    path.write_text(source + STARTS)
    with script((str(path),)) as program:
        found = explore(program, Options(executions=executions))
        if found.failure is not None:
            again = program.execute(Course(found.failure.schedule))
            assert again.failure == found.failure.execution.failure
    return found


def test_a_writer_that_polls_starves(tmp_path: Path) -> None:
    found = explored(tmp_path, READERS)
    assert found.failure is not None
    assert found.failure.kind == "starvation"
    assert found.failure.message.startswith("writer comes back to ")
    assert found.failure.message.endswith("while reader-1 and reader-2 can go on for ever")
    assert found.executions < 10


def test_a_writer_that_waits_on_a_condition_starves(tmp_path: Path) -> None:
    found = explored(tmp_path, ON_A_CONDITION)
    assert found.failure is not None
    assert found.failure.kind == "starvation"


def test_a_turnstile_lets_the_writer_in(tmp_path: Path) -> None:
    source = READERS.replace("        pass\n", "        with turnstile: pass\n").replace(
        "    while True:\n        with lock:\n            if readers == 0:\n                return\n",
        "    with turnstile:\n     while True:\n        with lock:\n            if readers == 0:\n"
        "                return\n",
    )
    found = explored(tmp_path, source, 3)
    assert found.holds is None
    assert any(reason.startswith("an execution that need not end") for reason in found.open)


def test_tasks_that_give_way_for_ever_are_a_livelock(tmp_path: Path) -> None:
    found = explored(tmp_path, POLITE)
    assert found.failure is not None
    assert found.failure.kind == "livelock"


def test_what_happens_at_once_before_the_rounds_hides_none(tmp_path: Path) -> None:
    """Of several things touched at one moment the log tells one: that matters in the rounds alone."""
    before = """
    mine = [Job(len(name)), Job(0)]
    heapq.heapify(mine)
    json.dumps({"all": [job.number for job in mine]})
"""
    source = POLITE.replace("import threading", "import dataclasses, heapq, json, threading").replace(
        "def polite(first, second):",
        "@dataclasses.dataclass(order=True)\nclass Job:\n    number: int\n\n"
        f"def polite(first, second, name='me'):{before.rstrip()}",
    )
    found = explored(tmp_path, source)
    assert found.failure is not None and found.failure.kind == "livelock"


def test_a_program_that_need_not_end_is_no_failure(tmp_path: Path) -> None:
    found = explored(tmp_path, SERVERS, 3)
    assert found.holds is None
    assert any("one and two can go on for ever" in reason for reason in found.open)


def test_a_loop_that_tries_a_lock_waits_for_its_release(tmp_path: Path) -> None:
    assert explored(tmp_path, TRYING).holds is True


FLAG = """
import threading, time
ready, stages = False, []
def first():
    global ready
    time.sleep(0.001)
    stages.append(1)
    ready = True
def second():
    while not ready: time.sleep(0.001)
    assert stages == [1]
works = {"second": second, "first": first}
"""


def test_a_flag_that_is_polled_with_a_sleep_is_covered(tmp_path: Path) -> None:
    found = explored(tmp_path, FLAG)
    assert found.holds is True, found.open or found.failure


def test_a_task_that_reads_much_is_no_round(tmp_path: Path) -> None:
    """After many reads without a change what is read becomes a choice point, once."""
    path = tmp_path / "program.py"
    path.write_text(
        "import threading\nclass Box: n = 1\nbox = Box()\n"
        "def deep(rest): return max(box.n, deep(rest - 1)) if rest else box.n\n"
        "def work(): assert deep(250) == 1\n"
        "threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "for each in threads: each.start()\nfor each in threads: each.join()\n"
    )
    with script((str(path),)) as program:
        found = explore(program, Options())
    assert found.complete, found.open


CALLED_OFTEN = """
import datetime, threading
class Zone(datetime.tzinfo):
    hours = 0
    def utcoffset(self, when): return datetime.timedelta(hours=self.hours)
    def dst(self, when): return None
class Number:
    held = 0
    def __index__(self): return self.held
    def __lt__(self, other): return self.held > 5
    def __repr__(self): return str(self.held)
zoned = datetime.datetime(2020, 1, 1, tzinfo=Zone())
other = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
number = Number()
def look():
    zoned == other
    [1, 2, 3][number:number:1]
    (number, number) < (number, number)
    f"{[number, number]}"
    "%r%r" % (number, number)
def change(): Zone.hours = Number.held = 1
works = {"a": look, "b": change}
"""


def test_what_an_operator_calls_more_than_once_is_no_loop(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(CALLED_OFTEN + STARTS)
    with script((str(path),)) as program:
        assert explore(program, Options(executions=500, minimise=0)).holds
