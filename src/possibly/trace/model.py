"""A recorded run as columns: what every source becomes and every analysis starts from.

Here belongs the type `Trace` and how to read single facts out of it; not how it is made (`build`),
stored (`jsonl`, `columns`) or ordered (the `order` folder).

Events are numbered 0, 1, 2, ... in the order of the lines: the observed run. All facts of all events
stand in flat columns of integers (`array` or a `memoryview` over a mapped file), strings and values
are interned, and a column that no event uses is `None`: memory is that of the arrays.
A fact with several entries an event is a pair of columns: `x_start[e] : x_start[e + 1]` is the range
of event e in the entry columns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from possibly.errors import TraceError
from possibly.records import dataclass, field
from possibly.trace.index import (
    NONE,
    Assignments,
    Courses,
    Ints,
    Links,
    courses,
    events_by_process,
    lengths_of,
    links,
    positions_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

__all__ = ["NONE", "Event", "Ints", "Process", "Trace", "Value"]

Value: TypeAlias = "Any"
"""A JSON value: None, bool, int, float, str, list or dict. Treated as immutable once in a trace."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process, thread, task, rank or service."""

    name: str
    init: Mapping[str, Value] = field(default_factory=dict)
    declared: bool = True
    """It stands in the header; others exist from their first event on."""
    parent: str | None = None
    """The task that spawned it, where the trace says so."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event with all its facts, gathered from the columns for a reader."""

    number: int
    name: str
    process: str
    position: int
    """It is the position-th event of its process, from 1."""
    kind: str = "internal"
    set: Mapping[str, Value] = field(default_factory=dict)
    write: Mapping[str, Value] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    msg: str | None = None
    to: tuple[str, ...] = ()
    tag: str | None = None
    after: tuple[str, ...] = ()
    meet: str | None = None
    fn: str | None = None
    at: str | None = None
    label: str | None = None
    t: float | None = None


