"""Jaeger's JSON: traces as its user interface and its API give them.

A text is `{"data": [{"spans": [...], "processes": {...}}, ...]}`; each entry of `data` is one execution, and
one alone may stand there by itself, or be the whole text. What spans mean for the order is said in `otlp`: a
reference `CHILD_OF` is the parent, another one a link; `tags` are attributes, `logs` span events, called by
their field `event` or `message`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from possibly.errors import TraceError, UsageError
from possibly.trace.importers.otlp_tracks import CLIENT, SERVER, Key, Span, trace_of
from possibly.trace.intern import decoded, shown
from possibly.trace.model import Trace, Value

KINDS = {"client": CLIENT, "server": SERVER}


def import_jaeger(
    text_lines: Iterable[str],
    parser_regex: str | None = None,
    delimiter_regex: str | None = None,
    *,
    file: str | None = None,
) -> list[tuple[str, Trace]]:
    """One execution for each trace in the text."""
    if parser_regex or delimiter_regex:
        raise UsageError("jaeger has a form of its own: --parser and --delimiter are for shiviz")
    try:
        found = _object(decoded("\n".join(text_lines)), "the text")
        entries = _entries(found)
        executions = [_execution(_object(each, f"data[{n}]"), f"data[{n}]") for n, each in enumerate(entries)]
        named = [(label, spans) for label, spans in executions if spans]
        if not named:
            raise TraceError("there is no span in this text", hint='expected "data" with "spans"')
        return [(label if len(named) > 1 else "", trace_of(spans, file)) for label, spans in named]
    except TraceError as error:
        raise TraceError(error.message, file=file, column=error.column, hint=error.hint) from None


def _entries(found: Mapping[str, Any]) -> list[Any]:
    data = found.get("data", found)
    return [data] if isinstance(data, dict) else _list(found, "data", "the text")


def _execution(entry: Mapping[str, Any], place: str) -> tuple[str, list[Span]]:
    processes = _object(entry.get("processes", {}), f"{place}.processes")
    spans = [_span(found, processes, where) for found, where in _objects(entry, "spans", place)]
    return str(entry.get("traceID", "")), spans


def _span(found: Mapping[str, Any], processes: Mapping[str, Any], place: str) -> Span:
    start = _time(found, "startTime", place)
    if not start:
        raise TraceError(f'{place}: a span needs "startTime", in microseconds')
    tags = _tags(found, "tags", place)
    key = _key(found, place)
    if not key[1]:
        raise TraceError(f'{place}: a span needs "spanID"')
    parent, links = _references(found, place)
    thread = tags.get("thread_name", tags.get("thread_id"))
    return Span(
        place=place,
        line=None,
        key=key,
        parent=parent,
        service=_service(found, processes, place),
        name=str(found.get("operationName") or "span"),
        kind=KINDS.get(str(tags.get("span_kind")), 0),
        start=1000 * start,
        end=1000 * (start + _time(found, "duration", place)),
        thread=None if thread is None else str(thread),
        attributes=tags,
        links=links,
        status="error" if tags.get("error") is True else "unset",
        events=[_event(log, where, start) for log, where in _objects(found, "logs", place)],
    )


def _service(found: Mapping[str, Any], processes: Mapping[str, Any], place: str) -> str:
    own = found.get("process") or processes.get(str(found.get("processID")), {})
    return str(_object(own, f"{place}.process").get("serviceName") or "unknown_service")


def _references(found: Mapping[str, Any], place: str) -> tuple[Key | None, list[Key]]:
    parent: Key | None = None
    links: list[Key] = []
    for reference, where in _objects(found, "references", place):
        key = _key(reference, where)
        if parent is None and reference.get("refType", "CHILD_OF") == "CHILD_OF":
            parent = key
        else:
            links.append(key)
    own = found.get("parentSpanID")
    if parent is None and isinstance(own, str) and own.strip("0"):
        parent = _key(found, place)[0], own.lower()
    return parent, links


def _event(log: Mapping[str, Any], place: str, start: int) -> tuple[int, str, dict[str, Value]]:
    fields = _tags(log, "fields", place)
    name = fields.get("event", fields.get("message", "log"))
    return 1000 * (_time(log, "timestamp", place) or start), str(name), fields


def _tags(owner: Mapping[str, Any], key: str, place: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for entry, where in _objects(owner, key, place):
        name = entry.get("key")
        if type(name) is not str or not name:
            raise TraceError(f'{where}: a tag needs "key", a string')
        found[re.sub(r"\W", "_", name)] = entry.get("value")
    return found


def _key(owner: Mapping[str, Any], place: str) -> Key:
    trace, span = owner.get("traceID", ""), owner.get("spanID", "")
    if type(trace) is not str or type(span) is not str:
        raise TraceError(f'{place}: "traceID" and "spanID" must be strings')
    return trace.lower(), span.lower()


def _time(owner: Mapping[str, Any], key: str, place: str) -> int:
    found = owner.get(key, 0)
    if type(found) is not int or found < 0:
        raise TraceError(f'{place}: "{key}" must be microseconds, found {shown(found)}')
    return found


def _object(found: Any, place: str) -> dict[str, Any]:
    if type(found) is not dict:
        raise TraceError(f"{place} must be an object, found {shown(found)}")
    return found


def _list(owner: Mapping[str, Any], key: str, place: str) -> list[Any]:
    found = owner.get(key) or []
    if type(found) is not list:
        raise TraceError(f"{place}.{key} must be a list, found {shown(found)}")
    return found


def _objects(owner: Mapping[str, Any], key: str, place: str) -> Iterator[tuple[dict[str, Any], str]]:
    for number, found in enumerate(_list(owner, key, place)):
        where = f"{place}.{key}[{number}]"
        yield _object(found, where), where
