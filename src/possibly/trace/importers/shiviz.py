"""ShiViz logs: text that a regular expression takes apart, with vector clocks that say the order.

A log has a parser expression with the groups `host` and `clock` (a JSON object, host to number) and
usually `event` (it becomes the label); other groups are kept as fields and become local variables of the
host, numbers as numbers. A delimiter expression splits a log into executions; its group `trace` names
the one that follows. Expressions may use JavaScript's `(?<name>...)`; `^` and `$` match at lines, as in
ShiViz. What the parser does not match is skipped. The expressions are the user's own, so nothing guards
against one that takes for ever on a long line.

Event k of a host is the one whose clock has k for that host. Clocks must make sense: each host counts
1, 2, 3, ..., its knowledge never shrinks, and whoever knows an event knows what that event knew. Then the
order of the clocks is exactly the closure of host order and, for each event, of those newly known events
that no other newly known one knew: these become `after`. The lines are sorted such that every event
follows what it knows, and otherwise stay as near to the file as possible.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from possibly.errors import TraceError, UsageError
from possibly.trace.build import FIELDS, TraceBuilder
from possibly.trace.intern import decoded, shown
from possibly.trace.model import Trace, Value

PARSER = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")

Name = tuple[str, int]
"""A host and the number of an event of it, from 1."""


@dataclass(slots=True)
class _Record:
    """One match of the parser."""

    host: str
    clock: dict[str, int]
    label: str | None
    fields: dict[str, Value]
    line: int
    causes: list[Name] = field(default_factory=list)

    @property
    def name(self) -> Name:
        return self.host, self.clock[self.host]

    @property
    def before(self) -> Name:
        return self.host, self.clock[self.host] - 1


Records = Mapping[Name, _Record]


def import_shiviz(
    text_lines: Iterable[str],
    parser_regex: str | None = None,
    delimiter_regex: str | None = None,
    *,
    file: str | None = None,
) -> list[tuple[str, Trace]]:
    """The executions of a log, each with its name; without a delimiter there is one, called ""."""
    parser = _compiled(parser_regex or PARSER, "parser", ("host", "clock"))
    delimiter = _compiled(delimiter_regex, "delimiter", ()) if delimiter_regex else None
    text = "\n".join(line.rstrip("\r\n") for line in text_lines)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    executions = []
    try:
        for name, start, end in _parts(text, delimiter):
            records = [_record(found, starts) for found in parser.finditer(text, start, end)]
            if records:
                executions.append((name, _trace(records, file)))
    except TraceError as error:
        raise TraceError(error.message, file=file, line=error.line, hint=error.hint) from None
    if not executions:
        raise TraceError("the parser expression matches nothing in this log", file=file)
    return executions


def _compiled(expression: str, role: str, groups: tuple[str, ...]) -> re.Pattern[str]:
    text = re.sub(r"\(\?<(?![=!])", "(?P<", expression)
    text = re.sub(r"\\k<(\w+)>", r"(?P=\1)", text)
    try:
        pattern = re.compile(text, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"the {role} expression is no regular expression: {error}") from None
    for group in groups:
        if group not in pattern.groupindex:
            raise UsageError(f"the {role} expression needs a group (?<{group}>...)")
    return pattern


def _parts(text: str, delimiter: re.Pattern[str] | None) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each execution; a name that comes again gets a number."""
    if delimiter is None:
        yield "", 0, len(text)
        return
    names: set[str] = set()
    name, start = None, 0
    for number, found in enumerate([*delimiter.finditer(text), None], 1):
        end = len(text) if found is None else found.start()
        if text[start:end].strip():
            unique = base = name or f"execution {len(names) + 1}"
            while unique in names:
                unique = f"{base} ({number})"
                number += 1
            names.add(unique)
            yield unique, start, end
        if found is not None:
            name, start = found.groupdict().get("trace"), found.end()


# One record.


def _record(found: re.Match[str], starts: list[int]) -> _Record:
    groups = found.groupdict()
    line = bisect_right(starts, found.start("clock") if found.start("clock") >= 0 else found.start())
    host = groups.pop("host") or ""
    try:
        if not host:
            raise TraceError("an event without a host")
        clock = _clock(groups.pop("clock") or "", host)
    except TraceError as error:
        raise TraceError(error.message, line=line) from None
    label = groups.pop("event", None) or None
    fields = {key: _scalar(text) for key, text in groups.items() if text is not None}
    return _Record(host, clock, label, fields, line)


def _clock(text: str, host: str) -> dict[str, int]:
    clock = decoded(text)
    if type(clock) is not dict:
        raise TraceError(f"a clock must be a JSON object, found {shown(clock)}")
    for other, number in clock.items():
        if type(number) is not int or number < 0:
            raise TraceError(f"the clock entry of {other} must be a number from 0 on, found {shown(number)}")
    if not clock.get(host):
        raise TraceError(f"the clock of an event of {host} has no entry for {host}")
    return {other: number for other, number in clock.items() if number}


def _scalar(text: str) -> Value:
    value = decoded(text) if _NUMBER.fullmatch(text) else text
    return text if value in (float("inf"), float("-inf")) else value


# The order of the clocks.


def _trace(records: list[_Record], file: str | None) -> Trace:
    by_name = _by_name(records)
    for record in records:
        record.causes = list(_causes(record, by_name))
    builder = TraceBuilder(file)
    builder.header([(host, {}) for host in dict.fromkeys(record.host for record in records)], line=None)
    for record in _sorted(records):
        builder.add_fields(_event(record), record.line)
    return builder.finish()


def _event(record: _Record) -> dict[str, Any]:
    fields: dict[str, Any] = {"p": record.host}
    if record.fields:
        fields["set"] = record.fields
    if record.causes:
        fields["after"] = [f"{host}:{number}" for host, number in record.causes]
    if record.label is not None:
        fields["label"] = record.label
    # A group may be called as a field of the format is, and must not become that field.
    return {key: value for key, value in record.fields.items() if key not in FIELDS} | fields


def _by_name(records: list[_Record]) -> dict[Name, _Record]:
    """Each event by host and number; every host counts 1, 2, 3, ..."""
    found: dict[Name, _Record] = {}
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


def _causes(record: _Record, by_name: Records) -> Iterator[Name]:
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


def _check_knowledge(record: _Record, name: Name, by_name: Records) -> None:
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


def _at(record: _Record, message: str) -> TraceError:
    return TraceError(message, line=record.line)


def _sorted(records: list[_Record]) -> Iterator[_Record]:
    """Causes first, and otherwise in the order of the file. The checks above leave no cycle."""
    place = {record.name: number for number, record in enumerate(records)}
    effects: dict[Name, list[int]] = {name: [] for name in place}
    missing = [0] * len(records)
    for number, record in enumerate(records):
        for cause in [*record.causes, record.before]:
            if cause in effects:
                effects[cause].append(number)
                missing[number] += 1
    ready = [number for number, count in enumerate(missing) if not count]
    heapify(ready)
    while ready:
        record = records[heappop(ready)]
        yield record
        for number in effects[record.name]:
            missing[number] -= 1
            if not missing[number]:
                heappush(ready, number)
