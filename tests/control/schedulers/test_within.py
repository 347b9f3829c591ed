"""What counts: orders of the modules that are named are all explored, those of frameworks beneath are not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.schedulers.within import Within, assumption
from possibly.session.exploring.exploration import Options
from possibly.views.testing.options import made
from tests.control.runtime.running import explored

FRAMEWORK = """\
import queue, threading
class Crew:
    def __init__(self, size):
        self._jobs, self._lock, self.done = queue.Queue(), threading.Lock(), 0
        self._threads = [threading.Thread(target=self._work) for _ in range(size)]
        for each in self._threads: each.start()
    def _work(self):
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock: self.done += 1
    def submit(self, job): self._jobs.put(job)
    def close(self):
        for _ in self._threads: self._jobs.put(None)
        for each in self._threads: each.join()
"""
PROGRAM = """\
import threading
from crewwork import Crew
count, lock, ran = 0, threading.Lock(), []
def add():
    global count
    {how}
crew = Crew(2)
for _ in range(2): crew.submit(add)
crew.close()
assert count == 2
"""
LOCKED = PROGRAM.format(how="with lock: count += 1")
UNLOCKED = PROGRAM.format(how="count += 1")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages with that one in it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "crewwork.py").write_text(FRAMEWORK)
    monkeypatch.setattr(sys, "path", [sys.path[0], str(folder), *sys.path[1:]])
    yield tmp_path
    sys.modules.pop("crewwork", None)


def test_fewer_orders_count_and_that_is_said(installed: Path) -> None:
    source = LOCKED.replace("Crew(2)", "Crew(3)")
    found = explored(installed, source, within=frozenset({"shop"}))
    assert found.complete, found.open
    whole = explored(installed, source, Options(executions=2 * found.executions))
    assert not whole.complete and not any("--within" in each for each in whole.assumed)
    assert assumption({"shop"}) in found.assumed
    assert not any("--trust" in each for each in found.assumed)


def test_what_is_wrong_in_what_is_named_is_found(installed: Path) -> None:
    found = explored(installed, UNLOCKED, within=frozenset({"shop"}))
    assert found.failure is not None and found.failure.kind == "assertion"


ORDERED_BENEATH = """\
from crewwork import Crew
ready, seen = False, []
def first():
    global ready
    ready = True
def second(): seen.append(ready)
crew = Crew(2)
for job in (first, lambda: None, second): crew.submit(job)
crew.close()
assert seen == [True]
"""


def test_what_only_another_order_beneath_allows_is_not_covered_and_that_is_said(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By turns one worker takes all jobs: that two of them can overtake each other is not seen."""
    monkeypatch.setattr("possibly.control.schedulers.within.DRAWN", 0)
    found = explored(installed, ORDERED_BENEATH, within=frozenset({"shop"}))
    assert found.holds and found.assumed[-1] == (
        "only orders of what shop does count: "
        "all beneath goes on by turns, or as up to 24 executions drew it (--within)"
    )
    assert explored(installed, ORDERED_BENEATH).holds is False


def test_a_module_that_is_named_counts_beside_the_program(installed: Path) -> None:
    (installed / "shop.py").write_text("count = 0\ndef add():\n    global count\n    count += 1\n")
    source = PROGRAM.format(how="shop.add()").replace("import threading", "import shop, threading")
    source = source.replace("assert count", "assert shop.count")
    assert explored(installed, source, within=frozenset({"shop"})).holds is False


def test_orders_of_a_framework_alone_do_not_count(installed: Path) -> None:
    """The lock of its own is taken away: that its count is wrong is nothing that was asked for."""
    path = installed / "site-packages" / "crewwork.py"
    path.write_text(FRAMEWORK.replace("with self._lock: self.done += 1", "self.done += 1"))
    source = LOCKED.replace("assert count == 2", "assert crew.done == 2")
    assert explored(installed, source).holds is False
    assert explored(installed, source, within=frozenset({"shop"})).holds


@pytest.mark.parametrize(
    ("kind", "at", "turn", "counts"),
    [
        ("read", "shop.py:3", (), True),
        ("read", "src/shop/api.py:3", (), True),
        ("read", "workshop.py:3", (), False),
        ("read", "main.py:3", (), True),
        ("acquire", "httpx/_client.py:3", (), False),
        ("resume", "httpx/_client.py:3", ("shop/api.py:9",), True),
        ("resume", "httpx/_client.py:3", ("anyio/abc.py:9",), False),
        ("arrive", "", (), True),
        ("get", "", (), False),
    ],
)
def test_which_steps_count(kind: str, at: str, turn: tuple[str, ...], counts: bool) -> None:
    within = Within({"shop"}, "main.py")
    assert within.counts(kind, at, {"turn": [{"at": each} for each in turn]}) is counts


def test_tests_may_say_what_counts() -> None:
    assert made({"within": "shop,bank"}).within == ("shop", "bank")
