"""Replaying schedules, exactly and in edited programs, and following a witness."""

from __future__ import annotations

import os
import pickle
from collections.abc import Generator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.control.execution import Outcome
from possibly.control.schedulers.dpor import Dpor
from possibly.control.schedulers.guided import Guided, Wanted
from possibly.control.schedulers.random import RandomWalk
from possibly.control.schedulers.replay import Replay, deviations, recorded
from possibly.errors import PossiblyError
from possibly.trace.schedule import (
    Schedule,
    ScheduledStep,
    parsed_schedule,
    read_schedule,
    schedule_text,
    write_schedule,
)
from tests.control.bugs import BUGS, lock_order, lost_update
from tests.control.programs import interpreted, random_program
from tests.control.toy import Toy, parallel

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def test_a_replay_is_the_same_event_for_event() -> None:
    for seed in range(80 * MANY):
        program, explorer = random_program(Random(f"replay {seed}")), RandomWalk(seed)
        execution = program.execute(explorer.plan())
        schedule = parsed_schedule(schedule_text(recorded(execution, {}, {})))
        again = program.execute(pickle.loads(pickle.dumps(Replay(schedule))))
        assert again.steps == execution.steps, seed
        assert deviations(schedule, again) == [], seed


@pytest.mark.parametrize(
    "file", ["a\nb.py", "a\r\nb.py", "a\\nb.py", "a\\\nb.py", "a  b:1.py", "a @ b | c.py"]
)
def test_a_place_may_be_in_a_file_of_any_name(file: str) -> None:
    step = ScheduledStep("0.1", "teller", "read", "balance", f"{file}:3", "balance = 1")
    assert parsed_schedule(schedule_text(Schedule((step,)))).steps == (step,)


def test_bare_choices_are_enough() -> None:
    program = lost_update(False)
    execution = program.execute(RandomWalk(1).plan())
    schedule = Schedule(tuple(ScheduledStep(task) for task in execution.schedule))
    assert program.execute(Replay(parsed_schedule(schedule_text(schedule)))).steps == execution.steps


def failing(program: Toy) -> Any:
    explorer = Dpor()
    while (plan := explorer.plan()) is not None:
        execution = program.execute(plan)
        if execution.outcome is not Outcome.FINISHED:
            return execution
        explorer.learn(execution)
    raise AssertionError


def edited(*more: tuple[Any, ...]) -> Toy:
    """The lost update, with other operations of the tasks around it."""

    def worker() -> Generator[tuple[Any, ...], Any, None]:
        for operation in more:
            yield operation
        value = yield ("read", "x")
        for operation in more:
            yield operation
        yield ("write", "x", value + 1)

    return Toy(parallel(worker, worker, join=True), check=lost_update(False).check)


def test_a_schedule_survives_new_operations() -> None:
    execution = failing(edited())
    schedule = recorded(execution, {}, {})
    program = edited(("acquire", "log"), ("release", "log"))
    again = program.execute(Replay(schedule))
    assert again.outcome is Outcome.FAILED
    assert {d.what for d in deviations(schedule, again)} == {"new"}


def test_a_schedule_survives_operations_that_are_gone() -> None:
    execution = failing(edited(("write", "log", 1), ("acquire", "log"), ("release", "log")))
    schedule = recorded(execution, {}, {})
    again = edited().execute(Replay(schedule))
    assert again.outcome is Outcome.FAILED
    assert {d.what for d in deviations(schedule, again)} == {"gone"}


def test_a_schedule_that_cannot_be_followed_says_where() -> None:
    schedule = recorded(failing(lock_order(False)), {}, {})
    again = lock_order(True).execute(Replay(schedule))
    assert again.outcome is Outcome.FINISHED
    first = deviations(schedule, again)[0]
    assert first.step.kind == "acquire" and first.operation is not None


def test_the_file_is_small_text_and_comes_back(tmp_path: Path) -> None:
    steps = (
        ScheduledStep("0", "main", "start", "teller-1", "bank.py:15", "teller.start()"),
        ScheduledStep("0.1", "teller-1", "read", "balance", "bank.py:10", "balance = balance | 10 @ 2"),
        ScheduledStep("0.1", "teller-1", "end", "0.1"),
        ScheduledStep("0", "main"),
    )
    schedule = Schedule(steps, {"program": ["bank.py", "-v"], "seed": 0, "visible": ["balance"]})
    path = str(tmp_path / "fail.schedule")
    write_schedule(schedule, path)
    assert Path(path).read_text() == (
        "possibly schedule 1\n"
        'program: ["bank.py", "-v"]\n'
        "seed: 0\n"
        'visible: ["balance"]\n'
        "\n"
        "0 main\n"
        "  start teller-1 @ bank.py:15 | teller.start()\n"
        "0.1 teller-1\n"
        "  read balance @ bank.py:10 | balance = balance | 10 @ 2\n"
        "  end 0.1 @  |\n"
        "0 main\n"
        "  *  @  |\n"
    )
    back = read_schedule(path)
    assert back.steps == steps and back.header == schedule.header


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x:1: not a schedule: it does not begin with 'possibly schedule 1'"),
        ("{}", "x:1: not a schedule: it does not begin with 'possibly schedule 1'"),
        ("possibly schedule 2\n", "x:1: a schedule of another version"),
        ("possibly schedule 1\nseed\n", "x:2:1: a header line is not `key: value`"),
        ("possibly schedule 1\n\n  read x @ |\n", "x:3:1: a step without a task"),
        ("possibly schedule 1\n\nmain\n", "x:3:1: not the name of a task: 'main'"),
    ],
)
def test_a_broken_file_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(PossiblyError) as caught:
        parsed_schedule(text, "x")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("bug", BUGS)
def test_a_witness_is_followed_into_the_failure(bug: Any) -> None:
    program = bug(False)
    execution = failing(program)
    path = tuple(
        Wanted(step.task, kind=step.operation.kind, thing=step.operation.thing)
        for step in execution.steps
        if step.operation.kind not in ("start", "join", "end")
    )
    explorer = Guided(path)
    plan = explorer.plan()
    assert plan is not None
    again = program.execute(pickle.loads(pickle.dumps(plan)))
    explorer.learn(again)
    assert explorer.missing is None
    assert again.outcome is execution.outcome


def test_an_infeasible_witness_names_the_step_that_no_schedule_reaches() -> None:
    program = lost_update(True)
    path = (
        Wanted("0.1", kind="read", thing="x"),
        Wanted("0.2", kind="read", thing="x"),
        Wanted("0.1", kind="write", thing="x"),
    )
    explorer = Guided(path)
    executions = 0
    while (plan := explorer.plan()) is not None:
        explorer.learn(program.execute(plan))
        executions += 1
    assert (executions, explorer.reached, explorer.missing) == (2, 2, path[2])
    assert explorer.tree.is_complete


def test_a_path_that_needs_other_tasks_first_is_searched_near() -> None:
    """The second wanted event needs an item that only a task outside the path can put."""
    program = Toy(
        at_once=(
            interpreted([("write", "x", 1), ("write", "y", 1)]),
            interpreted([("get", "q"), ("read", "y")]),
            interpreted([("read", "x"), ("put", "q", 1)]),
        )
    )
    path = (Wanted("0.1", thing="x"), Wanted("0.2", thing="y"), Wanted("0.1", thing="y"))
    explorer = Guided(path)
    plan = explorer.plan()
    assert plan is not None
    explorer.learn(program.execute(plan))
    assert explorer.missing is None
