"""`multiprocessing.pool.ThreadPool` is under control, and what comes of pools comes as it really does."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

HEAD = """
from multiprocessing.pool import ThreadPool
import multiprocessing.dummy, threading
def same(value): return value
got, count, lock = [], 0, threading.Lock()
"""
RIGHT = {
    "what map gives": """
with ThreadPool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2] and pool.map(abs, []) == []
""",
    "the pool of dummy": """
with multiprocessing.dummy.Pool(2) as pool:
    assert pool.starmap(max, [(1, 2), (4, 3)]) == [2, 4]
""",
    "a lock": """
def add(value):
    global count
    with lock: count += value
pool = ThreadPool(2)
for each in (1, 2): pool.apply_async(add, (each,))
pool.close()
pool.join()
assert count == 3
""",
    "a callback comes before the result": """
with ThreadPool(2) as pool:
    pool.apply_async(same, (1,), callback=got.append).get()
    assert got == [1]
""",
    "a callback comes once": """
with ThreadPool(2) as pool:
    pool.map_async(same, [1, 2], callback=got.append).wait()
    assert got == [[1, 2]]
""",
    "an error comes after all pieces": """
def fail(value):
    if not value: raise KeyError
    got.append(value)
with ThreadPool(2) as pool:
    try: pool.map(fail, [0, 1])
    except KeyError: got.append("failed")
assert got == [1, "failed"]
""",
    "a class of its own": """
class Mine(ThreadPool):
    def twice(self, function, value): return 2 * self.apply(function, (value,))
with Mine(1) as pool: assert pool.twice(abs, -1) == 2
""",
}
WRONG = {
    "a lost update": """
def add(value):
    global count
    count += value
with ThreadPool(2) as pool: pool.map(add, [1, 2])
assert count == 3
""",
    "results in any order": """
with ThreadPool(2) as pool: assert list(pool.imap_unordered(same, [1, 2])) == [1, 2]
""",
    "nobody waits": """
with ThreadPool(2) as pool: pool.apply_async(got.append, (1,))
assert got == [1]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_covered(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + RIGHT[name])
    assert found.holds, found.open or found.failure
    assert found.executions <= 6


@pytest.mark.parametrize("name", WRONG)
def test_it_is_found(name: str, tmp_path: Path) -> None:
    found = explored(tmp_path, HEAD + WRONG[name], Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "assertion"


def test_processes_of_joblib_with_queues_of_its_own_are_left_open_at_once(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    source = """\
from joblib import Parallel, delayed
if __name__ == "__main__":
    assert Parallel(n_jobs=2, backend="multiprocessing")(delayed(abs)(i) for i in (1, 2)) == [1, 2]
"""
    found = explored(tmp_path, source)
    (reason,) = (each for what, each in found.open.items() if "backend 'multiprocessing'" in what)
    assert found.holds is None and "loky" in reason.remedy
