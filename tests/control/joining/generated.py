"""Small programs at random whose states can be read: threads over shared variables and primitives.

What they end with says all that can differ, or only a part of it, so that states may be equal which were
reached on different ways.
"""

from __future__ import annotations

from random import Random

HEAD = """\
import queue, threading
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
x = y = 0
a = [0, 0]
d = {}
L, M = threading.Lock(), threading.Lock()
R = threading.RLock()
E = threading.Event()
S = threading.Semaphore(1)
Q = queue.Queue(2)
C = threading.Condition(L)
class O:
    total = 0
o = O()
o.v = 0
log = []
line = deque()
class State(Enum):
    IDLE = 0
    BUSY = 1
@dataclass
class Job:
    tries: int = 0
    notes: list = field(default_factory=list)
    state: State = State.IDLE
class Account:
    __slots__ = ("__sum", "owner")
    def __init__(self):
        self.__sum = 0
    def put(self, n):
        self.__sum += n
    @property
    def sum(self):
        return self.__sum
class Full(Exception):
    pass
job = Job()
account = Account()
call = failed = None
def counter():
    count = 0
    def up(n):
        nonlocal count
        count = count * 2 + n
        return count
    return up
up = counter()
def checked(n):
    if x > n:
        raise Full(n, x)
def twice(n):
    global x
    for _ in range(2):
        x += n
def locked(n):
    global y
    with L:
        y += n
    return y
"""
TAILS = (
    "print(x, y, a, sorted(d.items()), o.v, O.total, Q.qsize(), log, list(line))",
    "print(x, y, job, account.sum, up(0), call and call(), failed and failed.args)",
    "print(job.state, len(job.notes), account.sum > 1, up(0) % 3, failed is None)",
    "print(x, y, a, o.v, O.total, len(log))",
    "print(x, y)",
    "assert x < 3 and y < 3 and O.total < 3",
)
SIMPLE = (
    "x += 1", "y = x", "x = y + 1", "a[0] = x", "a[1] += 1", "a[i] = a[1 - i] + 1", "d['k'] = i",
    "d.setdefault('k', x)", "log.append(i)", "o.v += 1", "o.v = y", "log.append(o.v)", "x = len(log)",
    "y = sum(a)", "y = d.get('k', 0)", "O.total += 1", "line.append(x)", "x = 1", "y = 1", "x = 1 - x",
    "job.tries += 1", "job.notes.append(i)", "job.state = State.BUSY if i else State.IDLE",
    "account.put(i + 1)", "x = account.sum", "up(i)", "y = up(1)", "call = partial(max, x, i)",
    "call = (lambda: 1) if i else (lambda: 2)", "x = call() if call else 0", "State.BUSY.last = i",
    "z = x; y = z", "log.append(y)", "x = 5 if y else 1", "o.v = i", "x = max(x, i)", "x = x and y",
)  # fmt: skip
BLOCKS = (
    "with L:\n    {0}", "with M:\n    {0}", "with R:\n    with R:\n        {0}", "with L:\n    x += 1",
    "with L:\n    {0}\n    {1}", "with L:\n    with M:\n        {0}", "with M:\n    with L:\n        {0}",
    "if x == 0:\n    {0}", "if E.is_set():\n    {0}", "with S:\n    {0}", "E.set()", "E.clear()",
    "if L.acquire(False):\n    {0}\n    L.release()", "Q.put(i)", "y = Q.get()", "y = Q.qsize()",
    "try:\n    y = Q.get(False)\nexcept queue.Empty:\n    {0}", "with C:\n    C.notify()",
    "with C:\n    C.wait()",
    "try:\n    checked(i)\nexcept Full as error:\n    failed = error", "try:\n    {0}\nfinally:\n    {1}",
    "try:\n    checked(0)\n    {0}\nexcept Full:\n    with L:\n        {1}",
    "if job.state is State.BUSY:\n    {0}", "with L:\n    while not job.notes:\n        C.wait()\n    {0}",
    "with C:\n    job.notes.append(i)\n    C.notify_all()", "job.notes = []",
    "E.wait()", "for _ in range(2):\n    {0}", "for _ in range(2):\n    with L:\n        {0}", "twice(i)",
    "z = locked(1); {0}", "for each in a:\n    y += each", "while a[i] < 1:\n    a[i] += 1",
    "if line:\n    y = line.popleft()", "with L:\n    z = x\nx = z + 1", "while not E.is_set():\n    pass",
)  # fmt: skip


def program(random: Random, threads: int, statements: int = 2) -> str:
    """The source of a program; some of its threads may do the same."""
    parts = [HEAD]
    kinds = random.randint(1, threads)
    for number in range(kinds):
        parts.append(f"def f{number}(i):\n    global x, y, call, failed\n")
        parts += [_indented(_statement(random)) for _ in range(random.randint(1, statements))]
    numbered = random.random() < 0.5
    given = [(f"f{n % kinds}", n % 2 if numbered else 1) for n in range(threads)]
    made = ", ".join(f"threading.Thread(target={f}, args=({n},))" for f, n in given)
    ends = "for t in threads: t.start()\nfor t in threads: t.join()\n"
    return "".join(parts) + f"threads = [{made}]\n" + ends + random.choice(TAILS) + "\n"


def _statement(random: Random) -> str:
    if random.random() < 0.5:
        return random.choice(SIMPLE)
    return random.choice(BLOCKS).format(random.choice(SIMPLE), random.choice(SIMPLE))


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


