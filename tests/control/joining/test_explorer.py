"""The joining explorer: fewer executions than classes, and a hidden race is found across a join."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS
from possibly.control.joining.unseen import unread_lists
from tests.control.joining.judged import results

pytestmark = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
LOCKED = """
import threading
lock = threading.Lock()
n = 0
def work():
    global n
    with lock:
        n += 1
threads = [threading.Thread(target=work) for _ in range(5)]
for t in threads: t.start()
for t in threads: t.join()
print(n)
"""


def test_equal_states_are_executed_once(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOCKED)
    found = results(path, Joining)
    assert found is not None
    assert len(found[0]) == 1 and found[1].is_complete
    assert found[1].executions < 100  # of 120 classes


def test_what_cannot_be_read_is_never_joined(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOCKED.replace("n = 0\n", "n = 0\nimport itertools\nhidden = itertools.count()\n", 1))
    found = results(path, Joining)
    assert found is not None
    assert found[1].unread == found[1].looked > 0 and found[1].graph.joined == 0


LOGGED = """
import threading
lock = threading.Lock(); n = 0; log = []
def work(i):
    global n
    for _ in range(2):
        with lock: n += 1
        log.append(i)
threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
assert n == 6
"""


def test_a_log_that_nobody_reads_does_not_tell_states_apart(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOGGED)
    found = results(path, Joining, unread=unread_lists)
    assert found is not None
    assert found[1].is_complete and found[1].unread == 0
    assert found[1].executions < 90  # of 90 classes, where the log's order counts 3,606


PRIMITIVES = {
    "threading.Lock()": "with it: pass",
    "threading.RLock()": "with it: pass",
    "threading.Condition()": "with it: it.notify_all()",
    "threading.Semaphore(2)": "with it: pass",
    "threading.BoundedSemaphore(2)": "with it: pass",
    "threading.Event()": "it.set()",
    "threading.Barrier(2)": "it.wait()",
    "queue.Queue()": "it.put(1)",
    "queue.LifoQueue()": "it.put(1)",
    "queue.PriorityQueue()": "it.put(1)",
}


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_the_states_of_primitives_are_read(primitive: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        f"import queue, threading\nit = {primitive}\nn = 0\n"
        f"def work():\n    global n\n    {PRIMITIVES[primitive]}\n    n += 1\n"
        "threads = [threading.Thread(target=work) for _ in range(2)]\n"
        "for t in threads: t.start()\nfor t in threads: t.join()\n"
    )
    found = results(path, Joining)
    assert found is not None
    assert found[1].looked and not found[1].unread
