"""Executions in a cluster: the same classes as here, also when a worker dies in the middle."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from possibly.control.cluster.client import Cluster, differences
from possibly.control.cluster.helper import sources_of, surroundings
from possibly.control.forking.zygote import script
from possibly.control.tree import HUNT
from possibly.errors import PossiblyError
from possibly.session.exploring.cluster import connected, put_into
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore
from possibly.views.cli.main import arguments_of, main
from tests.control.test_families import LASTZERO, LOCKED, UNLOCKED

distributed = pytest.importorskip("distributed")
long = pytest.mark.skipif("POSSIBLY_CASES" not in os.environ, reason="takes long: for make soak")
pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings("ignore")]  # of a worker's end Dask tells much
PROGRAM = """
import threading
total, lock = 0, threading.Lock()
def add():
    global total
    for _ in range(2):
        with lock:
            total += 1
threads = [threading.Thread(target=add) for _ in range({threads})]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert total == {total}
"""

LATE = """
import threading
order, lock = [], threading.Lock()
def enter(number):
    with lock:
        order.append(number)
threads = [threading.Thread(target=enter, args=(number,)) for number in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert order != [3, 5, 1, 4, 0, 2]
"""


@pytest.fixture
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as found:
        yield found


def written(folder: Path, threads: int, total: int) -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.format(threads=threads, total=total))
    return str(path)


def explored(path: str, address: str | None, **more: Any) -> Exploration:
    with connected(address, (path,)) as cluster, script((path,), limit=1_000) as program:
        return explore(program, put_into(cluster, program, Options(**more)))


@long
def test_the_classes_are_those_of_one_machine_though_a_worker_is_killed(tmp_path: Path, cluster: Any) -> None:
    path = written(tmp_path, 3, 6)
    workers = [worker.pid for worker in cluster.workers.values()]

    def killed(*_: object) -> None:
        if workers:
            os.kill(workers.pop(), signal.SIGKILL)
            workers.clear()

    away = explored(path, cluster.scheduler_address, seen=killed)
    assert not workers
    assert (away.executions, away.complete) == (90, True)


FAMILIES = {"locked-5": (LOCKED, 5, 120), "unlocked-4": (UNLOCKED, 4, 576), "lastzero-7": (LASTZERO, 7, 320)}


@long
@pytest.mark.parametrize("name", FAMILIES)
def test_branches_are_explored_by_workers_that_may_die(tmp_path: Path, cluster: Any, name: str) -> None:
    """After the first executions branches of the tree go to the workers, the first of which is killed."""
    source, n, classes = FAMILIES[name]
    path = tmp_path / "program.py"
    path.write_text(source.format(n=n))
    workers = [worker.pid for worker in cluster.workers.values()]
    handed_out: list[int] = []

    def submit(self: Cluster, program: Any, branches: Any) -> Any:
        handed_out.append(len(branches))
        if len(handed_out) == 3:
            os.kill(workers[0], signal.SIGKILL)
        return usual(self, program, branches)

    usual = Cluster.submit
    with patch.object(Cluster, "submit", submit):
        found = explored(str(path), cluster.scheduler_address)
    assert len(handed_out) >= 3
    assert (found.executions, found.complete) == (classes, True)


@long
def test_a_failure_in_a_branch_is_told_with_its_schedule(tmp_path: Path, cluster: Any) -> None:
    """Only if the fourth task is before all others, far from the first executions."""
    path = tmp_path / "program.py"
    path.write_text(LATE)
    found = explored(str(path), cluster.scheduler_address, minimise=0)
    assert found.failure is not None and found.failure.kind == "assertion"
    assert found.executions > HUNT


@long
def test_a_limit_and_what_is_left(tmp_path: Path, cluster: Any) -> None:
    path = tmp_path / "program.py"
    path.write_text(UNLOCKED.format(n=4))
    found = explored(str(path), cluster.scheduler_address, executions=100)
    assert 100 <= found.executions < 576 and not found.complete
    assert "the limit of 100 executions" in found.open


@long
def test_a_search_goes_on_where_it_was_left(tmp_path: Path, cluster: Any, capfd: Any) -> None:
    words = ["explore", "--join", "none", "--cluster", cluster.scheduler_address]
    words += ["--resume", str(tmp_path / "program.tree"), written(tmp_path, 3, 6)]
    assert main([*words[:-1], "--executions", "70", words[-1]]) == 3
    assert main(words) == 0
    assert "covered by 90 executions" in capfd.readouterr().out


@long
def test_the_time_and_whoever_interrupts_leave_what_can_be_gone_on_with(
    tmp_path: Path, cluster: Any, capfd: Any
) -> None:
    (tmp_path / "program.py").write_text(UNLOCKED.format(n=5))
    tree = tmp_path / "program.tree"
    words = ["explore", "--join", "none", "--cluster", cluster.scheduler_address, "--resume", str(tree)]
    began = time.monotonic()
    assert main([*words, "--time", "4", str(tmp_path / "program.py")]) == 3
    assert "left open by the limit of 4 seconds" in capfd.readouterr().out
    assert time.monotonic() - began < 20 and tree.exists()
    left = tree.read_bytes()
    timer = threading.Timer(4.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert main([*words, str(tmp_path / "program.py")]) == 130
    assert tree.read_bytes() != left


MANUAL = Path(__file__).parents[3] / "docs" / "cluster.md"
COMMANDS = [shlex.split(line)[1:] for line in MANUAL.read_text().splitlines() if line[:13] == "    possibly "]
BANK = "import threading\n" + "".join(
    f"{name} = threading.Thread(target=print); {name}.start(); {name}.join()\n" for name in ("one", "two")
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_commands_of_the_manual_can_be_given(words: list[str]) -> None:
    assert arguments_of(words).run


@long
def test_the_commands_of_the_manual_run(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bank.py").write_text(BANK)
    (tmp_path / "bank.spec").write_text("ctl ends = AF(done(MainThread))\n")
    (tmp_path / "runs" / "a").mkdir(parents=True)
    for number in range(2):
        assert main(["run", "-o", f"runs/a/{number}.jsonl", "bank.py"]) == 0
    for words in COMMANDS:
        given = [cluster.scheduler_address if word.startswith("tcp://") else word for word in words]
        assert main(given) == 0, words
    assert (tmp_path / "index.html").exists() and (tmp_path / "runs.parquet").exists()
    capfd.readouterr()


@long
def test_a_failure_is_found_and_told(tmp_path: Path, cluster: Any, capfd: Any) -> None:
    path = written(tmp_path, 2, 5)
    schedule = str(tmp_path / "program.schedule")
    words = ["explore", "--cluster", cluster.scheduler_address, "-o", schedule, path]
    assert main(words) == 1
    told = capfd.readouterr()
    assert "AssertionError" in told.out
    assert "2 workers of the cluster" in told.err
    assert main(["replay", schedule]) == 1


def test_what_differs_is_named() -> None:
    here = {"python": "3.11.7", "possibly": "1.0", "package flask": "3.0"}
    assert differences(here, here) == ""
    there = {"python": "3.12.1", "possibly": "1.0", "package numpy": "2.1"}
    told = ["package flask: 3.0 here, none there", "package numpy: none here, 2.1 there"]
    assert differences(here, there).split("; ") == [*told, "python: 3.11.7 here, 3.12.1 there"]


def test_the_sources_of_a_program_are_compared(tmp_path: Path) -> None:
    """Whatever lies beside it and is imported, one module through the other."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "program.py").write_text("import json, stock\nfrom shop.till import pay\n")
    (tmp_path / "stock.py").write_text("import broken\n")
    (tmp_path / "broken.py").write_text("def :\n")
    (tmp_path / "unused.py").write_text("")
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "till.py").write_text("import shop.coins\n")
    (tmp_path / "shop" / "coins.py").write_text("")
    wanted = ["broken.py", "program.py", "shop/__init__.py", "shop/coins.py", "shop/till.py", "stock.py"]
    assert sources_of(("program.py",), str(tmp_path)) == wanted
    assert "shop/coins.py" in sources_of(("-m", "shop.till"), str(tmp_path))
    before = surroundings(("program.py",), str(tmp_path))
    (tmp_path / "shop" / "coins.py").write_text("penny = 1\n")
    told = differences(before, surroundings(("program.py",), str(tmp_path)))
    assert told.startswith("file shop/coins.py: ") and ";" not in told


def test_an_address_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("possibly.control.cluster.client.CONNECTING", "0.2s")
    with pytest.raises(PossiblyError, match="no cluster at"):
        Cluster("tcp://127.0.0.1:9", ("program.py",))
