"""Places of Python read in contexts of the language: programs whose verdicts are known by construction.

A place holds 0 and is changed once to 1. A context reads it and says what it saw. Three programs are made of
each pair: one task looks while another changes (some order shows the new value), two tasks look and change if
they saw the old value (both may), and the same under a lock (never both).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.control.runtime.contexts import CONTEXTS

__all__ = ["CONTEXTS", "PLACES", "plain", "program"]


class Place(NamedTuple):
    """Something that can be read and changed."""

    state: str
    read: str
    change: str
    is_kept: bool = True
    """It stays changed, and reading it changes nothing."""


def _plain(state: str, read: str, change: str) -> Place:
    return Place(state, read, change)


def _once(state: str, read: str, change: str) -> Place:
    return Place(state, read, change, False)


_O = "class A:\n    x = 0\nclass B(A): pass\no = B()\n"
_M = "class M(type):\n    x = 0\nclass A(metaclass=M): pass\n"
PLACES: dict[str, Place] = {
    "global": _plain("x = 0", "x", "global x\nx = 1"),
    "global by globals()": _plain("x = 0", "globals()['x']", "global x\nx = 1"),
    "global changed by globals()": _plain("x = 0", "x", "globals()['x'] = 1"),
    "global by its module": _plain(
        "import types\nme = types.ModuleType('me')\n"
        "exec('x = 0\\ndef put():\\n    global x\\n    x = 1', me.__dict__)",
        "me.x",
        "me.put()",
    ),
    "attribute": _plain("class A: pass\no = A()\no.x = 0", "o.x", "o.x = 1"),
    "class attribute through an instance": _plain(_O, "o.x", "A.x = 1"),
    "class attribute through a subclass": _plain(_O, "B.x", "A.x = 1"),
    "class attribute hidden by an instance": _plain(_O, "o.x", "o.x = 1"),
    "class attribute hidden by a subclass": _plain(_O, "o.x", "B.x = 1"),
    "class attribute": _plain(_O, "A.x", "A.x = 1"),
    "class attribute by type()": _plain(_O, "type(o).x", "A.x = 1"),
    "class attribute by __class__": _plain(_O, "o.__class__.x", "B.x = 1"),
    "attribute of a metaclass": _plain(_M, "A.x", "M.x = 1"),
    "attribute of a metaclass hidden by a class": _plain(_M, "A.x", "A.x = 1"),
    "attribute by getattr": _plain(_O, "getattr(o, 'x')", "setattr(o, 'x', 1)"),
    "attribute by vars()": _plain("class A: pass\no = A()\no.x = 0", "vars(o)['x']", "o.x = 1"),
    "attribute by __dict__": _plain("class A: pass\no = A()\no.x = 0", "o.x", "o.__dict__['x'] = 1"),
    "attribute by update of __dict__": _plain(
        "class A: pass\no = A()\no.x = 0", "o.x", "vars(o).update(x=1)"
    ),
    "attribute by attrgetter": _plain(
        "import operator\nget = operator.attrgetter('x')\n" + _O, "get(o)", "A.x = 1"
    ),
    "attribute by object.__getattribute__": _plain(
        _O, "object.__getattribute__(o, 'x')", "object.__setattr__(o, 'x', 1)"
    ),
    "slot": _plain("class A:\n    __slots__ = ('x',)\no = A()\no.x = 0", "o.x", "o.x = 1"),
    "slot of a base class": _plain(
        "class A:\n    __slots__ = ('x',)\nclass B(A): pass\no = B()\no.x = 0", "o.x", "o.x = 1"
    ),
    "property": _plain(
        "class A:\n    _x = 0\n    @property\n    def x(self): return self._x\no = A()", "o.x", "o._x = 1"
    ),
    "property that is set": _plain(
        "class A:\n    _x = 0\n    def get(self): return self._x\n    def set(self, v): self._x = v\n"
        "    x = property(get, set)\no = A()",
        "o.x",
        "o.x = 1",
    ),
    "data descriptor": _plain(
        "class D:\n    def __set_name__(self, owner, name): self.n = '_' + name\n"
        "    def __get__(self, o, t): return o.__dict__[self.n]\n"
        "    def __set__(self, o, v): o.__dict__[self.n] = v\nclass A:\n    x = D()\no = A()\no.x = 0",
        "o.x",
        "o.x = 1",
    ),
    "descriptor of a class": _plain(
        "class D:\n    v = 0\n    def __get__(self, o, t): return self.v\nclass A:\n    x = D()\no = A()",
        "o.x",
        "D.v = 1",
    ),
    "__getattr__": _plain(
        "class A:\n    def __init__(self): self.held = {'x': 0}\n"
        "    def __getattr__(self, name): return self.held[name]\no = A()",
        "o.x",
        "o.held['x'] = 1",
    ),
    "__getattr__ hidden by an attribute": _plain(
        "class A:\n    def __getattr__(self, name): return 0\no = A()", "o.x", "o.x = 1"
    ),
    "__getattribute__": _plain(
        "held = [0]\nclass A:\n    def __getattribute__(self, name): return held[0]\no = A()",
        "o.x",
        "held[0] = 1",
    ),
    "item of a list": _plain("L = [0, 5]", "L[0]", "L[0] = 1"),
    "item from the end": _plain("L = [5, 0]", "L[-1]", "L[1] = 1"),
    "item by a slice": _plain("L = [5, 0]", "L[1:][0]", "L[1] = 1"),
    "item changed by a slice": _plain("L = [5, 0]", "L[1]", "L[1:] = [1]"),
    "item by unpacking": _plain("L = [5, 0]", "(lambda a, b: b)(*L)", "L[1] = 1"),
    "item of a nested list": _plain("L = [[0]]", "L[0][0]", "L[0][0] = 1"),
    "nested list replaced": _plain("L = [[0]]", "L[0][0]", "L[0] = [1]"),
    "length of a list": _plain("L = []", "len(L)", "L.append(1)"),
    "item of a dictionary": _plain("d = {'k': 0}", "d['k']", "d['k'] = 1"),
    "equal keys, an integer and a truth value": _plain("d = {1: 0}", "d[1]", "d[True] = 1"),
    "equal keys, a float and an integer": _plain("d = {1: 0}", "d[1.0]", "d[1] = 1"),
    "equal keys, a fraction": _plain(
        "from fractions import Fraction\nd = {1: 0}", "d[Fraction(1)]", "d[1] = 1"
    ),
    "equal keys, a class of one's own": _plain(
        "class K:\n    def __hash__(self): return 1\n    def __eq__(self, other): return True\nd = {1: 0}",
        "d[K()]",
        "d[1] = 1",
    ),
    "equal keys, a subclass of str": _plain("class S(str): pass\nd = {'k': 0}", "d[S('k')]", "d['k'] = 1"),
    "equal keys, tuples": _plain("d = {(1, 2): 0}", "d[1, 2]", "d[True, 2.0] = 1"),
    "equal keys, sets": _plain(
        "d = {frozenset([1, 2]): 0}", "d[frozenset([2, 1])]", "d[frozenset([1, 2])] = 1"
    ),
    "an object as key": _plain("class K: pass\nk = K()\nd = {k: 0}", "d[k]", "d[k] = 1"),
    "a key that is missing": _plain("d = {}", "d.get('k', 0)", "d['k'] = 1"),
    "membership": _plain("s = set()", "int(3 in s)", "s.add(3)"),
    "membership of a list": _plain("L = []", "int(3 in L)", "L.append(3)"),
    "view of values": _plain("d = {'k': 0}\nv = d.values()", "list(v)[0]", "d['k'] = 1"),
    "view of items": _plain("d = {'k': 0}\nv = d.items()", "dict(v)['k']", "d['k'] = 1"),
    "view of keys": _plain("d = {}\nv = d.keys()", "len(v)", "d['k'] = 1"),
    "proxy of a dictionary": _plain(
        "from types import MappingProxyType\nd = {'k': 0}\nv = MappingProxyType(d)", "v['k']", "d['k'] = 1"
    ),
    "defaultdict": _plain(
        "from collections import defaultdict\nd = defaultdict(int)", "d['k']", "d['k'] = 1"
    ),
    "OrderedDict": _plain(
        "from collections import OrderedDict\nd = OrderedDict(k=0, j=1)",
        "list(d).index('k')",
        "d.move_to_end('k')",
    ),
    "Counter": _plain("from collections import Counter\nd = Counter()", "d['k']", "d.update('k')"),
    "ChainMap": _plain(
        "from collections import ChainMap\nc = {'k': 0}\nd = ChainMap({}, c)", "d['k']", "c['k'] = 1"
    ),
    "ChainMap hidden by a map": _plain(
        "from collections import ChainMap\nd = ChainMap({}, {'k': 0})", "d['k']", "d['k'] = 1"
    ),
    "UserDict": _plain(
        "from collections import UserDict\nclass U(UserDict): pass\nd = U(k=0)", "d['k']", "d['k'] = 1"
    ),
    "UserList": _plain("from collections import UserList\nd = UserList([0])", "d[0]", "d[0] = 1"),
    "subclass of dict": _plain("class U(dict): pass\nd = U(k=0)", "d['k']", "d['k'] = 1"),
    "subclass of dict, missing": _plain(
        "class U(dict):\n    def __missing__(self, k): return 0\nd = U()", "d['k']", "d['k'] = 1"
    ),
    "subclass of list": _plain("class U(list): pass\nd = U([0])", "d[0]", "d[0] = 1"),
    "deque": _plain("from collections import deque\nd = deque([0])", "d[0]", "d[0] = 1"),
    "deque rotated": _plain("from collections import deque\nd = deque([0, 1])", "d[0]", "d.rotate(1)"),
    "bytearray": _plain("d = bytearray(1)", "d[0]", "d[0] = 1"),
    "memoryview": _plain("d = bytearray(1)\nv = memoryview(d)", "d[0]", "v[0] = 1"),
    "array": _plain("from array import array\nd = array('i', [0])", "d[0]", "d[0] = 1"),
    "closure": _plain(
        "def outer():\n    x = 0\n    def get(): return x\n    def put():\n        nonlocal x\n"
        "        x = 1\n    return get, put\nget, put = outer()",
        "get()",
        "put()",
    ),
    "closure by its cell": _plain(
        "def outer():\n    x = 0\n    def get(): return x\n    return get\nget = outer()",
        "get()",
        "get.__closure__[0].cell_contents = 1",
    ),
    "attribute of a function": _plain("def f(): pass\nf.x = 0", "f.x", "f.x = 1"),
    "defaults of a function": _plain("def f(x=0): return x", "f()", "f.__defaults__ = (1,)"),
    "code of a function": _plain("def f(): return 0\ndef g(): return 1", "f()", "f.__code__ = g.__code__"),
    "a function replaced": _plain("def f(): return 0", "f()", "global f\nf = lambda: 1"),
    "a method replaced": _plain(
        "class A:\n    def m(self): return 0\no = A()", "o.m()", "A.m = lambda self: 1"
    ),
    "a method hidden": _plain("class A:\n    def m(self): return 0\no = A()", "o.m()", "o.m = lambda: 1"),
    "a class replaced": _plain(
        "class A:\n    def m(self): return 0\nclass B:\n    def m(self): return 1\no = A()",
        "o.m()",
        "o.__class__ = B",
    ),
    "bases replaced": _plain(
        "class P:\n    x = 0\nclass Q:\n    x = 1\nclass A(P): pass\no = A()", "o.x", "A.__bases__ = (Q,)"
    ),
    "field of a dataclass": _plain(
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 0\no = A()", "o.x", "o.x = 1"
    ),
    "field of a dataclass in its text": _plain(
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 0\no = A()",
        "int('1' in repr(o))",
        "o.x = 1",
    ),
    "field of a dataclass compared": _plain(
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 0\no = A()",
        "int(o == A(1))",
        "o.x = 1",
    ),
    "namespace": _plain("from types import SimpleNamespace\no = SimpleNamespace(x=0)", "o.x", "o.x = 1"),
    "attribute of an enumeration's member": _plain(
        "from enum import Enum\nclass E(Enum):\n    a = 1\nE.a.x = 0", "E.a.x", "E.a.x = 1"
    ),
    "attribute of an exception": _plain("o = ValueError()\no.x = 0", "o.x", "o.x = 1"),
    "arguments of an exception": _plain("o = ValueError(0)", "o.args[0]", "o.args = (1,)"),
    "attribute of a partial function": _plain(
        "from functools import partial\no = partial(int)\no.x = 0", "o.x", "o.x = 1"
    ),
    "iterator": _once("it = iter([0, 1, 0, 0, 0])\n", "next(it)", "next(it)"),
    "generator": _once(
        "def numbers():\n    yield 0\n    yield 1\n    yield 0\n    yield 0\n    yield 0\nit = numbers()\n",
        "next(it, 7)",
        "next(it, 7)",
    ),
    "counter of itertools": _once("import itertools\nit = itertools.count()", "min(next(it), 1)", "next(it)"),
    "text in memory": _plain("import io\ns = io.StringIO()", "len(s.getvalue())", "s.write('x')"),
    "text printed into memory": _plain(
        "import io\ns = io.StringIO()", "len(s.getvalue())", "print('', file=s, end='x')"
    ),
    "environment": _plain(
        "import os\nos.environ['POSSIBLY_X'] = '0'",
        "int(os.environ['POSSIBLY_X'])",
        "os.environ['POSSIBLY_X'] = '1'",
    ),
    "weak reference": _plain(
        "import weakref\nclass A: pass\no = A()\nr = weakref.ref(o)", "int(r() is None)", "global o\no = None"
    ),
    "class attribute by super()": _plain(
        "class A:\n    x = 0\nclass B(A):\n    x = 5\no = B()", "super(B, o).x", "A.x = 1"
    ),
    "what an own iterator goes over": _plain(
        "class A:\n    held = [0]\n    def __iter__(self): return iter(self.held)\no = A()",
        "max(o)",
        "o.held.append(1)",
    ),
    "what a key function gives back": _plain(
        "L = [[0], [1]]", "max((0, 1), key=lambda i: (L[1 - i], i))", "L[1][0] = -1"
    ),
    "bytes of a view": _plain("d = bytearray(1)\nv = memoryview(d)", "v.tobytes()[0]", "d[0] = 1"),
    "proxy asked by a method": _plain(
        "from types import MappingProxyType\nd = {'k': 0}\nv = MappingProxyType(d)",
        "v.get('k')",
        "d['k'] = 1",
    ),
    "namespace compared": _plain(
        "from types import SimpleNamespace\no = SimpleNamespace(x=0)",
        "int(o != SimpleNamespace(x=0))",
        "o.x = 1",
    ),
    "text of an exception": _plain("o = ValueError(0)", "int(str(o))", "o.args = (1,)"),
    "context of variables": _plain(
        "import contextvars\nv = contextvars.ContextVar('v')\nc = contextvars.Context()",
        "c.get(v, 0)",
        "c.run(v.set, 1)",
    ),
    "keywords of a partial function": _plain(
        "from functools import partial\no = partial(lambda x: x, x=0)", "o()", "o.keywords['x'] = 1"
    ),
    "a module replaced": _plain(
        "import sys, types\na, b = types.ModuleType('mm'), types.ModuleType('mm')\na.x, b.x = 0, 1\n"
        "sys.modules['mm'] = a",
        "__import__('mm').x",
        "sys.modules['mm'] = b",
    ),
    "weak method": _plain(
        "import weakref\nclass A:\n    def m(self): pass\no = A()\nr = weakref.WeakMethod(o.m)",
        "int(r() is None)",
        "global o\no = None",
    ),
    "weak proxy": _plain("import weakref\n" + _O + "\np = weakref.proxy(o)", "p.x", "o.x = 1"),
    "callback in C of a weak reference": _plain(
        "import weakref\nclass A: pass\no, L = A(), []\nr = weakref.ref(o, L.append)",
        "len(L)",
        "global o\no = None",
    ),
    "weak dictionary": _plain(
        "import weakref\nclass A: pass\no = A()\nd = weakref.WeakValueDictionary(k=o)",
        "(1 - len(d))",
        "global o\no = None",
    ),
    "size of a queue": _plain("import queue\nq = queue.Queue()", "q.qsize()", "q.put(1)"),
    "flag of an event": _plain("import threading\ne = threading.Event()", "int(e.is_set())", "e.set()"),
    "attribute that is deleted": _plain("class A: pass\no = A()\no.x = 0", "getattr(o, 'x', 1)", "del o.x"),
    "item that is deleted": _plain("d = {'k': 0}", "d.get('k', 1)", "del d['k']"),
    "item that is popped": _plain("L = [0]", "(1 - len(L))", "L.pop()"),
    "container that is cleared": _plain("d = {'k': 0}", "int(not d)", "d.clear()"),
    "heap": _plain("import heapq\nh = [5]", "min(h[0] % 5, 1)", "heapq.heappush(h, 1)"),
    "sorted list": _plain("import bisect\nh = [5]", "bisect.bisect(h, 3)", "bisect.insort(h, 2)"),
    "cached property": _once(
        "from functools import cached_property\nclass A:\n    v = 0\n    @cached_property\n"
        "    def x(self): return self.v\no = A()",
        "o.x",
        "A.v = 1",
    ),
    "memo of a function": _once(
        "from functools import lru_cache\nv = 0\n@lru_cache\ndef f(): return v\n", "f()", "global v\nv = 1"
    ),
    "single dispatch": _plain(
        "from functools import singledispatch\n@singledispatch\ndef f(a): return 0\n",
        "f(1)",
        "f.register(int, lambda a: 1)",
    ),
}

HEAD = """
import threading
def run(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads: each.start()
    for each in threads: each.join()
"""


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


def program(place: Place, context: str) -> str:
    """The state, `look(out)` and `change()`."""
    quoted = place.read.replace("'", '"')
    look = _indented(context.format(e=place.read, q=quoted))
    return f"{HEAD}{place.state}\ndef look(out):\n{look}def change():\n{_indented(place.change)}"


def plain(source: str) -> tuple[Any, Any]:
    """What is seen before and after the change."""
    found = []
    for changes in (False, True):
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(source, "<matrix>", "exec", dont_inherit=True), space)  # noqa: S102
        space["change"]() if changes else None
        out: list[Any] = []
        space["look"](out)
        found.append(out)
    return found[0], found[1]


def looking(source: str, old: Any) -> str:
    """Some order shows the new value."""
    return f"{source}seen = []\nrun(lambda: look(seen), change)\nassert seen == {old!r}, seen\n"


def acting(source: str, old: Any, lock: str) -> str:
    """Two tasks look and change: under a lock never both."""
    return f"{source}{_ACTING.format(old=repr(old), lock=lock)}"


_ACTING = """
done, lock0 = [], threading.Lock()
def act():
    out = []
    {lock}
        look(out)
        if out == {old}:
            change()
            done.append(1)
run(act, act)
assert len(done) < 2, done
"""
