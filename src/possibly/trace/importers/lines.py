"""Logs with an event a line: JSON objects, `name=value` pairs, or what a regular expression takes apart.

The fields of a line are those of its JSON object (`event.state.term` is a field of a field), else the groups
of `parser`, else all `name=value` in it. A `Layout` says what they mean: which names the process, which are
variables, what is a send and what a receive. A place of a layout is the name of a field, or a text with names
of fields in braces (`client {ClientID}`). A line that has no process is left out.

Order: that of the lines of a process, and of messages. The k-th send of a message with certain fields is
received by the k-th receive with the same ones; a receive without a send is an internal event, since the log
does not say where it came from. Logs of several machines that were put one after the other are sorted such
that sends come before their receives. Where lines carry vector clocks they say the order instead (`clocks`).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from possibly.errors import TraceError, UsageError
from possibly.trace.build import TraceBuilder
from possibly.trace.importers.clocks import Record, causes_first, clock_of, trace_of_clocks
from possibly.trace.importers.scalars import named_groups, scalar
from possibly.trace.intern import decoded, quoted
from possibly.trace.model import Trace, Value

_PAIR = re.compile(r'([A-Za-z_][\w.-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*))')
_FIELD = re.compile(r"\{([^{}]+)\}")
_WORDS: Mapping[str, Value] = {"null": None, "true": True, "false": False}
Fields = Mapping[str, Value]


@dataclass(frozen=True)
class Layout:
    """What the fields of a line mean. Conditions are `(field, pattern)`, with `*` for any text."""

    process: str
    parser: str | None = None
    label: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variable to field; without any, every plain field is one, called by the last part of its name."""
    sends: tuple[tuple[str, str], ...] = ()
    receives: tuple[tuple[str, str], ...] = ()
    message: tuple[str, ...] = ()
    to: str | None = None
    clock: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if bool(self.sends or self.receives) and not self.message:
            raise UsageError(
                "sends and receives need the fields that name their message: --message FIELD,..."
            )
        if self.clock and self.message:
            raise UsageError("the order comes from clocks or from messages, not from both")


@dataclass(slots=True)
class _Line:
    """One line with a process, and what its fields say."""

    number: int
    fields: Fields
    process: str
    role: str = "internal"
    message: str | None = None
    before: list[int] = field(default_factory=list)


