"""Events that are further apart than clocks can be are ordered, and no others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence

import pytest

from possibly.errors import TraceError
from possibly.order.computation import Computation
from possibly.order.refined.timed import TIME, timed, with_times
from possibly.records import replace
from possibly.trace.model import Trace
from possibly.trace.notation import trace as trace_of
from tests.generate import random_trace
from tests.sampling import sampled

NONE = math.nan


def at(text: str, times: Sequence[float]) -> Trace:
    return replace(trace_of(text), time=times)


def order_of(trace: Trace) -> set[tuple[str, str]]:
    """The pairs of events of which the first happened before the second."""
    computation, events = Computation(trace), range(len(trace))
    return {
        (trace.name(first), trace.name(second))
        for first in events
        for second in events
        if first != second and computation.happened_before(first, second)
    }


def test_what_is_further_apart_is_ordered() -> None:
    assert order_of(timed(at("p: a | q: b", [1.0, 2.0]), 0.5)) == {("a", "b")}
    assert order_of(timed(at("p: a | q: b", [1.0, 2.0]), 1.0)) == set()


def test_lines_change_places_where_the_times_want_it() -> None:
    trace = trace_of("p: a b | q: c", order=["a", "b", "c"])
    found = timed(replace(trace, time=[1.0, 9.0, 4.0]), 1.0)
    assert [found.name(event) for event in range(3)] == ["a", "c", "b"]
    assert order_of(found) == {("a", "b"), ("a", "c"), ("c", "b")}


def test_who_has_no_time_is_not_ordered_by_it() -> None:
    assert order_of(timed(at("p: a b | q: c", [1.0, 9.0, NONE]), 1.0)) == {("a", "b"), ("a", "c")}


def test_times_that_contradict_the_order_are_an_error() -> None:
    with pytest.raises(TraceError, match="the times contradict the order of events") as caught:
        timed(at("p: send(m) | q: recv(m)", [9.0, 1.0]), 2.0)
    assert "more than 2 seconds apart" in str(caught.value.hint)


@pytest.mark.parametrize("made", [lambda trace: timed(trace, 1.0), with_times])
def test_a_trace_without_times_is_refused(made: Callable[[Trace], Trace]) -> None:
    with pytest.raises(TraceError, match="`t` is missing"):
        made(trace_of("p: a"))


def test_formulas_read_the_time_of_the_last_event() -> None:
    found = with_times(at("p: a{x=1} b", [1.5, NONE]))
    assert [dict(found.sets(event)) for event in range(2)] == [{"x": 1, TIME: 1.5}, {}]


def test_a_variable_of_that_name_is_not_hidden() -> None:
    with pytest.raises(TraceError, match="has a variable 'time' already"):
        with_times(at("p: a{time=1}", [1.5]))


def test_the_order_is_the_closure_of_both() -> None:
    done = 0
    for case in range(sampled(200)):
        chance = random.Random(case)
        trace = random_trace(chance)
        if not len(trace):
            continue
        drift, joint = [chance.uniform(0, 2) for _ in trace.processes], Computation(trace).joint
        moments = [joint.get(event, (event,))[0] for event in range(len(trace))]
        times = [moment + drift[process] for moment, process in zip(moments, trace.process, strict=True)]
        trace = replace(trace, time=times)
        skew = chance.choice([2.0, 3.0, 5.0])
        done += 1
        assert order_of(timed(trace, skew)) == _closed(trace, skew)
    assert done > 50


def test_any_order_of_the_run_may_be_that_of_the_times() -> None:
    moved = 0
    for case in range(sampled(200)):
        chance = random.Random(case)
        trace = random_trace(chance, joint=False)
        times = {event: float(number) for number, event in enumerate(_some_order(trace, chance))}
        if times:
            trace = replace(trace, time=[times[event] for event in range(len(trace))])
            skew = chance.choice([0.0, 1.0, 2.0])
            found = timed(trace, skew)
            assert order_of(found) == _closed(trace, skew)
            moved += [found.name(each) for each in range(len(trace))] != list(
                map(trace.name, range(len(trace)))
            )
    assert moved > 20


def _some_order(trace: Trace, chance: random.Random) -> Iterator[int]:
    computation, left = Computation(trace), set(range(len(trace)))
    while left:
        ready = [one for one in left if not any(computation.happened_before(other, one) for other in left)]
        yield (chosen := chance.choice(sorted(ready)))
        left.remove(chosen)


def _closed(trace: Trace, skew: float) -> set[tuple[str, str]]:
    """By the definition: pairs of either kind, until nothing is new."""
    assert trace.time is not None
    computation, events = Computation(trace), range(len(trace))
    joint = {event: computation.joint.get(event, (event,)) for event in events}
    found = {
        (first, second)
        for first in events
        for second in events
        if computation.happened_before(first, second)
        or (trace.process[first] != trace.process[second] and trace.time[first] + skew < trace.time[second])
    }
    found |= {(a, b) for first, second in found for a in joint[first] for b in joint[second]}
    while new := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= new | {(a, b) for first, second in new for a in joint[first] for b in joint[second]}
    return {(trace.name(first), trace.name(second)) for first, second in found if first != second}
