"""What tasks share is recorded without a question, unless it is touched all the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from possibly import check
from possibly.errors import FormulaError
from possibly.recorder.watch import USUAL
from possibly.session.record import Request, record_program
from possibly.trace.model import Trace
from possibly.trace.recorded import recorded_of
from tests.recorder.test_holding import PROGRAM as BY_ANY_NAME
from tests.recorder.test_holding import TOLD, UNSEEN

PROGRAM = """
import threading

class Box:
    def __init__(self):
        self.n, self.items, self.limit = 0, [], 3
        self.lock = threading.Lock()

    def put(self, item):
        with self.lock:
            self.n += 1
            self.items.append(item)

box, total, hot, big = Box(), 0, 0, []
lock = threading.Lock()

def work():
    global total, hot
    Box().put(threading.current_thread().name)
    for number in range(2):
        box.put(number)
        with lock:
            total = total + box.limit  #: added
    with lock:
        for number in range(10_001):
            hot = number
            if number < 150:
                big.extend(range(100))

def main():
    count = 0
    def counted():
        nonlocal count
        with lock:
            count += 1
        work()
    threads = [threading.Thread(target=counted, name=name) for name in "ab"]
    for thread in threads: thread.start()
    for thread in threads: thread.join()

main()
print(box.n, total, hot, len(big), vars(box)["n"], sorted(globals())[-1])
"""


def recorded(folder: Path, source: str) -> Trace:
    program = folder / "program.py"
    program.write_text(source)
    done = record_program(Request((str(program),), str(folder / "run.jsonl"), record=USUAL, shared=True))
    assert done.status == 0
    return done.trace


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return recorded(tmp_path_factory.mktemp("unasked"), PROGRAM)


def written(trace: Trace) -> dict[str, list[Any]]:
    """Of each variable the values that the lines of a trace give it."""
    found: dict[str, list[Any]] = {}
    for number in range(len(trace)):
        for name, value in trace.event(number).write.items():
            found.setdefault(name, []).append(value)
    return found


def test_what_is_always_under_a_lock_is_told(found: Trace) -> None:
    told = written(found)
    assert told["box.n"] == [0, 1, 2, 3, 4] and told["total"] == [0, 3, 6, 9, 12]
    assert [len(value) for value in told["box.items"]] == [0, 1, 2, 3, 4]
    assert told["count"][-1] == 2
    assert check(found, ctl="AG(box.n <= 4 & len(box.items) <= box.n & total <= 12)").holds
    assert check(found, ctl="AG(box.n <= 3)").holds is False


def test_what_one_task_touches_or_all_do_all_the_time_is_refused(found: Trace) -> None:
    assert set(written(found)) == {"box.n", "box.items", "total", "count"}
    for name in ("hot", "big", "box.limit", "nothing"):
        with pytest.raises(FormulaError, match=f"run --watch {name} "):
            check(found, ctl=f"AG({name} != 1)")


def test_labels_stay(found: Trace) -> None:
    labels = [found.text(found.label, event) for event in range(len(found))]
    assert labels.count("added") == 4


def test_values_are_right_or_known_as_not_told(tmp_path: Path) -> None:
    trace = recorded(tmp_path, BY_ANY_NAME)
    about = recorded_of(trace.header)
    told = written(trace)
    assert about is not None and about.unseen >= UNSEEN & set(told)
    assert {name: values for name, values in told.items() if name not in about.unseen | about.for_order} == {
        name: values for name, values in TOLD.items() if name in told and name not in about.unseen
    }
    assert len(set(told) & set(TOLD)) >= 12
