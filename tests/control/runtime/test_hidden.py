"""Bugs that hide: each program fails under some schedule, so "holds" would be wrong for every one of them.

Shared memory is reached here by ways that the source does not show as a plain read or write of a variable:
through builtins, aliases of bound methods, generated methods and the standard library; and time-outs that
may run out first. A program is its set-up, the work of two threads, and what should hold at the end.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

TWICE = {
    "nested attributes": ("class N: pass\ns=N(); s.a=[N()]; s.a[0].v=0", "s.a[0].v += 1", "s.a[0].v == 2"),
    "nested items": ("d={'x':[{'y':0}]}", "d['x'][0]['y'] = d['x'][0]['y'] + 1", "d['x'][0]['y'] == 2"),
    "attribute of a class": ("class C: n = 0", "C.n += 1", "C.n == 2"),
    "setattr": ("class N: x = 0\ns = N()", "v = getattr(s, 'x'); setattr(s, 'x', v + 1)", "s.x == 2"),
    "a lambda": ("class S: x = 0\ns = S()\nf = lambda: setattr(s, 'x', s.x + 1)", "f()", "s.x == 2"),
    "slots": ("class N:\n    __slots__ = ('x',)\ns = N(); s.x = 0", "s.x += 1", "s.x == 2"),
    "vars": ("class S: x = 0\ns = S(); s.x = 0", "vars(s)['x'] = vars(s)['x'] + 1", "s.x == 2"),
    "globals": ("n = 0", "globals()['n'] = globals()['n'] + 1", "n == 2"),
    "operator": ("import operator\nd = {'k': 0}", "operator.setitem(d, 'k', d['k'] + 1)", "d['k'] == 2"),
    "alias of a method": ("l = []\nadd = l.append", "add(len(l))", "l == [0, 1]"),
    "generated equality": (
        "import dataclasses\n@dataclasses.dataclass\nclass S:\n    v: int\ns, made = S(0), []",
        "if s == S(0):\n    s.v = 1\n    made.append(1)",
        "len(made) == 1",
    ),
    "library reads": (
        "import json\nd, made = {}, []",
        "if json.dumps(d) == '{}':\n    d['a'] = 1\n    made.append(1)",
        "len(made) == 1",
    ),
    "joining": ("l = []", "x = ','.join(l)\nl.append(x + 'a')", "l == ['a', 'aa']"),
    "library writes": (
        "import bisect\nl, at = [], []\nput = bisect.insort",
        "n = len(l)\nput(l, n)\nat.append(n)",
        "at == [0, 1]",
    ),
    "a method of the library": (
        "import string\nd, made = {'x': 1}, []\ntext = string.Template('$x')",
        "if text.substitute(d) == '1':\n    d['x'] = 2\n    made.append(1)",
        "len(made) == 1",
    ),
    "iteration": ("l = []", "t = [x for x in l]\nl[:] = t + [1]", "len(l) == 2"),
    "arguments spread": ("l = []\ndef count(*a): return len(a)", "l.append(count(*l))", "l == [0, 1]"),
    "copy": ("import copy\nl = []", "c = copy.copy(l)\nc.append(1)\nl[:] = c", "len(l) == 2"),
    "text": ("l = []", "if f'{l}' == '[]':\n    l.append(1)", "len(l) == 1"),
    "max": ("ids = [0]", "ids.append(max(ids) + 1)", "ids == [0, 1, 2]"),
    "property": (
        "class S:\n    _x = 0\n    @property\n    def x(self): return self._x\n"
        "    @x.setter\n    def x(self, v): self._x = v\ns = S()",
        "s.x = s.x + 1",
        "s.x == 2",
    ),
    "functools.reduce": (
        "import functools, operator\nl = [1]",
        "l.append(functools.reduce(operator.add, l))",
        "l == [1, 1, 2]",
    ),
    "map": ("l = [0]", "l.append(sum(map(abs, l)) + len(l))", "l == [0, 1, 3]"),
    "sort": ("l = []", "l.sort()\nl.append(len(l))", "l == [0, 1]"),
}

WHOLE = {
    "time-out that ties": """
        channel, out = queue.Queue(), []
        def produce():
            time.sleep(1)
            channel.put(1)
        def consume():
            try:
                out.append(channel.get(timeout=1))
            except queue.Empty:
                out.append(None)
        go(produce, consume)
        assert out == [1]
    """,
    "barrier that times out": """
        barrier, failed = threading.Barrier(2, timeout=1), []
        def work(delay):
            time.sleep(delay)
            try:
                barrier.wait()
            except threading.BrokenBarrierError:
                failed.append(delay)
        go(lambda: work(0), lambda: work(2))
        assert not failed
    """,
    "event that times out": """
        event, seen = threading.Event(), []
        def setter():
            time.sleep(3)
            event.set()
        def waiter():
            seen.append(event.wait(2))
        go(setter, waiter)
        assert seen == [True]
    """,
    "condition that times out": """
        condition, seen = threading.Condition(), []
        def setter():
            time.sleep(3)
            with condition:
                condition.notify()
        def waiter():
            with condition:
                seen.append(condition.wait(2))
        go(setter, waiter)
        assert seen == [True]
    """,
    "lock that times out": """
        lock, seen = threading.Lock(), []
        def holder():
            with lock:
                time.sleep(3)
        def other():
            time.sleep(1)
            seen.append(lock.acquire(timeout=1))
        go(holder, other)
        assert seen == [True]
    """,
    "join that times out": """
        def slow():
            time.sleep(3)
        thread = threading.Thread(target=slow)
        thread.start()
        thread.join(1)
        assert not thread.is_alive()
    """,
    "future that times out": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            pool.submit(time.sleep, 3).result(timeout=1)
    """,
    "asyncio.wait_for": """
        import asyncio
        async def main():
            await asyncio.wait_for(asyncio.sleep(3), 1)
        asyncio.run(main())
    """,
    "asyncio.to_thread": """
        import asyncio
        n = 0
        def add():
            global n
            n += 1
        async def main():
            await asyncio.gather(asyncio.to_thread(add), asyncio.to_thread(add))
            assert n == 2
        asyncio.run(main())
    """,
    "a timer against the main thread": """
        n = 0
        def add():
            global n
            n += 1
        timer = threading.Timer(0.1, add)
        timer.start()
        add()
        timer.join()
        assert n == 2
    """,
    "a pool": """
        from concurrent.futures import ThreadPoolExecutor
        n = [0]
        def add(_):
            n[0] += 1
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(add, range(2)))
        assert n == [2]
    """,
    "a thread of a thread": """
        n = 0
        def inner():
            global n
            n += 1
        def outer():
            thread = threading.Thread(target=inner)
            thread.start()
            thread.join()
        go(outer, outer)
        assert n == 2
    """,
    "attributes by two names": """
        class S: pass
        s = S()
        s.x = 0
        def one():
            s.x += 1
        def two():
            vars(s)["x"] += 1
        go(one, two)
        assert s.x == 2
    """,
    "__dict__": """
        class S: pass
        s = S()
        s.x = 0
        def one():
            s.x += 1
        def two():
            s.__dict__.update(x=s.__dict__["x"] + 1)
        go(one, two)
        assert s.x == 2
    """,
    "globals by two names": """
        n = 0
        def one():
            global n
            n += 1
        def two():
            globals()["n"] = globals()["n"] + 1
        go(one, two)
        assert n == 2
    """,
    "an exception on the way": """
        lock, done = threading.Lock(), []
        def work():
            lock.acquire()
            if done:
                raise ValueError("twice")
            done.append(1)
            lock.release()
        go(work, work)
    """,
    "clock": """
        seen = []
        def work():
            before = time.monotonic()
            time.sleep(1)
            seen.append(time.monotonic() - before)
        go(work, work)
        assert max(seen) < 1
    """,
    "process exits early": """
        def work():
            time.sleep(1)
            raise SystemExit(3)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join()
        assert thread.is_alive()
    """,
}

