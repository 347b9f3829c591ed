"""OTLP JSON: spans of OpenTelemetry, as its exporters and its collector write them to files.

A text is one request (`{"resourceSpans": [...]}`), or several, one a line. All spans together are one
execution.

What happens in a span is sequential, in a service it is not. So the processes are *tracks*: a span whose
parent is in the same service belongs to its parent's track if it lies inside it and beside the spans that
are there already; every other span begins a track. Spans that name their thread (`thread.name`,
`thread.id`) are on the track of that thread, if they lie inside or beside each other there. Tracks are
called by their service, the second of one service `SERVICE/2`, those of a thread `SERVICE/THREAD`.

A span becomes `enter` and `exit` of a function called as the span is; a span event, an event of that label.
Attributes become local variables with `_` for every other character (`http.route` is `http_route`), the
status `status` at the exit. A track whose spans are over has an `end`, after which it is inside no function.
Order, beside that of a track, whose times come from one clock:

    parent, child                  the parent's start before the child's
    link                           the start of the span that the link names before the start of its own
    a client and its server        the server's end before the client's, unless the clocks deny it: the client
                                   did not wait for the answer

Times order nothing else, as the clocks of machines differ. A parent or a linked span that is not in the
text is left out; a span without an end stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from possibly.errors import TraceError, UsageError
from possibly.trace.importers.otlp_tracks import CLIENT, SERVER, Span, trace_of
from possibly.trace.intern import decoded, shown
from possibly.trace.model import Trace, Value

KINDS = {"SPAN_KIND_SERVER": SERVER, "SPAN_KIND_CLIENT": CLIENT}
STATUS = {0: "unset", 1: "ok", 2: "error"}
STATUS_NAMES = {"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}


def import_otlp(
    text_lines: Iterable[str],
    parser_regex: str | None = None,
    delimiter_regex: str | None = None,
    *,
    file: str | None = None,
) -> list[tuple[str, Trace]]:
    """The one execution that the spans of a text are."""
    if parser_regex or delimiter_regex:
        raise UsageError("otlp has a form of its own: --parser and --delimiter are for shiviz")
    try:
        spans = list(_spans(list(text_lines)))
        if not spans:
            raise TraceError("there is no span in this text", hint="expected resourceSpans with scopeSpans")
        return [("", trace_of(spans, file))]
    except TraceError as error:
        raise TraceError(
            error.message, file=file, line=error.line, column=error.column, hint=error.hint
        ) from None


def spans_of(request: Mapping[str, Any]) -> list[Span]:
    """The spans of one request of an exporter, in the form of OTLP JSON."""
    return list(_spans_of(dict(request), None))


# ---- reading ------------------------------------------------------------------------------------


def _spans(lines: Sequence[str]) -> Iterator[Span]:
    for request, line in _requests(lines):
        yield from _spans_of(request, line)


def _spans_of(request: dict[str, Any], line: int | None) -> Iterator[Span]:
    for number, entry in enumerate(_list(request, "resourceSpans", "", line)):
        place = f"resourceSpans[{number}]"
        service = _service(_object(entry, place, line), place, line)
        for scope, where in _scopes(entry, place, line):
            for index, span in enumerate(_list(scope, "spans", where, line)):
                at = f"{where}.spans[{index}]"
                yield _span(_object(span, at, line), service, at, line)


def _requests(lines: Sequence[str]) -> Iterator[tuple[dict[str, Any], int | None]]:
    """The whole text as one object; if its first line is one already, an object a line."""
    filled = [(number, text) for number, text in enumerate(lines, 1) if text.strip()]
    if not filled:
        raise TraceError("the text is empty", line=1)
    try:
        decoded(filled[0][1])
        is_lines = len(filled) > 1
    except TraceError:
        is_lines = False
    if not is_lines:
        yield _object(_whole("\n".join(lines)), "the text", None), None
        return
    for number, text in filled:
        try:
            yield _object(decoded(text), "the line", number), number
        except TraceError as error:
            raise TraceError(error.message, line=number, column=error.column) from None


def _whole(text: str) -> Any:
    try:
        return decoded(text)
    except TraceError as error:
        raise TraceError(error.message, line=_line_of(text), column=error.column) from None


def _line_of(text: str) -> int:
    """The line at which JSON breaks off."""
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno
    return 1


def _object(found: Any, place: str, line: int | None) -> dict[str, Any]:
    if type(found) is not dict:
        raise TraceError(f"{place} must be an object, found {shown(found)}", line=line)
    return found


def _list(owner: Mapping[str, Any], key: str, place: str, line: int | None) -> list[Any]:
    found = owner.get(key, [])
    if type(found) is not list:
        where = f"{place}.{key}" if place else key
        raise TraceError(f"{where} must be a list, found {shown(found)}", line=line)
    return found


def _scopes(entry: Mapping[str, Any], place: str, line: int | None) -> Iterator[tuple[dict[str, Any], str]]:
    """`instrumentationLibrarySpans` is what scopes were called until 2022."""
    for key in ("scopeSpans", "instrumentationLibrarySpans"):
        for number, scope in enumerate(_list(entry, key, place, line)):
            where = f"{place}.{key}[{number}]"
            yield _object(scope, where, line), where


def _service(entry: Mapping[str, Any], place: str, line: int | None) -> tuple[str, str | None]:
    """Its name and instance."""
    resource = _object(entry.get("resource", {}), f"{place}.resource", line)
    found = _attributes(resource, f"{place}.resource", line)
    name = found.get("service_name", "unknown_service")
    instance = found.get("service_instance_id")
    return str(name), None if instance is None else str(instance)


def _span(found: dict[str, Any], service: tuple[str, str | None], place: str, line: int | None) -> Span:
    start = _time(found, "startTimeUnixNano", place, line)
    end = _time(found, "endTimeUnixNano", place, line)
    if not start:
        raise TraceError(f'{place}: a span needs "startTimeUnixNano"', line=line)
    if end and end < start:
        raise TraceError(f"{place}: the span ends before it starts", line=line)
    attributes = _attributes(found, place, line)
    thread = attributes.get("thread_name", attributes.get("thread_id"))
    trace = _identifier(found, "traceId", place, line)
    span = _identifier(found, "spanId", place, line)
    if not span:
        raise TraceError(f'{place}: a span needs "spanId"', line=line)
    parent = _identifier(found, "parentSpanId", place, line)
    return Span(
        place=place,
        line=line,
        key=(trace, span),
        parent=(trace, parent) if parent.strip("0") else None,
        service=service[0],
        instance=service[1],
        name=str(found.get("name") or "span"),
        kind=KINDS.get(found.get("kind", 0), found.get("kind", 0)),
        start=start,
        end=end or None,
        thread=None if thread is None else str(thread),
        attributes=attributes,
        links=[
            (_identifier(link, "traceId", where, line), _identifier(link, "spanId", where, line))
            for link, where in _objects(found, "links", place, line)
        ],
        status=_status(found, place, line),
        events=[
            (
                _time(event, "timeUnixNano", where, line) or start,
                str(event.get("name") or "event"),
                _attributes(event, where, line),
            )
            for event, where in _objects(found, "events", place, line)
        ],
    )


def _objects(
    owner: Mapping[str, Any], key: str, place: str, line: int | None
) -> Iterator[tuple[dict[str, Any], str]]:
    for number, found in enumerate(_list(owner, key, place, line)):
        where = f"{place}.{key}[{number}]"
        yield _object(found, where, line), where


def _status(found: Mapping[str, Any], place: str, line: int | None) -> str:
    code = _object(found.get("status", {}), f"{place}.status", line).get("code", 0)
    return STATUS.get(STATUS_NAMES.get(code, 0) if isinstance(code, str) else code, "unset")


def _time(owner: Mapping[str, Any], key: str, place: str, line: int | None) -> int:
    """Nanoseconds: a string of digits, as JSON has no integers of 64 bits, or a number; 0 if absent."""
    found = owner.get(key, 0)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 21:
        return int(found)
    if type(found) is not int or found < 0:
        raise TraceError(f'{place}: "{key}" must be nanoseconds, found {shown(found)}', line=line)
    return found


def _identifier(owner: Mapping[str, Any], key: str, place: str, line: int | None) -> str:
    found = owner.get(key, "")
    if type(found) is not str:
        raise TraceError(f'{place}: "{key}" must be a string, found {shown(found)}', line=line)
    return found.lower()


# ---- attributes ---------------------------------------------------------------------------------


def _attributes(owner: Mapping[str, Any], place: str, line: int | None) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for entry, where in _objects(owner, "attributes", place, line):
        key = entry.get("key")
        if type(key) is not str or not key:
            raise TraceError(f'{where}: an attribute needs "key", a string', line=line)
        found[re.sub(r"\W", "_", key)] = _value(entry.get("value", {}), where, line)
    return found


def _value(found: Any, place: str, line: int | None) -> Value:
    """The value of an attribute: an object with one key that names its type."""
    match found:
        case {"stringValue": str(text)} | {"bytesValue": str(text)}:
            return text
        case {"boolValue": bool(truth)}:
            return truth
        case {"intValue": int(number)} if type(number) is int:
            return number
        case {"intValue": str(text)} if re.fullmatch(r"-?[0-9]{1,20}", text):
            return int(text)
        case {"doubleValue": int(number) | float(number)} if type(number) is not bool:
            return number
        case {"arrayValue": dict(inner)}:
            values = _list(inner, "values", place, line)
            return [_value(each, place, line) for each in values]
        case {"kvlistValue": dict(inner)}:
            entries = _objects(inner, "values", place, line)
            return {
                str(entry.get("key")): _value(entry.get("value", {}), where, line) for entry, where in entries
            }
        case dict() if not found:
            return None
    raise TraceError(f"{place}: a value that is none of OTLP, {shown(found)}", line=line)
