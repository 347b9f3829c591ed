"""What tasks share without synchronisation orders a recorded run, and races are what it is."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from possibly.logic.specification import Specification, property_from_text
from possibly.recorder.sharing.races import Race, races
from possibly.session.checking.check import Options, check_trace
from possibly.session.record import Done, Request, record_program
from possibly.verdict.model import Truth

FLAG = """\
    import threading, time
    ready = False
    def first():
        global ready
        stage_one()
        ready = True
    def second():
        while not ready:
            time.sleep(0.001)
        stage_two()
    def stage_one(): pass
    def stage_two(): pass
    a = threading.Thread(target=first, name="A")
    b = threading.Thread(target=second, name="B")
    b.start(); a.start(); a.join(); b.join()
    """
BAKERY = """\
    import threading
    n = 2
    choosing, number = [False] * n, [0] * n
    def work(i):
        inside = False
        choosing[i] = True
        number[i] = 1 + max(number)
        choosing[i] = False
        for j in range(n):
            while choosing[j]: pass
            while number[j] != 0 and (number[j], j) < (number[i], i): pass
        inside = True
        inside = False
        number[i] = 0
    threads = [threading.Thread(target=work, args=(i,), name=f"P{i}") for i in range(n)]
    for t in threads: t.start()
    for t in threads: t.join()
    """


DATACLASS = """\
from dataclasses import dataclass
@dataclass
class S:
    r: int = 0
