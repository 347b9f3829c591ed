"""The page of an exploration, in a real browser: a race, a deadlock, tasks of an event loop, messages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from possibly.views.cli.main import main
from tests.views.web.conftest import ROOT, Shown

BUGS, PROGRAMS = ROOT / "examples" / "bugs", ROOT / "tests" / "why" / "programs"
Opened = Callable[[str], Shown]


def explored(program: Path, written: Opened, *options: str) -> Shown:
    """The page of a program that fails, whose name is `bug.py`, in the current folder."""
    return written(page_of(program, *options))


@cache
def page_of(program: Path, *options: str) -> str:
    shutil.copy(program, "bug.py")
    assert main(["explore", "--html", "bug.html", *options, "bug.py"]) == 1
    return Path("bug.html").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_race_shows_its_pair_its_source_and_the_execution_that_passes(written: Opened) -> None:
    shown = explored(BUGS / "lost-update" / "buggy.py", written)
    page = shown.page
    shown.shot("explored-race")
    words = page.locator(".words").inner_text()
    assert "cure (read-modify-write): hold one lock around line 10" in words
    assert "the other way round it does not fail" in words
    assert page.locator(".orders .row.marked:visible").count() == 2, "the pair, once"
    assert not page.get_by_text("Observed order").is_visible(), "it is the failing one"
    page.locator(".orders .row.marked:visible").first.click()
    assert "balance += amount" in page.locator("body").inner_text(), "the source line of the step"
    page.get_by_role("tab", name="Graph").or_(page.get_by_text("Graph", exact=True)).first.click()
    shown.settle()
    assert {"it fails", "it does not"} <= set(page.locator("svg text").all_text_contents())
    shown.shot("explored-race-beside")


def test_steps_go_forward_and_back(written: Opened) -> None:
    page = explored(BUGS / "lost-update" / "buggy.py", written).page
    head = page.get_by_text("here it is decided")
    assert head.is_visible()
    page.get_by_text("←", exact=True).click()
    assert not head.is_visible()
    page.get_by_text("→", exact=True).click()
    assert head.is_visible()


def test_a_turn_of_an_event_loop_says_what_it_did(written: Opened) -> None:
    shown = explored(BUGS / "await-between" / "buggy.py", written)
    rows = shown.page.locator(".orders .row").all_inner_texts()
    shown.shot("explored-asyncio")
    assert any("reads balance: 100, sleeps" in row for row in rows)
    assert any("writes balance: 20 -> -60" in row for row in rows)


@pytest.mark.parametrize(
    ("program", "holds"),
    [
        (BUGS / "lock-order" / "buggy.py", {"holds savings.lock", "holds current.lock"}),
        (PROGRAMS / "async_locks.program", {"holds left", "holds right"}),
    ],
)
def test_a_deadlock_shows_who_waits_for_whom(program: Path, holds: set[str], written: Opened) -> None:
    shown = explored(program, written)
    shown.page.get_by_text("Graphs", exact=True).first.click()
    shown.settle()
    shown.shot(f"explored-{program.parent.name}-{program.stem}")
    assert holds <= set(shown.page.locator("svg text, svg tspan").all_text_contents())


def test_messages_show_the_tree_and_the_difference(written: Opened) -> None:
    if not (Path(sys.executable).parent / "mpiexec").exists():
        pytest.skip("there is no mpiexec beside the interpreter")
    shown = explored(PROGRAMS / "mpi_order.program", written, "--mpi", "3")
    told = shown.page.locator("body").inner_text()
    shown.shot("explored-messages")
    assert "rank0 got rank2#1 and not rank1#1; the other way it holds" in told
    assert "failed: rank0: AssertionError: (2, 1), at bug.py:9" in told
