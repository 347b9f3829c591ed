"""What tasks do not share, or only look at, costs no executions; and what they share is still found.

Programs stand in pairs. The first of each only seems to share something: all its orders are covered by a few
executions, those included that begin the search anew. The second one shares it, and fails in some order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

HEAD = """
import threading
def run(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads: each.start()
    for each in threads: each.join()
"""
APART = {
    "a dictionary by classes": """
kinds = {int: 1, str: 2}
def t(): assert kinds.get(int) == 1 and kinds[str] == 2 and float not in kinds
run(t, t, t)
""",
    "a long list": """
numbers = list(range(100))
def t(): assert sum(numbers) == 4950 and 7 in numbers
run(t, t)
""",
    "a long dictionary with keys of one's own": """
table = {number: 0 for number in range(80)}
def t(begin):
    table[begin] += 1
    table[begin + 1] += 1
run(lambda: t(1), lambda: t(3))
assert sum(table.values()) == 4
""",
    "keyword arguments": """
def f(**options):
    options.setdefault('x', 1)
    options['x'] += 1
    def inner(): return options
    return inner()
def t(): assert f(a=1)['x'] == 2
run(t, t)
""",
    "what operators and slices make": """
base, few = [1, 2], {1, 2}
def t(i):
    a = base + [i]
    a.append(i)
    b = base[:]
    b.append(i)
    c = few - {1}
    c.add(i)
    assert (a, b, c) == ([1, 2, i, i], [1, 2, i], {2, i})
run(lambda: t(3), lambda: t(4))
""",
    "what is inside the result of a call": """
import ast
def t(i):
    found = ast.literal_eval('{"a": [1, {"b": 2}]}')
    found["a"][1]["b"] += i
    found["a"].append(i)
    assert found == {"a": [1, {"b": 2 + i}, i]}
run(lambda: t(3), lambda: t(4))
""",
    "the attributes of a class gone through": """
class Base:
    one, two = 1, 2
    def __init__(self):
        for name, value in type(self).__dict__.items():
            if value == 2: self.found = name
def t(): assert Base().found == 'two'
run(t, t)
""",
    "methods that only look, called by map": """
allowed = {'a', 'b'}
def t(): assert all(map(allowed.__contains__, 'ab')) and list(map({'a': 1}.get, 'a')) == [1]
run(t, t)
""",
    "a proxy of something of one's own": """
from functools import partial
class Hand:
    def __init__(self, function): self.function = function
    def __get__(self, proxy, owner): return partial(self.function, here.object)
class Proxy:
    __setattr__, __getattr__, __delattr__ = Hand(setattr), Hand(getattr), Hand(delattr)
class Object: pass
here, proxy = threading.local(), Proxy()
def t(i):
    here.object = Object()
    proxy.n = i
    proxy.n += 1
    assert proxy.n == i + 1
run(lambda: t(1), lambda: t(2))
""",
    "a store by code that stores elsewhere": """
here = threading.local()
class Mine:
    def __setattr__(self, name, value): setattr(here, name, value)
    def __getattr__(self, name): return getattr(here, name)
mine = Mine()
def t(i):
    mine.n = i
    mine.n += 1
    assert mine.n == i + 1
run(lambda: t(1), lambda: t(2))
""",
    "a library's own table": """
import copy
def t(): assert copy.copy([1]) == [1] and copy.copy({1: 2}) == {1: 2}
run(t, t)
""",
    "steps of a daemon before the end": """
import queue
put = queue.Queue()
def d():
    for number in range(8): put.put(number)
threading.Thread(target=d, daemon=True).start()
run(lambda: None)
""",
}
FEW = {"a library's own table": 6}
"""How many executions at most, unless it is four."""
SHARED = {
    "a dictionary by classes": """
kinds = {int: 0}
def t(): kinds[int] = kinds[int] + 1
run(t, t)
assert kinds[int] == 2
""",
    "a dictionary by objects": """
class K: pass
key = K()
counts = {key: 0, K(): 0}
def t(): counts[key] += 1
def u(): assert sum(counts.values()) == sum(counts.values())
run(t, u)
""",
    "a long list": """
numbers = [0] * 100
seen = []
def t(): numbers[50] = 1
def u(): seen.append(sum(numbers) == sum(numbers))
def v(): sum(numbers)
run(t, u, v)
assert seen == [True]
""",
    "a long list that grows": """
numbers = [0] * 100
def t(): numbers.append(len(numbers) + sum(numbers))
run(t, t)
assert numbers[-2:] == [100, 201]
""",
    "keyword arguments": """
kept = []
def f(**options):
    kept.append(options)
    return options
f(n=0)
def t(): kept[0]['n'] += 1
run(t, t)
assert kept[0]['n'] == 2
""",
    "what an operator of one's own gives": """
shared = [0]
class Giver:
    def __add__(self, other): return shared
giver = Giver()
def t():
    found = giver + 1
    found[0] += 1
run(t, t)
assert shared == [2]
""",
    "what is inside the result of a call": """
import json
shared = [0]
def hook(found):
    found['s'] = shared
    return found
def t():
    found = json.loads('{"a": 1}', object_hook=hook)
    found['s'][0] += 1
run(t, t)
assert shared == [2]
""",
    "the attributes of a class gone through": """
class Base:
    one = two = 0
seen = []
def t():
    Base.one = 1
    Base.two = 1
def u(): seen.append({value for name, value in Base.__dict__.items() if name in ('one', 'two')})
run(t, u)
assert len(seen[0]) == 1
""",
    "all attributes changed by the dictionary": """
class Base: pass
base = Base()
base.n = 0
def t(): vars(base).update(n=base.n + 1)
run(t, t)
assert base.n == 2
""",
    "methods that change, called by map": """
items = []
def t(): list(map(items.append, [len(items)]))
run(t, t)
assert items == [0, 1]
""",
    "a proxy of something shared": """
from functools import partial
class Hand:
    def __init__(self, function): self.function = function
    def __get__(self, proxy, owner): return partial(self.function, shared)
class Proxy:
    __setattr__, __getattr__ = Hand(setattr), Hand(getattr)
class Object: pass
shared, proxy = Object(), Proxy()
shared.n = 0
def t(): proxy.n = proxy.n + 1
def u(): shared.n = shared.n + 1
run(t, u)
assert shared.n == 2
""",
    "a store by code that stores elsewhere": """
class Mine:
    def __init__(self): object.__setattr__(self, 'n', 0)
    def __setattr__(self, name, value): super().__setattr__(name, value)
mine = Mine()
def t(): mine.n += 1
run(t, t)
assert mine.n == 2
""",
    "a function at the end sees how far a daemon came": """
import atexit
n = [0]
def check(): assert n[0] != 1
atexit.register(check)
def d():
    n[0] += 1
    n[0] += 1
threading.Thread(target=d, daemon=True).start()
""",
    "a function at the end that was wanted late": """
import atexit
n = [0]
def check(): assert n[0] != 1
def d():
    n[0] += 1
    n[0] += 1
threading.Thread(target=d, daemon=True).start()
atexit.register(check)
""",
    "a daemon that fails": """
n = [0]
def d():
    n[0] += 1
    assert n[0] == 1
def e(): n[0] += 1
threading.Thread(target=d, daemon=True).start()
run(e)
""",
}


@pytest.mark.parametrize("name", APART)
def test_what_only_seems_to_be_shared_costs_few_executions(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + APART[name], Options(minimise=0, join="all"))
    assert found.holds is True, found.failure or found.open
    assert found.executions <= FEW.get(name, 4)


@pytest.mark.parametrize("name", SHARED)
def test_what_is_shared_is_found(name: str, tmp_path: Path) -> None:
    assert explored(tmp_path, HEAD + SHARED[name], Options(minimise=0)).holds is False
