"""A route follows its choices, then takes what is quick, then what is wished for."""

from __future__ import annotations

import pickle

from possibly.control.execution import Choice, Operation
from possibly.control.joining.route import UNSEEN, Route


def choice(number: int, **kinds: str) -> Choice:
    pending = {name[1:]: Operation(kind, "x", ()) for name, kind in kinds.items()}
    return Choice(number, None, tuple(pending), pending)


def test_the_prefix_comes_first() -> None:
    route = pickle.loads(pickle.dumps(Route(7, ("1",))))
    assert route.choose(choice(0, t0="write", t1="write")) == "1"
    assert route.seen.plan == 7 and route.seen.states == (UNSEEN,)


def test_a_prefix_that_cannot_be_followed_ends_the_execution() -> None:
    assert Route(1, ("1",)).choose(choice(0, t0="write")) is None


def test_ends_and_joins_are_done_at_once() -> None:
    assert Route().choose(choice(0, t0="write", t1="end")) == "1"


def test_without_a_program_nothing_can_be_read() -> None:
    route = Route()
    assert route.choose(choice(0, t0="write", t1="write")) == "0"
    assert route.seen.states == (None,)
