"""The pairs of steps whose order makes a program fail: turned round, it does not."""

from __future__ import annotations

from pathlib import Path

from possibly.control.causality import Causality
from possibly.control.deciding import deciding, turned_round
from possibly.control.minimise import fails_alike
from possibly.control.runtime.zygote import script
from possibly.control.schedulers.course import Course
from possibly.session.explore import Options, explore

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
        found = explore(program)
        assert found.failure is not None
        execution, pairs = found.failure.execution, found.failure.decides
        order = Causality(execution.steps)
        for first, then in pairs:
            assert execution.steps[first].task != execution.steps[then].task
            other = program.execute(Course(turned_round(order, first, then)))
            assert not fails_alike(execution)(other)
        assert {execution.steps[number].operation.kind for pair in pairs for number in pair} == {
            "read",
            "write",
        }


def test_what_fails_in_every_order_is_decided_by_none(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOST.replace("n == 2", "n == 3"))
    with script((str(path),)) as program:
        found = explore(program, Options(minimise=0))
        assert found.failure is not None
        assert list(deciding(program, found.failure.execution)) == []
