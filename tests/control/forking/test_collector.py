"""The garbage collector during executions."""

from __future__ import annotations

from pathlib import Path

from tests.control.runtime.running import explored

PROGRAM = """\
import gc, threading
lock, count = threading.Lock(), 0
def collected(phase, info):
    global count
    with lock: count += 1
gc.callbacks.append(collected)
gc.set_threshold(1)
ts = [threading.Thread(target=lambda: [[] for _ in range(20)]) for _ in range(2)]
for t in ts: t.start()
for t in ts: t.join()
gc.callbacks.remove(collected){kept}
"""


def test_it_does_not_run_in_the_middle_of_what_we_do(tmp_path: Path) -> None:
    found = explored(tmp_path, PROGRAM.format(kept=""))
    assert found.failure is None


def test_what_it_would_call_at_any_time_leaves_the_verdict_open(tmp_path: Path) -> None:
    found = explored(tmp_path, PROGRAM.format(kept="; gc.callbacks.append(collected)"))
    assert found.holds is None and found.failure is None
    ((what, reason),) = found.open.items()
    assert what == "collected, which the garbage collector calls at any allocation (gc.callbacks)"
    assert reason.where.endswith(":3") and reason.remedy is not None


def test_what_runs_tests_may_have_it_call_something(tmp_path: Path) -> None:
    from hypothesis.internal.conjecture.junkdrawer import gc_cumulative_time

    gc_cumulative_time()  # from now on it is called whenever something is collected
    assert explored(tmp_path, PROGRAM.format(kept="")).holds is True
