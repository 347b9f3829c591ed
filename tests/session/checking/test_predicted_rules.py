"""Rules of path expressions about a run that went well: what they say of its other orders."""

from __future__ import annotations

from possibly.logic.specification import read_specification
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

RULE = "watch waits = acquire(X) { hold($1.pid, X); check_deadlock() }"


def nested(first: str, second: str) -> Trace:
    """P takes A and then B; Q takes the two in the order given, when P is done."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})])
    for name, locks in (("P", "AB"), ("Q", first + second)):
        for lock in locks:
            after = [f"{lock} free"] if name == "Q" else []
            builder.add(name, kind="acquire", tag=lock, after=after)
        for lock in reversed(locks):
            builder.add(name, kind="release", tag=lock, id=f"{lock} free" if name == "P" else f"{lock} end")
    return builder.finish()


def test_a_deadlock_of_another_order_is_told_beside_the_rule_that_looks_for_one() -> None:
    report = check_trace(nested("B", "A"), read_specification(RULE), Options())
    (told,) = report.warnings
    assert told.startswith("waits: in another order of this run P and Q wait for each other for ever; --dead")


def test_nothing_is_told_where_no_order_has_one_or_nobody_looks() -> None:
    assert not check_trace(nested("A", "B"), read_specification(RULE), Options()).warnings
    plain = read_specification("watch waits = acquire(X) { hold($1.pid, X) }")
    assert not check_trace(nested("B", "A"), plain, Options()).warnings


def test_a_race_is_told_whatever_the_order_was() -> None:
    """`&` asks whether nothing orders the two, so one good run is enough."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})])
    builder.add("P", label="put")
    builder.add("Q", label="take")
    found = check_trace(builder.finish(), read_specification("never race = put & take"), Options())
    assert found.verdicts[0].holds is False


STUCK = "watch stuck = pick { check_progress(P.held, Q.held) } + eat { progress() }"


def polite(order: str) -> Trace:
    """Two that pick and put; who finds the other without a fork eats. The letters say whose turn it is."""
    builder = TraceBuilder()
    builder.header(processes=[("P", {"held": 0}), ("Q", {"held": 0})])
    courses = {name: iter(("pick", "put") * 3 + ("eat",)) for name in "PQ"}
    for name in order:
        label = next(courses[name])
        builder.add(name, label=label, set={"held": int(label == "pick")} if label != "eat" else {})
    return builder.finish()


def test_a_lack_of_progress_in_another_order_is_told_beside_the_rule_that_looks_for_it() -> None:
    run = polite("PPQQPPQQPPQQPQ")
    (told,) = check_trace(run, read_specification(STUCK), Options()).warnings
    assert told.startswith("stuck: in some order of this run the state after ")
    assert "with no progress between" in told


def test_where_every_way_back_to_a_state_progresses_nothing_is_told() -> None:
    builder = TraceBuilder()
    builder.header(processes=[("P", {"held": 0})])
    for _ in range(3):
        builder.add("P", label="pick", set={"held": 1})
        builder.add("P", label="eat", set={"held": 0})
    text = "watch stuck = pick { check_progress(P.held) } + eat { progress() }"
    assert not check_trace(builder.finish(), read_specification(text), Options()).warnings
    late = "watch stuck = pick { check_progress(P.held) }; eat { progress() }"
    assert not check_trace(builder.finish(), read_specification(late), Options()).warnings
