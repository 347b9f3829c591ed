"""What an installed package does is told at the user's line that called it; its own memory is one number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = """\
class Shelf:
    def __init__(self):
        self._data = {}
        self.hits = 0

    def get(self, key):
        return self._look(key)

    def _look(self, key):
        self.hits = self.hits + 1
        return self._data.get(key)

    def put(self, key, value):
        self._store(key, value)

    def _store(self, key, value):
        self._data[key] = value
"""
PROGRAM = """\
import threading
from shelf import Shelf

shelf, loads = Shelf(), 0

def load(key):
    global loads
    if shelf.get(key) is None:
        loads = loads + 1
        shelf.put(key, 1)

workers = [threading.Thread(target=load, args=("a",), name=name) for name in ("one", "two")]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert loads == 1, loads
"""


@pytest.fixture
def told(tmp_path: Path) -> str:
    """The report of a program that uses an installed package."""
    package = tmp_path / "site-packages" / "shelf"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (tmp_path / "program.py").write_text(PROGRAM)
    places = os.pathsep.join([str(package.parent), str(SOURCE)])
    command = [sys.executable, "-m", "possibly", "explore", "program.py"]
    environment = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_library_frames_are_folded_to_the_users_call(told: str, tmp_path: Path) -> None:
    schedule, _, rest = told.partition("what decides:")
    assert "shelf/__init__.py" not in schedule and "hits" not in told
    assert "reads Shelf#1._data['a']             program.py:8  if shelf.get(key) is None:" in schedule
    assert "steps inside libraries (--full shows them)" in schedule
    assert "(line 8, in shelf/__init__.py:11) before" in rest
    assert "cure (double initialisation): hold one lock from line 8 to line 10" in rest
    assert str(tmp_path) not in told and len(told.splitlines()) <= 50
