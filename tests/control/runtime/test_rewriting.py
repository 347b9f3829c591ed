"""A rewritten program does what it did before: its output is that of the plain interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.control.runtime.running import once

PROGRAMS = {
    "assignments": """
a = b = [1, 2]
a, (c, *d) = 1, (2, 3, 4)
[e, f] = {5: 1, 6: 2}
b[0], b[1] = b[1], b[0]
b[1:] = [7, 8]
b[0] += 5
x: int = 3
y: list = [*b, *d]
(z := 4)
print(a, b, c, d, e, f, x, y, z)
""",
    "order of evaluation": """
log = []
def say(x):
    log.append(x)
    return x
d = {}
def holder():
    log.append("holder")
    return d
holder()[say("key")] = say("value")
holder()[say("key")] += say("!")
print(log, d)
""",
    "classes": """
class Base:
    count = 0
    __private = 1
    def __init__(self):
        self.__secret = 2
        Base.count += 1
        self.items = []
    @property
    def twice(self):
        return self.__secret * 2
    @twice.setter
    def twice(self, value):
        self.__secret = value // 2
    @classmethod
    def make(cls): return cls()
    @staticmethod
    def plain(x): return x + 1
    def __getattr__(self, name): return f"no {name}"
class Sub(Base):
    __slots__ = ("slot",)
    def __init__(self):
        super().__init__()
        self.slot = 9
        del self.items
s = Sub.make()
s.twice = 10
s.twice += 2
print(s.twice, s.slot, s.items, Base.count, Sub.plain(1), s._Base__private, sorted(vars(s)))
""",
    "functions": """
def outer():
    n = 0
    def inner(k=2, *rest, key=None, **more):
        nonlocal n
        n += k
        return (n, rest, key, more)
    return inner
f = outer()
print(f(), f(3, 4, key=5, other=6), f(*[1], **{"key": 2}))
g = lambda x, y=f: (x, y(1)[0])
print(g(1))
def generator(limit):
    while limit:
        received = yield limit
        limit = limit - 1 if received is None else received
it = generator(3)
print(next(it), it.send(2), list(it))
""",
    "comprehensions": """
x = 10
xs = [x for x in range(3) if x]
print(x, xs, {k: v for k, v in zip("ab", xs)}, {y for y in xs})
print(sum(z for z in xs), [[i * j for j in xs] for i in xs])
class A:
    ys = [1, 2]
    zs = [y + 1 for y in ys]
print(A.zs, any(n > 1 for n in A.ys))
""",
    "flow": """
import contextlib
@contextlib.contextmanager
def opened(name):
    yield name.upper()
for i, (a, b) in enumerate([(1, 2), (3, 4)]):
    with opened("x") as letter, opened("y"):
        try:
            if a == 3: raise ValueError(letter)
        except ValueError as error:
            print("caught", error)
        else:
            print("fine", i, a, b)
        finally:
            print("done")
else:
    print("over")
n = 0
while n < 3:
    n += 1
    if n == 2: continue
else:
    print(n)
match {"k": [1, 2, 3]}:
    case {"k": [first, *rest]} if rest:
        print(first, rest)
""",
    "containers": """
from collections import Counter, OrderedDict, defaultdict, deque
import heapq
q = deque([1, 2], maxlen=3); q.append(3); q.appendleft(0); q.rotate(1)
d = defaultdict(list); d["a"].append(1); d["b"]
c = Counter("abca"); c.update("a")
s = {3, 1}; s.add(2); s.discard(9); s |= {7}
h = [5, 3]; heapq.heapify(h); heapq.heappush(h, 1)
o = OrderedDict(a=1); o.move_to_end("a"); o.setdefault("z", []).append(4)
print(list(q), dict(d), c.most_common(1), sorted(s), h, o, 1 in s, "a" not in d, d.get("x", 5), len(q))
del d["b"], h[0]
print(list(d.items()), h, -1 in h, h[-1], h[::-1], f"{h!r:>10} {len(h)=}", not [], [] or h, 1 < h[0] < 9)
ba = bytearray(b"ab"); ba[0] = 99; print(ba, ba[0])
""",
    "async": """
import asyncio
class Manager:
    async def __aenter__(self): return 5
    async def __aexit__(self, *e): return False
async def numbers():
    for n in range(3):
        await asyncio.sleep(0)
        yield n
async def main():
    async with Manager() as m:
        found = [n async for n in numbers()]
        async for n in numbers():
            m += n
    return m, found, await asyncio.wait_for(asyncio.sleep(0.01, "slept"), 5)
print(asyncio.run(main()))
""",
    "dataclasses": """
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple
@dataclass
class P:
    x: int
    ys: list = field(default_factory=list)
class C(Enum):
    RED = 1
class T(NamedTuple):
    a: int
    b: int = 2
p = P(1); p.ys.append(2); p.x += 1
t = T(1)._replace(b=3)
print(p, C.RED.name, C(1) is C.RED, t, t.b, t[0])
""",
    "globals": """
import sys, os.path as path
total = 0
def add(n):
    global total, late
    total += n
    late = total * 2
for _ in range(3): add(_)
print(total, late, path.join("a", "b"), __name__, sys.argv[1:], "total" in globals())
del late
try: late
except NameError: print("gone")
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_output_is_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name])
    plain = subprocess.run([sys.executable, str(path), "one"], capture_output=True, check=True)
    # A thread in the program makes every access one that others might see.
    threaded = "import threading as _t\n_s = _t.Event()\n_w = _t.Thread(target=_s.wait)\n_w.start()\n"
    for source in (PROGRAMS[name], f"{threaded}{PROGRAMS[name]}\n_s.set()\n_w.join()\n"):
        execution = once(tmp_path, source, "one")
        assert execution.failure is None
        assert execution.output == plain.stdout
