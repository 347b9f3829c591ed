"""Code of packages: watched where tasks meet in it or it is asked for, one step where the user trusts it."""

from __future__ import annotations

from pathlib import Path

from possibly.control.forking.zygote import script
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

COPIED = """
import copy, threading
shared = {1: [1], 2: [2]}
def work(number):
    if number: copy.deepcopy(shared)
    else: shared[3] = [3]
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for each in threads: each.start()
for each in threads: each.join()
"""


def explored(tmp_path: Path, **options: object) -> Exploration:
    path = tmp_path / "program.py"
    path.write_text(COPIED)
    with script((str(path),), **options) as program:
        return explore(program, Options(executions=200, minimise=0))


def test_code_that_is_included_is_seen_in_the_middle(tmp_path: Path) -> None:
    found = explored(tmp_path, include=frozenset({"copy"}))
    assert found.holds is False
    assert found.failure is not None and "changed size" in found.failure.message


def test_code_in_which_tasks_meet_is_watched_by_itself(tmp_path: Path) -> None:
    found = explored(tmp_path)
    assert found.holds is False and "package: copy" in found.visible
    assert found.failure is not None and found.failure.kind == "exception"


def test_code_that_is_trusted_is_one_step_and_said_so(tmp_path: Path) -> None:
    found = explored(tmp_path, trust=frozenset({"copy"}))
    assert found.holds is True
    assert any("--trust copy" in each for each in found.assumed)


def test_code_that_is_excluded_leaves_it_open_and_says_what_to_do(tmp_path: Path) -> None:
    found = explored(tmp_path, exclude=frozenset({"copy"}))
    assert found.holds is None
    assert found.open["copy, which is excluded"].remedy == "--trust copy takes each of its calls as one step"


def test_of_a_package_only_what_is_entered_is_instrumented(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(COPIED)
    with script((str(path),)) as program:
        explore(program, Options(executions=200, minimise=0))
        names = {each.name for each in program.entered}
    assert {"deepcopy", "_deepcopy_dict"} <= names and "_reconstruct" not in names
