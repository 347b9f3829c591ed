"""Several workers share one search: all of them execute, and together no more than one alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from possibly.control.execution import Execution
from possibly.control.forking.zygote import ControlledProgram, script
from possibly.control.workers import Team
from possibly.session.exploring import search as exploring
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.control.test_families import FAMILIES


def test_all_workers_execute_and_nothing_is_executed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = Team.finished
    done: Counter[int] = Counter()

    def counted(self: Team) -> object:  # type: ignore[type-arg]
        found = finished(self)
        done[id(found[0])] += 1
        return found

    monkeypatch.setattr(Team, "finished", counted)
    monkeypatch.setattr(exploring, "ALONE", 0.0)
    text, numbers = FAMILIES["writers"]
    path = tmp_path / "program.py"
    path.write_text(text.format(n=5))
    with script((str(path),)) as program:
        twin = program.twin()
        explore(twin, Options(executions=1))  # it is ready: else all may be done before it has begun
        monkeypatch.setattr(type(program), "twin", lambda self: twin)
        done.clear()
        found = explore(program, Options(jobs=2))
    assert (found.executions, found.complete) == (numbers[5], True)
    assert len(done) == 2
    assert min(done.values()) > 10


def test_a_search_that_is_soon_through_starts_no_other_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploring, "ALONE", 1e9)
    path = tmp_path / "program.py"
    path.write_text(FAMILIES["locked"][0].format(n=3))
    with script((str(path),)) as program:
        twin = program.twin()
        monkeypatch.setattr(type(program), "twin", lambda self: twin)
        assert explore(program, Options(jobs=2)).complete
        assert twin._zygote is None


def test_an_execution_that_is_not_learnt_from_leaves_the_search_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = ControlledProgram.end

    def useless(self: ControlledProgram) -> Execution:
        found = end(self)
        self.repeat, self.grown = True, False
        return found

    monkeypatch.setattr(ControlledProgram, "end", useless)
    path = tmp_path / "program.py"
    path.write_text(FAMILIES["locked"][0].format(n=3))
    with script((str(path),)) as program:
        found = explore(program)
    assert found.holds is None
    assert list(found.open) == ["executions that could not be learnt from"]
