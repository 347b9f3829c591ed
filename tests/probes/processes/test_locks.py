"""Primitives between processes of the operating system give their edges and no more.

A program that must know what another process did without being ordered after it asks a file: what no probe
knows orders nothing.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tests.probes.programs import run

FRAME = """
import multiprocessing, os, sys, threading
def tell(word):
    open(word, "x").close()
def hear(word):
    while not os.path.exists(word): os.sched_yield()
{works}
if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    context = multiprocessing.get_context(sys.argv[1])
    thing = {thing}
    works = [{names}]
    processes = [context.Process(target=work, args=(thing,), name=work.__name__) for work in works]
    for process in processes: process.start()
    for process in processes: process.join()
    sys.exit(sum(process.exitcode for process in processes))
"""

CASES: dict[str, tuple[str, str, str, str]] = {
    # name: (how the primitive is made, the works, pairs that are ordered, pairs that are concurrent)
    "lock": (
        "context.Lock()",
        """
        def one(lock):
            pass  #: outside1
            with lock:
                pass  #: inside1
            tell("free")
            pass  #: end1
        def two(lock):
            hear("free")
            pass  #: outside2
            assert lock.acquire()
            pass  #: inside2
            lock.release()
        """,
        "inside1<inside2 outside1<inside2",
        "outside2|inside1 end1|inside2",
    ),
    "failed acquire": (
        "context.Lock()",
        """
        def one(lock):
            lock.acquire()
            pass  #: holds
            tell("held")
            hear("failed")
            lock.release()
        def two(lock):
            hear("held")
            assert not lock.acquire(block=False)
            pass  #: fails
            tell("failed")
        """,
        "",
        "holds|fails",
    ),
    "released by another": (
        "context.Lock()",
        """
        def one(lock):
            lock.acquire()
            tell("held")
            lock.acquire()
            pass  #: again
        def two(lock):
            hear("held")
            pass  #: releases
            lock.release()
            pass  #: later
        """,
        "releases<again",
        "later|again",
    ),
    "rlock": (
        "context.RLock()",
        """
        def one(lock):
            with lock:
                with lock:
                    pass  #: deepest
                pass  #: inner
            tell("free")
            pass  #: end1
        def two(lock):
            hear("free")
            with lock:
                pass  #: inside2
        """,
        "inner<inside2 deepest<inside2",
        "end1|inside2",
    ),
    "condition": (
        "context.Condition()",
        """
        def waiter(condition):
            with condition:
                tell("waits")
                condition.wait()
            pass  #: woken
        def notifier(condition):
            hear("waits")
            with condition:
                pass  #: notifies
                condition.notify()
            pass  #: goes_on
        """,
        "notifies<woken",
        "goes_on|woken",
    ),
    "semaphore": (
        "context.Semaphore(0)",
        """
        def giver(semaphore):
            pass  #: gives
            semaphore.release()
            pass  #: later
        def taker(semaphore):
            pass  #: early
            semaphore.acquire()
            pass  #: took
        """,
        "gives<took",
        "later|took early|gives",
    ),
    "semaphore with units of its own": (
        "context.BoundedSemaphore(2)",
        """
        def one(semaphore):
            with semaphore:
                pass  #: inside1
            try:
                semaphore.release()
            except ValueError:
                tell("gone")
            else:
                raise AssertionError
        def two(semaphore):
            hear("gone")
            with semaphore:
                pass  #: first
            with semaphore:
                pass  #: second
        """,
        "inside1<second",
        "inside1|first",
    ),
    "event": (
        "context.Event()",
        """
        def setter(event):
            pass  #: before
            event.set()
            pass  #: after
            event.set()
        def waiter(event):
            pass  #: early
            assert event.wait()
            pass  #: woken
            assert event.is_set()
        """,
        "before<woken",
        "after|woken early|before",
    ),
    "event that is polled": (
        "context.Event()",
        """
        def setter(event):
            pass  #: before
            event.set()
            pass  #: after
        def poller(event):
            event.wait(0)
            while not event.is_set(): os.sched_yield()
            pass  #: seen
        """,
        "before<seen",
        "after|seen",
    ),
    "barrier": (
        "context.Barrier(2)",
        """
        def one(barrier):
            pass  #: before1
            barrier.wait()
            pass  #: after1
            barrier.wait()
            pass  #: end1
        def two(barrier):
            pass  #: before2
            barrier.wait()
            pass  #: after2
            barrier.wait()
            pass  #: end2
        """,
        "before1<after2 before2<after1 after1<end2 after2<end1",
        "before1|before2 after1|after2 end1|end2",
    ),
    "barrier with an action": (
        "context.Barrier(2, action)",
        """
        def action():
            pass  #: action
        def one(barrier):
            pass  #: before1
            barrier.wait()
            pass  #: after1
        def two(barrier):
            pass  #: before2
            barrier.wait()
            pass  #: after2
        """,
        "before1<action before2<action action<after1 action<after2",
        "after1|after2",
    ),
    "broken barrier": (
        "context.Barrier(2)",
        """
        def waiter(barrier):
            pass  #: early
            tell("waits")
            try:
                barrier.wait()
            except threading.BrokenBarrierError:
                pass  #: broken
        def breaker(barrier):
            hear("waits")
            pass  #: before
            barrier.abort()
            pass  #: after
        """,
        "before<broken",
        "after|broken early|before",
    ),
    "value": (
        "context.Value('i', 0)",
        """
        def one(value):
            pass  #: outside1
            with value.get_lock():
                value.value += 1  #: inside1
            tell("done")
            pass  #: end1
        def two(value):
            hear("done")
            pass  #: outside2
            with value:
                assert value.value == 1  #: inside2
        """,
        "inside1<inside2",
        "outside1|outside2 end1|inside2",
    ),
    "joinable queue": (
        "context.JoinableQueue()",
        """
        def worker(queue):
            assert queue.get() == "item"
            pass  #: works
            queue.task_done()
            pass  #: later
        def asker(queue):
            pass  #: asks
            queue.put("item")
            pass  #: asked
            queue.join()
            pass  #: joined
        """,
        "asks<works works<joined",
        "asked|works later|joined",
    ),
    "put_nowait": (
        "context.Queue()",
        """
        def putter(queue):
            pass  #: puts
            queue.put_nowait("item")
            pass  #: later
        def getter(queue):
            assert queue.get() == "item"
            pass  #: got
        """,
        "puts<got",
        "later|got",
    ),
}


PICKLED = ("semaphore", "barrier", "joinable queue")
"""Those that are also sent to processes that do not share the parent's memory."""


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str, tmp_path: Path) -> None:
    thing, works, ordered, concurrent = CASES[name]
    works = textwrap.dedent(works)
    names = re.findall(r"def (\w+)\((?!\))", works)
    source = FRAME.format(works=works, thing=thing, names=", ".join(names))
    for method in ("fork", "spawn") if name in PICKLED else ("fork",):
        folder = tmp_path / method
        folder.mkdir()
        found = run(folder, source, method)
        assert found.status == 0, found.lines()
        for first, second in re.findall(r"(\w+)<(\w+)", ordered):
            assert found.before(first, second), f"{method}: {first} is not before {second}\n{found.lines()}"
        for first, second in re.findall(r"(\w+)\|(\w+)", concurrent):
            assert found.concurrent(first, second), f"{method}: {first} and {second} are ordered"
