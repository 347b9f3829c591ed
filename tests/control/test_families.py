"""Real programs whose numbers of Mazurkiewicz traces are known take exactly so many executions.

The families of Optimal-DPOR's evaluation and their kin: increments with and without a lock, readers and a
writer, writers, lastzero, tasks that share nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.control.schedulers.dpor import Dpor
from possibly.session.exploring.explore import explore

LOCKED = """\
import threading
lock, counter = threading.Lock(), 0
def increment():
    global counter
    with lock:
        counter += 1
threads = [threading.Thread(target=increment) for _ in range({n})]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert counter == {n}
"""
UNLOCKED = """\
import threading
counter = 0
def increment():
    global counter
    counter += 1
threads = [threading.Thread(target=increment) for _ in range({n})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
READERS = """\
import threading
x = 0
def read():
    return x
def write():
    global x
    x = 1
threads = [threading.Thread(target=write)] + [threading.Thread(target=read) for _ in range({n})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
WRITERS = """\
import threading
x = 0
def write(value):
    global x
    x = value
threads = [threading.Thread(target=write, args=(value,)) for value in range({n})]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
LASTZERO = """\
import threading
array = [0] * ({n} + 1)
def check():
    index = {n}
    while array[index] != 0:
        index -= 1
def derive(index):
    array[index] = array[index - 1] + 1
threads = [threading.Thread(target=check)]
threads += [threading.Thread(target=derive, args=(index,)) for index in range(1, {n} + 1)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
INDEPENDENT = """\
import threading
values = [0] * {n}
def work(index):
    for _ in range(3):
        values[index] += 1
threads = [threading.Thread(target=work, args=(index,)) for index in range({n})]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert values == [3] * {n}
"""
FAMILIES = {
    "locked": (LOCKED, {3: 6, 4: 24, 5: 120, 6: 720}),
    "readers": (READERS, {2: 4, 4: 16, 6: 64, 8: 256}),
    "writers": (WRITERS, {3: 6, 4: 24, 5: 120}),
    "unlocked": (UNLOCKED, {2: 4, 3: 36, 4: 576}),
    "lastzero": (LASTZERO, {3: 12, 5: 64, 7: 320}),
    "independent": (INDEPENDENT, {2: 1, 5: 1}),
}


@pytest.mark.parametrize(
    ("text", "n", "traces"),
    [
        pytest.param(text, n, traces, id=f"{name}-{n}")
        for name, (text, numbers) in FAMILIES.items()
        for n, traces in numbers.items()
    ],
)
def test_a_family_takes_exactly_the_optimal_number_of_executions(
    tmp_path: Path, text: str, n: int, traces: int
) -> None:
    program = tmp_path / "family.py"
    program.write_text(text.format(n=n))
    searches: list[Dpor] = []

    def search() -> Dpor:
        searches.append(Dpor())
        return searches[-1]

    with script((str(program),)) as controlled:
        found = explore(controlled, make=search)
    assert (found.failure, list(found.open)) == (None, [])
    assert found.complete
    assert found.executions == traces
    assert (searches[-1].tree.redundant, searches[-1].tree.infeasible) == (0, 0)
