"""What a statement does depends on the slots that it reads, and changes those that it writes, alone."""

from __future__ import annotations

from itertools import product

import pytest

from possibly.models import acts
from possibly.models.acts import Action
from possibly.models.expressions import Expression, Target, constant
from possibly.models.flow import Outcome
from possibly.models.slots import NOTHING, Failure, Values


def slot(number: int) -> Expression:
    return Expression(lambda values: values[number], frozenset({number}))


def target(number: int, size: int = 1, offset: Expression | None = None, capacity: int = 0) -> Target:
    return Target(range(number, number + size), offset or constant(0), capacity)


ACTIONS: dict[str, Action] = {
    "pass": acts.passing(),
    "x = y": acts.assigning([target(0)], slot(1)),
    "a[y] = z": acts.assigning([target(2, 2, slot(1))], slot(0)),
    "x = choose(y, 1)": acts.choosing([target(0)], [slot(1), constant(1)]),
    "wait(x)": acts.waiting(slot(0)),
    "assert x": acts.asserting(slot(0), "x"),
    "if x or choose": acts.testing([slot(0), constant(0)]),
    "hand over": acts.handing_over([0, 1], [slot(1), slot(0)]),
    "for": acts.entering(0, range(2)),
    "next": acts.repeating(0, range(2), "i"),
}


def outcomes(action: Action, values: Values) -> list[Outcome] | str:
    try:
        return action.act(list(values))
    except Failure as failure:
        return str(failure)


@pytest.mark.parametrize("name", ACTIONS)
def test_the_footprint_is_true(name: str) -> None:
    action = ACTIONS[name]
    states = [list(state) for state in product((0, 1), repeat=4)]
    for state in states:
        found = outcomes(action, state)
        for other in states:
            if all(state[read] == other[read] for read in action.reads):
                assert outcomes(action, other) == found
        if not isinstance(found, str):
            assert {number for each in found for number, _ in each.writes} <= action.writes


def test_a_channel_is_a_queue_of_its_capacity() -> None:
    send = acts.sending(target(0, capacity=2), slot(1))
    receive = acts.receiving([target(1)], target(0, capacity=2))
    assert send.act([(), 7]) == [Outcome(0, ((0, (7,)),))]
    assert send.act([(1,), 7]) == [Outcome(0, ((0, (1, 7)),))]
    assert send.act([(1, 2), 7]) == [], "it waits while the channel is full"
    assert receive.act([(1, 2), 0]) == [Outcome(0, ((0, (2,)), (1, 1)))]
    assert receive.act([(), 0]) == [], "it waits while there is nothing"
    assert acts.receiving([], target(0, capacity=2)).act([(1,), 0]) == [Outcome(0, ((0, ()),))]


def test_a_loop_goes_through_its_numbers() -> None:
    numbers = range(5, 0, -2)
    enter, again = acts.entering(0, numbers), acts.repeating(0, numbers, "i")
    seen, (outcome,) = [], enter.act([NOTHING])
    while outcome.exit == 0:
        seen.append(outcome.writes[0][1])
        (outcome,) = again.act([seen[-1]])
    assert seen == list(numbers)
    assert acts.entering(0, range(0)).act([NOTHING]) == [Outcome(1)]
    with pytest.raises(Failure, match="i has no value yet"):
        again.act([NOTHING])


def test_a_tuple_is_taken_apart_if_it_fits() -> None:
    both = acts.assigning([target(0), target(1)], slot(2))
    assert both.act([0, 0, (3, 4)]) == [Outcome(0, ((0, 3), (1, 4)))]
    for value in ((1,), 5):
        with pytest.raises(Failure, match="cannot unpack"):
            both.act([0, 0, value])


def test_a_test_has_one_outcome_for_each_answer() -> None:
    assert acts.testing([constant(1), constant(2)]).act([]) == [Outcome(0)]
    assert acts.testing([constant(1), constant(0)]).act([]) == [Outcome(0), Outcome(1)]
