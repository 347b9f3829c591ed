"""Searches that go on where an earlier one stopped, and executions that run side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.errors import PossiblyError
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore
from possibly.session.exploring.resumed import Kept
from possibly.views.cli.main import main
from tests.control.test_families import LOCKED, UNLOCKED

FAILING = UNLOCKED + "assert counter == {n}\n"


def searched(program: Path, kept: Path, executions: int | None = None, jobs: int = 1) -> Exploration:
    words = (str(program),)
    with script(words) as controlled:
        return explore(controlled, Options(executions=executions, jobs=jobs, kept=Kept(str(kept), words, [])))


def test_a_search_in_parts_covers_everything_once(tmp_path: Path) -> None:
    program, kept = tmp_path / "unlocked.py", tmp_path / "unlocked.tree"
    program.write_text(UNLOCKED.format(n=3))
    totals = []
    for _ in range(4):
        found = searched(program, kept, 10)
        totals.append((found.executions, found.holds))
    assert totals == [(10, None), (20, None), (30, None), (36, True)]
    found = searched(program, kept)
    assert (found.executions, found.holds, found.complete) == (36, True, True)


@pytest.mark.parametrize("jobs", [2, 3])
def test_workers_side_by_side_cover_each_class_once(tmp_path: Path, jobs: int) -> None:
    program = tmp_path / "program.py"
    for text, n, traces in ((LOCKED, 4, 24), (UNLOCKED, 3, 36)):
        program.write_text(text.format(n=n))
        with script((str(program),)) as controlled:
            found = explore(controlled, Options(jobs=jobs))
        assert (found.executions, found.complete, list(found.open)) == (traces, True, [])


def test_workers_find_a_failure_and_make_it_short(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FAILING.format(n=3))
    with script((str(program),)) as controlled:
        found = explore(controlled, Options(jobs=3))
    assert found.holds is False and found.failure is not None
    assert found.failure.kind == "assertion"


def test_a_search_that_failed_fails_again(tmp_path: Path) -> None:
    program, kept = tmp_path / "program.py", tmp_path / "program.tree"
    program.write_text(FAILING.format(n=2))
    assert searched(program, kept).holds is False
    assert searched(program, kept).holds is False


def test_what_was_covered_does_not_count_for_an_edited_program(tmp_path: Path) -> None:
    program, kept = tmp_path / "program.py", tmp_path / "program.tree"
    program.write_text(LOCKED.format(n=3))
    assert searched(program, kept).holds
    program.write_text(LOCKED.format(n=3) + "assert counter == 2\n")
    with pytest.raises(PossiblyError, match="this search is of another version of .*program.py"):
        searched(program, kept)


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    program, kept = tmp_path / "program.py", tmp_path / "program.tree"
    program.write_text(UNLOCKED.format(n=3))
    words = (str(program),)

    def interrupting(_: str, done: int, __: int | None) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with script(words) as controlled, pytest.raises(KeyboardInterrupt):
        explore(controlled, Options(kept=Kept(str(kept), words, [])), None, interrupting)
    found = searched(program, kept)
    assert (found.earlier, found.executions, found.complete) == (6, 36, True)


def test_the_command_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(LOCKED.format(n=4))
    command = ["explore", "--jobs", "2", "--resume", "program.tree"]
    assert main([*command, "--executions", "10", "program.py"]) == 3
    told = capsys.readouterr().out
    assert told.startswith("program.py: unknown, nothing found in 10 executions\n  10 classes of schedules, ")
    assert main([*command, "program.py"]) == 0
    assert capsys.readouterr().out == "program.py: holds, every schedule is covered by 24 executions\n"
    assert main([*command, "--races", "program.py"]) == 2
    assert "an execution tree of another search: other properties" in capsys.readouterr().err
    assert main([*command, "--scheduler", "random", "program.py"]) == 2
    assert "only a search by dpor can be resumed" in capsys.readouterr().err
