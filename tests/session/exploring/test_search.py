"""What a search executes is decided by the program and its limits alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore

PROGRAM = """\
import threading
class Account: balance = 0
account, paid = Account(), []
def pays(much):
    account.balance += much
    paid.append(much)
threads = [threading.Thread(target=pays, args=(much,)) for much in (1, 2, 3)]
for each in threads: each.start()
for each in threads: each.join()
"""


def executed(path: Path) -> list[str]:
    """The steps of each execution, in the order in which they are taken in."""
    told: list[str] = []
    with script((str(path),)) as program:
        explore(program, Options(seen=lambda execution, wrong, _: told.append(repr((execution, wrong)))))
    return told


def test_a_slow_machine_executes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    quick, now = executed(path), iter(range(1, 1 << 30, 5))
    monkeypatch.setattr("possibly.session.exploring.search.time.monotonic", lambda: float(next(now)))
    assert executed(path) == quick and len(quick) > 10
