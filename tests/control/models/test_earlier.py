"""Primitives that were made before there were models become models, wherever a name leads to them."""

from __future__ import annotations

import _thread
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from possibly.control.models import earlier, primitives, queues


class Holder:
    shared: Any = _thread.allocate_lock()

    def __init__(self) -> None:
        self.own: Any = _thread.RLock()

    def method(self) -> Any:
        return self.own


def test_what_a_name_leads_to_is_a_model() -> None:
    inner: Any = _thread.allocate_lock()
    holder = Holder()
    space: dict[str, Any] = {
        "lock": _thread.allocate_lock(),
        "several": [_thread.allocate_lock()],
        "cell": lambda: inner,
        "holder": holder,
        "cls": Holder,
    }
    earlier.model(space)
    assert isinstance(space["lock"], primitives.Lock) and isinstance(space["several"][0], primitives.Lock)
    assert isinstance(holder.own, primitives.RLock) and isinstance(Holder.shared, primitives.Lock)
    assert isinstance(space["cell"](), primitives.Lock)


class Slotted:
    __slots__ = ("empty", "lock")

    def __init__(self) -> None:
        self.lock: Any = _thread.allocate_lock()

    def method(self) -> Any:
        return self.lock


@pytest.mark.parametrize(
    "around",
    [
        lambda each: {"a": [{"b": [{"c": [{"d": each}]}]}]},
        lambda each: (1, (each,)),
        lambda each: {1: deque([each])},
        lambda each: each.method,
        lambda each: partial(print, each, sep=""),
        lambda each: lambda: each,
        lambda each: {"itself": [each, each]},
    ],
)
@pytest.mark.parametrize("cls", [Holder, Slotted])
def test_however_many_names_lead_there(around: Callable[[Any], Any], cls: Any) -> None:
    holder = cls()
    earlier.model({"root": around(holder)})
    lock = holder.own if cls is Holder else holder.lock
    assert isinstance(lock, primitives.Lock | primitives.RLock) and not lock.quiet


@pytest.mark.parametrize("make", [_thread.allocate_lock, _thread.RLock, threading.Event, queue.SimpleQueue])
def test_two_modules_that_have_one_primitive_have_one_model(make: Callable[[], Any]) -> None:
    """As after `from app import LOCK`."""
    plain: Any = make()
    one, other = {"first": plain}, {"second": plain, "apart": make()}
    earlier.model(one)
    earlier.model(other)
    assert one["first"] is other["second"] is not plain
    assert other["apart"] is not one["first"]


def test_a_condition_keeps_its_lock() -> None:
    lock: Any = _thread.allocate_lock()
    space: dict[str, Any] = {"lock": lock, "condition": threading.Condition(lock)}
    earlier.model(space)
    assert space["condition"]._lock is space["lock"]


def test_a_simple_queue_keeps_its_items() -> None:
    plain: Any = queue.SimpleQueue()
    plain.put(1)
    plain.put(2)
    space: dict[str, Any] = {"queue": plain}
    earlier.model(space)
    assert isinstance(space["queue"], queues.SimpleQueue) and list(space["queue"].queue) == [1, 2]


def test_what_leads_back_to_itself_is_gone_through_once() -> None:
    space: dict[str, Any] = {"lock": _thread.allocate_lock()}
    space["again"] = [space]
    earlier.model(space)
    assert isinstance(space["lock"], primitives.Lock)


class Refuses:
    """An object that answers no question about itself."""

    def __getattribute__(self, name: str) -> Any:
        raise TypeError("not for you")


def test_no_code_of_the_program_runs() -> None:
    earlier.model({"refuses": Refuses()})


def test_locks_of_logging_are_quiet_models() -> None:
    told = """if True:
        import logging
        from possibly.control.models import earlier, primitives, queues
        kept = logging.StreamHandler()
        earlier.model_logging()
        assert all(isinstance(each, primitives.RLock) and each.quiet for each in (logging._lock, kept.lock))
        logging.getLogger("a").warning("told")
    """
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "told\n")


LOGS = """
import logging, threading
import possibly

told = []


class Keeps(logging.Handler):
    def emit(self, record):
        told.append(record.getMessage())


logger = logging.getLogger("app")
logger.addHandler(Keeps())
logger.propagate = False


def both():
    threads = [threading.Thread(target=logger.warning, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["a", "b"]


found = possibly.explore(both)
assert found.holds, found.report()
"""


def test_threads_that_log_do_not_wait_for_ever(tmp_path: Path) -> None:
    (tmp_path / "logs.py").write_text(LOGS)
    words = [sys.executable, str(tmp_path / "logs.py")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_barrier_waits_by_a_model() -> None:
    barrier: Any = threading.Barrier(2)
    earlier.model({"barrier": barrier})
    assert isinstance(barrier._cond, primitives.Condition)


def test_what_is_of_nobodys_module_is_left_alone() -> None:
    space = {"module": sys, "number": 3, "text": "lock"}
    earlier.model(space)
    assert space == {"module": sys, "number": 3, "text": "lock"}
