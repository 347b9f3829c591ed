"""Executions that are forked from where a program gets its second task are those that begin at the beginning.

What is forked there is compared with the same schedule in a process of its own; a program whose beginning
shares anything with the system is never forked there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random

import pytest

from possibly.control.execution import Outcome
from possibly.control.forking import runner
from possibly.control.forking.zygote import ControlledProgram, script
from possibly.control.schedulers.course import Course, Habit
from possibly.control.schedulers.dpor import Dpor
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.control.runtime.generated import program

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
TWO = """
import threading
{before}
found = []

def work(number):
    {work}
    found.append(number)

threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WORTH", -1.0)


def written(tmp_path: Path, before: str, work: str = "pass") -> str:
    path = tmp_path / "program.py"
    path.write_text(TWO.format(before=before, work=work))
    return str(path)


def warmed_up(controlled: ControlledProgram) -> None:
    """What is shared, and what is imported, is known."""
    visible = -1
    while visible != len(controlled.visible) or controlled.repeat or controlled._stale:
        visible = len(controlled.visible)
        for course in (Course(), *(Course(habit=Habit.RANDOM, seed=seed) for seed in range(4))):
            controlled.execute(course)
    controlled.close()  # else a process that was used would go on


def branched(controlled: ControlledProgram, executions: int) -> int:
    """How many of so many executions began in the middle; each is the same from the beginning."""
    found = []
    for seed in range(executions):
        controlled.begin(Course(habit=Habit.RANDOM, seed=seed))
        found.append((seed, controlled.end(), controlled.extra.get("branched")))
    for seed, execution, is_branched in found:
        assert not is_branched or controlled.execute(Course(habit=Habit.RANDOM, seed=seed)) == execution
    return sum(bool(is_branched) for _, _, is_branched in found)


@pytest.mark.parametrize("seed", range(4 * CASES))
def test_a_branch_executes_as_a_process_from_the_beginning(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(Random(seed)))
    with script((str(path),)) as controlled:
        warmed_up(controlled)
        branched(controlled, 5)


