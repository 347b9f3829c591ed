"""Plain Python under control does what Python does, and what a step touches is what the interpreter touches.

Each program starts its tasks by `run`. SAME programs hold: without control they do, in every order. FOUND
programs fail in some order of their instructions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

HEAD = """
import threading
def run(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads: each.start()
    for each in threads: each.join()
def nothing(): pass
"""

SAME = {
    "targets are stored in order": """
class Node:
    def __init__(self, next): self.next = next
def reverse(node):
    prev = None
    while node is not None:
        node.next, prev, node = prev, node, node.next
    return prev
run(nothing)
last = reverse(Node(Node(None)))
assert last.next.next is None
a, i = [0, 0, 0], 0
a[i], i = 1, 2
assert a == [1, 0, 0]
""",
    "a descriptor gets its object": """
seen = []
class Field:
    def __get__(self, instance, owner):
        seen.append(instance)
        return 5
class Box:
    field = Field()
box = Box()
run(lambda: box.field)
assert seen == [box]
""",
    "a method that is called sort": """
class Table:
    def sort(self, key): return key
run(nothing)
assert Table().sort(key=3) == 3
""",
    "a function of one's own that is called zip": """
def zip(a, b): return a + b
run(nothing)
assert zip(1, 2) == 3
""",
    "locals": """
def names():
    a = 1
    b = [a]
    return sorted(locals())
run(nothing)
assert names() == ["a", "b"]
""",
    "a generator that is left ends at once": """
out = []
def numbers():
    try: yield 1
    finally: out.append("closed")
run(nothing)
for x in numbers(): break
assert out == ["closed"]
""",
    "what is dropped is gone": """
import weakref
class Box: pass
run(nothing)
box = Box(); box.inner = Box()
ref, inner = weakref.ref(box), weakref.ref(box.inner)
del box
assert ref() is None and inner() is None
""",
    "what a container held is gone with it": """
import weakref
class Box: pass
shared = []
run(lambda: shared.append(1))
held = [Box()]
held.append(2)
ref = weakref.ref(held[0])
del held
assert ref() is None
""",
    "an end is called at its moment": """
log = []
class Box:
    def __del__(self): log.append("gone")
run(nothing)
def use():
    box = Box()
    box.x = 1
use()
log.append("after")
assert log == ["gone", "after"]
""",
    "the tracing marks of an error": """
import traceback
run(nothing)
def f(): return {}["missing"]
try: f()
except KeyError: text = traceback.format_exc()
assert '{}["missing"]' in text and "~~^" in text
""",
    "keys of their own": """
y = {}
def work(i):
    for _ in range(5): y[i] = y.get(i, 0) + 1
run(lambda: work(1), lambda: work(2), lambda: work(3))
assert y == {1: 5, 2: 5, 3: 5}
""",
    "objects that one task alone uses": """
class Box:
    count = 0
    def add(self): self.count = self.count + 1
def work():
    box = Box()
    for _ in range(3): box.add()
    assert box.count == 3
run(work, work)
""",
}

FOUND = {
    "a class attribute through an instance": """
class Conn:
    open = 0
    def __init__(self):
        if self.open < 1: Conn.open += 1
run(Conn, Conn)
assert Conn.open == 1
""",
    "a class attribute through a subclass": """
class A: n = 0
class B(A): pass
def bump(): A.n = B.n + 1
run(bump, bump)
assert A.n == 2
""",
    "a class attribute through super": """
class A: n = 0
class B(A):
    def bump(self): A.n = super().n + 1
run(B().bump, B().bump)
assert A.n == 2
""",
    "a class attribute through cls": """
class A:
    n = 0
    @classmethod
    def bump(cls): A.n = cls.n + 1
run(A.bump, A.bump)
assert A.n == 2
""",
    "an attribute of a metaclass": """
class M(type): n = 0
class A(metaclass=M): pass
def bump(): M.n = A.n + 1
run(bump, bump)
assert M.n == 2
""",
    "an attribute that holds a function": """
class Config:
    handler = None
seen = []
def set_it(): Config.handler = print
run(set_it, lambda: seen.append(Config.handler))
assert seen == [None]
""",
    "a method that is replaced": """
class C:
    def m(self): return 1
seen, c = [], C()
def two(self): return 2
def swap(): C.m = two
run(swap, lambda: seen.append(c.m()))
assert seen == [1]
""",
    "a class that is changed": """
class A:
    def m(self): return 1
class B:
    def m(self): return 2
o, seen = A(), []
def swap(): o.__class__ = B
run(swap, lambda: seen.append(o.m()))
assert seen == [1]
""",
    "a global function that is replaced": """
def f(): return 1
seen = []
def swap():
    global f
    f = lambda: 2
run(swap, lambda: seen.append(f()))
assert seen == [1]
""",
    "a list that is sorted with a key": """
L, seen = [3, 1, 2], []
run(lambda: L.sort(key=lambda x: x), lambda: seen.append(len(L)))
assert seen == [3]
""",
    "a comparison of one's own in a sort": """
class V:
    def __init__(self, n): self.n = n
    def __lt__(self, other): return self.n < other.n
L, seen = [V(2), V(1)], []
run(L.sort, lambda: seen.append(len(L)))
assert seen == [2]
""",
    "an equality of one's own in a membership": """
class V:
    def __eq__(self, other): return True
L, seen = [V()], []
run(lambda: seen.append(V() in L), L.clear)
assert seen == [True]
""",
    "a list that grows by a generator": """
L, seen = [], []
def items():
    yield 1
    yield 2
run(lambda: L.extend(items()), lambda: seen.append(len(L)))
assert seen != [1]
""",
    "the greatest by a key": """
L, seen = [1, 2, 3], []
run(lambda: seen.append(max(L, key=lambda x: x)), lambda: L.append(9))
assert seen == [3]
""",
    "the truth of what a function gives": """
L, seen = [], []
def items(): return L
def look():
    if items(): seen.append(1)
run(lambda: L.append(1), look)
assert seen == [1]
""",
    "the truth of what is named on the way": """
L, seen = [], []
def look():
    if (y := L): seen.append(1)
run(lambda: L.append(1), look)
assert seen == [1]
""",
    "a text made of a container": """
d, seen = {}, []
run(lambda: seen.append(f"{d.items()}"), lambda: d.update(a=1))
assert "a" not in seen[0]
""",
    "a dictionary that is spread": """
d, seen = {}, []
def put(): d["a"] = 1
run(lambda: seen.append({**d}), put)
assert seen == [{}]
""",
    "a generator that hands on": """
d, seen = [], []
def each(): yield from d
run(lambda: seen.append(list(each())), lambda: d.append(1))
assert seen == [[]]
""",
    "pairs that are taken apart": """
pairs, seen = [[1, 2]], []
def look():
    for a, b in pairs: seen.append(b)
def change(): pairs[0][1] = 3
run(look, change)
assert seen == [2]
""",
    "the default of a lambda": """
class Box: x = 0
box, seen = Box(), []
def make():
    f = lambda a=box.x: a
    seen.append(f())
def change(): box.x = 1
run(make, change)
assert seen == [0]
""",
    "the keyword of a class": """
class Base:
    def __init_subclass__(cls, k): seen.append(k)
class Box: x = 0
box, seen = Box(), []
def make():
    class Sub(Base, k=box.x): pass
def change(): box.x = 1
run(make, change)
assert seen == [0]
""",
    "the body of a class": """
class Box: x = 0
box, seen = Box(), []
def make():
    class Sub:
        y = box.x
    seen.append(Sub.y)
def change(): box.x = 1
run(make, change)
assert seen == [0]
""",
    "a decorator": """
class Box: pass
box, seen = Box(), []
box.x = lambda f: 0
def make():
    @box.x
    def g(): pass
    seen.append(g)
def change(): box.x = lambda f: 1
run(make, change)
assert seen == [0]
""",
    "a value in a pattern": """
class Config: limit = 1
seen = []
def look():
    match 1:
        case Config.limit: seen.append("limit")
        case _: seen.append("other")
def change(): Config.limit = 2
run(look, change)
assert seen == ["limit"]
""",
    "the error that is caught": """
Error = ValueError
seen = []
def look():
    try: raise ValueError
    except Error: seen.append("caught")
    except Exception: seen.append("other")
def change():
    global Error
    Error = KeyError
run(look, change)
assert seen == ["caught"]
""",
    "two attributes that are deleted": """
class Box: pass
o, seen = Box(), []
o.x, o.y = 1, 2
def drop(): del (o.x, o.y)
run(drop, lambda: seen.append(hasattr(o, "y")))
assert seen == [True]
""",
    "a variable of an enclosing function": """
def outer():
    seen = []
    def put():
        nonlocal value
        value = 1
    def look():
        try: seen.append(value)
        except NameError: seen.append(None)
    run(put, look)
    return seen
    value = 0
assert outer() == [1]
""",
    "a dataclass as a key": """
import dataclasses
@dataclasses.dataclass(unsafe_hash=True)
class Key: n: int
key, seen = Key(1), []
d = {Key(1): "one"}
def change(): key.n = 2
run(lambda: seen.append(d.get(key)), change)
assert seen == ["one"]
""",
    "a list that grows after its right side": """
L = [0]
def add():
    global L
    L = L + [len(L)]
run(add, add)
assert len(L) == 3
""",
    "keys that are equal": """
d, seen = {1: 0}, []
def put(): d[True] = 5
run(put, lambda: seen.append(d[1.0]))
assert seen == [0]
""",
    "attributes as a dictionary": """
class Box: pass
o = Box(); o.x = 0
def bump(): vars(o)["x"] = o.x + 1
run(bump, bump)
assert o.x == 2
""",
    "the dictionary of an object": """
class Box: pass
o = Box(); o.x = 0
def bump(): o.__dict__["x"] = o.x + 1
run(bump, bump)
assert o.x == 2
""",
    "globals": """
n = 0
def bump():
    global n
    n = globals()["n"] + 1
run(bump, bump)
assert n == 2
""",
    "setattr as the target of a thread": """
class O: x = 0
o, seen = O(), []
a = threading.Thread(target=setattr, args=(o, "x", 1)); b = threading.Thread(target=lambda: seen.append(o.x))
a.start(); b.start(); a.join(); b.join()
assert seen == [1]
""",
    "a method of a list as the work of a pool": """
from concurrent.futures import ThreadPoolExecutor
L = []
with ThreadPoolExecutor(2) as pool:
    a = pool.submit(L.append, 1); b = pool.submit(L.append, 2)
assert L == [1, 2]
""",
    "a partial function": """
from functools import partial
class O: x = 0
o, seen = O(), []
run(partial(setattr, o, "x", 1), lambda: seen.append(o.x))
assert seen == [1]
""",
    "a function of C that others call": """
class O: x = 0
o, seen = O(), []
run(lambda: list(map(setattr, [o], ["x"], [1])), lambda: seen.append(o.x))
assert seen == [1]
""",
    "a key that gets attributes": """
import operator
class O:
    def __init__(self, n): self.n = n
L, seen = [O(1), O(2)], []
def change(): L[0].n = 3
run(lambda: seen.append(max(L, key=operator.attrgetter("n")).n), change)
assert seen == [2]
""",
    "an attribute of a partial function": """
from functools import partial
f, seen = partial(print), []
f.n = 0
def bump(): f.n = f.n + 1
run(bump, bump)
assert f.n == 2
""",
    "an attribute of an event": """
e = threading.Event()
e.n = 0
def bump(): e.n = e.n + 1
run(bump, bump)
assert e.n == 2
""",
    "a dictionary of a user's class": """
from collections import UserDict
class Table(UserDict): pass
t = Table(n=0)
def bump(): t["n"] = t["n"] + 1
run(bump, bump)
assert t["n"] == 2
""",
    "a weak reference": """
import weakref
class Box: pass
box = Box()
ref, seen = weakref.ref(box), []
def drop():
    global box
    box = None
run(drop, lambda: seen.append(ref() is None))
assert seen == [False]
""",
    "an end that others see": """
log = []
class Box:
    def __del__(self): log.append("gone")
box, seen = Box(), []
def drop():
    global box
    box = None
run(drop, lambda: seen.append(len(log)))
assert seen == [0]
""",
    "a generator that two threads use": """
def numbers():
    yield 1
    yield 2
it, errors = numbers(), []
def step():
    try: next(it)
    except ValueError as error: errors.append(error)
run(step, step)
assert not errors
""",
    "a default dictionary with a function": """
from collections import defaultdict
def fresh(): return []
d = defaultdict(fresh)
def add(): d["a"].append(1)
run(add, add)
assert len(d["a"]) == 2
""",
}


def judged(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> bool | None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + source)
    monkeypatch.chdir(tmp_path)
    with script((str(path),)) as program:
        found = explore(program, Options(executions=500, minimise=0))
        failure = found.failure.execution.failure if found.failure is not None else None
        assert failure is None or "AssertionError" in str(failure), failure
        return found.holds


@pytest.mark.parametrize("name", SAME)
def test_it_does_what_it_does_without_control(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judged(tmp_path, SAME[name], monkeypatch) is True


@pytest.mark.parametrize("name", FOUND)
def test_the_order_that_fails_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(tmp_path, FOUND[name], monkeypatch) is False
