"""Locks of packages are no choice points as long as nobody can tell in which order they are taken.

On generated programs, whose own locks are taken for those of a package, all that is found with hidden locks
is what is found where every lock is a choice point.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from possibly.control.models import locks
from possibly.control.schedulers.dpor import Dpor
from possibly.probes import port
from possibly.session.exploring.exploration import Exploration
from tests.control.joining.judged import results
from tests.control.runtime.generated import program
from tests.control.runtime.running import explored

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


@pytest.mark.parametrize("seed", range(400, 400 + 8 * CASES))
def test_hidden_locks_lose_nothing(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(Random(seed)))
    plain = results(path, Dpor, 120)
    monkeypatch.setattr(port, "is_installed", lambda file: True)
    hidden = results(path, Dpor, 400)
    if plain is not None and hidden is not None:
        assert hidden[0] == plain[0]


PACKAGE = """\
import threading
class Store:
    def __init__(self):
        self.lock, self.other = threading.Lock(), threading.Lock()
        self.ready = threading.Condition(threading.Lock())
        self.n, self.listeners, self.log, self.box, self.has_begun = 0, (), [], None, False
    def add(self):
        with self.lock: self.n += 1
    def get(self):
        with self.lock: return self.n
    def told(self):
        with self.lock: return tuple(self.listeners)
    def append(self, item):
        with self.lock: self.log.append(item)
    def put(self, item):
        with self.lock: self.box = item
    def taken(self):
        with self.lock: return self.box
    def tried(self):
        found = self.lock.acquire(False)
        if found: self.lock.release()
        return found
    def asked(self): return self.lock.locked()
    def one(self):
        with self.lock:
            with self.other: pass
    def two(self):
        with self.other:
            with self.lock: pass
    def begin(self):
        with self.lock:
            self.has_begun = True
            self.own = threading.Thread(target=self.told)
            self.own.start()
    def wait(self):
        with self.ready: self.ready.wait()
    def wake(self):
        with self.ready: self.ready.notify_all()
"""
PROGRAM = """\
import threading
from storepack import Store
store, got = Store(), []
def work(i):
    {work}
threads = [threading.Thread(target=work, args=(i,)) for i in (1, 2)]
for each in threads: each.start()
for each in threads: each.join()
{check}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages with that one in it."""
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "storepack.py").write_text(PACKAGE)
    monkeypatch.setattr(sys, "path", [sys.path[0], str(packages), *sys.path[1:]])
    yield tmp_path
    sys.modules.pop("storepack", None)


def found(folder: Path, work: str, check: str = "") -> Exploration:
    return explored(folder, PROGRAM.format(work=work, check=check))


def kind(exploration: Exploration) -> str:
    return "" if exploration.failure is None else str(exploration.failure.details["kind"])


@pytest.mark.parametrize(
    ("work", "check", "expected"),
    [
        pytest.param("store.append(i)", "assert store.log == [1, 2]", "assertion", id="what it orders"),
        pytest.param("store.add(); got.append(store.get())", "assert 2 in got", "", id="what it protects"),
        pytest.param("store.add(); got.append(store.get())", "assert 1 in got", "assertion", id="values"),
        pytest.param("got.append(store.tried())", "assert all(got)", "assertion", id="one that is tried"),
        pytest.param("got.append(store.told() and 1); got.append(store.asked())", "assert True not in got",
                     "assertion", id="one that is asked for"),
        pytest.param("store.one() if i == 1 else store.two()", "", "deadlock", id="two in two orders"),
        pytest.param("store.wait() if i == 1 else store.wake()", "", "lost wake-up", id="of a condition"),
        pytest.param("x = [0]; store.put(x) if i == 1 else got.extend(store.taken() or [])\n    x.append(1)",
                     "assert got in ([], [0, 1])", "assertion", id="what is handed over under it"),
        pytest.param("store.begin() if i == 1 else got.append(store.tried())", "assert all(got)",
                     "assertion", id="held while a thread starts"),
    ],
)  # fmt: skip
def test_a_lock_that_orders_something_is_a_choice_point(
    work: str, check: str, expected: str, folder: Path
) -> None:
    exploration = found(folder, work, check)
    assert kind(exploration) == expected
    assert expected or exploration.complete


def test_a_lock_under_which_all_only_read_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = found(folder, "for _ in range(2): store.told()")
    assert hidden.complete and not any(each.startswith(locks.LOCKS) for each in hidden.visible)
    monkeypatch.setattr(locks.Lock, "may_hide", False)
    shown = found(folder, "for _ in range(2): store.told()")
    assert shown.complete and shown.executions > hidden.executions
