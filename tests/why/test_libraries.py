"""Failures inside packages: a cure and what decides name the user's line that called them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.execution import CALLED_FROM
from possibly.session.exploring.exploration import Options
from possibly.trace.place import place_in
from possibly.views.text.why import why_lines
from tests.control.runtime.running import explored

PACKAGE = """\
class Account:
    def __init__(self): self.balance = 100
    def read(self):
        return self.balance
    def put(self, value):
        self.balance = value
"""
PROGRAM = """\
import threading
from strangerbank import Account
account = Account()
def draw():
    seen = account.read()
    account.put(seen - 10)
threads = [threading.Thread(target=draw) for _ in range(2)]
for each in threads: each.start()
for each in threads: each.join()
assert account.read() == 80
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages with that one in it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "strangerbank.py").write_text(PACKAGE)
    monkeypatch.setattr(sys, "path", [sys.path[0], str(folder), *sys.path[1:]])
    yield tmp_path
    sys.modules.pop("strangerbank", None)


def test_they_are_named_beside_those_of_the_package(installed: Path) -> None:
    found = explored(installed, PROGRAM, Options(explain=True))
    assert found.failure is not None
    lines = why_lines(found.failure)
    assert "(line 5, in strangerbank.py:4)" in lines[1] and "(line 6, in strangerbank.py:6)" in lines[1]
    assert lines[-1] == "cure (read-modify-write): hold one lock from line 5 to line 6"


def test_without_time_to_explain_it_too(installed: Path) -> None:
    found = explored(installed, PROGRAM, Options(minimise=0))
    assert found.failure is not None
    steps = [step for step in found.failure.execution.steps if step.operation.at.startswith("strangerbank")]
    lines = {(place_in(step.operation.at).line, place_in(step.detail[CALLED_FROM]).line) for step in steps}
    assert lines == {(4, 5), (6, 6), (4, 10)}
