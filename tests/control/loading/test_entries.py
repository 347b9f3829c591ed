"""Code that runs beside other tasks is watched, whoever wrote it; what looks at values runs nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType

import pytest

from possibly.control.forking.zygote import script
from possibly.control.loading import entries
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

TWO = """
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for each in threads: each.start()
for each in threads: each.join()
"""


def explored(tmp_path: Path, source: str) -> Exploration:
    path = tmp_path / "program.py"
    path.write_text(f"import threading\n{source}{TWO}")
    with script((str(path),)) as program:
        return explore(program, Options(executions=300, minimise=0))


WRONG = {
    "one task is in the package, another changes what it goes over": """
import json
shared = {1: [1], 2: [2]}
def work(number):
    if number: json.dumps(shared, indent=1)
    else: shared[3] = [3]
""",
    "a copy of what another task changes": """
import copy
shared = {1: [1], 2: [2]}
def work(number):
    if number: copy.deepcopy(shared)
    else: shared[3] = [3]
""",
    "the state of a module": """
import warnings
before = list(warnings.filters)
def work(number):
    with warnings.catch_warnings(): warnings.simplefilter("ignore")
import atexit
def check(): assert warnings.filters == before
threading._register_atexit(check)
""",
    "an object of a package": """
from collections import UserDict
shared = UserDict(n=0)
def work(number):
    shared["n"] = shared["n"] + 1
    if number in shared: pass
    shared[number] = shared["n"]
    assert sum(key in (0, 1) for key in shared) < 2 or shared["n"] == 2
""",
    # numbers that `random` makes of bits are made by code like any other
    "a choice from what becomes shorter": """
import random
tickets = ["a"]
def work(number):
    if number: tickets.pop()
    elif tickets: random.choice(tickets)
""",
    "half of a pair of numbers that two take": """
import random
source, drawn = random.Random(1), []
source.gauss(0, 1)
def work(number):
    drawn.append(source.gauss(0, 1))
    assert len(drawn) == len(set(drawn))
""",
}
RIGHT = {
    "a lock that a module made before the program began": """
import tempfile
found = []
def work(number): next(tempfile._get_candidate_names())
""",
    "each has its own": """
import json, uuid, textwrap
found = [None, None]
def work(number): found[number] = textwrap.fill(json.dumps({"n": number, "id": str(uuid.uuid4())}, indent=1))
""",
    "two reads of one instruction are no livelock": """
import string
kept = [["a"], ["a"]]
class Named:
    names = ["a", "b"]
one, other = Named(), Named()
def work(number):
    for name in set(one.names) & set(other.names) & set(kept[number]): kept[number] = [*kept[number], name]
""",
    "a function in C that calls back is no livelock": """
import functools
done = threading.Event()
def looks(total, _): return done.is_set()
def work(number): functools.reduce(looks, [None] * 4, False)
""",
    "a generator of the library that keeps count is no livelock": """
import contextlib
done = threading.Event()
def looks(): return [done.is_set(), done.is_set(), done.is_set()]
@contextlib.contextmanager
def often():
    yield [looks() for _ in range(5)]
def work(number):
    with often(): pass
""",
}


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_a_failure_in_the_middle_of_a_package_is_found(tmp_path: Path, source: str) -> None:
    assert explored(tmp_path, source).holds is False


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_shares_nothing_holds(tmp_path: Path, source: str) -> None:
    found = explored(tmp_path, source)
    assert found.holds is True, found.open or found.failure


PROXY = """
class Strange:
    __slots__ = ("seen", "inner")
    def __init__(self): self.seen, self.inner = 0, None
    def __getattr__(self, name): return self.missing[name]
    def __iter__(self): raise AssertionError("nobody asked")
    __class__ = property(lambda self: int)
shared = Strange()
def work(number): shared.inner = number
"""


def test_to_look_at_a_value_runs_no_code_of_the_program(tmp_path: Path) -> None:
    found = explored(tmp_path, PROXY)
    assert found.holds is True, found.open or found.failure


def test_an_exception_in_the_middle_of_a_call_ends_a_task_of_a_used_process(tmp_path: Path) -> None:
    source = """
shared = {1: 1, 2: 2}
def goes(items):
    for key in items: str(key)
def work(number):
    if number: goes(shared)
    else: shared[3] = 3
"""
    found = explored(tmp_path, source)
    assert found.failure is not None and "changed size" in found.failure.message


def test_without_the_kernel_the_interpreter_tells_of_calls() -> None:
    told: list[CodeType] = []
    plain = entries.entered

    def hear(code: CodeType) -> bool:
        told.append(code)
        return True

    entries.entered = hear
    try:
        sys.setprofile(entries._profiled)
        _called()
    finally:
        sys.setprofile(None)
        entries.entered = plain
        entries._dull.clear()
    assert _called.__code__ in told


def _called() -> None:
    """To be heard of."""


FINDER = """
class Finder:
    asked = []
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        cls.asked.append(name)
"""


def test_whoever_is_asked_for_modules_is_no_package_in_which_tasks_meet(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "finding.py").write_text(FINDER)
    source = f"""
import sys
sys.path.insert(0, {str(folder)!r})
import finding
sys.meta_path.insert(0, finding.Finder)
def work(number):
    if number: import colorsys
    else: import sched
"""
    found = explored(tmp_path, source)
    assert found.holds is True
    assert not any("finding" in family for family in found.visible)
