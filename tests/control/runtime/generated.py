"""Small programs at random: threads with a few statements over shared variables and primitives."""

from __future__ import annotations

from random import Random

HEAD = """\
import io, itertools, queue, threading, time
x = y = 0
a = [0, 0]
d = {}
L, M = threading.Lock(), threading.Lock()
R = threading.RLock()
E = threading.Event()
S = threading.Semaphore(1)
Q = queue.Queue(1)
C = threading.Condition(L)
class O: pass
o = O()
o.v = 0
log = []
F, I, N = io.StringIO(), iter([5, 6, 7]), itertools.count()
def numbers():
    k = 0
    while True:
        k += 1
        yield k
G = numbers()
"""
TAIL = """\
for t in threads: t.start()
for t in threads: t.join()
print(x, y, a, sorted(d.items()), o.v, Q.qsize(), log, F.getvalue())
"""
SIMPLE = (
    "x += 1", "y = x", "x = y + 1", "a[0] = x", "a[1] += 1", "a[i] = a[1 - i] + 1", "d['k'] = i",
    "d.setdefault('k', x)", "log.append(i)", "o.v += 1", "o.v = y", "log.append(o.v)", "x = len(log)",
    "y = sum(a)", "log.append('k' in d)", "y = d.get('k', 0)", "F.write(str(i))", "log.append(next(I, 9))",
    "log.append(next(N))", "log.append(next(G))", "log.append(sum(map(abs, a)))", "log.append(a == [0, 0])",
    "o.w = getattr(o, 'w', 0) + 1", "log.append(f'{a}')", "for z in zip(a, a): log.append(z)",
    "log.extend(a)", "b = a; b += [7]", "log.append(repr(d))", "x = x and y", "log.append(bool(d))",
)  # fmt: skip
BLOCKS = (
    "with L:\n    {0}", "with M:\n    {0}", "with R:\n    with R:\n        {0}",
    "with L:\n    {0}\n    {1}", "with L:\n    with M:\n        {0}", "with M:\n    with L:\n        {0}",
    "if x == 0:\n    {0}", "if E.is_set():\n    {0}", "with S:\n    {0}", "E.set()", "E.clear()",
    "if L.acquire(False):\n    {0}\n    L.release()", "Q.put(i)", "log.append(Q.get())",
    "try:\n    log.append(Q.get(False))\nexcept queue.Empty:\n    {0}",
    "with C:\n    C.notify()", "with C:\n    C.wait()", "E.wait()", "if not E.wait(1):\n    {0}",
    "with C:\n    C.wait(1)\n    {0}", "for each in a:\n    log.append(each)",
    "while a[i] < 1:\n    a[i] += 1",
)  # fmt: skip


SLEEPS = (
    "time.sleep(1)\n{0}", "time.sleep(2)\n{0}", "time.sleep(i + 1)\n{0}", "time.sleep(0.2)\n{0}",
    "if L.acquire(timeout=2):\n    {0}\n    L.release()", "if not E.wait(3):\n    {0}",
    "with L:\n    time.sleep(3)", "try:\n    log.append(Q.get(timeout=2))\nexcept queue.Empty:\n    {0}",
    "with C:\n    log.append(C.wait(2))", "{0}\nlog.append(round(time.monotonic()))",
)  # fmt: skip


def program(random: Random, threads: int | None = None, statements: int = 2, sleeps: bool = False) -> str:
    """The source of a program."""
    count = threads or random.choice((2, 2, 3))
    parts = [HEAD]
    for number in range(count):
        parts.append(f"def f{number}(i):\n    global x, y\n")
        parts += [_indented(_statement(random, sleeps)) for _ in range(random.randint(1, statements))]
    names = ", ".join(f"threading.Thread(target=f{n}, args=({n % 2},))" for n in range(count))
    parts.append(f"threads = [{names}]\n")
    return "".join(parts) + TAIL


def _statement(random: Random, sleeps: bool = False) -> str:
    if sleeps and random.random() < 0.5:
        return random.choice(SLEEPS).format(random.choice(SIMPLE))
    if random.random() < 0.5:
        return random.choice(SIMPLE)
    return random.choice(BLOCKS).format(random.choice(SIMPLE), random.choice(SIMPLE))


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


ASYNC_HEAD = """\
import asyncio
x = y = 0
a = [0, 0]
log = []
"""
ASYNC_SIMPLE = (
    "x += 1", "y = x", "x = y + 1", "a[i] = a[1 - i] + 1", "log.append(i)", "log.append(x)", "a[0] = x",
    "await asyncio.sleep(0)", "await asyncio.sleep(0.1)", "E.set()", "E.clear()", "Q.put_nowait(i)",
    "log.append(Q.qsize())", "tasks[1 - i].cancel()", "log.append(E.is_set())",
    "if not F.done(): F.set_result(i)",
)  # fmt: skip
ASYNC_BLOCKS = (
    "async with L:\n    {0}\n    {1}", "async with S:\n    {0}", "await Q.put(i)",
    "log.append(await Q.get())",
    "await E.wait()", "if x == 0:\n    await asyncio.sleep(0)\n    {0}",
    "log.append(await asyncio.shield(F))",
    "await asyncio.gather(sub(1), sub(2))", "t = asyncio.create_task(sub(i))\n{0}\nawait t",
    "try:\n    await asyncio.wait_for(E.wait(), 1)\nexcept asyncio.TimeoutError:\n    {0}",
    "async with asyncio.TaskGroup() as g:\n    g.create_task(sub(i))\n    {0}",
    "try:\n    await asyncio.sleep(1)\nfinally:\n    {0}",
)  # fmt: skip
ASYNC_TAIL = """\
async def sub(n):
    global x
    v = x
    await asyncio.sleep(0)
    x = v + n
async def main():
    global L, S, E, Q, F, tasks
    L, S, E, Q = asyncio.Lock(), asyncio.Semaphore(1), asyncio.Event(), asyncio.Queue(1)
    F = asyncio.get_running_loop().create_future()
    tasks = []
    for n, f in enumerate(functions): tasks.append(asyncio.create_task(f(n % 2)))
    done, _ = await asyncio.wait(tasks, timeout=9)
    ends = ["cancelled" if t.cancelled() else type(t.exception()).__name__ for t in tasks if t in done]
    print(x, y, a, log, Q.qsize(), len(done), ends)
asyncio.run(main())
"""


def async_program(random: Random, count: int = 2, statements: int = 2) -> str:
    """The source of a program whose tasks run in one event loop."""
    parts = [ASYNC_HEAD]
    for number in range(count):
        parts.append(f"async def f{number}(i):\n    global x, y\n")
        parts += [_indented(_async_statement(random)) for _ in range(random.randint(1, statements))]
    parts.append(f"functions = [{', '.join(f'f{n}' for n in range(count))}]\n")
    return "".join(parts) + ASYNC_TAIL


def _async_statement(random: Random) -> str:
    if random.random() < 0.5:
        return random.choice(ASYNC_SIMPLE)
    return random.choice(ASYNC_BLOCKS).format(random.choice(ASYNC_SIMPLE), random.choice(ASYNC_SIMPLE))
