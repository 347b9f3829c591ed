"""Records with vector clocks: the order that the clocks say becomes the order of a trace.

Event k of a host is the one whose clock has k for that host. Clocks must make sense: each host counts
1, 2, 3, ..., its knowledge never shrinks, and whoever knows an event knows what that event knew. Then the
order of the clocks is exactly the closure of host order and, for each event, of those newly known events
that no other newly known one knew: these become `after`. The lines are sorted such that every event
follows what it knows, and otherwise stay as near to the file as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from possibly.errors import TraceError
from possibly.trace.build import FIELDS, TraceBuilder
from possibly.trace.intern import shown
from possibly.trace.model import Trace, Value

Name = tuple[str, int]
"""A host and the number of an event of it, from 1."""


@dataclass(slots=True)
class Record:
    """One event of a log, with what its host knew then."""

    host: str
    clock: dict[str, int]
    label: str | None
    fields: dict[str, Value]
    line: int
    time: float | None = None
    causes: list[Name] = field(default_factory=list)

    @property
    def name(self) -> Name:
        """Its host, and its number there."""
        return self.host, self.clock[self.host]

    @property
    def before(self) -> Name:
        """The name of the event before it."""
        return self.host, self.clock[self.host] - 1


Records = Mapping[Name, Record]


def clock_of(found: Any, host: str) -> dict[str, int]:
    """The clock of an event of this host, from a decoded JSON object."""
    if type(found) is not dict:
        raise TraceError(f"a clock must be a JSON object, found {shown(found)}")
    for other, number in found.items():
        if type(number) is not int or number < 0:
            raise TraceError(f"the clock entry of {other} must be a number from 0 on, found {shown(number)}")
    if not found.get(host):
        raise TraceError(f"the clock of an event of {host} has no entry for {host}")
    return {other: number for other, number in found.items() if number}


def trace_of_clocks(records: list[Record], file: str | None) -> Trace:
    """The trace whose order is that of the clocks."""
    by_name = _by_name(records)
    for record in records:
        record.causes = list(_causes(record, by_name))
    builder = TraceBuilder(file)
    builder.header([(host, {}) for host in dict.fromkeys(record.host for record in records)], line=None)
    for record in _sorted(records):
        builder.add_fields(_event(record), record.line)
    return builder.finish()


def _event(record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = {"p": record.host}
    if record.fields:
        fields["set"] = record.fields
    if record.causes:
        fields["after"] = [f"{host}:{number}" for host, number in record.causes]
    if record.label is not None:
        fields["label"] = record.label
    if record.time is not None:
        fields["t"] = record.time
    # A group may be called as a field of the format is, and must not become that field.
    return {key: value for key, value in record.fields.items() if key not in FIELDS} | fields


def _by_name(records: list[Record]) -> dict[Name, Record]:
    """Each event by host and number; every host counts 1, 2, 3, ..."""
    found: dict[Name, Record] = {}
    for record in records:
        if record.name in found:
            raise _at(record, f"a second event number {record.name[1]} of {record.host}")
        found[record.name] = record
    for record in records:
        if record.before[1] and record.before not in found:
            raise _at(
                record, f"event {record.name[1]} of {record.host}, but there is no event {record.before[1]}"
            )
    return found


def _causes(record: Record, by_name: Records) -> Iterator[Name]:
    """The newly known events that no other newly known event knew."""
    before = by_name[record.before].clock if record.before[1] else {}
    for host, number in before.items():
        if record.clock.get(host, 0) < number:
            raise _at(record, f"the clock of {record.host} forgets event {number} of {host}")
    new = [
        name for name in record.clock.items() if before.get(name[0], 0) < name[1] and name[0] != record.host
    ]
    for name in new:
        _check_knowledge(record, name, by_name)
    for host, number in new:
        known = (by_name[other].clock.get(host, 0) for other in new if other[0] != host)
        if all(elsewhere < number for elsewhere in known):
            yield host, number


def _check_knowledge(record: Record, name: Name, by_name: Records) -> None:
    cause = by_name.get(name)
    if cause is None:
        raise _at(record, f"the clock refers to event {name[1]} of {name[0]}, which does not exist")
    if cause.clock.get(record.host, 0) >= record.name[1]:
        raise _at(record, f"event {name[1]} of {name[0]} and this one claim to know each other")
    for host, number in cause.clock.items():
        if record.clock.get(host, 0) < number:
            raise _at(
                record,
                f"the clock knows event {name[1]} of {name[0]}, but not event {number} of {host} before it",
            )


def _at(record: Record, message: str) -> TraceError:
    return TraceError(message, line=record.line)


def _sorted(records: list[Record]) -> Iterator[Record]:
    """Causes first, and otherwise in the order of the file. The checks above leave no cycle."""
    place = {record.name: number for number, record in enumerate(records)}
    earlier = [
        [place[cause] for cause in [*record.causes, record.before] if cause in place] for record in records
    ]
    return (records[number] for number in causes_first(earlier))


def causes_first(earlier: list[list[int]]) -> Iterator[int]:
    """All numbers, each after those that must stand before it, the smallest first; those of a cycle never."""
    effects: list[list[int]] = [[] for _ in earlier]
    for number, causes in enumerate(earlier):
        for cause in causes:
            effects[cause].append(number)
    missing = [len(causes) for causes in earlier]
    ready = [number for number, count in enumerate(missing) if not count]
    heapify(ready)
    while ready:
        done = heappop(ready)
        yield done
        for number in effects[done]:
            missing[number] -= 1
            if not missing[number]:
                heappush(ready, number)
