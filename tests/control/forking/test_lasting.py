"""A process that is used again executes as a fresh one does, and whoever leaves something behind is not.

Every execution that a used process tells of is compared with the same schedule in a fresh process, on the
families, on the corrected classic bugs and on generated programs: all that is told has to be the same.
"""

from __future__ import annotations

import os
import signal
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.control.endings.deadlock import stuck
from possibly.control.execution import Execution, Outcome
from possibly.control.forking import lasting, runner
from possibly.control.forking.execution import _nobody
from possibly.control.forking.zygote import ControlledProgram, script
from possibly.control.runtime import batons
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.schedulers.course import Course, Habit
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.control.runtime.generated import program
from tests.control.test_families import FAMILIES
from tests.waiting import PATIENCE

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
BUGS = Path(__file__).parents[3] / "examples" / "bugs"
USED = ("philosophers", "ring-buffer", "double-checked", "if-not-while", "barrier-twice", "peterson")
"""Corrected programs in the language of `repeatable`."""


@pytest.fixture(autouse=True)
def _never_forked_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, processes are used again rather than forked at the second task."""
    monkeypatch.setattr(runner, "WORTH", float("inf"))


def told(controlled: ControlledProgram, seed: int) -> tuple[Execution, bool]:
    """An execution at random, in whatever process, and whether that was a used one."""
    controlled.begin(Course(habit=Habit.RANDOM, seed=seed))
    found = controlled.end()
    return found, controlled._last is not None


def compared(controlled: ControlledProgram, executions: int) -> int:
    """How many executions of used processes were the same in a fresh one."""
    count, visible = 0, -1
    while visible != len(controlled.visible):  # what is shared is found out by then
        visible = len(controlled.visible)
        for seed in range(8):
            controlled.execute(Course(habit=Habit.RANDOM, seed=seed))
    for seed in range(executions):
        found, used = told(controlled, seed)
        fresh = controlled.execute(Course(habit=Habit.RANDOM, seed=seed)) if used else found
        again, _ = told(controlled, seed)  # so that the process does not only execute what was compared
        assert found == fresh == again
        count += used
    return count


def sources() -> Iterator[tuple[str, str]]:
    for name, (text, numbers) in FAMILIES.items():
        yield name, text.format(n=min(numbers))
    for name in USED:
        yield name, (BUGS / name / "fixed.py").read_text()


@pytest.mark.parametrize(("name", "source"), [pytest.param(*each, id=each[0]) for each in sources()])
def test_a_used_process_executes_as_a_fresh_one(name: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(source)
    with script((str(path),)) as controlled:
        assert compared(controlled, 6 * CASES) > 0


@pytest.mark.parametrize("seed", range(6 * CASES))
def test_generated_programs_are_executed_alike(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(Random(seed)))
    with script((str(path),)) as controlled:
        compared(controlled, 5)


def test_without_greenlets_threads_of_the_system_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batons, "have_greenlets", lambda: False)
    path = tmp_path / "program.py"
    path.write_text(FAMILIES["lastzero"][0].format(n=3))
    with script((str(path),)) as controlled:
        assert compared(controlled, 6) > 0


LEFT_BEHIND = {
    "an attribute of a class of a library": (
        "import threading\nT = threading.Thread\nT.mark = getattr(T, 'mark', 0) + 1\nprint(T.mark)\n"
    ),
    "an attribute of a module": "import math\nmath.mark = getattr(math, 'mark', 0) + 1\nprint(math.mark)\n",
    "an attribute of the main thread": (
        "import threading\nm = threading.main_thread()\nm.mark = getattr(m, 'mark', 0) + 1\nprint(m.mark)\n"
    ),
    "the name of the main thread": (
        "import threading\nm = threading.main_thread()\nprint(m.name)\nm.name = m.name + '+'\n"
    ),
    "an argument": "import sys\nsys.argv.append('more')\nprint(len(sys.argv))\n",
    "an environment variable": (
        "import os\nos.environ['MARK'] = os.environ.get('MARK', '') + 'x'\nprint(os.environ['MARK'])\n"
    ),
    "a variable of a function of a library": (
        "import threading\nt = threading.Thread.start.__globals__\nt['mark'] = t.get('mark', 0) + 1\n"
        "print(t['mark'])\n"
    ),
    "a module of its own": "import mine\nmine.count += 1\nprint(mine.count)\n",
    "threads are counted": (
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\nprint(t.name)\n"
    ),
    "a generator that is not at its end": (
        "def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\n"
        "held = g()\nnext(held)\nloop = [held]\nloop.append(loop)\nprint('end')\n"
    ),
    "a daemon that goes on": (
        "import threading\ne = threading.Event()\n"
        "threading.Thread(target=e.wait, daemon=True).start()\nprint('end')\n"
    ),
}


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_nothing_is_left_for_the_next_execution(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("count = 0\n")
    path = tmp_path / "program.py"
    path.write_text(LEFT_BEHIND[name])
    with script((str(path),)) as controlled:
        first = controlled.execute(Course())
        assert first.outcome is Outcome.FINISHED
        for _ in range(4):
            controlled.begin(Course())
            found = controlled.end()
            assert (found.output, found.steps) == (first.output, first.steps)


def test_a_failure_is_told_by_a_fresh_process(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    text, _ = FAMILIES["unlocked"]
    path.write_text(f"{text.format(n=3)}assert counter != 2\n")
    with script((str(path),)) as controlled:
        found = explore(controlled, Options(minimise=0))
        assert found.failure is not None
        assert controlled._last is None
        assert controlled.execute(Course(found.failure.schedule)) == found.failure.execution


def test_a_used_process_that_is_gone_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(FAMILIES["locked"][0].format(n=3))
    with script((str(path),)) as controlled:
        expected = controlled.execute(Course())
        for _ in range(3):
            assert told(controlled, 1)[0].outcome is Outcome.FINISHED
        children = Path(f"/proc/{controlled.zygote().process}/task/{controlled.zygote().process}/children")  # type: ignore[attr-defined] # a Zygote
        runner = int(children.read_text().split()[0])
        os.kill(runner, signal.SIGKILL)
        controlled.begin(Course())
        assert controlled.end() == expected


def test_no_process_stays_behind(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("print(1)\n")
    left: list[int] = []
    for _ in range(12):  # the zygote is gone at whatever moment of its next fork
        with script((str(path),)) as controlled:
            controlled.execute(Course())
            zygote = controlled.zygote().process  # type: ignore[attr-defined] # a Zygote
            left += map(int, Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split())
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and any(map(_is_alive, left)):
        os.sched_yield()
    assert not any(map(_is_alive, left))


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_program_that_ends_its_process_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import os\nos._exit(0)\n")
    begun = time.monotonic()
    with script((str(path),)) as controlled:
        found = controlled.execute(Course())
    assert found.outcome is Outcome.CUT_OFF
    assert time.monotonic() - begun < controlled.zygote().patience / 2  # type: ignore[attr-defined] # a Zygote
    controlled.close()


def test_if_fresh_processes_do_not_agree_the_search_uses_these_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renew = lasting.Life.renew

    def forgets_to_count_anew(self: lasting.Life) -> None:
        self._threads += 1
        renew(self)

    monkeypatch.setattr(lasting.Life, "renew", forgets_to_count_anew)
    path = tmp_path / "program.py"
    path.write_text(FAMILIES["locked"][0].format(n=3))
    with script((str(path),)) as controlled:
        found = explore(controlled)
        assert (found.complete, found.restarts, found.executions) == (True, 1, 12)
        assert found.apart.startswith("a fresh process differs in ")
        assert not told(controlled, 1)[1]


JOURNAL = """
import json, threading
from pathlib import Path