s = S()"""


def recorded(folder: Path, source: str, *formulas: str, races: bool = False) -> Done:
    (folder / "program.py").write_text(textwrap.dedent(source))
    properties = tuple(property_from_text("ctl", text, text) for text in formulas)
    specification = Specification(properties=properties) if formulas else None
    words, output = (str(folder / "program.py"),), str(folder / "run.jsonl")
    done = record_program(Request(words, output, specification, races=races, shared=True))
    assert done.status == 0
    return done


def answer(folder: Path, source: str, formula: str) -> Truth:
    trace = recorded(folder, source, formula).trace
    specification = Specification(properties=(property_from_text("ctl", formula, "p"),))
    return check_trace(trace, specification, Options()).verdicts[0].truth


def test_a_flag_that_is_polled_orders_what_it_announces(tmp_path: Path) -> None:
    formula = "AG(!(inside(A, stage_one) & inside(B, stage_two)))"
    assert answer(tmp_path, FLAG, formula) is Truth.HOLDS
    unguarded = FLAG.replace("        while not ready:\n            time.sleep(0.001)\n", "")
    assert answer(tmp_path, unguarded, formula) is Truth.VIOLATED


ANNOUNCED = {
    "a name that is computed": ("class S: pass\ns = S()", "setattr(s, 'r', 1)", "hasattr(s, 'r')"),
    "a default": ("class S: pass\ns = S()", "s.r = 1", "getattr(s, 'r', 0)"),
    "a key of globals()": ("r = 0", "globals()['r'] = 1", "r"),
    "the environment": ("import os\nos.environ.pop('XR', 0)", "os.environ['XR'] = '1'", "'XR' in os.environ"),
    "a UserDict": ("import collections\nd = collections.UserDict()", "d['r'] = 1", "'r' in d"),
    "a method of a UserDict": (
        "import collections\nd = collections.UserDict()",
        "d.setdefault('r', 1)",
        "d.get('r')",
    ),
    "a UserList": ("import collections\nd = collections.UserList()", "d.append(1)", "len(d)"),
    "fields of a dataclass, compared": (DATACLASS, "s.r = 1", "s != S(0)"),
    "fields of a dataclass, as a text": (DATACLASS, "s.r = 1", "'1' in repr(s)"),
    "a queue that is asked whether it is empty": (
        "import queue\nq = queue.Queue()",
        "q.put(1)",
        "not q.empty()",
    ),
    "a queue that is asked for its size": ("import queue\nq = queue.LifoQueue()", "q.put(1)", "q.qsize()"),
    "a simple queue": ("import queue\nq = queue.SimpleQueue()", "q.put(1)", "not q.empty()"),
    "a lock that is asked whether it is held": (
        "lock = threading.Lock()\nlock.acquire()",
        "lock.release()",
        "not lock.locked()",
    ),
    "a queue that others emptied": (
        "import queue\nq = queue.Queue(1)\nq.put(1)",
        "q.get()",
        "not q.full()",
    ),
}


@pytest.mark.parametrize("name", ANNOUNCED)
def test_whatever_announces_it_orders_it(name: str, tmp_path: Path) -> None:
    before, announce, is_announced = ANNOUNCED[name]
    source = textwrap.dedent(FLAG).replace("ready = False", before, 1).replace("    global ready\n", "")
    source = source.replace("ready = True", announce).replace(
        "while not ready", f"while not ({is_announced})"
    )
    assert answer(tmp_path, source, "AG(!(inside(A, stage_one) & inside(B, stage_two)))") is Truth.HOLDS


TASKS = """\
    import asyncio
    async def first():
        await stage_one()
        announce
    async def second():
        while not announced:
            await asyncio.sleep(0)
        await stage_two()
    async def stage_one():
        await asyncio.sleep(0)
    async def stage_two():
        await asyncio.sleep(0)
    async def main():
        await asyncio.gather(asyncio.create_task(first(), name="A"), asyncio.create_task(second(), name="B"))
    """


@pytest.mark.parametrize(
    ("before", "announce", "announced"),
    [
        ("queue = asyncio.Queue()", "queue.put_nowait(1)", "queue.qsize()"),
        ("queue = asyncio.PriorityQueue()", "await queue.put(1)", "(not queue.empty())"),
        ("lock = asyncio.Lock(); asyncio.run(lock.acquire())", "lock.release()", "(not lock.locked())"),
    ],
    ids=["the size of a queue", "a queue that is not empty", "a lock that is free"],
)
def test_tasks_that_ask_are_ordered(before: str, announce: str, announced: str, tmp_path: Path) -> None:
    source = textwrap.dedent(TASKS).replace("announced", announced).replace("announce\n", f"{announce}\n")
    formula = "AG(!(inside(A, stage_one) & inside(B, stage_two)))"
    assert answer(tmp_path, f"{source}{before}\nasyncio.run(main())\n", formula) is Truth.HOLDS


@pytest.mark.parametrize(
    "pattern", ["{'r': 1}", "{'r': int(r)} if r"], ids=["a pattern of keys", "a guarded pattern"]
)
def test_a_pattern_of_keys_reads_them(pattern: str, tmp_path: Path) -> None:
    looked = f"while True:\n        match d:\n            case {pattern}:\n                break"
    source = (
        textwrap.dedent(FLAG).replace("ready = False", "d = {'r': 0}", 1).replace("    global ready\n", "")
    )
    source = source.replace("ready = True", "d['r'] = 1")
    source = source.replace("while not ready:\n        time.sleep(0.001)", looked)
    assert answer(tmp_path, source, "AG(!(inside(A, stage_one) & inside(B, stage_two)))") is Truth.HOLDS


def test_the_bakery_excludes(tmp_path: Path) -> None:
    assert answer(tmp_path, BAKERY, "AG(!(P0.inside & P1.inside))") is Truth.HOLDS


def found_in(folder: Path, body: str) -> list[Race]:
    """The races of two threads that both run `work(k)`."""
    source = (
        "import queue, threading\n"
        + textwrap.dedent(body)
        + textwrap.dedent("""
        threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2)]
        for t in threads: t.start()
        for t in threads: t.join()
    """)
    )
    return races(recorded(folder, source, races=True).trace)


ARRAY = """\
class A:
    __array_interface__ = property(lambda self: {})
    def __getitem__(self, key): return 0
    def __setitem__(self, key, value): pass
    def __len__(self): return 3
