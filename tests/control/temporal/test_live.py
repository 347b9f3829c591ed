"""Stepping through a live program: states are schedules, executed again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from possibly.control.schedulers.random import RandomWalk
from possibly.control.temporal.live import least
from possibly.control.temporal.stack import Outcome, TemporalStack
from possibly.session.debugging.live import LiveSystem, _along
from possibly.session.debugging.temporal import Opening, opened, variables
from possibly.session.exploring.traces import trace_of

BUGS = Path(__file__).parents[3] / "examples" / "bugs"

SMALL = """\
import threading

x = 0
lock = threading.Lock()


def add(amount):
    global x
    with lock:  #: take
        x += amount
    x = x + 1


threads = [threading.Thread(target=add, args=(n,), name=f"t{n}") for n in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def live(path: Path, *watched: str) -> Iterator[TemporalStack]:
    opening = Opening(str(path), path.read_text(encoding="utf-8"), watched=watched)
    debugger = opened(opening)
    assert isinstance(debugger.system, LiveSystem)
    yield debugger.stack
    debugger.system.close()


@pytest.fixture
def lost_update() -> Iterator[TemporalStack]:
    yield from live(BUGS / "lost-update" / "buggy.py", "balance")


def test_a_lost_update_is_stepped_to(lost_update: TemporalStack) -> None:
    assert lost_update.evaluate("balance") == (0, ())
    formula = 'F(balance == 10 & done("teller-1") & done("teller-2"))'
    assert lost_update.step(formula).outcome is Outcome.FOUND
    assert lost_update.step('F outcome == "failed"').outcome is Outcome.FOUND
    assert lost_update.evaluate("stuck") == (True, ())
    lost_update.clear()
    assert lost_update.step('F(outcome == "finished" & balance == 10)').outcome is Outcome.NONE
    assert lost_update.step('F(outcome == "finished" & balance == 20)').outcome is Outcome.FOUND


def test_one_statement_of_one_task(lost_update: TemporalStack) -> None:
    for _ in range(2):
        assert lost_update.next("MainThread").outcome is Outcome.FOUND
    assert lost_update.next("teller-2").outcome is Outcome.FOUND
    assert lost_update.evaluate('at("teller-2", "10")') == (True, ())
    assert lost_update.evaluate('done("teller-2")') == (False, ())


def test_tasks_of_an_event_loop_are_stepped_through() -> None:
    for stack in live(BUGS / "await-between" / "buggy.py", "balance"):
        assert stack.step('F outcome == "failed"').outcome is Outcome.FOUND
        assert stack.evaluate("balance") == (-60, ())
        assert isinstance(stack.system, LiveSystem)
        assert stack.system.caveats(None) == []
        stack.clear()
        assert stack.step('F outcome == "finished"').outcome is Outcome.NONE, "the loop goes one way"


def test_a_deadlock_is_stepped_to_and_does_not_exist_in_the_corrected_program() -> None:
    for name, expected in (("buggy.py", Outcome.FOUND), ("fixed.py", Outcome.NONE)):
        for stack in live(BUGS / "lock-order" / name):
            assert stack.step('F outcome == "deadlock"').outcome is expected


def test_schedules_of_one_order_are_one_state(tmp_path: Path) -> None:
    """What a random schedule shows, executed by itself, is what the state it is merged into shows."""
    path = tmp_path / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    for stack in live(path, "x"):
        system = stack.system
        assert isinstance(system, LiveSystem)
        walk, merged = RandomWalk(7), set()
        for _ in range(12):
            execution = system.program.execute(walk.plan())
            trace = trace_of(execution, system.program.initial, system.name)
            for number, facts in enumerate(_along(execution, trace, system.program.initial)):
                state = system._state(execution.schedule[:number])
                assert state == least(execution.steps[:number])
                known = system._known(state)
                assert facts is not None
                assert known.variables == facts.variables and known.ended == facts.ended
                assert set(known.enabled) == set(facts.enabled)
                if state != execution.schedule[:number]:
                    merged.add(state)
        assert len(merged) > 10


def test_what_was_forgotten_is_executed_again(lost_update: TemporalStack) -> None:
    system = lost_update.system
    assert isinstance(system, LiveSystem)
    lost_update.step('F done("teller-1")')
    before = variables(system, lost_update.state)
    executions = system.executions
    system._facts.clear()
    assert variables(system, lost_update.state) == before
    assert system.executions > executions
