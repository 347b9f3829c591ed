"""Sliced reorderings against their definition: every way to divide the events of small runs into slices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.prediction.facts import racing
from possibly.detection.prediction.orders import is_unnoticed
from possibly.detection.prediction.sliced import Reached, SlicedSearch
from possibly.logic.bind import bind_property
from possibly.logic.predicates.functions import compile_predicate
from possibly.logic.specification import property_from_text
from possibly.logic.syntax import Temporal
from possibly.order.computation import Computation
from possibly.order.vocabulary import vocabulary
from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace
from tests.sampling import FACTOR, sampled

CASES = sampled(30)
BATCHES = range(9 if FACTOR > 1 else 1)
"""In the soak more than 10,000 cases of both numbers of slices together."""


def search(trace: Trace, state: str, cuts: int = 1, budget: Budget | None = None) -> SlicedSearch:
    formula = bind_property(property_from_text("ctl", f"EF({state})", "it"), vocabulary(trace), ()).formula
    assert isinstance(formula, Temporal)
    return SlicedSearch(
        trace, Reached(trace, compile_predicate(formula.operands[0])), cuts, budget or Budget()
    )


def random_trace(random: Random, most: int = 7) -> Trace:
    """Processes that read and write shared variables, set one of their own, and wait for each other."""
    builder, names = TraceBuilder(), ["P", "Q", "R"][: random.randint(2, 3)]
    builder.header(processes=[(name, {"n": 0}) for name in names], shared={"x": 0, "y": 0, "z": 0})
    counts = dict.fromkeys(names, 0)
    for _ in range(random.randint(3, most)):
        name, other = random.choice(names), random.choice(names)
        fields: dict[str, Any] = {"p": name}
        match random.choice(("write", "write", "read", "both", "set")):
            case "write":
                fields["write"] = {random.choice("xyz"): random.choice((0, 1, "<object>"))}
            case "read":
                fields["read"] = [random.choice("xyz")]
            case "both":
                fields |= {
                    "read": [random.choice("xz")],
                    "write": {random.choice("xyz"): random.randint(0, 1)},
                }
            case "set":
                fields["set"] = {"n": random.randint(0, 2)}
        if other != name and counts[other] and random.random() < 0.3:
            fields["after"] = [f"{other}:{random.randint(1, counts[other])}"]
        builder.add_fields(fields)
        counts[name] += 1
    return builder.finish()


def sliced(trace: Trace, cuts: int) -> Iterator[tuple[int, ...]]:
    """By definition: the slices one after the other, of all events that are in one."""
    events = range(len(trace))
    for chosen in product(range(cuts + 2), repeat=len(trace)):
        if all(_is_kept(trace, chosen, event) for event in events):
            order = [event for part in range(cuts + 1) for event in events if chosen[event] == part]
            if is_unnoticed(trace, order):
                yield tuple(order)


def _is_kept(trace: Trace, chosen: tuple[int, ...], event: int) -> bool:
    chain, place = trace.events_of[trace.process[event]], trace.position[event] - 1
    before = [*chain[max(place - 1, 0) : place], *trace.after(event)]
    return all(chosen[each] <= chosen[event] for each in before)


def state_after(trace: Trace, order: tuple[int, ...]) -> dict[str, Any]:
    values: dict[str, Any] = dict(trace.shared) | {f"{each.name}.n": 0 for each in trace.processes}
    for event in order:
        told = trace.event(event)
        values.update(told.write)
        values.update({f"{told.process}.{name}": value for name, value in told.set.items()})
    return values


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("cuts", [1, 2])
def test_exactly_the_states_of_sliced_reorderings(cuts: int, batch: int) -> None:
    random, reached = Random(f"sliced {cuts} {batch}"), 0
    for _ in range(CASES):
        trace = random_trace(random, 8 - cuts)
        x, y, n = random.randint(0, 1), random.randint(0, 1), random.randint(0, 2)
        wanted, state = {"x": x, "P.n": n}, f"x == {x} & P.n == {n}"
        if random.random() < 0.5:
            wanted, state = wanted | {"y": y}, f"{state} & y == {y}"
        found = search(trace, state, cuts).found()
        orders = sliced(trace, cuts)
        is_there = any(wanted.items() <= state_after(trace, order).items() for order in orders)
        assert (found is not None) == is_there
        if found is not None:
            assert sorted(found.order) == list(range(len(trace)))
            firsts = [found.order[:count] for count in range(len(trace) + 1)]
            assert any(
                wanted.items() <= state_after(trace, order).items() and is_unnoticed(trace, order)
                for order in firsts
            )
            reached += 1
    assert reached


def test_who_follows_an_event_that_is_left_out_is_left_out_too() -> None:
    """Nobody asks for what Q does; P goes on without R and Q."""
    builder = TraceBuilder()
    builder.header(processes=[(name, {"n": 0}) for name in "PQR"], shared={"x": 0, "z": 0})
    builder.add_fields({"p": "R", "write": {"x": 1}})
    builder.add_fields({"p": "Q", "write": {"z": 0}, "after": ["R:1"]})
    builder.add_fields({"p": "P", "set": {"n": 1}})
    assert search(builder.finish(), "x == 0 & P.n == 1").found() is not None


def test_racing_variables_are_those_of_unordered_accesses() -> None:
    random = Random("racing")
    for _ in range(CASES):
        trace = random_trace(random)
        computation = Computation(trace, "sync")
        events = [trace.event(number) for number in range(len(trace))]
        racy = {
            name
            for one in events
            for other in events
            if one.number < other.number and computation.concurrent(one.number, other.number)
            for name in (*one.write, *other.write)
            if name in {*one.write, *one.read} and name in {*other.write, *other.read}
        }
        assert racing(trace, computation) == racy


def writers(count: int) -> Trace:
    """Each sets its flag, looks at nothing, and clears it: two are set only in another order."""
    builder = TraceBuilder()
    names = [f"P{number}" for number in range(count)]
    builder.header(processes=[(name, {}) for name in names], shared={"a": 0, "b": 0, "c": 0})
    for number, name in enumerate(names):
        flag = "ab"[number % 2]
        builder.add_fields({"p": name, "write": {flag: number + 1}})
        builder.add_fields({"p": name, "write": {"c": number}})
        builder.add_fields({"p": name, "write": {flag: 0}})
    return builder.finish()


def test_a_long_run_is_one_pass_and_a_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = writers(12)
    assert search(trace, "a == 11 & b == 2").found() is not None, "the second is held up for long"
    assert search(trace, "a == 2").found() is None
    monkeypatch.setattr("possibly.detection.prediction.sliced.MOST_WORK", 1)
    few = search(trace, "a == 2")
    assert few.found() is None and not few.is_complete
    with pytest.raises(LimitReachedError):
        search(trace, "a == 2", budget=Budget(timeout=0.0)).found()


def test_what_it_does_not_know_is_not_complete() -> None:
    builder = TraceBuilder()
    builder.header(processes=[("P", {}), ("Q", {})], shared={"x": 0})
    for name in "PQ":
        builder.add_fields({"p": name, "meet": "m", "write": {"x": 1}})
    joint = search(builder.finish(), "x == 1")
    assert joint.found() is None and not joint.is_complete
    transit = search(writers(2), "transit() == 0")
    assert transit.found() is None and not transit.is_complete
