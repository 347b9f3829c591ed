"""Code of packages: watched where it is asked for, trusted by the user's word, or the verdict stays open."""

from __future__ import annotations

from pathlib import Path

from possibly.control.runtime.zygote import script
from possibly.session.explore import Exploration, Options, explore

UPDATED = """
import threading
from collections import UserDict
shared = UserDict()
def work(number): shared.setdefault("key", []).append(number)
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for each in threads: each.start()
for each in threads: each.join()
assert len(shared["key"]) == 2
"""


def explored(tmp_path: Path, **options: object) -> Exploration:
    path = tmp_path / "program.py"
    path.write_text(UPDATED)
    with script((str(path),), **options) as program:
        return explore(program, Options(executions=200, minimise=0))


def test_code_that_is_included_is_seen_in_the_middle(tmp_path: Path) -> None:
    found = explored(tmp_path, include=frozenset({"collections"}))
    assert found.holds is False
    assert found.failure is not None and "AssertionError" in str(found.failure.execution.failure)


def test_code_that_is_not_leaves_the_verdict_open_and_says_what_helps(tmp_path: Path) -> None:
    found = explored(tmp_path)
    assert found.holds is None
    assert any("collections" in each for each in found.open), found.open


def test_code_that_is_trusted_is_one_step_and_said_so(tmp_path: Path) -> None:
    found = explored(tmp_path, trust=frozenset({"collections"}))
    assert found.holds is True
    assert any("--trust collections" in each for each in found.assumed)
