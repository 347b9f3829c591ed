"""Tasks of an event loop are not interrupted: what is predicted of them happens in an order of the loop."""

from __future__ import annotations

from random import Random

from possibly.detection.prediction.deadlocks import DeadlockFinder
from possibly.trace.model import Trace
from tests.detection.prediction.loops import Pattern, Programs, deadlocks, random_programs, run
from tests.sampling import sampled

CASES = sampled(500)
A, B, YIELD, SLEEP = ("acquire", "A"), ("acquire", "B"), ("yield", ""), ("sleep", "")
OUT = (("release", "B"), ("release", "A"))
TURNED = (("release", "A"), ("release", "B"))


def predicted(trace: Trace) -> set[Pattern]:
    return {
        frozenset(
            (
                trace.processes[each.process].name,
                trace.strings[each.want.thing],
                frozenset(trace.strings[held.lock] for held in each.holds),
            )
            for each in deadlock.requests
        )
        for deadlock in DeadlockFinder(trace).found()
    }


def test_no_false_alarm() -> None:
    random, found, there = Random("loops"), 0, 0
    for _ in range(CASES):
        programs = random_programs(random)
        trace = run(random, programs)
        if trace is not None:
            real = deadlocks(programs)
            told = predicted(trace)
            assert told <= real, programs
            there, found = there + bool(real), found + bool(told)
    assert found > there // 3 > 0


def good_run(programs: Programs) -> Trace:
    return next(trace for seed in range(100) if (trace := run(Random(seed), programs)) is not None)


def test_two_locks_without_a_wait_between_are_taken_at_once() -> None:
    assert predicted(good_run(((SLEEP, A, B, *OUT), (SLEEP, B, A, *TURNED)))) == set()
    assert predicted(good_run(((SLEEP, A, B, YIELD, *OUT), (SLEEP, B, A, YIELD, *TURNED)))) == set()


def test_a_wait_between_lets_the_other_in() -> None:
    for wait in (SLEEP, YIELD):
        programs = (SLEEP, A, wait, B, *OUT), (SLEEP, B, wait, A, *TURNED)
        assert len(predicted(good_run(programs))) == 1, wait


def test_a_task_that_yields_goes_on_before_one_that_is_ready_later() -> None:
    """The second begins to wait when the first has both locks already."""
    programs = (A, YIELD, B, *OUT), (YIELD, YIELD, YIELD, B, YIELD, A, *TURNED)
    assert deadlocks(programs) == set()
    assert predicted(good_run(programs)) == set()
