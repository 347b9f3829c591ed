"""`possibly.record` in the cells of a notebook, run by IPython's own shell and by a real Jupyter kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

pytest.importorskip("IPython", reason="IPython is not there")

SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in open("cells.txt").read().split("# %%"):
    shell.run_cell(cell).raise_error()
"""
CELLS = """
import threading, possibly
counter = 0
def work(lock):
    global counter
    with lock:
        counter += 1  #: counted
# %%
%time pass
# %%
with possibly.record("run.jsonl", watch=["counter"]) as recorded:
    lock = threading.Lock()
    workers = [threading.Thread(target=work, args=(lock,), name=f"w{i}") for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
# %%
work(threading.Lock())
verdict = possibly.check(recorded.trace, ctl="AG(counter <= 2)")
print(verdict.holds, counter, len(recorded.trace))
"""


def test_functions_of_earlier_cells_are_watched(tmp_path: Path) -> None:
    (tmp_path / "cells.txt").write_text(CELLS)
    command = [sys.executable, "-c", SHELL]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("True 3 16"), done.stdout
    trace = (tmp_path / "run.jsonl").read_text()
    assert trace.count('"label":"counted"') == 2
    assert "interactiveshell.py" not in trace, "places are those of the cells"
    assert "<ipython-input-" in trace


LOOP_CELLS = """
import asyncio, threading, possibly
total = 0
async def add(lock, amount):
    global total
    async with lock:
        before = total  #: read
        await asyncio.sleep(0)
        total = before + amount  #: written
# %%
with possibly.record("loop.jsonl", watch=["total"]) as recorded:
    lock = asyncio.Lock()
    await asyncio.gather(*(asyncio.create_task(add(lock, n), name=f"adder{n}") for n in (1, 2)))
# %%
print(possibly.check(recorded.trace, ctl="AG(total != 2)").holds, total)
# %%
with possibly.record("unlocked.jsonl", watch=["total"]) as recorded:
    await asyncio.gather(*(asyncio.create_task(add(asyncio.Lock(), n), name=f"lone{n}") for n in (1, 2)))
    possibly.event("gathered")
# %%
order = possibly.load("unlocked.jsonl", order="sync").computation
events = [recorded.trace.event(e) for e in range(len(recorded.trace))]
(end,) = [event.number for event in events if event.label == "gathered"]
print([order.happened_before(e.number, end) for e in events if e.label == "written"])
print(total, sorted(process.name for process in recorded.trace.processes))
"""


def test_a_real_kernel_records_cells_and_tasks_of_its_own_loop(tmp_path: Path) -> None:
    pytest.importorskip("ipykernel", reason="there is no Jupyter kernel")
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path), startup_timeout=120)
    printed: list[str] = []

    def heard(message: dict[str, dict[str, str]]) -> None:
        printed.append(message["content"].get("text", ""))

    try:
        for cell in [*CELLS.split("# %%"), *LOOP_CELLS.split("# %%")]:
            reply = client.execute_interactive(cell, timeout=PATIENCE, output_hook=heard)
            assert reply["content"]["status"] == "ok", reply["content"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    text = "".join(printed)
    assert "True 3 16" in text, text
    assert "True 3\n" in text, "the two additions happen one after the other"
    assert "[True, True]" in text, "the cell goes on after both tasks"
    assert "'lone1', 'lone2'" in text
    trace = (tmp_path / "run.jsonl").read_text()
    assert trace.count('"label":"counted"') == 2
    assert "site-packages" not in trace, "places are those of the cells"
