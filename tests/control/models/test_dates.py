"""Programs that import `datetime`: the clock is the virtual one, the classes are what they always were."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from possibly.control.models import dates
from possibly.probes.patching import Patches
from tests.control.runtime.running import explored, once

LOST_UPDATE = """\
import threading
n = 0
def f():
    global n
    n += 1
threads = [threading.Thread(target=f) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert n == 2
"""
SAME = """\
import datetime, pickle, time
from datetime import date, datetime as moment
class Mine(moment): pass
class Day(date): pass
time.sleep(86_400)
now = [moment.now(), moment.utcnow(), moment.today(), moment.now(datetime.UTC), Mine.now(), Mine.today()]
print(all(abs(each.timestamp() - time.time()) < 1 for each in (now[0], *now[2:])))
print(abs((now[1] - now[3].replace(tzinfo=None)).total_seconds()) < 1)
print([date.today() == now[0].date(), Day.today() == date.today(), moment.now().date() == date.today()])
print([type(each).__name__ for each in now], type(Day.today()).__name__)
print(issubclass(moment, date), isinstance(now[0], date), type(moment) is type, type(date) is type)
print(pickle.loads(pickle.dumps(now)) == now, moment.__mro__ == (moment, date, object))
"""


@pytest.mark.parametrize("module", ["datetime", "sqlite3", "email.utils", "http.client", "asyncio, logging"])
def test_a_program_that_imports_it_gets_its_second_execution(tmp_path: Path, module: str) -> None:
    found = explored(tmp_path, f"import {module}\n{LOST_UPDATE}")
    assert found.holds is False
    assert found.executions > 1


def test_what_is_now_comes_from_the_virtual_clock_and_the_classes_are_the_same(tmp_path: Path) -> None:
    shown = once(tmp_path, SAME).output.decode().splitlines()
    assert shown == [
        "True",
        "True",
        "[True, True, True]",
        "['datetime', 'datetime', 'datetime', 'datetime', 'Mine', 'Mine'] Day",
        "True True True True",
        "True True",
    ]


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_without_control_and_after_it_the_clock_is_the_real_one() -> None:
    plain = datetime.datetime.__dict__["now"]
    patches = Patches()
    dates.install(patches)
    try:
        apart = datetime.datetime.now(datetime.UTC) - datetime.datetime.now().astimezone()
        assert abs(apart.total_seconds()) < 60
        assert datetime.datetime.utcnow().tzinfo is None
    finally:
        patches.undo()
    assert datetime.datetime.__dict__["now"] is plain
