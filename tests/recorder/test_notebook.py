"""`possibly.record` in the cells of a notebook, run by IPython's own shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
