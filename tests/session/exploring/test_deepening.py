"""A search that will not come to its end within its limit says what it has shown: level after level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from possibly.control.coverage import coverage_of
from possibly.control.forking.zygote import script
from possibly.control.schedulers.bounded import Bounded
from possibly.control.schedulers.dpor import Dpor
from possibly.session.exploring.deepening import Deepening
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore
from possibly.views.text.exploration import document, report
from tests.control.programs import locked, unlocked
from tests.control.toy import Toy

MANY = """\
import threading
n = [0, 0, 0]
def work(i):
    for k in range(2):
        n[k] += i
        assert n[2] == 0
threads = [threading.Thread(target=work, args=(10 ** i,)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
"""


def searched(program: Toy, limit: int) -> tuple[Dpor, Deepening, int]:
    """As `explore` does, one execution after another."""
    explorer, deepening, done = Dpor(), Deepening(), 0
    while done < limit:
        deepening.ask(explorer, done, done / limit)
        plan = deepening.plan(explorer)
        if plan is None:
            break
        execution = program.execute(plan)
        if not deepening.learn(execution, plan):
            explorer.learn(execution)
        done += 1
    return explorer, deepening, done


def test_a_search_that_comes_to_its_end_goes_no_deeper() -> None:
    explorer, deepening, done = searched(locked(5), 200)
    assert explorer.tree.is_complete and deepening.levels is None and done == 120


def test_a_search_that_does_not_deepens() -> None:
    explorer, deepening, done = searched(unlocked(4), 300)
    assert done == 300 and not explorer.tree.is_complete
    found = coverage_of(explorer, deepening.levels)
    assert found is not None and [level for level, _ in found.levels][:1] == [0]
    assert found.under_way is not None and 0 < found.under_way.done < found.under_way.known


@pytest.mark.large
def test_levels_that_come_to_their_end_cover_everything() -> None:
    deepening = Deepening()
    deepening.levels = Bounded(None)
    program = unlocked(3)
    while (plan := deepening.plan(Dpor())) is not None:
        deepening.learn(program.execute(plan), plan)
    assert deepening.is_complete


def many(path: Path, **options: Any) -> Exploration:
    path.write_text(MANY)
    with script((str(path),)) as program:
        return explore(program, Options(executions=140, **options))


@pytest.mark.parametrize("join", ["none", "all"])
def test_an_open_verdict_says_what_was_shown(join: str, tmp_path: Path) -> None:
    found = many(tmp_path / "many.py", join=join)
    assert found.holds is None
    told = "\n".join(report(found, "many.py", None))
    assert "no failure with" in told and "all such schedules are covered" in told
    levels = document(found, "many.py", None)["coverage"]["levels"]
    assert [each["preemptions"] for each in levels] == list(range(len(levels)))


def test_nothing_is_said_of_levels_where_others_were_asked_for(tmp_path: Path) -> None:
    found = many(tmp_path / "many.py", scheduler="random")
    assert found.coverage is not None and not found.coverage.levels
