"""What an execution tells: accesses that turn out to race do not disturb the numbers of steps."""

from __future__ import annotations

from pathlib import Path

from possibly.control.execution import SLOT
from possibly.control.forking.zygote import script
from possibly.control.runtime.kernel import CLOCK
from possibly.control.schedulers.course import Course

SOURCE = """
import threading, time
got, ready = [0], threading.Event()
def work():
    got[0] += 1
    ready.wait(5)
def late():
    time.sleep(3)
    ready.set()
threads = [threading.Thread(target=each) for each in (work, work, late)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_where_time_orders_steps_each_has_its_number(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    with script((str(path),)) as program:
        program.visible.add(CLOCK)
        execution = program.execute(Course(()))
        assert program.visible > {CLOCK}, "a race was found"
    numbers: dict[str, list[int]] = {}
    for step in execution.steps:
        own = [access.thing for access in step.operation.footprint if access.writes]
        numbers.setdefault(step.task, []).extend(
            int(thing.rpartition("#")[2]) for thing in own if thing.startswith(f"{SLOT}{step.task}#")
        )
    counts = {task: sum(step.task == task for step in execution.steps) for task in numbers}
    assert numbers == {task: list(range(count)) for task, count in counts.items()}
