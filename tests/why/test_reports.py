"""Reports of failures of all kinds, as text: what failed, in which order, what decides it, what cures it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from possibly.views.cli.main import main
from tests.why.bed import NAMES, OTHERS, PROGRAMS, REPORTS, report_of

SCREEN = 50
"""Lines that fit on one screen."""
CURES = {
    "check-then-act": "check-then-act",
    "await-between": "check-then-act",
    "future-twice": "check-then-act",
    "stampede": "double initialisation",
    "states": "check-then-act",
    "lost-update": "read-modify-write",
    "long_run": "read-modify-write",
    "double_init": "double initialisation",
    "lock-order": "lock order",
    "philosophers": "lock order",
    "lock_twice": "a lock taken twice",
    "lost-wake-up": "lost wake-up",
    "if-not-while": "if instead of while",
    "cancelled-inside": "cancellation in a critical section",
    "missing_join": "missing join",
    "use_after_close": "use after close",
    "missing_item": "missing item",
    "wrong_end": "wrong end of a queue",
    "queue-order": "order of arrival",
    "stale-reply": "the last one wins",
    "two_at_once": "two at once",
    "confirmed": "two at once",
    "empty_not_done": "empty is not done",
    "anyio_cache": "double initialisation",
    "processes": "not atomic",
    "async_condition": "lock order",
    "async_locks": "lock order",
    "changed_while_iterating": "changed while it is gone through",
    "barrier-twice": "missing order",
    "writer-starvation": "waiting in circles",
    "mpi_order": "order of arrival",
    "mpi_sends": "all send first",
    "process_queue": "order of arrival",
    "told_too_early": "told too early",
    "pool_in_pool": "a pool that waits for itself",
    "missing_await": "missing await",
    "trio_locks": "lock order",
    "trio_channel": "missing end",
    "trio_cancelled": "cancellation in a critical section",
    "ring-buffer": "read-modify-write",
    "three-preemptions": "check-then-act",
    "peterson": "missing order",
    "double-checked": "told too early",
    "stopped_between": "check-then-act",
    "two_methods": "read-modify-write",
    "stopped_transfer": "cancellation in a critical section",
    "group_fails": "cancelled with its group",
    "full_queues": "full queues",
    "thread_and_loop": "another thread",
    "never_set": "missing signal",
    "closed_for_all": "use after close",
    "shared_value": "not atomic",
    "both_receive": "all receive first",
    "as_completed": "order of arrival",
    "database": "read-modify-write",
    "no_join": "missing join",
    "late_cancel": "time-out first",
    "upgraded": "not atomic",
    "after_the_end": "use after close",
    "missing_notify": "missing notify",
    "one_generator": "two in a generator",
    "current_user": "not atomic",
    "half_written": "half written",
    "several_files": "check-then-act",
    "two_refreshes": "not atomic",
    "too_few": "too few for a barrier",
    "crossed_barriers": "order of barriers",
    "units_and_lock": "lock order",
    "async_units": "lock order",
    "missing_unit": "missing signal",
    "anyio_locks": "lock order",
}


has_mpi = (Path(sys.executable).parent / "mpiexec").exists()


def test_there_are_reports_of_every_kind() -> None:
    assert len(NAMES) >= 30
    assert {"anyio_cache", "processes", "mpi_order", "await-between", *OTHERS} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_what_it_was_when_it_was_read(name: str) -> None:
    if name.startswith("mpi_") and not has_mpi:
        pytest.skip("there is no mpiexec beside the interpreter")
    report = report_of(name)
    assert report == (REPORTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_report_fits_on_a_screen_and_says_how_to_see_it_again(name: str) -> None:
    lines = (REPORTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= SCREEN
    assert any(re.match(r"the schedule|  the way there:|  A failing order:", line) for line in lines)
    assert any(
        re.match(r"again: possibly |  replay: possibly |  Show it again: possibly ", line) for line in lines
    )
    assert not any("possibly/control" in line or "/site-packages/" in line for line in lines)


@pytest.mark.parametrize(("name", "pattern"), CURES.items())
def test_a_known_pattern_has_its_cure(name: str, pattern: str) -> None:
    assert f"cure ({pattern}): " in (REPORTS / f"{name}.txt").read_text(encoding="utf-8")


def test_every_program_has_its_cure() -> None:
    assert set(CURES) == set(PROGRAMS) | {"confirmed", "several_files"}


def test_a_pool_that_ends_has_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of its workers finds the same end mark."""
    monkeypatch.chdir(tmp_path)
    source = REPORTS.parent / "programs" / "as_completed.program"
    Path("pooled.py").write_text(source.read_text(encoding="utf-8"))
    assert main(["explore", "--time", "600", "--html", "pooled.html", "pooled.py"]) == 1
    assert "as_completed() at line 6" in Path("pooled.html").read_text(encoding="utf-8")


MANY_WAIT = """\
import threading
forks = [threading.Lock() for _ in range(14)]
def eat(place):
    with forks[place], forks[(place + 1) % 14]:
        pass
threads = [threading.Thread(target=eat, args=(place,), name=f"eater-{place}") for place in range(14)]
for each in threads: each.start()
for each in threads: each.join()
"""


@pytest.mark.large
def test_many_who_wait_are_told_on_one_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("eaters.py").write_text(MANY_WAIT)
    assert main(["explore", "--time", "60", "--executions", "40", "eaters.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= SCREEN
    assert any(line.endswith(" more wait (--full shows them)") for line in lines)


def test_tasks_of_trio_are_told_without_how_its_runner_keeps_house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = REPORTS.parent / "programs" / "trio_stock.txt"
    Path("trio_stock.py").write_text(source.read_text(encoding="utf-8"))
    assert main(["explore", "--time", "600", "trio_stock.py"]) == 1
    report = capsys.readouterr().out
    assert report.startswith("assertion: AssertionError: -1 at trio_stock.py:20 in main#1")
    assert "  init#1\n" not in report


def test_anyio_is_told_where_the_program_uses_it_and_not_how_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A task group sets events of its own as tasks end; the program's event is told by the program's line."""
    monkeypatch.chdir(tmp_path)
    Path("told.py").write_text(
        "import anyio\n"
        "async def wait(done, order):\n    await done.wait()\n    order.append(1)\n"
        "async def main():\n    done, order = anyio.Event(), []\n"
        "    async with anyio.create_task_group() as group:\n"
        "        group.start_soon(wait, done, order)\n        done.set()\n"
        "    assert order == []\n"
        "anyio.run(main)\n"
    )
    assert main(["explore", "--time", "600", "told.py"]) == 1
    told = [line.split() for line in capsys.readouterr().out.splitlines() if " sets " in line]
    assert [words[-2:] for words in told] == [["told.py:9", "done.set()"]]