KEPT = {
    "a generator": ("numbers = iter(range(9)); next(numbers)", "found.append(next(numbers))"),
    "random numbers": ("import random; random.random()", "found.append(random.random())"),
    "a class that counts": ("class C: made = 0\nC.made += 3", "C.made += 1; found.append(C.made)"),
    "the number of the process": ("import os; mine = os.getpid()", "assert os.getpid() == mine"),
    "the same by its name": ("from os import getpid; mine = getpid()", "assert getpid() == mine"),
    "context": (
        "import contextvars; v = contextvars.ContextVar('v'); v.set(1)",
        "found.append(v.get(None)); v.set(number)",
    ),
    "a decimal context": (
        "import decimal; decimal.getcontext().prec = 5",
        "found.append(str(decimal.Decimal(1) / 3))",
    ),
    "an environment": ("import os; os.environ['A'] = '1'", "os.environ['A'] += 'x'"),
    "what each thread has of its own": ("own = threading.local()", "own.n = number; found.append(own.n)"),
    "an exception": (
        "import sys",
        "try: raise ValueError(number)\n    except ValueError: found.append(sys.exc_info()[1].args)",
    ),
    "an open file": ("stream = open(__file__, 'rb', 0); stream.read(5)", "found.append(stream.read(7))"),
    "an open file with a buffer": (
        "stream = open(__file__); stream.readline()",
        "found.append(next(stream))",
    ),
    "a file that is written": (
        "stream = open('made', 'w+', buffering=1); stream.write('one\\n')",
        "stream.write('more\\n'); stream.seek(0); found.append(stream.read())",
    ),
    "a file that was written": (
        "open('made', 'w').write('one')",
        "open('made', 'a').write('more'); found.append(open('made').read())",
    ),
    "a file that goes": (
        "import os; open('made', 'w').write('one')",
        "os.path.exists('made') and os.remove('made'); found.append(os.listdir('.'))",
    ),
    "a folder": (
        "import os; os.mkdir('new')",
        "open('new/made', 'a').write('x'); found.append(os.listdir('new'))",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_was_made_before_is_as_it_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with script((written(tmp_path, *KEPT[name]),)) as controlled:
        warmed_up(controlled)
        assert branched(controlled, 4) > 0
    assert os.listdir() == ["program.py"]


SHARED = {
    "an open file that has no name": "import os; stream = open('made', 'w'); os.remove('made')",
    "a file that is locked": "import fcntl; stream = open('made', 'w'); fcntl.flock(stream, fcntl.LOCK_EX)",
    "memory": "import mmap; memory = mmap.mmap(-1, 8)",
    "a pipe": "import os; ends = os.pipe()",
    "a process": "import subprocess; process = subprocess.Popen(['sleep', '9'])",
    "a timer": "import signal; signal.setitimer(signal.ITIMER_VIRTUAL, 900)",
    "a thread of C": "import faulthandler; faulthandler.dump_traceback_later(900)",
}


@pytest.mark.parametrize("name", SHARED)
def test_who_shares_something_with_the_system_begins_at_the_beginning(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with script((written(tmp_path, SHARED[name]),)) as controlled:
        warmed_up(controlled)
        assert branched(controlled, 3) == 0


def test_who_replaces_an_open_file_leaves_none_to_those_who_come_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = "import os; open('made', 'w').write('one'); stream = open('made')"
    work = "open('other', 'w').write('two'); os.rename('other', 'made'); found.append(stream.read(2))"
    with script((written(tmp_path, before, work),)) as controlled:
        warmed_up(controlled)
        assert branched(controlled, 3) == 0
    assert os.listdir() == ["program.py"]


USED_AGAIN = {
    "nothing is left": ("import json; kept = json.dumps([1])", False),
    "something is left each time": ("import os; os.environ['A'] = '1'", True),
}


@pytest.mark.parametrize("what", USED_AGAIN)
def test_who_is_used_again_is_not_forked_for_little(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is known that processes are not used again: then forks are worth what they cost."""
    before, is_forked = USED_AGAIN[what]
    monkeypatch.setattr(runner, "MANY", 0)
    monkeypatch.setattr(runner, "WORTH", 1e-9)
    monkeypatch.setattr(runner, "AGAIN", 1e12)
    with script((written(tmp_path, before),)) as controlled:
        warmed_up(controlled)
        assert branched(controlled, 2) == 0
        assert bool(branched(controlled, runner.EARLY + 4)) is is_forked
        assert controlled.zygote()._turn.was_used is not is_forked  # type: ignore[attr-defined] # a Zygote


def test_what_fails_is_told_by_a_process_from_the_beginning(tmp_path: Path) -> None:
    path = written(tmp_path, "n = 0", "global n; m = n; n = m + 1; assert n == number or number == 1")
    outcomes = set()
    with script((path,)) as controlled:
        warmed_up(controlled)
        explorer = Dpor()
        controlled.close()
        while (plan := explorer.plan()) is not None:
            controlled.begin(plan)
            found = controlled.end()
            explorer.learn(found)
            outcomes.add((found.outcome, bool(controlled.extra.get("branched"))))
    assert (Outcome.FINISHED, True) in outcomes
    assert (Outcome.FAILED, False) in outcomes and (Outcome.FAILED, True) not in outcomes


def test_a_branch_that_dies_takes_nothing_with_it(tmp_path: Path) -> None:
    path = written(tmp_path, "import os; n = 0", "global n\n    if n == 2: os._exit(3)\n    n = number")
    with script((path,)) as controlled:
        found = explore(controlled, Options(minimise=False, explain=False))
    assert not found.complete
    assert any("ended by itself" in each for each in found.open)


def test_processes_that_an_error_of_ours_ends_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("ours")

    monkeypatch.setattr(runner.Runner, "_branch", fails)
    with script((written(tmp_path, "n = 0", "global n; n = number"),)) as controlled:
        found = explore(controlled, Options())
    assert found.complete and found.broken > 0 and not found.apart


def test_a_search_by_branches_says_what_one_by_processes_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "import os, json; n = 0", "global n; m = n; n = m + 1")
    figures = []
    for worth in (-1.0, 1e9):
        monkeypatch.setattr(runner, "WORTH", worth)
        with script((path,)) as controlled:
            found = explore(controlled, Options())
        figures.append((found.complete, found.executions, found.steps))
    assert figures[0] == figures[1] and figures[0][0]


def test_a_package_sees_the_number_of_the_process_that_has_imported_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages are imported once, before all executions; many look whether they were forked since."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "keeper.py").write_text("import os\nfrom os import getpid\nmine = os.getpid(), getpid()\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    before = "import keeper, os; n = 0"
    work = "global n; n = n + 1; assert keeper.mine == (os.getpid(), keeper.getpid())"
    with script((written(tmp_path, before, work),)) as controlled:
        found = explore(controlled, Options(executions=30, minimise=0))
        assert found.failure is None and found.complete and "keeper" in controlled._modules


def test_who_kills_its_own_process_ends_this_execution_alone(tmp_path: Path) -> None:
    with script((written(tmp_path, "import os", "number == 2 and os.kill(os.getpid(), 9)"),)) as controlled:
        for _ in range(3):
            assert "a signal" in controlled.execute(Course()).uncontrolled[0]
