"""Traces made from traces: the same events with more order or in another, or a part of them.

A trace is never changed; what is made here shares the columns that stay the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable

from possibly.records import replace
from possibly.trace.build import TraceBuilder
from possibly.trace.jsonl import event_fields, header_fields
from possibly.trace.model import Trace


def with_order(trace: Trace, pairs: Iterable[tuple[int, int]]) -> Trace:
    """The trace in which the first event of each pair happens before the second, which stands later."""
    added: dict[int, list[int]] = {}
    for first, second in pairs:
        if not 0 <= first < second < len(trace):
            raise ValueError(f"event {second} cannot come after event {first}")
        added.setdefault(second, []).append(first)
    if not added:
        return trace
    start, events = array("i", [0]), array("i")
    for event in range(len(trace)):
        known = list(trace.after(event))
        events.extend(known)
        events.extend(sorted(set(added.get(event, ())) - set(known)))
        start.append(len(events))
    return replace(trace, after_start=start, after_event=events)


def in_order(trace: Trace, order: Iterable[int]) -> Trace:
    """The same run with its lines in another order, which its events could have happened in too."""
    builder = TraceBuilder(trace.file)
    builder.header_fields(header_fields(trace))
    for event in order:
        builder.add_fields(event_fields(trace, event), trace.line(event))
    return builder.finish()


def part_of(trace: Trace, processes: Collection[str]) -> Trace:
    """The run of these processes alone. Nothing may order one of them with another process."""
    builder = TraceBuilder(trace.file)
    header = header_fields(trace)
    builder.header_fields(header | {"processes": [p for p in header["processes"] if p["name"] in processes]})
    for event in range(len(trace)):
        if trace.processes[trace.process[event]].name in processes:
            builder.add_fields(event_fields(trace, event), trace.line(event))
    return builder.finish()
