"""What `explore` finds is what Python can do: outcomes of two tasks with a switch before any instruction.

Each way round: what brute force finds is found, and what is found brute force confirms.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.opcodes import outcomes, unconfirmed

CASES = 10 * int(os.environ.get("POSSIBLY_CASES", "1"))

STATE = """
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
import functools, io, itertools, operator
class M(type):
    k = 0
class C(metaclass=M):
    n = 0
    def m(self): return 1
    @property
    def p(self): return self.x
    @p.setter
    def p(self, v): self.x = v
class D(C): pass
class S:
    __slots__ = ("x", "y")
class Key:
    def __init__(self, n): self.n = n
    def __hash__(self): return 1
    def __eq__(self, other): return True
    def __lt__(self, other): return self.n < other.n
    def __repr__(self): return f"Key({self.n})"
class Cm:
    def __enter__(self): return len(L)
    def __exit__(self, *a): L.append(0)
def two(self): return 2
def cell():
    v = 0
    def get(): return v
    def put(new):
        nonlocal v
        v = new
    return get, put
get, put = cell()
def numbers():
    yield len(L)
    yield from L
o, z, keys = D(), S(), [Key(2), Key(1)]
o.x = z.x = 0
g = 0
L = [1, 2]
N = [[1], [2]]
d = {1: 1}
s = {1}
q = deque([1, 2])
dd, cm, ct, ud, od = defaultdict(list), ChainMap({}, d), Counter(a=1), UserDict(a=1), OrderedDict(a=1, b=2)
io_ = io.StringIO()
it = itertools.count()
seen = []
"""
READS = """
g|o.x|o.n|D.n|C.n|L[0]|L[-1]|d[1]|d[True]|len(L)|len(d)|bool(L)|1 in d|2 in s|d.get(2)|sum(L)|str(d)|
o.m()|[*L]|{**d}|max(L)|sorted(L)|list(d)|vars(o)['x']|getattr(o, 'x')|f'{L}'|(L + [5])[-1]|L == [1, 2]|
[v for v in L][-1]|L[0:1]|hasattr(o, 'y')|tuple(L)[0]|globals()['g']|next(iter(L))|(lambda v=o.x: v)()|
o.p|z.x|hasattr(z, 'y')|D.k|C.k|get()|q[0]|len(q)|dd['a']|cm[1]|cm.get(2)|ct['a']|ct.most_common(1)|
ud['a']|'b' in ud|list(od)|od['a']|io_.getvalue()|next(it)|N[0][0]|repr(N)|sorted(keys)|max(keys)|
keys[0] in keys|list(map(len, N))|list(zip(L, N))|list(filter(None, L))|
functools.reduce(operator.add, L)|any(v > 2 for v in L)|','.join(map(str, L))|'%s' % L|'{}'.format(o.x)|
'{0.x}'.format(o)|dict(d)|d.items() == {1: 1}.items()|d.__or__({5: 5})|list(reversed(L))|L.index(2)|
L.count(1)|L.copy()|s <= {1, 3}|s - {1}|not L|o.x if L else o.n|L and L[0]|list(numbers())|
next(numbers())|[a for a, *b in [L]]|(lambda *a: a)(*L)|(lambda **a: a)(**{'v': o.x})|(w := o.x) + w|
operator.attrgetter('n')(o)|operator.itemgetter(0)(L)|type(o).n|o.__class__.__name__|vars(o) == {'x': 0}|
list(vars(o))|dir(o)[-1]|1 < len(L) < 4|-o.x|L[o.x]|eval('o.x')|{**d}[1]
""".replace("\n", "").split("|")
WRITES = """
globals().__setitem__('g', {v})|setattr(o, 'x', {v})|setattr(C, 'n', {v})|setattr(D, 'n', {v})|
L.append({v})|L.__setitem__(0, {v})|d.__setitem__(1, {v})|d.update(a={v})|d.setdefault(2, {v})|
s.add({v})|L.sort()|L.pop()|L.clear()|d.pop(1, 0)|d.clear()|o.__dict__.__setitem__('x', {v})|
setattr(o, 'y', {v})|setattr(C, 'm', two)|L.insert(0, {v})|s.discard(1)|L.extend([{v}])|L.reverse()|
delattr(o, 'x')|setattr(o, 'p', {v})|put({v})|setattr(z, 'x', {v})|setattr(M, 'k', {v})|q.append({v})|
q.rotate(1)|q.popleft()|dd['a'].append({v})|dd.clear()|ct.update('ab')|ct.subtract(a={v})|
ud.update(b={v})|ud.pop('a', 0)|od.move_to_end('a')|od.popitem()|io_.write('{v}')|N[0].append({v})|
N.append([{v}])|keys.sort()|keys.pop()|keys.sort(key=lambda k: k.n)|L.extend(v for v in (3, 4))|
L.sort(key=lambda v: -v)|d.update((v, v) for v in (7, 8))|exec('o.x = {v}')|
L.remove(1) if 1 in L else None|vars(o).update(x={v})|globals().update(g={v})|setattr(o, '__class__', C)|
list(map(L.append, [{v}]))|[L.append(v) for v in (3, 4)]|functools.partial(setattr, o, 'x', {v})()
""".replace("\n", "").split("|")
STATEMENTS = """
o.x = {v}|o.x += 1|L[0] = {v}|L[0] += 1|d[1] = {v}|d[True] += 1|C.n += 1|D.n = o.n + 1|del d[1]|
L += [{v}]|o.x, L[0] = {v}, o.x|L[:] = [{v}]|del L[0]|o.p += 1|z.x += 1|del z.x|N[0][0] += 1|q[0] = {v}|
ud['a'] += 1|cm[1] += 1|ct['a'] += 1|dd['a'] += [{v}]|od['a'] += 1|s.add(len(s))|L[o.x] = {v}|
put(get() + 1)|M.k = C.k + 1|for e in L: o.x += e|for e in list(d): d[e] += 1|
while len(L) < 3: L.append({v})|if L: L[-1] = {v}|with Cm() as w: o.x = w|o.x = [*L][-1]|
o.x = max(L, key=lambda e: -e)|o.x = sum(e for e in L)|d[Key(0)] = {v}|L += (e for e in L[:1])|
exec('o.x = o.x + 1')|o.x = eval('len(L)')|q.extend(L)
""".replace("\n", "").split("|")


def generated(seed: int) -> str:
    draw = random.Random(seed)

    def body(name: str) -> str:
        value = draw.choice((3, 4))
        change = draw.choice(WRITES + STATEMENTS * 2).format(v=value)
        lines = [f"    seen.append(repr({draw.choice(READS)}))", f"    {change}"]
        draw.shuffle(lines)
        return f"def {name}():\n    global L, g, s\n" + "\n".join(lines[: draw.choice((1, 1, 2))])

    after = (
        "def result(): return (seen, g, sorted(vars(o).items()), C.n, D.n, C.k, L, d, sorted(s), o.m(),"
        " get(), hasattr(z, 'x') and z.x, N, q, dict(dd), ct, ud, od, io_.getvalue(), keys)"
    )
    return f"{STATE}\n{body('a')}\n{body('b')}\n{after}\n"


PROGRAM = """
import threading
{source}
def quietly(task):
    try: task()
    except Exception: pass
threads = [threading.Thread(target=quietly, args=(each,)) for each in (a, b)]
for each in threads: each.start()
for each in threads: each.join()
print(result())
"""


def explored(path: Path, source: str) -> set[str]:
    path.write_text(PROGRAM.format(source=source))
    return {output.decode().strip() for _, _, output in reduced(path)[0]}


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.large("3")
def test_what_python_can_do_is_found_and_nothing_else(seed: int, tmp_path: Path) -> None:
    source = generated(seed)
    possible, found = outcomes(source), explored(tmp_path / "program.py", source)
    assert possible - found == set()
    assert unconfirmed(source, found - possible) == set()
