from __future__ import annotations

import pytest

from possibly import check
from possibly.detection.lassos.states import repeated_state
from possibly.detection.observed import observed_path
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.trace.build import TraceBuilder
from possibly.trace.notation import trace

TURNS = "P(x=0): a{x=1} b{x=0} c{x=1} d{x=0}"


def found(run: str, start: int = 0) -> tuple[int, int] | None:
    lattice = Lattice(Computation(trace(run)))
    return repeated_state(lattice, observed_path(lattice), start)


def test_state_that_comes_again() -> None:
    assert found(TURNS) == (1, 3), "the kind of the last event counts: before any event is another state"
    assert found(f"{TURNS} e{{x=2}}", start=2) == (2, 4)
    assert found(TURNS, start=2) is None, "who is at the end is in another state"


def test_no_state_comes_twice() -> None:
    assert found("P(x=0): a{x=1} b{x=2}") is None
    assert found("P(x=0): a{x=1} b{x=1.0}") is None, "values of different types are different"


def test_messages_in_transit_are_part_of_the_state() -> None:
    assert found("P: send() send() send()") is None
    assert found("P: send(a>P) recv(a) send(b>P) recv(b)") == (1, 3)


def test_labels_and_functions_are_part_of_the_state() -> None:
    assert found("P: a#one b#two") is None
    assert found("P: a#one b#two c#one d") == (1, 3)


@pytest.mark.parametrize(("formula", "language"), [("AF(P.x == 2)", "ctl"), ("F(P.x == 2)", "ltl")])
def test_report_tells_a_loop_from_an_unfinished_run(formula: str, language: str) -> None:
    loop = check(trace(TURNS), **{language: formula}).explain()  # type: ignore[arg-type]
    assert "The state after step 1 comes again after step 3: as far as the trace shows, this can go" in loop
    unfinished = check(trace("P(x=0): a{x=1}"), **{language: formula}).explain()  # type: ignore[arg-type]
    assert "No state comes twice on it: the run may only have ended before it could happen." in unfinished


def test_response_looks_for_the_loop_after_the_request() -> None:
    run = trace("P(x=0): a{x=1} b{x=0} c{x=1} d{x=0} e{x=5}")
    verdict = check(run, ltl="G(P.x == 5 -> F(P.x == 7))").verdict
    assert verdict.explanation is not None and verdict.explanation.loop is None


def test_safety_violation_is_no_loop() -> None:
    verdict = check(trace(TURNS), ltl="G(P.x == 0)").verdict
    assert verdict.explanation is not None and not verdict.explanation.unending


def test_who_has_let_another_begin_is_in_another_state() -> None:
    run = TraceBuilder()
    run.header(processes=[("M", {})])
    run.add("M", kind="spawn", id="one")
    run.add("M", kind="spawn", id="two")
    run.add("M", id="three")
    run.add("P", kind="start", after=["one"])
    run.add("Q", kind="start", after=["two"])
    lattice = Lattice(Computation(run.finish()))
    assert repeated_state(lattice, observed_path(lattice)) is None
