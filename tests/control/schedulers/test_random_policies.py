"""Bounded preemption, uniform random choice and random priorities."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from itertools import islice
from random import Random

import pytest

from possibly.control.causality import canonical
from possibly.control.coverage import species
from possibly.control.execution import Execution, Outcome
from possibly.control.schedulers import bounded
from possibly.control.schedulers.bounded import Bounded, preemptions
from possibly.control.schedulers.dpor import Dpor
from possibly.control.schedulers.pct import Pct
from possibly.control.schedulers.random import RandomWalk
from tests.control.bugs import double_checked, lock_order, lost_update
from tests.control.programs import independent, lastzero, locked, random_program, readers, unlocked
from tests.control.toy import Toy, interleavings

MANY = int(os.environ.get("POSSIBLY_CASES", "1"))


def explored(program: Toy, explorer: Bounded) -> list[Execution]:
    executions = []
    while (plan := explorer.plan()) is not None:
        executions.append(program.execute(plan))
        explorer.learn(executions[-1])
    return executions


def every_schedule(program: Toy, most: int = 120) -> list[Execution] | None:
    """By brute force; None if there are more."""
    found = list(islice(interleavings(program), most + 1))
    return found if len(found) <= most else None


def test_bounded_preemption_accounts_for_every_schedule_within_the_bound_once() -> None:
    compared = executions = classes = 0
    for seed in range(40 * MANY):
        program, bound = random_program(Random(f"bounded {seed}")), seed % 3
        every = every_schedule(program)
        if every is None:
            continue
        compared += 1
        explorer = Bounded(bound)
        found = explored(program, explorer)
        wanted = [each for each in every if preemptions(each.steps) <= bound]
        schedules = {each.schedule for each in found}
        assert len(schedules) == len(found) and schedules <= {each.schedule for each in wanted}, seed
        assert len(found) + explorer.foreseen == len(wanted), seed
        assert {canonical(each) for each in found} == {canonical(each) for each in wanted}, seed
        assert len(explorer.classes) == len({canonical(each) for each in wanted}), seed
        assert explorer.is_complete == (len(wanted) == len(every)), seed
        executions, classes = executions + len(found), classes + len(explorer.classes)
    assert compared > 5 * MANY
    assert classes <= executions <= 2 * classes  # most of them are tiny


@pytest.mark.parametrize("program", [unlocked(3), locked(4), lastzero(3), readers(4), independent(4)])
def test_a_class_is_hardly_ever_executed_twice(program: Toy) -> None:
    explorer = Bounded(1)
    found = explored(program, explorer)
    assert len(found) <= 1.2 * len(explorer.classes) and explorer.foreseen


def test_fewer_preemptions_come_first() -> None:
    spent = [preemptions(execution.steps) for execution in explored(unlocked(3), Bounded(2))]
    assert spent == sorted(spent) and spent[-1] == 2


def test_each_level_is_told_with_all_its_classes() -> None:
    """The classes of all schedules with so many preemptions, by brute force."""
    program = Toy(at_once=tuple([_increments] * 3))
    explorer = Bounded(2)
    explored(program, explorer)
    every = [(preemptions(each.steps), canonical(each)) for each in interleavings(program)]
    for level, known in explorer.levels.items():
        assert known == len({trace for spent, trace in every if spent <= level})
    assert list(explorer.levels) == [0, 1, 2]


@pytest.mark.parametrize("others", [False, True])
def test_without_a_bound_it_deepens_until_all_is_covered(others: bool) -> None:
    """Each level has its classes by brute force, also if executions of another search are taken in."""
    program = Toy(at_once=tuple([_increments] * 3))
    explorer, other = Bounded(None), Dpor()
    done = 0
    while (plan := explorer.plan()) is not None:
        assert explorer.under_way is not None and explorer.under_way.known > explorer.under_way.done
        explorer.learn(program.execute(plan))
        done += 1
        if others and (course := other.plan()) is not None:
            execution = program.execute(course)
            other.learn(execution)
            explorer.note(execution)
    every = [(preemptions(each.steps), canonical(each)) for each in interleavings(program)]
    deepest = max(spent for spent, _ in every)
    assert list(explorer.levels) == list(range(deepest + 1))
    for level, known in explorer.levels.items():
        assert known == len({trace for spent, trace in every if spent <= level})
    assert explorer.is_complete and explorer.under_way is None
    classes = len(explorer.classes)
    assert done < 0.7 * classes if others else done <= 1.2 * classes


def test_what_is_forgotten_is_not_said_to_be_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST_WAITING", 5)
    program, explorer = Toy(at_once=tuple([_increments] * 3)), Bounded(None)
    explored(program, explorer)
    every = [(preemptions(each.steps), canonical(each)) for each in interleavings(program)]
    assert explorer.bound is not None and explorer.bound < max(spent for spent, _ in every)
    assert list(explorer.levels) == list(range(explorer.bound + 1)) and not explorer.is_complete
    for level, known in explorer.levels.items():
        assert known == len({trace for spent, trace in every if spent <= level})


@pytest.mark.parametrize("seed", range(4))
def test_the_first_execution_may_go_anywhere(seed: int) -> None:
    """As one does in which steps turn up afterwards: whatever it spent is counted."""
    program, explorer = Toy(at_once=tuple([_increments] * 3)), Bounded(1)
    assert explorer.plan() is not None
    first = program.execute(RandomWalk(seed).plan())
    explorer.learn(first)
    found = {canonical(each) for each in [first, *explored(program, explorer)]}
    every = [each for each in interleavings(program) if preemptions(each.steps) <= 1]
    assert found == {canonical(each) for each in [first, *every]}


def test_a_level_is_told_only_when_all_of_it_was_executed() -> None:
    program, explorer = unlocked(3), Bounded(1)
    for _ in range(3):
        plan = explorer.plan()
        assert plan is not None
        explorer.learn(program.execute(plan))
    assert not explorer.levels


def test_how_many_classes_there_are_is_estimated_from_below() -> None:
    explorer = RandomWalk()
    program = unlocked(3)
    for _ in range(60):
        explorer.learn(program.execute(explorer.plan()))
    assert len(explorer.classes) <= species(explorer.classes) <= 2 * 36
    assert species(Counter({1: 5, 2: 7})) == 2


def test_random_executions_are_those_of_their_seed() -> None:
    first, second, other = RandomWalk(3), RandomWalk(3), RandomWalk(4)
    program = unlocked(3)
    one, two, three = (
        [program.execute(explorer.plan()).schedule for _ in range(20)] for explorer in (first, second, other)
    )
    assert one == two != three
    assert len(set(one)) > 10


def test_random_choices_are_uniform() -> None:
    explorer, firsts = RandomWalk(), Counter[str]()
    program = Toy(at_once=tuple([_writes] * 4))
    for _ in range(2_000):
        firsts[program.execute(explorer.plan()).schedule[0]] += 1
    # A binomial of mean 500 and deviation 19.
    assert all(400 < number < 600 for number in firsts.values()) and len(firsts) == 4


def _increments():  # type: ignore[no-untyped-def]
    value = yield ("read", "x")
    yield ("write", "x", value + 1)


def _writes():  # type: ignore[no-untyped-def]
    yield ("write", "x", 1)


def test_random_executions_find_all_traces_in_the_end() -> None:
    explorer, program = RandomWalk(), unlocked(2)
    found = set()
    for _ in range(200):
        execution = program.execute(explorer.plan())
        explorer.learn(execution)
        found.add(canonical(execution))
    assert len(found) == len(explorer.classes) == 4


def test_random_priorities_find_a_bug_as_often_as_they_promise() -> None:
    for bug, depth in ((lost_update, 2), (lock_order, 2), (double_checked, 3)):
        explorer, program, found = Pct(depth), bug(False), 0
        rounds = 400
        explorer.learn(program.execute(explorer.plan()))
        promised = explorer.probability
        for _ in range(rounds):
            execution = program.execute(explorer.plan())
            explorer.learn(execution)
            found += execution.outcome is not Outcome.FINISHED
        assert found / rounds >= promised, bug


def test_a_scheduler_can_be_sent_to_another_process() -> None:
    explorer, program = Pct(3, seed=5), unlocked(3)
    explorer.learn(program.execute(explorer.plan()))
    scheduler = explorer.plan()
    copy = pickle.loads(pickle.dumps(scheduler))
    assert program.execute(copy).schedule == program.execute(scheduler).schedule


def test_a_program_that_does_not_follow_is_noticed() -> None:
    explorer = Bounded(1)
    explorer.learn(unlocked(2).execute(explorer.plan() or RandomWalk().plan()))
    assert explorer.plan() is not None
    explorer.learn(Toy(at_once=(_writes,)).execute(RandomWalk().plan()))
    assert not explorer.is_complete
