"""OTLP in protobuf: requests of exporters as the objects that OTLP JSON has for them.

Here belongs the wire format and the fields of the messages that carry spans, no meaning. Fields that are not
in the tables are passed over, as protobuf wants it; identifiers become text as in JSON, in hexadecimal.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from possibly.errors import TraceError

DEEPEST = 64
"""Messages inside each other; values of attributes may nest."""


class _Field(NamedTuple):
    key: str
    kind: str
    """text, hex, bytes, number, signed, flag, fixed (64 bits), double; or the name of a message."""
    is_list: bool = False


_MESSAGES: Mapping[str, Mapping[int, _Field]] = {
    "request": {1: _Field("resourceSpans", "resource spans", True)},
    "resource spans": {1: _Field("resource", "resource"), 2: _Field("scopeSpans", "scope spans", True)},
    "resource": {1: _Field("attributes", "attribute", True)},
    "scope spans": {2: _Field("spans", "span", True)},
    "span": {
        1: _Field("traceId", "hex"),
        2: _Field("spanId", "hex"),
        4: _Field("parentSpanId", "hex"),
        5: _Field("name", "text"),
        6: _Field("kind", "number"),
        7: _Field("startTimeUnixNano", "fixed"),
        8: _Field("endTimeUnixNano", "fixed"),
        9: _Field("attributes", "attribute", True),
        11: _Field("events", "event", True),
        13: _Field("links", "link", True),
        15: _Field("status", "status"),
    },
    "event": {
        1: _Field("timeUnixNano", "fixed"),
        2: _Field("name", "text"),
        3: _Field("attributes", "attribute", True),
    },
    "link": {1: _Field("traceId", "hex"), 2: _Field("spanId", "hex")},
    "status": {3: _Field("code", "number")},
    "attribute": {1: _Field("key", "text"), 2: _Field("value", "value")},
    "value": {
        1: _Field("stringValue", "text"),
        2: _Field("boolValue", "flag"),
        3: _Field("intValue", "signed"),
        4: _Field("doubleValue", "double"),
        5: _Field("arrayValue", "values"),
        6: _Field("kvlistValue", "attributes"),
        7: _Field("bytesValue", "bytes"),
    },
    "values": {1: _Field("values", "value", True)},
    "attributes": {1: _Field("values", "attribute", True)},
}


def request_of(data: bytes) -> dict[str, Any]:
    """The request that an exporter has sent."""
    return _message(memoryview(data), "request", 0)


def _message(data: memoryview, name: str, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise TraceError("the request is nested too deeply")
    found: dict[str, Any] = {}
    for number, value in _fields(data):
        field = _MESSAGES[name].get(number)
        if field is None:
            continue
        made = _made(field.kind, value, depth)
        if field.is_list:
            found.setdefault(field.key, []).append(made)
        else:
            found[field.key] = made
    return found


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field: a number, or bytes."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        match tag & 7:
            case 0:
                value, at = _number(data, at)
                yield tag >> 3, value
            case 1 | 2 | 5 as wire:
                size = {1: 8, 5: 4}.get(wire)
                if size is None:
                    size, at = _number(data, at)
                if size > len(data) - at:
                    raise TraceError("the request breaks off")
                yield tag >> 3, data[at : at + size]
                at += size
            case _:
                raise TraceError("the request is no protobuf of OTLP")


def _number(data: memoryview, at: int) -> tuple[int, int]:
    found = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise TraceError("the request breaks off")
        found |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return found & (1 << 64) - 1, at
    raise TraceError("the request is no protobuf of OTLP")


def _made(kind: str, value: int | memoryview, depth: int) -> Any:
    if isinstance(value, int):
        if kind not in ("number", "signed", "flag"):
            raise TraceError("the request is no protobuf of OTLP")
        if kind == "flag":
            return bool(value)
        return value - (1 << 64) if kind == "signed" and value >> 63 else value
    match kind:
        case "text":
            return bytes(value).decode(errors="replace")
        case "hex" | "bytes":
            return value.hex()
        case "fixed" | "double" if len(value) == 8:
            return struct.unpack("<Q" if kind == "fixed" else "<d", value)[0]
    if kind not in _MESSAGES:
        raise TraceError("the request is no protobuf of OTLP")
    return _message(value, kind, depth + 1)
