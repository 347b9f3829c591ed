"""Atomic regions: what a task does between taking and giving back a lock, or in a call, as one event.

Sen's thesis names posets of two levels as a next step (section 9.2.3): an event may stand for a region whose
events are totally ordered, and nothing else happens inside. Here the region becomes an event of the trace, so
that everything which reads traces knows it.

Law: the cuts of the new trace are the cuts of the old one that contain of each region all events or none. If
some order leads out of a region and into it again, there is no such run, which is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from typing import Any

from possibly.errors import TraceError
from possibly.order.computation import Computation
from possibly.trace.build import TraceBuilder
from possibly.trace.jsonl import event_fields, header_fields
from possibly.trace.model import Trace

Region = Sequence[int]
"""Events of one process that follow each other there."""
BEGINS, ENDS = ("acquire", "enter"), ("release", "exit")
MERGED = ("set", "write")


def regions_of(trace: Trace, name: str) -> Iterator[Region]:
    """From each acquire of a lock of that name to its release, or from the beginning of a call to its end."""
    for events in trace.events_of:
        begun: list[int] = []
        for position, event in enumerate(events):
            kind = trace.strings[trace.kind[event]]
            if name not in (trace.text(trace.tag, event), trace.text(trace.function, event)):
                continue
            if kind in BEGINS:
                begun.append(position)
            elif kind in ENDS and begun:
                first = begun.pop()
                if not begun:  # what is inside of a region belongs to it
                    yield events[first : position + 1]


def with_regions(trace: Trace, regions: Sequence[Region]) -> Trace:
    """The trace in which each region is one event; they have no event in common."""
    computation = Computation(trace, "causal")
    whole = {event: region[0] for region in regions for event in region}
    order = _order(computation, whole)
    inside = {region[0]: region for region in regions}
    names = {event: trace.name(whole.get(event, event)) for event in range(len(trace))}
    builder = TraceBuilder(trace.file)
    builder.header_fields(header_fields(trace))
    for event in order:
        fields = _merged(trace, inside.get(event, (event,)), names)
        fields["id"] = names[event]
        builder.add_fields(fields, trace.line(event))
    return builder.finish()


def _order(computation: Computation, whole: Mapping[int, int]) -> list[int]:
    """The events and regions in an order in which they could have happened, near to that of the lines."""
    trace = computation.trace
    joint = {event: whole.get(lines[0], lines[0]) for lines in computation.joint.values() for event in lines}
    node = [whole.get(event, joint.get(event, event)) for event in range(len(trace))]
    before: dict[int, set[int]] = {number: set() for number in node}
    for event, number in enumerate(node):
        before[number].update(node[other] for other in computation.predecessors(event))
        if trace.position[event] > 1:
            before[number].add(node[trace.events_of[trace.process[event]][trace.position[event] - 2]])
    for number, earlier in before.items():
        earlier.discard(number)
    return [line for number in _sorted(trace, before) for line in computation.joint.get(number, (number,))]


def _sorted(trace: Trace, before: Mapping[int, set[int]]) -> Iterator[int]:
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError as error:
        names = " before ".join(trace.name(event) for event in error.args[1])
        raise TraceError(
            f"a region is no single event: {names}",
            file=trace.file,
            hint="something else had to happen after its first event and before its last one",
        ) from None
    ready = list(sorter.get_ready())
    heapify(ready)
    while ready:
        number = heappop(ready)
        yield number
        sorter.done(number)
        for other in sorter.get_ready():
            heappush(ready, other)


def _merged(trace: Trace, region: Region, names: Mapping[int, str]) -> dict[str, Any]:
    """One line for all of them: what they wrote last, what they read of others, what they come after."""
    lines = [event_fields(trace, event) for event in region]
    for fields, event in zip(lines, region, strict=True):
        after = dict.fromkeys(names[earlier] for earlier in trace.after(event))
        after.pop(names[region[0]], None)
        fields.pop("after", None)
        if after:
            fields["after"] = list(after)
    if len(lines) == 1:
        return lines[0]
    messages = [fields for fields in lines if "msg" in fields]
    if len(messages) > 1 or any("meet" in fields for fields in lines):
        where = f"{names[region[0]]} at {lines[0].get('at', 'an unknown place')}"
        raise TraceError(f"the region that begins with {where} has more than one message, or meets others")
    found: dict[str, Any] = {
        key: lines[0][key] for key in ("p", "at", "label", "t", "parent") if key in lines[0]
    }
    found |= {
        key: messages[0][key] for key in ("kind", "msg", "to", "tag") if messages and key in messages[0]
    }
    for key in MERGED:
        together = {name: value for fields in lines for name, value in fields.get(key, {}).items()}
        if together:
            found[key] = together
    for key in ("read", "after"):
        every = list(dict.fromkeys(name for fields in lines for name in fields.get(key, ())))
        if every:
            found[key] = every
    return found