a = A()
"""
RACY = {
    "a global": ("n = 0\ndef work(k):\n    global n\n    n += k\n", {"n"}),
    "membership": ("d = {}\ndef work(k):\n    if 'a' not in d:\n        d['a'] = k\n", {"d['a']"}),
    "iteration": ("d = [1]\ndef work(k):\n    for _ in d: pass\n    d.append(k)\n", {"d[1]"}),
    "length": ("d = {}\ndef work(k):\n    if len(d) < 9: d[k] = 1\n", {"d[]"}),
    "a set": ("s = set()\ndef work(k):\n    if 1 in s: s.remove(1)\n    s.add(1)\n", {"s[1]"}),
    "an item": ("d = {'a': 0}\ndef work(k):\n    d['a'] += k\n", {"d['a']"}),
    "an array": (
        "from array import array\na = array('i', [0])\ndef work(k):\n    a[0] += k\n",
        {"a[0]"},
    ),
    "what has the interface of arrays": (
        ARRAY + "def work(k):\n    a[0] += k\n",
        {"a[0]"},
    ),
    "one row of an array": (
        ARRAY + "def work(k):\n    a[0, k] += k; a[0] = 1\n",
        {"a[0]"},
    ),
    "a column of an array": (
        ARRAY + "def work(k):\n    a['x'] += 1; a[None, 0] += 1\n",
        {"a[*]"},
    ),
    "the order of a dictionary": (
        "from collections import OrderedDict\nd = OrderedDict(a=1, b=2)\n"
        "def work(k):\n    d.move_to_end('a')\n    for each in d: pass\n",
        {"d[*]"},
    ),
    "a slice": ("d = [1, 2]\ndef work(k):\n    d[0] = sum(d[:])\n", {"d[0]"}),
    "a slot": (
        "class C:\n    __slots__ = ('v',)\nc = C()\nc.v = 0\ndef work(k):\n    c.v += k\n",
        {"c.v"},
    ),
    "an attribute of a class": ("class C: n = 0\ndef work(k):\n    C.n += k\n", {"C.n"}),
    "a class that stores by itself": (
        "class C:\n    n = 0\n    def __setattr__(self, name, new): object.__setattr__(self, name, new)\n"
        "c = C()\ndef work(k):\n    c.n += k\n",
        {"c.n"},
    ),
    "an object that does not show what it holds": (
        "class C:\n    n = 0\n    @property\n    def __dict__(self): raise RuntimeError\n"
        "c = C()\ndef work(k):\n    c.n += k\n",
        {"c.n"},
    ),
    "through a class": ("class C: n = 0\nc = C()\ndef work(k):\n    c.n = c.n + C.n\n    C.n = k\n", {"C.n"}),
}


@pytest.mark.parametrize("name", RACY)
def test_races(name: str, tmp_path: Path) -> None:
    body, wanted = RACY[name]
    found = {race.variable for race in found_in(tmp_path, body) if not race.is_atomic}
    assert wanted <= found


RIGHT = {
    "single operations": (
        "l, s, d = [], set(), {}\ndef work(k):\n    l.append(k); s.add(1); d.setdefault('a', k)\n"
    ),
    "items of their own": "l = [0, 0, 0]\nd = {1: 0, 2: 0}\ndef work(k):\n    l[k] += 1\n    d[k] += 1\n",
    "a lock": "n, lock = 0, threading.Lock()\ndef work(k):\n    global n\n    with lock: n += 1\n",
    "data of a thread": "d = threading.local()\ndef work(k):\n    d.x = k\n    assert d.x == k\n",
    "a queue": (
        "q = queue.Queue()\nclass M: pass\ndef work(k):\n    if k == 1:\n        m = M(); m.x = 1; q.put(m)\n"
        "    else:\n        m = q.get(); m.x += 1\n"
    ),
    "an event": (
        "n, e = 0, threading.Event()\ndef work(k):\n    global n\n    if k == 1:\n        n = 1; e.set()\n"
        "    else:\n        e.wait(); n += 1\n"
    ),
    "an array and a lock": (
        "from array import array\na, lock = array('i', [0]), threading.Lock()\n"
        "def work(k):\n    with lock: a[0] += k\n"
    ),
    "items of an array of their own": (
        "from array import array\na = array('i', [0, 0, 0])\ndef work(k):\n    a[k] += k\n"
    ),
    "rows of an array of their own": (
        ARRAY + "def work(k):\n    a[k, 1] += 1; a[k, :] += 1; a[k - 3] += 1\n"
    ),
    "a list that is made in the call": ("d = {}\ndef work(k):\n    d.setdefault('a', []).append(k)\n"),
    "attributes of a proxy": (
        "own = threading.local()\nclass At:\n    def __init__(self, does): self.does = does\n"
        "    def __get__(self, proxy, kind): return lambda *given: self.does(own, *given)\n"
        "class Proxy:\n    __setattr__, __getattr__ = At(setattr), At(getattr)\n"
        "proxy = Proxy()\ndef work(k):\n    proxy.x = k\n    assert proxy.x == k\n"
    ),
    "a semaphore": ("n, s = 0, threading.Semaphore(1)\ndef work(k):\n    global n\n    with s: n += 1\n"),
    "objects of their own": (
        "class C:\n    def __init__(self): self.v, self.l = 0, []\n"
        "def work(k):\n    for _ in range(300):\n        c = C(); c.v += 1; c.l.append(1); c.l[0] = 2\n"
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_no_races(name: str, tmp_path: Path) -> None:
    assert [race.variable for race in found_in(tmp_path, RIGHT[name]) if not race.is_atomic] == []


@pytest.mark.parametrize(
    ("one", "other"), [("1", "'1'"), ("'*'", "'[]'"), ("'...'", "'*'"), ("None", "'None'"), ("b'x'", "'x'")]
)
def test_items_of_different_keys_are_different_variables(one: str, other: str, tmp_path: Path) -> None:
    body = f"d = {{{one}: 0, {other}: 0}}\ndef work(k):\n    d[{one}] += k\n    d[{other}] += k\n"
    assert {race.variable for race in found_in(tmp_path, body)} == {f"d[{one}]", f"d[{other}]"}


def test_what_is_told_for_its_order_answers_no_other_question(tmp_path: Path) -> None:
    trace = recorded(tmp_path, FLAG).trace
    specification = Specification(properties=(property_from_text("ctl", "AG(ready == true)", "p"),))
    verdict = check_trace(trace, specification, Options()).verdicts[0]
    assert verdict.truth is Truth.UNKNOWN
    assert "--watch ready" in (verdict.reason or "")


OWN_LOOP = """\
    import asyncio, threading
    n = 0
    class Loop(asyncio.SelectorEventLoop):
        def run_forever(self):
            asyncio._set_running_loop(self)
            self._thread_id, self._stopping = threading.get_ident(), False
            try:
                while not self._stopping:
                    self._run_once()
            finally:
                self._thread_id = None
                asyncio._set_running_loop(None)
    async def main():
        global n
        n += 1
    loop = Loop()
    n += 1
    loop.run_until_complete(main())
    loop.close()
    n += 1
    """


def test_the_first_task_of_a_loop_that_says_not_that_it_runs_comes_after_the_thread(tmp_path: Path) -> None:
    assert races(recorded(tmp_path, OWN_LOOP, races=True).trace) == []


LOOP = """\
    import asyncio
    n = 0
    async def work():
        global n
        {body}
    async def main():
        await asyncio.gather(work(), work())
    asyncio.run(main())
    """


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("seen = n; await asyncio.sleep(0); n = seen + 1", {"n"}),
        ("n += await asyncio.sleep(0, 1)", {"n"}),
        ("n += 1", set()),
        ("await asyncio.sleep(0); n += 1; await asyncio.sleep(0); n += 1", set()),
    ],
)
def test_tasks_of_a_loop_race_where_they_wait_in_the_middle_of_an_update(
    body: str, expected: set[str], tmp_path: Path
) -> None:
    found = races(recorded(tmp_path, LOOP.format(body=body), races=True).trace)
    assert {race.variable for race in found} == expected
