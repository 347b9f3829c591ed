"""What happens inside libraries, behind views and in unusual places is seen, or leaves the answer open.

Each of these programs fails under some schedule, so that "holds" would be wrong for every one of them. Shared
state is reached through objects of libraries, iterators, bound methods that are handed on, patterns, files.
The first schedule that is tried does not fail, or the program would show nothing.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

GO = """
import queue, threading, time
def go(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

FOUND = {
    "a signal": """
        import signal
        n = []
        signal.signal(signal.SIGALRM, lambda *a: n.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        go(lambda: None)
        assert n
    """,
    "a loop in each thread": """
        import asyncio
        n = 0
        async def add():
            global n
            n = n + 1
            await asyncio.sleep(0)
        go(lambda: asyncio.run(add()), lambda: asyncio.run(add()))
        assert n == 2
    """,
    "a thread that begins with a loop": """
        import asyncio
        seen = []
        async def look():
            seen.append(ready)
        ready = False
        thread = threading.Thread(target=lambda: asyncio.run(look()))
        thread.start()
        ready = True
        thread.join()
        assert seen == [False]
    """,
    "atexit": """
        import atexit
        n = [0]
        def w(): n[0] = n[0] + 1
        @atexit.register
        def check():
            assert n[0] == 2
        go(w, w)
    """,
    "and": """
        l = [1]
        def w():
            l and l.pop()
        go(w, w)
    """,
    "the body of a class": """
        n = 0
        def w():
            global n
            class C:
                global n
                n = n + 1
        go(w, w)
        assert n == 2
    """,
    "a lambda in a comprehension": """
        cell = [0]
        fs = [(lambda: cell.__setitem__(0, cell[0] + 1)) for _ in range(2)]
        go(*fs)
        assert cell[0] == 2
    """,
    "bool of an object": """
        class S:
            def __init__(self): self.l = []
            def __contains__(self, x): return x in self.l
            def __bool__(self): return bool(self.l)
            def __len__(self): return len(self.l)
        s = S(); made = []
        def w():
            if not s:
                s.l.append(1)
                made.append(1)
        go(w, w)
        assert len(made) == 1
    """,
    "deepcopy": """
        import copy
        d = {"a": [0], "b": [0]}
        def a(): d["a"][0] = 1; d["b"][0] = 1
        def b():
            c = copy.deepcopy(d)
            assert c["a"] == c["b"]
        go(a, b)
    """,
    "ctypes": """
        import ctypes
        v = ctypes.c_int(0)
        def w(): v.value = v.value + 1
        go(w, w)
        assert v.value == 2
    """,
    "attributes of a function": """
        def counted(f):
            def g():
                g.calls += 1
                return f()
            g.calls = 0
            return g
        @counted
        def w(): pass
        go(w, w)
        assert w.calls == 2
    """,
    "a factory of defaults": """
        import collections
        made = []
        def f():
            made.append(1)
            return 0
        d = collections.defaultdict(f)
        def w(): d["a"]
        go(w, w)
        assert len(made) == 1
    """,
    "unbound methods": """
        cell = [0]
        def w():
            v = cell.__getitem__(0)
            list.__setitem__(cell, 0, v + 1)
        go(w, w)
        assert cell[0] == 2
    """,
    "attributes of an exception": """
        e = ValueError("x")
        e.n = 0
        def w():
            e.n = e.n + 1
        go(w, w)
        assert e.n == 2
    """,
    "a file by its path": """
        import pathlib
        p = pathlib.Path("n.txt")
        p.write_text("0")
        def w():
            p.write_text(str(int(p.read_text()) + 1))
        go(w, w)
        assert p.read_text() == "2"
    """,
    "an open file": """
        f = open("out.txt", "w")
        def a(): f.write("a")
        def b(): f.write("b")
        go(a, b)
        f.close()
        assert open("out.txt").read() == "ab"
    """,
    "a frozen dataclass that is changed": """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class S:
            n: int = 0
        s = S()
        def w():
            object.__setattr__(s, "n", s.n + 1)
        go(w, w)
        assert s.n == 2
    """,
    "a generator": """
        total = 0
        def gen():
            for i in range(2):
                yield i
        g = gen()
        seen = []
        def w():
            global total
            for x in g:
                total = total + 1
        go(w, w)
        assert total == 2
    """,
    "a variable of a library": """
        import string as s
        s.counter = 0
        def w():
            s.counter = s.counter + 1
        go(w, w)
        assert s.counter == 2
    """,
    "StringIO": """
        import io
        f = io.StringIO()
        def a(): f.write("a")
        def b(): f.write("b")
        go(a, b)
        assert f.getvalue() == "ab"
    """,
    "an iterator in two loops": """
        it = iter([1, 2, 3])
        got = {"a": [], "b": []}
        def a():
            for x in it: got["a"].append(x)
        def b():
            for x in it: got["b"].append(x)
        go(a, b)
        assert not got["b"]
    """,
    "itertools.count": """
        import itertools
        c = itertools.count()
        seen = {}
        def w():
            seen[threading.current_thread().name] = next(c)
        a = threading.Thread(target=w, name="a"); b = threading.Thread(target=w, name="b")
        a.start(); b.start(); a.join(); b.join()
        assert seen["a"] == 0
    """,
    "an object of a library": """
        import decimal
        import argparse
        ns = argparse.Namespace(n=0)
        def w(): ns.n = ns.n + 1
        go(w, w)
        assert ns.n == 2
    """,
    "methods of a library's object": """
        import configparser
        c = configparser.ConfigParser()
        c["x"] = {"n": "0"}
        def w():
            c.set("x", "n", str(c.getint("x", "n") + 1))
        go(w, w)
        assert c.getint("x", "n") == 2
    """,
    "_thread.allocate_lock": """
        import _thread
        l = _thread.allocate_lock()
        seen = []
        def a():
            with l: seen.append(1)
        def b():
            with l: seen.append(2)
        go(a, b)
        assert seen == [1, 2]
    """,
    "a deadlock of _thread's locks": """
        import _thread
        l, m = _thread.allocate_lock(), _thread.allocate_lock()
        def a():
            with l:
                with m: pass
        def b():
            with m:
                with l: pass
        go(a, b)
    """,
    "lru_cache": """
        import functools
        made = []
        @functools.lru_cache(maxsize=None)
        def f(x):
            made.append(x)
            return x
        def w():
            f(1)
        go(w, w)
        assert made == [1]
    """,
    "a class pattern": """
        class P:
            __match_args__ = ("x",)
            def __init__(self): self.x = 0
        p = P()
        made = []
        def w():
            match p:
                case P(0):
                    p.x = 1
                    made.append(1)
        go(w, w)
        assert len(made) == 1
    """,
    "a mapping pattern": """
        l = {"a": 0}
        made = []
        def w():
            match l:
                case {"a": 0}:
                    l["a"] = 1
                    made.append(1)
        go(w, w)
        assert len(made) == 1
    """,
    "a sequence pattern": """
        l = [0]
        made = []
        def w():
            match l:
                case [0]:
                    l[0] = 1
                    made.append(1)
        go(w, w)
        assert len(made) == 1
    """,
    "memoryview": """
        b_ = bytearray(1)
        m = memoryview(b_)
        def w():
            m[0] = m[0] + 1
        go(w, w)
        assert b_[0] == 2
    """,
    "methodcaller": """
        import operator
        l = []
        put = operator.methodcaller("append", 1)
        def w():
            n = len(l)
            put(l)
            assert len(l) == n + 1
        go(w, w)
    """,
    "a value that processes could share": """
        import multiprocessing
        v = multiprocessing.Value("i", 0)
        def w(): v.value = v.value + 1
        go(w, w)
        assert v.value == 2
    """,
    "object.__setattr__": """
        class S: pass
        s = S(); s.n = 0
        def w():
            v = object.__getattribute__(s, "n")
            object.__setattr__(s, "n", v + 1)
        go(w, w)
        assert s.n == 2
    """,
    "os.environ": """
        import os
        os.environ["N"] = "0"
        def w():
            os.environ["N"] = str(int(os.environ["N"]) + 1)
        go(w, w)
        assert os.environ["N"] == "2"
    """,
    "a pipe": """
        import os
        r, w = os.pipe()
        def a(): os.write(w, b"1")
        def b(): os.write(w, b"2")
        go(a, b)
        assert os.read(r, 2) == b"12"
    """,
    "a bound method as the work of a pool": """
        from concurrent.futures import ThreadPoolExecutor
        seen = []
        with ThreadPoolExecutor(2) as p:
            list(p.map(seen.append, [1, 2]))
        assert seen == [1, 2]
    """,
    "print into a file": """
        import io, contextlib
        out = io.StringIO()
        def a(): print("a", file=out)
        def b(): print("b", file=out)
        go(a, b)
        assert out.getvalue().split() == ["a", "b"]
    """,
    "property of lambdas": """
        class S:
            def __init__(self): self._n = 0
            n = property(lambda self: self._n, lambda self, v: setattr(self, "_n", v))
        s = S()
        def w(): s.n += 1
        go(w, w)
        assert s.n == 2
    """,
    "a random generator": """
        import random
        r = random.Random(1)
        first = random.Random(1).random()
        seen = {}
        def a(): seen["a"] = r.random()
        def b(): seen["b"] = r.random()
        go(a, b)
        assert seen["a"] == first
    """,
    "select": """
        import os, select
        r, w = os.pipe()
        seen = []
        def a(): os.write(w, b"1")
        def b(): seen.append(select.select([r], [], [], 0)[0])
        go(a, b)
        assert seen[0]
    """,
    "sqlite3": """
        import sqlite3
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.execute("create table t (n int)"); db.execute("insert into t values (0)")
        def w():
            n = db.execute("select n from t").fetchone()[0]
            db.execute("update t set n = ?", (n + 1,))
        go(w, w)
        assert db.execute("select n from t").fetchone()[0] == 2
    """,
    "BytesIO": r"""
        import io
        b_ = io.BytesIO(b"\0")
        def w():
            b_.seek(0); v = b_.read(1)[0]
            b_.seek(0); b_.write(bytes([v + 1]))
        go(w, w)
        assert b_.getvalue() == b"\2"
    """,
    "a bound method as the target of a thread": """
        l = []
        a = threading.Thread(target=l.append, args=(1,)); b = threading.Thread(target=l.append, args=(2,))
        a.start(); b.start(); a.join(); b.join()
        assert l == [1, 2]
    """,
    "a bound method of a timer": """
        l = []
        a = threading.Timer(1, l.append, (1,)); b = threading.Timer(1, l.append, (2,))
        a.start(); b.start(); a.join(); b.join()
        assert l == [1, 2]
    """,
    "UserDict": """
        import collections
        d = collections.UserDict()
        d["a"] = 0
        def w(): d["a"] = d["a"] + 1
        go(w, w)
        assert d["a"] == 2
    """,
    "WeakKeyDictionary": """
        import weakref
        class K: pass
        k = K()
        d = weakref.WeakKeyDictionary()
        d[k] = 0
        def w():
            d[k] = d[k] + 1
        go(w, w)
        assert d[k] == 2
    """,
    "an element of XML": """
        import xml.etree.ElementTree as E
        e = E.Element("a"); e.set("n", "0")
        def w(): e.set("n", str(int(e.get("n")) + 1))
        go(w, w)
        assert e.get("n") == "2"
    """,
    "a subclass of list": """
        class L(list):
            total = 0
            def append(self, x):
                self.total = self.total + x
                super().append(x)
        l = L()
        def w(): l.append(1)
        go(w, w)
        assert l.total == 2
    """,
    "_thread.start_new_thread": """
        import _thread
        n = 0
        done = []
        def w():
            global n
            n = n + 1
            done.append(1)
        _thread.start_new_thread(w, ())
        n = n + 1
        while not done: time.sleep(0.01)
        assert n == 2
    """,
    "exception() of a task": """
        import asyncio
        async def main():
            async def a():
                return 1
            t = asyncio.create_task(a())
            async def b():
                try: t.exception()
                except asyncio.InvalidStateError: return "early"
                return "late"
            assert await b() == "late" or True
            r = await asyncio.gather(b(), t)
            assert r[0] == "early"
        asyncio.run(main())
    """,
    "a generator that runs already": """
        lock = threading.Lock()
        def gen():
            while True:
                with lock:
                    pass
                yield 1
        g = gen()
        def w():
            next(g)
        go(w, w)
    """,
    "cancelled() of a task": """
        import asyncio
        async def main():
            async def a():
                await asyncio.sleep(10)
            t = asyncio.create_task(a())
            seen = []
            async def b(): t.cancel()
            async def c():
                await asyncio.sleep(0)
                seen.append(t.cancelled())
            await asyncio.gather(b(), c())
            assert seen == [True]
        asyncio.run(main())
    """,
    "iter": """
        it = iter([1, 2])
        def a():
            next(it)
        def b():
            x = next(it)
            assert x == 2
        go(b, a)
    """,
    "itertools.cycle": """
        import itertools
        c = itertools.cycle([1, 2])
        seen = []
        def a():
            seen.append(next(c))
        def b():
            x = next(c)
            assert x == 2
        go(b, a)
    """,
    "cache_info": """
        import functools
        @functools.lru_cache(maxsize=None)
        def f(x):
            return x
        seen = []
        def a():
            f(1)
        def b():
            seen.append(f.cache_info().currsize)
        go(b, a)
        assert seen == [1]
    """,
    "a special method as key": """
        w_ = {1: 1, 2: 2}
        def a():
            w_[1] = 3
        def b():
            assert max([1, 2], key=w_.__getitem__) == 2
        go(b, a)
    """,
    "MappingProxyType": """
        import types
        d = {"n": 0}
        m = types.MappingProxyType(d)
        def a(): d["n"] = 1
        def b(): assert m["n"] == 0
        go(b, a)
    """,
    "ChainMap": """
        import collections
        base = {"a": 0}
        d = collections.ChainMap({}, base)
        def a():
            base["a"] = 1
        def b():
            assert d["a"] == 0
        go(b, a)
    """,
    "Counter.total": """
        import collections
        c = collections.Counter()
        def a():
            c.update("aa")
        def b():
            assert c.total() == 2
        go(b, a)
    """,
    "map, used later": """
        l = [1, 2]
        def a():
            m = map(str, l)
            with lock: pass
            assert ",".join(m) == "1,2"
        lock = threading.Lock()
        def b():
            with lock: pass
            l.append(3)
            with lock: pass
        go(b, a)
    """,
    "zip, used later": """
        l = [1, 2]
        def a():
            z = zip(l, l)
            time.sleep(1)
            assert len(list(z)) == 2
        def b():
            l.append(3)
        go(b, a)
    """,
    "reversed": """
        l = [1, 2]
        def a():
            s = []
            for x in reversed(l):
                s.append(x)
            assert s == [2, 1]
        def b():
            l[0] = 5
        go(b, a)
    """,
    "repr of nested values": """
        d = {"a": {"n": 0}}
        def a(): d["a"]["n"] = 1
        def b():
            assert repr(d) == "{'a': {'n': 0}}"
        go(b, a)
    """,
    "equality of nested values": """
        d = {"a": {"n": 0}}
        def a(): d["a"]["n"] = 1
        def b():
            assert d == {"a": {"n": 0}}
        go(b, a)
    """,
    "repr of a dataclass inside": """
        import dataclasses
        @dataclasses.dataclass
        class S:
            n: int = 0
        l = [S()]
        def a(): l[0].n = 1
        def b(): assert repr(l) == "[S(n=0)]"
        go(b, a)
    """,
    "asdict": """
        import dataclasses
        @dataclasses.dataclass
        class S:
            n: int = 0
        s = S()
        def a(): s.n = 1
        def b(): assert dataclasses.asdict(s) == {"n": 0}
        go(b, a)
    """,
    "pickle": """
        import pickle
        class S: pass
        s = S(); s.n = 0
        def a(): s.n = 1
        def b(): assert pickle.loads(pickle.dumps(s)).n == 0
        go(b, a)
    """,
    "copy of an object": """
        import copy
        class S: pass
        s = S(); s.n = 0
        def a(): s.n = 1
        def b(): assert copy.copy(s).n == 0
        go(b, a)
    """,
    "format": """
        d = {"n": 0}
        def a():
            d["n"] = 1
        def b():
            assert "{0[n]}".format(d) == "0"
        go(b, a)
    """,
    "%": """
        d = {"n": 0}
        def a():
            d["n"] = 1
        def b():
            assert "%(n)s" % d == "0"
        go(b, a)
    """,
    "a bound method as key": """
        w_ = {1: 1, 2: 2}
        def a():
            w_[1] = 3
        def b():
            assert sorted([1, 2], key=w_.get) == [1, 2]
        go(b, a)
    """,
    "rotate": """
        from collections import deque
        d = deque([1, 2, 3])
        def a():
            d.rotate(1)
        def b():
            assert d[0] == 1
        go(b, a)
    """,
    "issubset": """
        s = set()
        def a():
            s.add(1)
        def b():
            assert s.issubset({2})
        go(b, a)
    """,
    "__del__": """
        n = []
        class D:
            def __del__(self): n.append(1)
        box = [D()]
        def a(): box.clear()
        def b(): assert not n
        go(b, a)
    """,
    "the inside of a queue": """
        q = queue.Queue()
        q.put(1)
        def a():
            assert len(q.queue) == 1
        def b():
            q.get()
        go(b, a)
    """,
}


def explored(folder: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> Exploration:
    monkeypatch.chdir(folder)
    (folder / "program.py").write_text(GO + textwrap.dedent(source))
    with script(("program.py",)) as program:
        return explore(program, Options(minimise=0, seconds=30))


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = explored(tmp_path, FOUND[name], monkeypatch)
    assert found.holds is False, (found.executions, found.open)


CACHED = """
    import functools
    made = []
    class S:
        @functools.cached_property
        def x(self):
            made.append(1)
            return len(made)
    s = S()
    go(lambda: s.x, lambda: s.x)
    assert len(made) == 1
"""


def test_a_cached_property_is_computed_twice_unless_it_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert explored(tmp_path, CACHED, monkeypatch).holds is (sys.version_info < (3, 12))


PROXY = """
    from xmlrpc.client import _Method
    n = 0
    def add(name, given):
        global n
        n = n + given[0]
    ask = _Method(add, "a")
    go(lambda: ask.b(1), lambda: ask.c.d(1))
    assert n == 2
"""


def test_a_proxy_that_has_whatever_it_is_asked_for_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = explored(tmp_path, PROXY, monkeypatch)
    assert found.failure is not None and found.failure.kind == "assertion"