def import_lines(
    text_lines: Iterable[str],
    layout: Layout,
    *,
    file: str | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> list[tuple[str, Trace]]:
    """One execution. `note` hears what was left out."""
    parser = named_groups(layout.parser, "parser", ()) if layout.parser else None
    texts = list(text_lines)
    try:
        lines = list(_lines(texts, parser, layout))
        if not lines:
            raise TraceError(f"no line has the process {quoted(layout.process)}", hint=_known(texts, parser))
        _say_left_out(texts, lines, note)
        if layout.clock:
            return [("", trace_of_clocks([_record(each, layout) for each in lines], file))]
        _link(lines, layout, note)
        return [("", _trace(lines, layout, file))]
    except TraceError as error:
        raise TraceError(error.message, file=file, line=error.line, hint=error.hint) from None


def _say_left_out(texts: list[str], lines: list[_Line], note: Callable[[str], None]) -> None:
    written = sum(1 for text in texts if text.strip())
    if len(lines) < written:
        note(f"{written - len(lines):,} of {written:,} lines have no process and were left out")


def _known(texts: list[str], parser: re.Pattern[str] | None) -> str:
    for text in texts:
        if found := _fields(text, parser):
            return f"the first line with fields has: {', '.join(list(found)[:20])}"
    return "no line has fields: give --parser with named groups"


# The fields of a line.


def _lines(texts: list[str], parser: re.Pattern[str] | None, layout: Layout) -> Iterator[_Line]:
    for number, text in enumerate(texts, 1):
        fields = _fields(text, parser)
        process = _filled(layout.process, fields)
        if process:
            yield _Line(number, fields, process)


def _fields(text: str, parser: re.Pattern[str] | None) -> dict[str, Value]:
    if parser is not None:
        found = parser.search(text)
        groups = found.groupdict() if found else {}
        return {key: scalar(value) for key, value in groups.items() if value is not None}
    if text.lstrip().startswith("{"):
        return _flat(text)
    return {found[1]: _value(found[2], found[3]) for found in _PAIR.finditer(text)}


def _value(quoted_text: str | None, plain: str | None) -> Value:
    if quoted_text is not None:
        return re.sub(r"\\(.)", r"\1", quoted_text)
    return _WORDS.get(plain or "", scalar(plain or ""))


def _flat(text: str) -> dict[str, Value]:
    """All fields of a JSON object, those inside others by their path, and each object whole as well."""
    try:
        whole = decoded(text)
    except TraceError:
        return {}
    found: dict[str, Value] = {}
    left: list[tuple[str, Any]] = [("", whole)] if isinstance(whole, dict) else []
    while left:
        path, value = left.pop()
        if path:
            found[path] = value
        if isinstance(value, dict):
            inner = [(f"{path}.{key}" if path else key, each) for key, each in value.items()]
            left.extend(reversed(inner))
    return found


def _filled(place: str, fields: Fields) -> str | None:
    """A field as text, or a text with fields in braces; None if one of them is not there."""
    names = _FIELD.findall(place)
    if not names:
        return _text(fields[place]) if place in fields else None
    if any(name not in fields for name in names):
        return None
    return _FIELD.sub(lambda found: _text(fields[found[1]]), place)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# What it means.


def _record(line: _Line, layout: Layout) -> Record:
    try:
        clock = clock_of(line.fields.get(layout.clock or ""), line.process)
        label = _filled(layout.label, line.fields) if layout.label else None
        variables = _variables(line.fields, layout)
        return Record(line.process, clock, label, variables, line.number, _time(line, layout))
    except TraceError as error:
        raise TraceError(error.message, line=line.number, hint=error.hint) from None


def _variables(fields: Fields, layout: Layout) -> dict[str, Value]:
    if layout.variables:
        return {name: fields[place] for name, place in layout.variables.items() if place in fields}
    plain = {path: value for path, value in fields.items() if not isinstance(value, dict)}
    last = [path.rpartition(".")[2] for path in plain]
    used = {name for name in last if last.count(name) > 1}
    return {
        path.replace(".", "_") if name in used else name: value
        for (path, value), name in zip(plain.items(), last, strict=True)
    }


def _time(line: _Line, layout: Layout) -> float | None:
    value = line.fields.get(layout.time) if layout.time else None
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            raise TraceError(f"{quoted(value)} is no time: seconds, or a date in ISO 8601") from None
    return float(value) if isinstance(value, (int, float)) else None


def _link(lines: list[_Line], layout: Layout, note: Callable[[str], None]) -> None:
    """Gives sends and receives their messages, the k-th of some fields to the k-th."""
    sends: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    received: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for number, line in enumerate(lines):
        if _is_one(line.fields, layout.sends):
            key = _key(line, layout)
            sends[key].append(number)
            line.role, line.message = "send", _message(key, len(sends[key]))
    unsent = 0
    for line in lines:
        if line.role == "send" or not _is_one(line.fields, layout.receives):
            continue
        key = _key(line, layout)
        received[key] += 1
        if received[key] > len(sends[key]):
            unsent += 1
            continue
        line.role, line.message = "receive", _message(key, received[key])
        line.before.append(sends[key][received[key] - 1])
    if unsent:
        note(f"{unsent:,} receives have no send in this log and are internal events")


def _is_one(fields: Fields, conditions: Iterable[tuple[str, str]]) -> bool:
    return any(name in fields and fnmatchcase(_text(fields[name]), pattern) for name, pattern in conditions)


def _key(line: _Line, layout: Layout) -> tuple[str, ...]:
    for name in layout.message:
        if name not in line.fields:
            raise TraceError(f"a message without the field {quoted(name)}", line=line.number)
    return tuple(_text(line.fields[name]) for name in layout.message)


def _message(key: tuple[str, ...], number: int) -> str:
    return f"{' '.join(key)} #{number}"


def _trace(lines: list[_Line], layout: Layout, file: str | None) -> Trace:
    last: dict[str, int] = {}
    for number, line in enumerate(lines):
        if line.process in last:
            line.before.append(last[line.process])
        last[line.process] = number
    builder = TraceBuilder(file)
    builder.header([(name, {}) for name in last], line=None)
    order = list(causes_first([line.before for line in lines]))
    if len(order) < len(lines):
        waiting = lines[min(set(range(len(lines))) - set(order))]
        raise TraceError(
            "this event would have to come before itself: a message is received before it was sent",
            line=waiting.number,
            hint="fields of --message that tell messages apart better, such as a number",
        )
    for number in order:
        builder.add_fields(_event(lines[number], layout), lines[number].number)
    return builder.finish()


def _event(line: _Line, layout: Layout) -> dict[str, Any]:
    fields: dict[str, Any] = {"p": line.process}
    if line.message is not None:
        fields |= {"kind": line.role, "msg": line.message}
    if line.role == "send" and layout.to and (to := _filled(layout.to, line.fields)):
        fields["to"] = to
    if variables := _variables(line.fields, layout):
        fields["set"] = variables
    if layout.label and (label := _filled(layout.label, line.fields)):
        fields["label"] = label
    if (time := _time(line, layout)) is not None:
        fields["t"] = time
    return fields
