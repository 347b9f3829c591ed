"""Who comes first to an event is a choice only where events are cleared; and nobody misses a daemon's end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

ONCE = """\
import threading
event, done = threading.Event(), []
def wait():
    {wait}
    done.append(1)
tasks = [threading.Thread(target=wait) for _ in range(2)]
for each in tasks: each.start()
event.set()
{then}
for each in tasks: each.join()
assert len(done) == 2
"""


def test_an_event_that_is_set_once_gives_one_order_of_its_waiters_and_no_more(tmp_path: Path) -> None:
    program = ONCE.format(wait="event.wait()", then="").replace("    done.append(1)\n", "")
    found = explored(tmp_path, program.replace("assert len(done) == 2\n", ""))
    assert found.complete, found.open
    assert found.executions == 1


@pytest.mark.parametrize(
    "wait", ["event.wait()", "assert event.wait(5) or True", "while not event.wait(): pass"]
)
def test_who_comes_after_an_event_was_cleared_waits_for_ever(wait: str, tmp_path: Path) -> None:
    found = explored(tmp_path, ONCE.format(wait=wait, then="event.clear()"))
    if "5" in wait:
        assert found.complete
        assert found.holds is True
    else:
        assert found.holds is False
        assert found.failure is not None
        assert found.failure.execution.outcome.value == "deadlock"


def test_who_was_woken_goes_on_though_the_event_is_cleared(tmp_path: Path) -> None:
    program = """\
import threading
event, asked = threading.Event(), threading.Lock()
asked.acquire()
def wait():
    asked.release()
    event.wait()
task = threading.Thread(target=wait)
task.start()
asked.acquire()
event.set(); event.clear(); event.set()
task.join()
"""
    found = explored(tmp_path, program)
    assert found.complete, found.open
    assert found.holds is True


DAEMONS = """\
import atexit, threading
seen = []
def work(): {work}
tasks = [threading.Thread(target=work, daemon=True) for _ in range(3)]
{before}
for each in tasks: each.start()
"""


def test_whether_daemons_with_nothing_left_to_do_end_before_the_program_is_no_choice(tmp_path: Path) -> None:
    found = explored(tmp_path, DAEMONS.format(work="pass", before=""))
    assert found.complete, found.open
    assert found.executions == 1


@pytest.mark.parametrize("count", [0, 1, 3])
def test_last_words_see_how_many_daemons_are_left(count: int, tmp_path: Path) -> None:
    look = f"atexit.register(lambda: print(1 / (sum(each.is_alive() for each in tasks) - {count})))"
    found = explored(tmp_path, DAEMONS.format(work="pass", before=look))
    assert found.holds is False
