"""Programs whose recorded run goes well, and whose bug only a prediction shows; each is driven into it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from possibly.views.cli.main import main
from tests.real.test_world import is_installed

PROGRAMS = Path(__file__).with_name("predicted")
DEADLOCKS = (
    "two_locks", "join_under_lock", "pool_of_two", "full_queue", "empty_queue", "event_under_lock",
    "condition_under_lock", "result_under_lock", "tasks_of_a_loop",
)  # fmt: skip
PROPERTIES = {
    "lost_update": "AG(done(add0) & done(add1) -> total == 3)",
    "torn_pair": "AG(done(set0) & done(set1) -> left == right)",
    "stale_cache": "AG(done(read) & done(write) -> cached != 1)",
    "last_status": 'AG(done(progress) & done(finish) -> status == "finished")',
}
PACKAGES = PROGRAMS / "packages"
"""The same with the code of others: each names its package in its first line."""
CHANGED = {
    "attrs_totals": "AG(done(add1) & done(add2) -> totals.amount == 3)",
    "sorted_latest": "AG(done(red) & done(blue) -> latest == 3)",
}
MANY = "POSSIBLY_CASES" in os.environ
pytestmark = pytest.mark.alone


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", DEADLOCKS if MANY else DEADLOCKS[2:4])
@pytest.mark.large("pool_of_two")
def test_deadlocks_are_predicted_and_happen(name: str, capfd: Any) -> None:
    assert_it_gets_stuck(PROGRAMS / f"{name}.py", capfd)


def assert_it_gets_stuck(program: Path, capfd: Any) -> None:
    """The run that is recorded comes to its end, and another one does not."""
    assert main(["run", "--deadlocks", str(program)]) == 1
    assert "DEADLOCK" in capfd.readouterr().out
    assert main(["confirm", f"{program.stem}.jsonl", "deadlock", str(program)]) == 1
    assert "violated" in capfd.readouterr().out


@pytest.mark.parametrize("name", PROPERTIES if MANY else ["stale_cache"])
def test_violations_are_predicted_and_happen(name: str, capfd: Any) -> None:
    assert_it_goes_wrong(PROGRAMS / f"{name}.py", PROPERTIES[name], capfd)


def assert_it_goes_wrong(program: Path, formula: str, capfd: Any) -> None:
    words = ["--ctl", formula, str(program)]
    assert main(["run", *words]) == 0
    capfd.readouterr()
    assert main(["run", "--confirm", *words]) == 1
    assert "confirmed in" in capfd.readouterr().out


@pytest.mark.skipif(not MANY, reason="takes long: for make soak")
@pytest.mark.parametrize("path", sorted(PACKAGES.glob("*.py")), ids=lambda each: each.stem)
def test_packages_go_wrong_only_in_another_order(path: Path, capfd: Any) -> None:
    """Locks that a package holds while it calls back, and updates of what it makes."""
    if not is_installed(path.read_text()):
        pytest.skip("its package is not installed")
    if path.stem in CHANGED:
        assert_it_goes_wrong(path, CHANGED[path.stem], capfd)
    else:
        assert_it_gets_stuck(path, capfd)


SPIN = """
import threading, time
ready = flag = claimed = False
def write():
    global ready, flag
    ready = True
    flag = True
def read():
    global claimed
    while not flag:
        time.sleep(0.001)
    claimed = True
threads = [threading.Thread(target=work, name=work.__name__) for work in (write, read)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_a_candidate_that_never_happens_is_no_violation(tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    assert main(["run", "--confirm", "--ctl", "AG(claimed -> ready)", "spin.py"]) == 0
    assert "infeasible" in capfd.readouterr().out
    assert main(["check", "spin.jsonl", "--order", "predictive", "--ctl", "AG(claimed -> ready)"]) == 1


def test_nothing_to_confirm_is_told(tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    assert main(["run", "--confirm", "spin.py"]) == 2
    assert "nothing to confirm" in capfd.readouterr().err
    assert main(["run", "--confirm", "--ctl", "AG(claimed -> claimed)", "spin.py"]) == 0
    assert "HOLDS" in capfd.readouterr().out
