"""The pairs of steps whose order makes a program fail: turned round, it does not."""

from __future__ import annotations

from pathlib import Path

from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course
from possibly.control.why.atomic import smallest_atomic
from possibly.control.why.nearby import Nearby, passes
from possibly.control.why.pairs import deciding, turned_round
from possibly.control.why.returning import point_of_no_return
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

LOST = """import threading
n = 0
def work():
    global n
    n += 1
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert n == 2
"""


def test_a_lost_update_is_decided_by_who_reads_before_the_other_writes(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOST)
    with script((str(path),)) as program:
        found = explore(program, Options(explain=True))
        assert found.failure is not None and found.failure.cause is not None
        execution, cause = found.failure.execution, found.failure.cause
        near = Nearby(program, execution)
        assert cause.pairs
        for pair in cause.pairs:
            assert pair.first.task != pair.then.task
            other = turned_round(near, pair.first, pair.then)
            assert other is not None and passes(other)
        kinds = {moment.operation.kind for pair in cause.pairs for moment in (pair.first, pair.then)}
        assert kinds == {"read", "write"}


def test_a_lost_update_needs_its_read_and_its_write_to_be_atomic(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOST)
    with script((str(path),)) as program:
        failure = explore(program, Options(explain=True)).failure
        assert failure is not None and failure.cause is not None and failure.cause.atomic is not None
        atomic, no_return = failure.cause.atomic, failure.cause.no_return
        assert (atomic.first.operation.kind, atomic.last.operation.kind) == ("read", "write")
        assert no_return is not None and no_return.is_exact
        assert failure.execution.steps[no_return.step - 1].operation.kind == "read"
        assert failure.cause.passing is not None and passes(failure.cause.passing)


def test_what_fails_in_every_order_is_decided_by_none(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOST.replace("n == 2", "n == 3"))
    with script((str(path),)) as program:
        found = explore(program, Options(minimise=0))
        assert found.failure is not None
        near = Nearby(program, found.failure.execution)
        assert list(deciding(near)) == []
        assert smallest_atomic(near) is None
        assert point_of_no_return(near).step == 0


SOLD = """import threading
class Item: pass
item, refused = Item(), []
item.left = 3
def buy():
    if item.left < 2:
        refused.append(1)
        return
    item.left -= 2
threads = [threading.Thread(target=buy) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert item.left == 1 and len(refused) == 1, (item.left, refused)
"""
BOTH = ("0", "0", "0.1", "0.1", "0.2", "0.1", "0.2", "0.2")
"""The second tests between what the first reads and writes, who writes between its test and its own write."""


def test_two_who_came_between_each_other_need_one_critical_section(tmp_path: Path) -> None:
    """With the moments of one of them in a row, the other still does the wrong thing."""
    path = tmp_path / "program.py"
    path.write_text(SOLD)
    with script((str(path),)) as program:
        explore(program, Options(minimise=0))
        execution = program.execute(Course(BOTH))
        atomic = smallest_atomic(Nearby(program, execution))
    assert execution.failure is not None and "(-1, [])" in execution.failure["message"]
    assert atomic is not None
    assert (atomic.first.operation.at, atomic.last.operation.at) == (f"{path}:6", f"{path}:9")