@dataclass(frozen=True)
class Trace:
    """A run: processes, shared variables and the columns of its events. Built by `TraceBuilder`."""

    processes: tuple[Process, ...]
    shared: Mapping[str, Value]
    """Initial values of shared variables."""
    strings: Sequence[str]
    """Table of all strings the columns speak of."""
    values: Sequence[Value]
    """Table of all distinct values; 1, 1.0 and true are distinct."""

    process: Ints
    """Index into `processes`, one an event."""
    kind: Ints
    """String number, one an event."""

    identifier: Ints | None = None
    """String number of the name given in the file, NONE where the name is the default `P:k`."""
    message: Ints | None = None
    tag: Ints | None = None
    meet: Ints | None = None
    function: Ints | None = None
    place: Ints | None = None
    """The field `at`."""
    label: Ints | None = None
    time: Sequence[float] | None = None
    """Wall-clock seconds, NaN where the event has none; never used for order."""

    set_start: Ints | None = None
    set_variable: Ints = ()
    """String number of the local variable."""
    set_value: Ints = ()
    """Value number."""
    write_start: Ints | None = None
    write_variable: Ints = ()
    write_value: Ints = ()
    read_start: Ints | None = None
    read_variable: Ints = ()
    after_start: Ints | None = None
    after_event: Ints = ()
    """Event number, always smaller than that of the event itself."""

    delivery_send: Ints = ()
    """Messages: one row for each (send, receiver), ascending in the sending event."""
    delivery_receive: Ints = ()
    """The receiving event, NONE if it was never received."""
    delivery_to: Ints = ()
    """The receiving process, NONE if never received and no `to` was given."""

    header: Mapping[str, Value] = field(default_factory=dict)
    """Fields of the header that the format does not know; kept for the writer."""
    extra: Mapping[int, Mapping[str, Value]] = field(default_factory=dict)
    """Fields of events that the format does not know; kept for the writer."""
    file: str | None = None
    lines: Ints | None = None
    """The line of each event in the file, where that is not simply its number plus two."""

    def __len__(self) -> int:
        return len(self.process)

    @cached_property
    def process_number(self) -> Mapping[str, int]:
        """Processes by their names."""
        return {process.name: number for number, process in enumerate(self.processes)}

    @cached_property
    def kinds(self) -> frozenset[int]:
        """The string numbers of all kinds of events that there are."""
        return frozenset(self.kind)

    @cached_property
    def lengths(self) -> Ints:
        """How many events each process has."""
        return lengths_of(self.process, len(self.processes))

    @cached_property
    def events_of(self) -> Sequence[Ints]:
        """For each process its events in their order."""
        return events_by_process(self.process, len(self.processes))

    @cached_property
    def position(self) -> Ints:
        """For each event: it is the position-th of its process, from 1."""
        return positions_of(self.process, len(self.processes))

    @cached_property
    def courses(self) -> Courses:
        """The values of each local variable along its process."""
        if self.set_start is None:
            return {}
        columns = Assignments(self.process, self.set_start, self.set_variable, self.set_value)
        return courses(columns, len(self.processes), len(self.values))

    @cached_property
    def course_numbers(self) -> Mapping[tuple[int, str], int]:
        """By process and name of a local variable that events set: its string number."""
        strings = self.strings
        found = {(process, strings[variable]): variable for process, variable in self.courses}
        if len(found) < len(self.courses):
            message = "the columnar trace is damaged: a string stands twice in its table"
            raise TraceError(message, file=self.file)
        return found

    @cached_property
    def receives(self) -> Links:
        """Messages between processes by the receiving event."""
        return self.links(self.delivery_receive, self.delivery_send)

    @cached_property
    def sends(self) -> Links:
        """Messages between processes by the sending event."""
        return self.links(self.delivery_send, self.delivery_receive)

    def links(self, near: Ints, far: Ints) -> Links:
        """Pairs of events of different processes, by the near one."""
        return links(self.process, self.position, self.lengths, near, far)

    def line(self, event: int) -> int:
        """The line of the file that the event stands on, from 1."""
        return event + 2 if self.lines is None else self.lines[event]

    def name(self, event: int) -> str:
        """What an event is called."""
        if self.identifier is not None and self.identifier[event] != NONE:
            return self.strings[self.identifier[event]]
        return f"{self.processes[self.process[event]].name}:{self.position[event]}"

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        if self.identifier is None:
            return {}
        return {self.strings[s]: event for event, s in enumerate(self.identifier) if s != NONE}

    def find(self, name: str) -> int | None:
        """The event of that name, or None."""
        if name in self._numbers:
            return self._numbers[name]
        process, colon, position = name.rpartition(":")
        number = self.process_number.get(process)
        if not colon or number is None or not position.isdecimal() or len(position) > 18:
            return None
        chain = self.events_of[number]
        if not 1 <= int(position) <= len(chain):
            return None
        event = chain[int(position) - 1]
        return event if self.name(event) == name else None

    def sets(self, event: int) -> Iterator[tuple[str, Value]]:
        """The local variables that an event sets."""
        for i in _entries(self.set_start, event):
            yield self.strings[self.set_variable[i]], self.values[self.set_value[i]]

    def writes(self, event: int) -> Iterator[tuple[str, Value]]:
        """The shared variables that an event writes."""
        for i in _entries(self.write_start, event):
            yield self.strings[self.write_variable[i]], self.values[self.write_value[i]]

    def reads(self, event: int) -> Iterator[str]:
        """The shared variables that an event reads."""
        for i in _entries(self.read_start, event):
            yield self.strings[self.read_variable[i]]

    def after(self, event: int) -> Iterator[int]:
        """Events that are said to come before this one."""
        for i in _entries(self.after_start, event):
            yield self.after_event[i]

    def deliveries(self, send: int) -> range:
        """The rows of the delivery columns that belong to this send."""
        first = bisect_left(self.delivery_send, send)
        return range(first, bisect_left(self.delivery_send, send + 1, first))

    def text(self, column: Ints | None, event: int) -> str | None:
        """The string of an optional column, e.g. `trace.text(trace.label, e)`."""
        return None if column is None or column[event] == NONE else self.strings[column[event]]

    def event(self, event: int) -> Event:
        """One line as an object, with all its fields."""
        to = (self.delivery_to[row] for row in self.deliveries(event))
        return Event(
            number=event,
            name=self.name(event),
            process=self.processes[self.process[event]].name,
            position=self.position[event],
            kind=self.strings[self.kind[event]],
            set=dict(self.sets(event)),
            write=dict(self.writes(event)),
            read=tuple(self.reads(event)),
            msg=self.text(self.message, event),
            to=tuple(self.processes[p].name for p in to if p != NONE),
            tag=self.text(self.tag, event),
            after=tuple(map(self.name, self.after(event))),
            meet=self.text(self.meet, event),
            fn=self.text(self.function, event),
            at=self.text(self.place, event),
            label=self.text(self.label, event),
            t=None if self.time is None or self.time[event] != self.time[event] else self.time[event],
        )


def _entries(start: Ints | None, event: int) -> range:
    return range(0) if start is None else range(start[event], start[event + 1])