ALIKE_HEAD = """\
import threading
x = y = 0
a = [0, 0, 0]
log = []
L, M = threading.Lock(), threading.Lock()
R = threading.RLock()
E = threading.Event()
S = threading.Semaphore(2)
def work(i):
    global x, y
"""
ALIKE_TAIL = """\
for t in threads: t.start()
{0}
for t in threads: t.join()
print(x, y, a, log, E.is_set())
"""
ALIKE_SIMPLE = (
    "x += 1", "y = x", "x = y + 1", "a[0] = x", "a[1] += i", "a[x % 3] += 1", "log.append(i)",
    "log.append(y)", "x = len(log)", "x = 1 - x", "z = x; y = z", "z = x; y += z", "x = 5 if y else 1",
    "x = max(x, y)", "E.set()", "E.clear()", "z = x",
)  # fmt: skip
ALIKE_BLOCKS = (
    "with L:\n    {0}", "with R:\n    with R:\n        {0}", "with L:\n    {0}\n    {1}",
    "with L:\n    with M:\n        {0}", "if x == 0:\n    {0}", "if E.is_set():\n    {0}", "with S:\n    {0}",
    "if L.acquire(False):\n    {0}\n    L.release()", "for _ in range(2):\n    {0}",
    "with L:\n    z = x\nx = z + 1", "for k in range(2):\n    with L:\n        {0}",
    "if x:\n    with M:\n        with L:\n            {0}",
    "with L:\n    z = x\n    x += 1\nif z:\n    {0}", "assert x < 9",
)  # fmt: skip


def alike_program(random: Random, threads: int, statements: int = 2) -> str:
    """The source of a program whose threads all do the same."""
    parts = [ALIKE_HEAD]
    for _ in range(random.randint(1, statements)):
        if random.random() < 0.5:
            parts.append(_indented(random.choice(ALIKE_SIMPLE)))
        else:
            block = random.choice(ALIKE_BLOCKS)
            parts.append(_indented(block.format(random.choice(ALIKE_SIMPLE), random.choice(ALIKE_SIMPLE))))
    made = f"threads = [threading.Thread(target=work, args=(1,)) for _ in range({threads})]\n"
    return (
        "".join(parts) + made + ALIKE_TAIL.format(random.choice(("", "x += 1", "with L: y = 7", "E.set()")))
    )


COMPARED_HEAD = """\
import threading
n = m = 0
a = [0, 0, 0]
d = {"k": 0, "l": 0}
log = []
L = threading.Lock()
C = threading.Condition(L)
E = threading.Event()
class Stats:
    def __init__(self):
        self.hits = 0
    def hit(self):
        self.hits += 1
    def more(self, k):
        if k:
            self.hits += 2
    def has_many(self):
        return self.hits > 1
stats = Stats()
def seen(*told):
    log.append(told)
def notifies():
    with L:
        C.notify()
def waits():
    with L:
        C.wait()
"""
COMPARED_SIMPLE = (
    "n += 1", "m += 1", "n = 0", "m = n", "n = m + 1", "a[i] = a[1 - i] + 1", "a[0] += 1",
    "a[i + 1] = a[i] + 2", "a[2] = n", "d['k'] += 1", "d['l'] = d['k'] + 1", "d['k'] = 0", "stats.hit()",
    "stats.more(i)", "n = 1 if E.is_set() else 0", "z = n; m = z + 1", "z = a[1]; n = z", "n = a[i] + 1",
    "m = 3", "n = n + 1 if n < 2 else 0",
)  # fmt: skip
COMPARED_ASKING = (
    "seen('n', i)", "seen('e', i)", "E.set()", "notifies()", "waits()", "raise KeyError(i)",
)  # fmt: skip
COMPARED_BLOCKS = (
    "if n: {1}\n{0}", "if n > 1: {1}\n{0}", "if m == 2: {1}\n{0}", "if a[i] != 0: {1}\n{0}", "{0}",
    "if not d['k']: {1}\n{0}", "if stats.has_many(): {1}\n{0}", "with L:\n    {0}\n    {2}", "{0}\n{2}",
    "with L:\n    {0}\nif m >= 3: {1}", "for _ in range(2):\n    {0}",
    "while a[0] == 1:\n    {0}\n    a[0] = 2",
    "if n and m: {1}\n{0}", "if 1 < a[1] <= 3: {1}\n{0}", "assert n < 4\n{0}", "{0}\n{2}\nif m: {1}",
)  # fmt: skip


def compared_program(random: Random, threads: int, statements: int = 2) -> str:
    """The source of a program over numbers that it mostly compares with constants only."""
    parts = [COMPARED_HEAD]
    kinds = random.randint(1, threads)
    simple = random.sample(COMPARED_SIMPLE, 6)
    for number in range(kinds):
        parts.append(f"def f{number}(i):\n    global n, m\n")
        for _ in range(random.randint(1, statements)):
            asking = random.choice(COMPARED_ASKING)
            block = random.choice(COMPARED_BLOCKS)
            parts.append(_indented(block.format(random.choice(simple), asking, random.choice(simple))))
    made = ", ".join(f"threading.Thread(target=f{n % kinds}, args=({n % 2},))" for n in range(threads))
    ends = "for t in threads: t.start()\nfor t in threads: t.join()\n"
    asked = random.choice(("", "n > 1", "m == 2", "a[1] != 0, n == 1", "d['l'] > 2", "n", "stats.has_many()"))
    return "".join(parts) + f"threads = [{made}]\n" + ends + f"print(log, E.is_set(), {asked})\n"
