"""Functions of libraries that what is modelled calls for the program are seen like calls in its source.

`threading` and pools use weak containers themselves, which decides nothing: but not where the program has
given them a method of its own one to call.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

HEAD = "import threading, queue, weakref\nclass C: pass\nc = C(); closed = []\n"
FINALIZER = HEAD + "f = weakref.finalize(c, closed.append, 1)\n"
WEAKLY = HEAD + "d = weakref.WeakValueDictionary(a=c)\n"
ASKS = "if f.alive:\n    assert f.detach() is not None\nt.join()\n"
LOOKS = "if 'a' in d: d['a']\nt.join()\n"
WRONG = {
    "a finalizer that another function calls": f"{FINALIZER}t = threading.Thread(target=lambda: f())\n"
    f"t.start()\n{ASKS}",
    "a finalizer as target": f"{FINALIZER}t = threading.Thread(target=f)\nt.start()\n{ASKS}",
    "a method of a weak dictionary as target": f"{WEAKLY}t = threading.Thread(target=d.pop, args='a')\n"
    f"t.start()\n{LOOKS}",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_thread_is_given_to_call_is_seen(name: str, tmp_path: Path) -> None:
    assert explored(tmp_path, WRONG[name]).holds is False


def test_a_finalizer_is_called_once_whoever_comes_first(tmp_path: Path) -> None:
    both = "both = [threading.Thread(target=f) for _ in 'ab']\n"
    both += "for t in both: t.start()\nfor t in both: t.join()\n"
    found = explored(tmp_path, f"{FINALIZER}{both}assert closed == [1]\n")
    assert found.complete, found.open


def test_a_put_that_waits_does_not_go_on_when_there_is_more_room(tmp_path: Path) -> None:
    waiting = "q = queue.Queue(1); q.put(1)\nt = threading.Thread(target=q.put, args=(2,))\nt.start()\n"
    found = explored(tmp_path, f"{HEAD}{waiting}q.maxsize = 2\nt.join()\n")
    assert found.holds is False


TOGETHER = "for t in both: t.start()\nfor t in both: t.join()\n"
COUNTS = """n = 0
class Counting(queue.Queue):
    def _put(self, item):
        global n
        n += 1
        super()._put(item)
def count():
    global n
    n += 1
q = Counting()
both = [threading.Thread(target=q.put, args=(1,)), threading.Thread(target=count)]
"""
COMPARES = """key = {"a": 1, "b": 2}
class Item:
    def __init__(self, name): self.name = name
    def __lt__(self, other): return key[self.name] < key[other.name]
q = queue.PriorityQueue(); q.put(Item("b"))
both = [threading.Thread(target=q.put, args=(Item("a"),))]
both += [threading.Thread(target=key.update, args=({"a": 5},))]
"""
LOCKS = """q = queue.Queue(); seen = []
def hold():
    with q.mutex:
        seen.append(q.unfinished_tasks == q.unfinished_tasks)
both = [threading.Thread(target=q.put, args=(1,)), threading.Thread(target=hold)]
"""
INSIDE = {
    "what is overridden is code of the program": (False, f"{COUNTS}{TOGETHER}assert n == 2\n"),
    "items compare by code": (False, f"{COMPARES}{TOGETHER}assert q.get().name == 'a'\n"),
    "its lock is held by whoever uses it": (False, "q = queue.Queue()\nwith q.mutex: q.put(1)\n"),
    "its lock keeps others out": (True, f"{LOCKS}{TOGETHER}assert seen == [True]\n"),
    "it is looked into at the end": (True, f"{LOCKS}{TOGETHER}assert list(q.queue) == [1]\n"),
    "a condition of it is waited on": (
        True,
        "q = queue.Queue()\nt = threading.Thread(target=q.put, args=(1,))\nt.start()\n"
        "with q.not_empty:\n    while not q._qsize(): q.not_empty.wait()\nt.join()\n",
    ),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_queue_whose_inside_is_used_is_that_of_the_library(name: str, tmp_path: Path) -> None:
    holds, program = INSIDE[name]
    found = explored(tmp_path, HEAD + program)
    assert found.holds is holds, found.open
