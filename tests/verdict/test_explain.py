"""Why, as data: steps with what they change, what decided, and what came first in every order."""

from __future__ import annotations

from possibly.order.computation import Computation
from possibly.trace.notation import trace
from possibly.verdict.explain import settled_steps, step_of, steps_along, variable_text
from possibly.verdict.model import Change


def test_each_step_tells_what_it_changes() -> None:
    computation = Computation(trace("p(x=0): {x=1} {x=1} {x=2} | q: {y=2}", order="p:1 q:1 p:2 p:3"), "sync")
    steps, state = steps_along(computation, range(4))
    assert [each.changes for each in steps] == [
        (Change("p.x", 0, 1),),
        (Change("q.y", None, 2, fresh=True),),
        (),
        (Change("p.x", 1, 2),),
    ]
    assert state == {"p.x": 2, "q.y": 2}


def test_true_is_another_value_than_one() -> None:
    computation = Computation(trace("p(x=1): {x=true}"), "sync")
    (step,) = steps_along(computation, [0])[0]
    assert step.changes == (Change("p.x", 1, True),)


def test_a_message_has_its_other_end() -> None:
    computation = Computation(trace("p: send(m>q) | q: recv(m)"), "sync")
    assert [step_of(computation, step).message for step in (0, 1)] == ["m to q", "m from p"]


def test_what_comes_first_in_every_order_is_settled() -> None:
    computation = Computation(trace("p: a send(m) b | q: recv(m) c"), "sync")
    names = [computation.trace.event(e).name for e in range(5)]
    order = [names.index(name) for name in ("a", "p:2", "q:1", "b", "c")]
    assert settled_steps(computation, order) == 2
    assert settled_steps(computation, order[:1]) == 0


def test_names_are_written_as_in_a_formula() -> None:
    assert variable_text((None, "turn")) == "turn"
    assert variable_text(("P1", "x")) == "P1.x"
    assert variable_text(("worker-1", "x")) == '"worker-1".x'
