"""Generated programs with pools: an order of the tasks fails exactly if so many workers can finish in it.

Workers take the tasks in the order in which they were submitted, and report one before they take the next. So
the one that is reported next is any of the first few that are left, as many as there are workers.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest

from possibly.views.cli.main import main

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
KINDS = {
    "executor": """\
import queue
from concurrent.futures import ThreadPoolExecutor
box = queue.Queue()
with ThreadPoolExecutor(WORKERS) as pool:
    for task in range(TASKS):
        pool.submit(box.put, task)
    found = [box.get() for _ in range(TASKS)]
assert found != ORDER, found
""",
    "callbacks": """\
from concurrent.futures import ThreadPoolExecutor
found = []
with ThreadPoolExecutor(WORKERS) as pool:
    for task in range(TASKS):
        pool.submit(int, task).add_done_callback(lambda done: found.append(done.result()))
assert found != ORDER, found
""",
    "threads": """\
from multiprocessing.pool import ThreadPool
with ThreadPool(WORKERS) as pool:
    found = list(pool.imap_unordered(int, range(TASKS)))
assert found != ORDER, found
""",
    "processes": """\
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.Pool(WORKERS) as pool:
        found = list(pool.imap_unordered(int, range(TASKS)))
    assert found != ORDER, found
""",
}


def can_be(order: list[int], workers: int) -> bool:
    left = sorted(order)
    for task in order:
        if task not in left[:workers]:
            return False
        left.remove(task)
    return True


def test_orders_counted_by_hand() -> None:
    assert can_be([0, 1, 2], 1)
    assert not can_be([1, 0, 2], 1)
    assert can_be([1, 2, 0], 2)
    assert not can_be([2, 0, 1], 2)
    assert can_be([2, 0, 1], 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(CASES))
def test_an_order_fails_where_it_can_be(
    kind: str,
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    random = Random(f"{kind} {seed}")
    tasks, workers = random.choice([(2, 1), (2, 2), (3, 1), (3, 2)])
    order = random.sample(range(tasks), tasks)
    text = KINDS[kind].replace("WORKERS", str(workers)).replace("TASKS", str(tasks))
    file = tmp_path / "pool.py"
    file.write_text(text.replace("ORDER", str(order)))
    status = main(["explore", "--macro", "--json", file.name])
    found = json.loads(capsys.readouterr().out)
    assert status == (1 if can_be(order, workers) else 0), (tasks, workers, order, found.get("open"))
