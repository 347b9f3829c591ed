"""The classic bugs: each is found within a few executions, each corrected form is covered completely."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.forking.zygote import script
from possibly.control.schedulers.course import Course
from possibly.session.exploring.exploration import Exploration, Options
from possibly.session.exploring.explore import explore

FOLDER = Path(__file__).parents[2] / "examples" / "bugs"

FOUND = {
    "lost-update": ("assertion", 3),
    "check-then-act": ("assertion", 3),
    "lock-order": ("deadlock", 2),
    "lost-wake-up": ("lost wake-up", 3),
    "if-not-while": ("exception", 3),
    "double-checked": ("assertion", 7),
    "ring-buffer": ("assertion", 3),
    "philosophers": ("deadlock", 8),
    "peterson": ("assertion", 10),
    "await-between": ("assertion", 2),
    "stale-reply": ("assertion", 3),
    "queue-order": ("assertion", 3),
    "writer-starvation": ("livelock", 12),
    "three-preemptions": ("assertion", 15),
    "barrier-twice": ("assertion", 3),
    "future-twice": ("exception", 3),
    "cancelled-inside": ("assertion", 3),
}
"""The kind of failure, and within how many executions it has to be found."""


def explored(path: Path) -> Exploration:
    with script((str(path),)) as program:
        return explore(program, Options(executions=500, minimise=0))


def test_every_bug_is_listed() -> None:
    assert {each.name for each in FOLDER.iterdir() if each.is_dir()} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_the_bug_is_found(name: str) -> None:
    kind, executions = FOUND[name]
    found = explored(FOLDER / name / "buggy.py")
    assert found.failure is not None
    assert found.failure.kind == kind
    assert found.executions <= executions


@pytest.mark.parametrize("name", FOUND)
def test_the_corrected_form_is_covered(name: str) -> None:
    found = explored(FOLDER / name / "fixed.py")
    assert found.failure is None
    assert not found.open
    assert found.complete


def test_a_failing_schedule_is_the_same_every_time() -> None:
    with script((str(FOLDER / "lost-update" / "buggy.py"),)) as program:
        found = explore(program)
        assert found.failure is not None
        schedule = found.failure.schedule
        steps = found.failure.execution.steps
        for _ in range(100):
            again = program.execute(Course(schedule))
            assert again.steps == steps
            assert again.failure == found.failure.execution.failure
