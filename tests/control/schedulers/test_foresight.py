"""What is foreseen is what would be executed; what an event does not tell loses classes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from possibly.control.causality import canonical
from possibly.control.execution import Access, Execution, Operation, Outcome, Step
from possibly.control.schedulers import foresight
from possibly.control.schedulers.bounded import Bounded
from possibly.control.schedulers.course import Course, Habit
from possibly.control.schedulers.dpor import Dpor
from possibly.control.schedulers.foresight import Foresight
from tests.control.programs import lastzero, random_program, readers, unlocked
from tests.control.toy import Toy


def learnt(program: Toy, most: int = 40) -> Foresight:
    found, explorer = Foresight(), Dpor()
    for _ in range(most):
        if (plan := explorer.plan()) is None:
            break
        execution = program.execute(plan)
        explorer.learn(execution)
        found.learn(execution)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_what_is_foreseen_happens(seed: int) -> None:
    program, random = random_program(Random(f"foresight {seed}")), Random(seed)
    found = learnt(program)
    for _ in range(20):
        drawn = program.execute(Course(habit=Habit.RANDOM, seed=random.randrange(1000)))
        prefix = drawn.schedule[: random.randrange(len(drawn.schedule) + 1)]
        foreseen = found.foreseen(prefix)
        if foreseen is not None:
            done = program.execute(Course(prefix))
            assert foreseen.schedule == done.schedule
            assert foreseen.enabled == tuple(step.enabled for step in done.steps)
            assert foreseen.trace == Foresight().learn(done)


def test_nothing_is_foreseen_of_what_was_never_done() -> None:
    found = Foresight()
    assert found.foreseen(()) is None
    program = unlocked(2)
    found.learn(program.execute(Course()))
    assert found.foreseen(()) is not None
    assert found.foreseen(("0", "0", "0.1", "0.2")) is None


def test_a_program_that_does_otherwise_is_not_foreseen_any_more() -> None:
    found = learnt(unlocked(2))
    found.learn(readers(1).execute(Course()))
    assert found.is_over and found.foreseen(()) is None


def executed(program: Toy) -> int:
    explorer, classes = Bounded(2), set()
    while (plan := explorer.plan()) is not None:
        execution = program.execute(plan)
        explorer.learn(execution)
        classes.add(canonical(execution))
    return len(classes)


def _without_writes(self: Any, operation: Operation) -> tuple[Any, ...]:
    return (operation.kind, operation.thing)


def _without_reads(self: Any, operation: Operation) -> tuple[Any, ...]:
    things = sorted(operation.footprint)
    return (operation.kind, operation.thing, *((t, w, self.written.get(t, 0)) for t, w in things))


def test_an_event_that_tells_less_loses_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = lastzero(3)
    whole = executed(program)
    monkeypatch.setattr(foresight._State, "_touched", _without_writes)
    never = property(lambda self: False, lambda self, value: None)
    monkeypatch.setattr(Foresight, "is_over", never, raising=False)
    assert executed(program) < whole


READ, WRITE = (Operation(kind, "x", (Access("x", kind == "write"),)) for kind in ("read", "write"))
FIRST = Execution(
    (
        Step("0.1", READ, ("0.1", "0.2"), {"0.1": READ, "0.2": WRITE}),
        Step("0.2", WRITE, ("0.2",), {"0.2": WRITE}),
    ),
    Outcome.FINISHED,
)
THEN = Execution(
    (
        Step("0.2", WRITE, ("0.1", "0.2"), {"0.1": READ, "0.2": WRITE}),
        Step("0.1", READ, ("0.1", "0.2"), {"0.1": READ, "0.2": WRITE}),
    ),
    Outcome.FINISHED,
    pending={"0.2": WRITE},
)


def test_a_write_may_depend_on_who_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is followed by another one unless somebody has read before."""
    found = Foresight()
    assert found.learn(FIRST) != found.learn(THEN) and not found.is_over
    monkeypatch.setattr(foresight._State, "_touched", _without_reads)
    found = Foresight()
    found.learn(FIRST)
    found.learn(THEN)
    assert found.is_over
