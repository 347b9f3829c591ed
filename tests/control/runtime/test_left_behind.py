"""What an execution leaves behind is never found by another one; what it may use costs no process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.forking import repeatable, runner, zygote
from possibly.control.forking.zygote import ControlledProgram, script
from possibly.control.schedulers.course import Course, Habit
from possibly.session.exploring.explore import explore

THREADS = """
import threading
lock = threading.Lock()
n = 0
def work():
    global n
    with lock: n += 1
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
LEAVING = {
    "a counter in a library": "import json\nassert not hasattr(json, 'a')\njson.a = 1",
    "the environment": "import os\nassert 'a_b' not in os.environ\nos.environ['a_b'] = 'c'",
    "a codec": """
import codecs
try: codecs.lookup('a_b')
except LookupError: pass
else: raise AssertionError
codecs.register(lambda name: codecs.lookup('utf-8') if name == 'a_b' else None)
""",
    "the path of modules": "import sys\nassert 'a_b' not in sys.path\nsys.path.append('a_b')",
    "an exit hook": "import atexit\nassert atexit._ncallbacks() == {hooks}\natexit.register(print)",
    "a method": """
import queue
assert queue.Queue.empty.__name__ != 'other'
def other(self): return True
queue.Queue.empty = other
""",
    "a type by an attribute": "import enum\nassert not hasattr(enum.Enum, 'a_b')\nenum.Enum.a_b = 1",
    "a level of a logger": """
import logging
assert logging.getLogger('a.b').level == 0
logging.getLogger('a.b').setLevel(10)
assert logging.getLogger().level == 30
logging.getLogger().setLevel(10)
""",
    "a handler": """
import logging
logger = logging.getLogger('a.b')
assert not logger.handlers
logger.addHandler(logging.StreamHandler())
""",
    "a file": "import os\nassert not os.path.exists('a.txt')\nopen('a.txt', 'w').close()",
    "a file that stays open": "f = open('a.txt', 'a')\nassert not f.tell()\nf.write('a')",
    "a file that grows": """
with open('a.txt', 'a') as f:
    assert not f.tell()
    f.write('a')
""",
    "a type that is interned": """
import ctypes
number = ctypes.POINTER(ctypes.c_int)
assert not hasattr(number, 'a_b')
number.a_b = 1
""",
    "a global of its own module": "assert 'left' not in globals()\nleft = 1",
    "a loop": """
import asyncio
async def f(): return asyncio.current_task().get_name()
assert asyncio.run(f()) == 'Task-1'
""",
}
ORDINARY = {
    "a file": "with open('a.txt', 'w') as f: f.write('a')",
    "a journal": """
import json, os
for n in range(2):
    with open('a.txt', 'a') as f: f.write(json.dumps(n))
assert os.path.getsize('a.txt') == 2
os.remove('a.txt')
os.mkdir('b')
""",
    "a folder for a while": """
import os, tempfile
folder = tempfile.mkdtemp()
with open(os.path.join(folder, 'a'), 'w') as f: f.write(folder)
""",
    "imports": "import os, re, json, logging, uuid, dataclasses, enum, heapq, sqlite3",
    "a set": "print(len({1, 2, 3} | set([4])))",
    "a log": "import logging\nlogging.getLogger(__name__).warning('a')",
    "a loop": "import asyncio\nasync def f(): await asyncio.sleep(0)\nasyncio.run(f())",
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "program.py"


@pytest.mark.parametrize("name", LEAVING)
def test_an_execution_finds_nothing_of_another(name: str, program: Path) -> None:
    import atexit

    program.write_text(LEAVING[name].replace("{hooks}", str(atexit._ncallbacks())) + THREADS)
    with script((str(program),)) as controlled:
        found = explore(controlled)
    assert found.failure is None, found.failure
    assert found.executions >= 6


def reused(controlled: ControlledProgram) -> bool:
    """Whether a third execution shares its process with the second, and is the same in one of its own."""
    for seed in range(3):
        controlled.begin(Course(habit=Habit.RANDOM, seed=seed))
        controlled.end()
    assert controlled.agrees()
    return controlled.is_reused


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_surroundings_cost_no_process(name: str, program: Path) -> None:
    program.write_text(ORDINARY[name] + THREADS)
    with script((str(program),)) as controlled:
        controlled.execute(Course())
        assert reused(controlled)


def test_by_a_variable_each_execution_has_a_process(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygote, "FRESH", True)
    program.write_text(THREADS)
    with script((str(program),)) as controlled:
        assert not reused(controlled)


def test_a_difference_that_nobody_thought_of_ends_it(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a state of a library is overlooked, what it gives next would come from the execution before."""
    monkeypatch.setattr("threading.left", iter(range(10**6)), raising=False)
    monkeypatch.setattr(repeatable, "_may_use", lambda module, name: True)
    monkeypatch.setattr(runner, "WORTH", float("inf"))  # else it is forked in the middle on a slow machine
    program.write_text("import threading\nprint(next(threading.left))\n" + THREADS)
    with script((str(program),)) as controlled:
        found = explore(controlled)
        assert controlled.distrusted
    assert found.restarts and found.apart
    assert found.complete
