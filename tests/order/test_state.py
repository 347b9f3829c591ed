from __future__ import annotations

from random import Random

import pytest

from possibly.errors import FormulaError
from possibly.logic.predicates.functions import MISSING
from possibly.logic.syntax import At, Done, Leaf, Local, Shared, Stack, Transit
from possibly.order.computation import Computation
from possibly.order.state import Readings, RunningState
from possibly.trace.notation import trace
from tests.generate import random_trace
from tests.reference import Reference


def values(text: str, leaf: Leaf, process: int = 0) -> list[object]:
    """The values of a fact as one process goes on and the others stand still."""
    order = Computation(trace(text))
    reading = Readings(order)(leaf)
    cut = [0] * len(order.lengths)
    found = []
    for count in range(order.lengths[process] + 1):
        cut[process] = count
        found.append(reading.value(cut))
    return found


def test_local_variable_keeps_its_last_value() -> None:
    assert values("P(x=0): a{x=1} b c{x=null}", Local("P", "x")) == [0, 1, 1, None]
    assert values("P: a b{x=1}", Local("P", "x")) == [MISSING, MISSING, 1]


def test_label_is_that_of_the_last_event() -> None:
    assert values("P: a#m1 b c#m1", At("P", "m1")) == [False, True, False, True]


def test_stack_follows_start_in_and_term() -> None:
    run = "P: enter(f) a enter(g) exit(g) b exit(f) c"
    assert values(run, Stack("start", "P", "f")) == [False, True, False, False, False, False, False, False]
    assert values(run, Stack("inside", "P", "f")) == [False, True, True, True, True, True, True, False]
    assert values(run, Stack("term", "P", "f")) == [False, False, False, False, False, False, True, False]
    assert values(run, Stack("start", "P", "g")) == [False, False, False, True, False, False, False, False]
    assert values(run, Stack("inside", "P", "g")) == [False, False, False, True, True, False, False, False]
    assert values(run, Stack("term", "P", "g")) == [False, False, False, False, True, False, False, False]


def test_recursive_function_is_inside_until_the_outermost_ends() -> None:
    run = "P: enter(f) enter(f) exit(f) exit(f) a"
    assert values(run, Stack("inside", "P", "f")) == [False, True, True, True, True, False]


def test_done_when_all_events_are_executed() -> None:
    assert values("P: a b", Done("P")) == [False, False, True]
    assert values("P: | Q: a", Done("P")) == [True]


def test_messages_in_transit_by_channel_and_in_all() -> None:
    run = "P: send(a>Q) send(b>Q,R) send() | Q: recv(a) recv(b) | R:"
    assert values(run, Transit("P", "Q")) == [0, 1, 2, 2]
    assert values(run, Transit("P", "R")) == [0, 0, 1, 1]
    assert values(run, Transit("Q", "P")) == [0, 0, 0, 0]
    assert values(run, Transit()) == [0, 1, 3, 4]


def test_shared_variable_follows_the_chain_of_its_writes() -> None:
    order = Computation(trace("shared(s=0) P: a&w(s=1) c | Q: b&w(s=2)", order="a b c"))
    reading = Readings(order)(Shared("s"))
    assert [reading.value(cut) for cut in ((0, 0), (1, 0), (1, 1), (2, 1))] == [0, 1, 2, 2]


def test_unordered_writes_cannot_be_read_in_sync_order() -> None:
    run = trace("shared(s=0) P: a&w(s=1) | Q: b&w(s=2)", order="a b")
    with pytest.raises(FormulaError, match="writes of shared variable s at a and b are not ordered"):
        Readings(Computation(run, "sync"))(Shared("s"))


def test_ordered_writes_can_be_read_in_sync_order() -> None:
    run = trace("shared(s=0) P: a&w(s=1) | Q: b<a&w(s=2)", order="a b")
    reading = Readings(Computation(run, "sync"))(Shared("s"))
    assert [reading.value(cut) for cut in ((0, 0), (1, 0), (1, 1))] == [0, 1, 2]


def test_running_state_tells_what_each_step_changes() -> None:
    run = trace("shared(s=0) P(x=1): a{x=2}&w(s=5) b{y=3}")
    state = RunningState(Computation(run))
    assert state.execute(0) == [(("P", "x"), 1, 2), ((None, "s"), 0, 5)]
    assert state.execute(1) == [(("P", "y"), MISSING, 3)]
    assert state.values == {("P", "x"): 2, (None, "s"): 5, ("P", "y"): 3}


@pytest.mark.parametrize("seed", range(60))
def test_readings_equal_the_definition_at_every_cut(seed: int) -> None:
    run = random_trace(Random(seed), events=7)
    order, reference = Computation(run), Reference(run)
    readings = Readings(order)
    for cut in reference.cuts:
        world, counts = reference.world(cut), reference.counts(cut)
        for process in run.processes:
            expected = world.local.get((process.name, "x"), MISSING)
            assert readings(Local(process.name, "x")).value(counts) == expected
            assert readings(Done(process.name)).value(counts) == world.done[process.name]
            for other in run.processes:
                transit = world.transit.get((process.name, other.name), 0)
                assert readings(Transit(process.name, other.name)).value(counts) == transit
        assert readings(Transit()).value(counts) == sum(world.transit.values())
        assert readings(Shared("s")).value(counts) == world.shared["s"]
