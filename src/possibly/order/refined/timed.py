"""Order by time: where clocks differ by at most so much, what lies further apart happened in that order.

A trace never uses its times for order, since clocks of several machines say nothing exact. Where it is known
how far they are apart at most (the *skew*), an event whose time is more than that before another's happened
before it: orders that no run with such clocks could have had are left out (Sen's section 9.2 names timed
traces as a next step). `timed` makes the trace with these edges as its `after`, so that everything which
reads traces knows them; lines that stand in another order than the times allow change places. `with_times`
lets each event set the variable TIME of its process, so that formulas can read when it happened.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from itertools import accumulate

from possibly.errors import TraceError
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from possibly.trace.edit import in_order, with_order
from possibly.trace.jsonl import event_fields, header_fields
from possibly.trace.model import Trace

Pair = tuple[int, int]
TIME = "time"
"""The variable of a process that has the time of its last event."""


def timed(trace: Trace, skew: float) -> Trace:
    """The trace in which all events are ordered whose times are more than `skew` seconds apart."""
    _check_times(trace)
    pairs = list(_apart(trace, skew))
    if all(first < second for first, second in pairs):
        return with_order(trace, pairs)
    order = _rearranged(trace, pairs, skew)
    place = {event: number for number, event in enumerate(order)}
    return with_order(in_order(trace, order), [(place[first], place[second]) for first, second in pairs])


def with_times(trace: Trace) -> Trace:
    """The trace in which every event that has a time also sets the variable TIME of its process."""
    _check_times(trace)
    if any(TIME in process.init for process in trace.processes) or any(
        variable == TIME for _, variable in trace.course_numbers
    ):
        raise TraceError(f"a process of this trace has a variable {TIME!r} already", file=trace.file)
    builder = TraceBuilder(trace.file)
    builder.header_fields(header_fields(trace))
    for event in range(len(trace)):
        fields = event_fields(trace, event)
        if "t" in fields:
            fields["set"] = {**fields.get("set", {}), TIME: fields["t"]}
        builder.add_fields(fields, trace.line(event))
    return builder.finish()


def _check_times(trace: Trace) -> None:
    if trace.time is None:
        raise TraceError("no event of this trace has a time: `t` is missing", file=trace.file)


def _apart(trace: Trace, skew: float) -> Iterator[Pair]:
    """For each event the last one of every other process that is so much earlier, where that is news."""
    assert trace.time is not None, "there are times"
    columns = [_earliest(trace, events) for events in trace.events_of]
    for process, events in enumerate(trace.events_of):
        others = [number for number in range(len(columns)) if number != process]
        known = dict.fromkeys(others, 0)
        for event in events:
            if trace.time[event] != trace.time[event]:
                continue
            for other in others:
                count = bisect_left(columns[other], trace.time[event] - skew)
                if count > known[other]:
                    known[other] = count
                    yield trace.events_of[other][count - 1], event


def _earliest(trace: Trace, events: Sequence[int]) -> Sequence[float]:
    """The earliest time from each event of a process on: it ascends, whatever its clock does."""
    assert trace.time is not None, "there are times"
    times = (trace.time[event] for event in reversed(events))
    return list(accumulate((_FOREVER if time != time else time for time in times), min))[::-1]


_FOREVER = float("inf")
"""The time of an event that has none: it is before nothing."""


def _rearranged(trace: Trace, pairs: Iterable[Pair], skew: float) -> list[int]:
    """The lines in an order that the times allow, as near to theirs as can be; joint lines stay together."""
    computation = Computation(trace, "causal")
    step = [computation.joint.get(event, (event,))[0] for event in range(len(trace))]
    before: dict[int, set[int]] = {number: set() for number in step}
    for event, number in enumerate(step):
        before[number].update(step[other] for other in computation.predecessors(event))
        if trace.position[event] > 1:
            before[number].add(step[trace.events_of[trace.process[event]][trace.position[event] - 2]])
    for first, second in pairs:
        before[step[second]].add(step[first])
    for number, earlier in before.items():
        earlier.discard(number)
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError as error:
        raise _contradiction(trace, error.args[1], skew) from None
    ready, found = list(sorter.get_ready()), list[int]()
    heapify(ready)
    while ready:
        number = heappop(ready)
        found.extend(computation.joint.get(number, (number,)))
        sorter.done(number)
        for other in sorter.get_ready():
            heappush(ready, other)
    return found


def _contradiction(trace: Trace, cycle: Sequence[int], skew: float) -> TraceError:
    names = " before ".join(trace.name(event) for event in cycle)
    return TraceError(
        f"the times contradict the order of events: {names}",
        file=trace.file,
        line=trace.line(max(cycle)),
        hint=f"the clocks are more than {skew:g} seconds apart: give a larger skew",
    )
