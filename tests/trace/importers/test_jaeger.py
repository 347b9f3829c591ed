"""Jaeger's JSON: the same runs as spans of OpenTelemetry, and clear errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from possibly.errors import TraceError, UsageError
from possibly.trace.importers.jaeger import import_jaeger


def span(identifier: str, start: int, duration: int, **fields: Any) -> dict[str, Any]:
    times = {"startTime": start, "duration": duration}
    return {
        "traceID": "T1",
        "spanID": identifier,
        "operationName": identifier,
        "processID": "p1",
        **times,
        **fields,
    }


def text(*spans: dict[str, Any]) -> list[str]:
    processes = {"p1": {"serviceName": "shop"}, "p2": {"serviceName": "bank"}}
    entry = {"traceID": "T1", "spans": list(spans), "processes": processes}
    return json.dumps({"data": [entry]}, indent=1).split("\n")


def child_of(identifier: str, kind: str = "CHILD_OF") -> list[dict[str, str]]:
    return [{"refType": kind, "traceID": "T1", "spanID": identifier}]


def test_spans_of_two_services() -> None:
    tags = [{"key": "span.kind", "value": "client"}, {"key": "http.code", "type": "int64", "value": 200}]
    logs = [{"timestamp": 110, "fields": [{"key": "event", "value": "charged"}]}]
    ((label, trace),) = import_jaeger(
        text(
            span("order", 100, 50, tags=tags),
            span("pay", 105, 20, processID="p2", references=child_of("order"), logs=logs),
        )
    )
    assert label == "" and [process.name for process in trace.processes] == ["shop", "bank"]
    events = [trace.event(number) for number in range(len(trace))]
    assert [(event.process, event.kind) for event in events if event.process == "shop"][:2] == [
        ("shop", "enter"),
        ("shop", "exit"),
    ]
    assert dict(events[0].set)["http_code"] == 200
    pay = next(event for event in events if event.fn == "pay" and event.kind == "enter")
    assert pay.after == (events[0].name,)
    assert [event.label for event in events if event.process == "bank" and event.label] == ["charged"]


def test_one_trace_may_stand_by_itself() -> None:
    found = json.loads("".join(text(span("a", 1, 5))))
    by_themselves: list[Any] = [{"data": found["data"][0]}, found["data"][0]]
    for each in (found, *by_themselves):
        ((label, trace),) = import_jaeger([json.dumps(each)])
        assert (label, len(trace)) == ("", 3)


def test_a_reference_that_is_no_parent_is_a_link() -> None:
    ((_, trace),) = import_jaeger(
        text(span("a", 1, 5), span("b", 10, 5, processID="p2", references=child_of("a", "FOLLOWS_FROM")))
    )
    later = next(trace.event(n) for n in range(len(trace)) if trace.event(n).fn == "b")
    assert len(later.after) == 1


@pytest.mark.parametrize(
    "lines, message",
    [
        (["[]"], "must be an object"),
        (['{"data": 3}'], "must be a list"),
        (['{"data": [{}]}'], "no span"),
        (text({"spanID": "a"}), "startTime"),
        (text({"startTime": 3}), "spanID"),
        (text({**span("a", 1, 1), "duration": "long"}), "microseconds"),
        (text(span("a", 1, 1, tags=[{"value": 3}])), "key"),
        (["{"], "broken JSON"),
    ],
)
def test_what_is_wrong_is_told(lines: list[str], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        import_jaeger(lines, file="log.json")
    with pytest.raises(UsageError):
        import_jaeger(lines, "regex")