GO = """
import queue, threading, time
def go(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def kind_of_failure(folder: Path, source: str) -> str:
    found = explored(folder, source, Options(minimise=0)).failure
    return str(found.details["kind"]) if found else ""


@pytest.mark.parametrize("name", TWICE)
def test_the_lost_update_is_found(name: str, tmp_path: Path) -> None:
    setup, work, check = TWICE[name]
    body = textwrap.indent(work, "    ")
    source = f"{GO}\n{setup}\ndef work():\n{body}\ngo(work, work)\nassert {check}\n"
    assert kind_of_failure(tmp_path, source) == "assertion"


@pytest.mark.parametrize("name", WHOLE)
def test_the_failure_is_found(name: str, tmp_path: Path) -> None:
    assert kind_of_failure(tmp_path, GO + textwrap.dedent(WHOLE[name]))


def test_functions_that_look_at_their_caller_still_see_it(tmp_path: Path) -> None:
    source = """
    import collections
    n = 1
    class C:
        def f(self):
            m = 2
            return sorted(locals()), "n" in globals(), eval("n + m"), sorted(vars()), super().__repr__()[:9]
    print(C().f(), collections.namedtuple("P", "x").__module__, "n" in dir())
    """
    assert explored(tmp_path, textwrap.dedent(source)).holds


def test_a_function_of_a_library_in_a_variable_of_the_user_s_module(tmp_path: Path) -> None:
    """It needs no telling of when it is called; the variable that holds it does."""
    (tmp_path / "state.py").write_text("import os\nf = os.getpid\n")
    source = """
    import os, state
    state.f(), os.getppid()
    seen = []
    def calls():
        seen.append(state.f() == os.getpid())
    def writes():
        state.f = os.getppid
    go(calls, writes)
    assert all(seen)
    """
    assert kind_of_failure(tmp_path, GO + textwrap.dedent(source)) == "assertion"