class Journal:
    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
    def write(self, value):
        with self.lock, open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps({"value": value}) + "\\n")

journal = Journal(Path("journal.jsonl"))
journal.write(0)
threads = [threading.Thread(target=journal.write, args=(n,)) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(open("journal.jsonl").readlines()) == 4
"""


def test_who_keeps_a_journal_is_executed_in_used_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taking the file down uses packages that are watched here, and its class is asked for each time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "MANY", 0)
    (tmp_path / "program.py").write_text(JOURNAL)
    with script((str(tmp_path / "program.py"),)) as controlled:
        assert compared(controlled, 6) > 0
        found = explore(controlled, Options(executions=60, minimise=0))
    assert (found.failure, found.apart, found.restarts) == (None, "", 0)
    assert os.listdir() == ["program.py"]


def test_classes_of_an_execution_are_not_kept() -> None:
    mine = type("Mine", (), {"__module__": "__main__"})
    known: list[Any] = [mine, (mine, "name")]
    for table in lasting._OF_CLASSES:
        table.update(dict.fromkeys(known, False))
    size = [len(table) for table in lasting._OF_CLASSES]
    lasting._forget_classes({"__main__"})
    assert [len(table) for table in lasting._OF_CLASSES] == [each - 2 for each in size]


def test_what_tells_of_an_execution_ends_without_a_collector() -> None:
    class Thing:
        """May be referred to weakly."""

    kernel = Kernel(Course(), _nobody, stuck)
    memory = Memory(frozenset())
    kernel.show, kernel.in_calls = memory.show, memory.in_calls
    thing = Thing()
    memory.things.made(thing, kernel, "here")
    memory.keep_namespace(vars(thing), thing)
    ended = weakref.finalize(thing, list)
    lasting._let_go(kernel, memory)
    assert not (memory.things.known(thing) or memory.namespaces or kernel.all)
    del thing
    assert not ended.alive
