"""Interchangeable threads go in one order, and nothing that the program can do is lost by that."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.control.joining.alike import Alike
from possibly.control.joining.explorer import Joining
from possibly.control.joining.frames import READS
from possibly.control.schedulers.dpor import Dpor
from tests.control.joining.generated import alike_program
from tests.control.joining.judged import results

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
pytestmark = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")
PROGRAM = """
import threading
lock = threading.Lock()
n = 0
def work(i):
    global n
    {0}
threads = [threading.Thread(target=work, args=(0,)) for _ in range({1})]
for t in threads: t.start()
for t in threads: t.join()
print(n)
"""


@pytest.mark.parametrize("seed", range(4 * CASES))
def test_threads_in_one_order_end_as_in_all(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    path = tmp_path / "program.py"
    path.write_text(alike_program(random, random.choice((2, 2, 3))))
    plain = results(path, Dpor, 200)
    if plain is None:
        return
    alike = results(path, Dpor, alike=Alike)
    assert alike is not None
    assert alike[0] == plain[0] and alike[1].tree.is_complete
    assert alike[1].tree.executions <= plain[1].tree.executions + 2
    joined = results(path, Joining, alike=Alike)
    assert joined is not None
    assert joined[0] == plain[0] and joined[1].is_complete


@pytest.mark.parametrize(
    ("body", "threads", "most", "values"),
    [("with lock: n += 1", 6, 10, {6}), ("n += 1", 4, 30, {1, 2, 3, 4})],
)
def test_few_executions_are_enough(
    body: str, threads: int, most: int, values: set[int], tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(body, threads))
    found = results(path, Dpor, alike=Alike)
    assert found is not None
    assert {int(output) for _, _, output in found[0]} == values
    assert found[1].tree.executions <= most


@pytest.mark.parametrize(
    "body", ["n = threading.current_thread().name", "n = [i]", "n = (lambda: i)()", "n = n or hash(lock)"]
)
def test_threads_that_may_be_told_apart_are_not_alike(body: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(body, 2))
    plain, alike = results(path, Dpor), results(path, Dpor, alike=Alike)
    assert plain is not None and alike is not None
    assert plain[1].tree.executions == alike[1].tree.executions
