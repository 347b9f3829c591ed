"""OTLP JSON: tracks, order, variables, and errors that name the span."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from possibly.errors import TraceError, UsageError
from possibly.order.computation import Computation
from possibly.trace.importers.otlp import import_otlp
from possibly.trace.model import Trace
from possibly.views.cli.main import main

EXAMPLE = Path(__file__).parents[3] / "examples" / "otlp"
INTERNAL, SERVER, CLIENT = 1, 2, 3


def span(number: int, start: int, end: int | None, parent: int = 0, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": "AB", "spanId": f"{number:016x}", "name": f"s{number}"}
    found |= {"startTimeUnixNano": str(start), "kind": INTERNAL}
    if end is not None:
        found["endTimeUnixNano"] = str(end)
    if parent:
        found["parentSpanId"] = f"{parent:016x}"
    return found | fields


def attributes(**values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key.replace("__", "."), "value": value} for key, value in values.items()]


def request(**services: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes(service__name={"stringValue": service})},
                "scopeSpans": [{"scope": {"name": "test"}, "spans": spans}],
            }
            for service, spans in services.items()
        ]
    }


def imported(**services: list[dict[str, Any]]) -> Trace:
    return import_otlp(json.dumps(request(**services)).split("\n"))[0][1]


def lines(trace: Trace) -> list[str]:
    found = []
    for number in range(len(trace)):
        event = trace.event(number)
        if event.kind == "end":
            continue
        what = event.label or f"{event.kind} {event.fn}"
        found.append(f"{event.process} {what}" + (f" after {' '.join(event.after)}" if event.after else ""))
    return found


# ---- tracks -----------------------------------------------------------------------------------------


def test_children_inside_are_calls_and_overlapping_ones_are_apart() -> None:
    trace = imported(a=[span(1, 10, 90), span(2, 20, 40, 1), span(3, 30, 60, 1), span(4, 50, 70, 1)])
    assert lines(trace) == [
        "a enter s1",
        "a enter s2",
        "a/2 enter s3 after a:1",
        "a exit s2",
        "a enter s4",
        "a/2 exit s3",
        "a exit s4",
        "a exit s1",
    ]


def test_roots_of_one_service_are_not_ordered_by_the_clock() -> None:
    trace = imported(a=[span(1, 10, 20), span(2, 30, 40)])
    assert [process.name for process in trace.processes] == ["a", "a/2"]
    assert [trace.event(number).kind for number in range(6)] == ["enter", "exit", "end"] * 2
    assert Computation(trace).concurrent(0, 3)


def test_threads_are_tracks() -> None:
    thread = attributes(thread__name={"stringValue": "main"})
    trace = imported(
        a=[span(1, 10, 20, attributes=thread), span(2, 30, 40, attributes=thread), span(3, 35, 50)]
    )
    assert [process.name for process in trace.processes] == ["a/main", "a"]
    assert lines(trace)[:3] == ["a/main enter s1", "a/main exit s1", "a/main enter s2"]


def test_a_child_with_the_same_times_is_inside() -> None:
    trace = imported(a=[span(2, 10, 20, 1), span(1, 10, 20)])
    assert lines(trace) == ["a enter s1", "a enter s2", "a exit s2", "a exit s1"]


def test_events_of_a_span_stand_where_they_happened() -> None:
    inner = span(2, 20, 40, 1, events=[{"timeUnixNano": "30", "name": "in"}])
    outer = span(1, 10, 90, events=[{"timeUnixNano": t, "name": f"at {t}"} for t in ("10", "35", "40", "95")])
    assert lines(imported(a=[outer, inner])) == [
        "a enter s1",
        "a at 10",
        "a enter s2",
        "a in",
        "a at 35",
        "a exit s2",
        "a at 40",
        "a at 95",
        "a exit s1",
    ]


# ---- order ------------------------------------------------------------------------------------------


def test_a_client_waits_for_its_server_unless_the_clocks_deny_it() -> None:
    client, server = span(1, 10, 50, kind=CLIENT), span(2, 20, 40, 1, kind=SERVER)
    found = ["a enter s1", "b enter s2 after a:1", "b exit s2", "a exit s1 after b:2"]
    assert lines(imported(a=[client], b=[server])) == found
    late = span(2, 20, 60, 1, kind=SERVER)
    assert lines(imported(a=[client], b=[late])) == [
        "a enter s1",
        "b enter s2 after a:1",
        "a exit s1",
        "b exit s2",
    ]
    consumer = span(2, 20, 40, 1, kind="SPAN_KIND_CONSUMER")
    assert lines(imported(a=[client], b=[consumer]))[-1] == "a exit s1"


def test_clocks_of_two_services_may_differ() -> None:
    trace = imported(a=[span(1, 100, 200)], b=[span(2, 10, 20, 1)])
    assert lines(trace)[:2] == ["a enter s1", "b enter s2 after a:1"]


def test_links_are_order_and_strangers_are_left_out() -> None:
    links = [{"traceId": "ab", "spanId": f"{1:016x}"}, {"traceId": "ab", "spanId": f"{77:016x}"}]
    trace = imported(a=[span(1, 10, 20)], b=[span(2, 30, 40, 99, links=links)])
    assert lines(trace)[2] == "b enter s2 after a:1"


def test_an_open_span_has_no_exit() -> None:
    assert lines(imported(a=[span(1, 10, None), span(2, 20, 30, 1)])) == [
        "a enter s1",
        "a enter s2",
        "a exit s2",
    ]


# ---- variables --------------------------------------------------------------------------------------


def test_attributes_are_variables() -> None:
    values = attributes(
        http__route={"stringValue": "/x"},
        n={"intValue": "-12"},
        m={"intValue": 3},
        d={"doubleValue": 1.5},
        b={"boolValue": True},
        l={"arrayValue": {"values": [{"intValue": "1"}, {}]}},
        o={"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}},
        code__filepath={"stringValue": "shop.py"},
        code__lineno={"intValue": "7"},
    )
    first, last = imported(a=[span(1, 10, 20, attributes=values, status={"code": 2})]).event(0), None
    assert first.at == "shop.py:7" and last is None
    assert dict(first.set)["http_route"] == "/x" and dict(first.set)["n"] == -12
    assert [dict(first.set)[name] for name in "mdblo"] == [3, 1.5, True, [1, None], {"k": "v"}]
    trace = imported(a=[span(1, 10, 20, status={"code": "STATUS_CODE_ERROR"})])
    assert dict(trace.event(1).set) == {"status": "error"} and trace.event(0).t == 1e-8


# ---- texts and errors -------------------------------------------------------------------------------


def test_a_request_a_line() -> None:
    text = [json.dumps(request(a=[span(1, 10, 20)])), "", json.dumps(request(b=[span(2, 12, 14, 1)]))]
    assert lines(import_otlp(text)[0][1])[1] == "b enter s2 after a:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json:1: the text is empty"),
        ("{}", "x.json: there is no span in this text (expected resourceSpans with scopeSpans)"),
        ("[]", "x.json: the text must be an object, found a list"),
        ('{"a": 1,\n "b" 2}', "x.json:2:6: broken JSON, expecting ':' delimiter"),
        ('{"resourceSpans": 3}', "x.json: resourceSpans must be a list, found the number 3"),
        ('{}\n{"resourceSpans": [7]}', "x.json:2: resourceSpans[0] must be an object, found the number 7"),
        ('{}\n{"a"', "x.json:2:5: broken JSON, expecting ':' delimiter"),
    ],
)
def test_broken_texts_are_named(text: str, message: str) -> None:
    with pytest.raises(TraceError) as found:
        import_otlp(text.split("\n"), file="x.json")
    assert str(found.value) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"spanId": ""}, 'a span needs "spanId"'),
        ({"spanId": 3}, '"spanId" must be a string, found the number 3'),
        ({"startTimeUnixNano": "soon"}, '"startTimeUnixNano" must be nanoseconds, found the string "soon"'),
        ({"startTimeUnixNano": 0}, 'a span needs "startTimeUnixNano"'),
        ({"endTimeUnixNano": "5"}, "the span ends before it starts"),
        ({"attributes": [{"value": {}}]}, 'an attribute needs "key", a string'),
        ({"attributes": [{"key": "k", "value": {"intValue": "x"}}]}, "a value that is none of OTLP"),
        ({"events": {}}, "must be a list"),
        ({"links": [1]}, "must be an object"),
        ({"spanId": f"{1:016x}"}, "a second span 0000000000000001 of trace ab"),
    ],
)
def test_a_bad_span_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(TraceError) as found:
        imported(a=[span(1, 10, 20), span(2, 12, 14) | fields])
    assert "resourceSpans[0].scopeSpans[0].spans[1]" in str(found.value) and message in str(found.value)


def test_spans_that_come_before_themselves_are_refused() -> None:
    links = [{"traceId": "AB", "spanId": f"{2:016x}"}]
    with pytest.raises(TraceError, match="comes before itself"):
        imported(a=[span(1, 10, 20, links=links)], b=[span(2, 10, 20, 1)])
    with pytest.raises(TraceError, match="comes before itself"):
        imported(a=[span(1, 10, 20, 2)], b=[span(2, 10, 20, 1)])


def test_expressions_are_for_logs() -> None:
    with pytest.raises(UsageError, match="--parser"):
        import_otlp(["{}"], "(?<host>x)")


# ---- generated spans --------------------------------------------------------------------------------


def test_generated_spans_keep_what_they_say() -> None:
    """Every start and end is there once, parents start first, and the stacks fit: the builder checks them."""
    seen: Counter[str] = Counter()
    for seed in range(300):
        random = Random(seed)
        services: dict[str, list[dict[str, Any]]] = {"a": [], "b": []}
        ends: list[tuple[int, int]] = []
        for number in range(1, random.randint(2, 12)):
            parent = random.randint(0, number - 1)
            low, high = ends[parent - 1] if parent and random.random() < 0.7 else (1, 40)
            start = random.randint(low, high)
            end = random.randint(start, max(start, high))
            ends.append((start, end))
            kind = random.choice([INTERNAL, SERVER, CLIENT])
            services[random.choice("ab")].append(span(number, start, end, parent, kind=kind))
        trace = imported(**services)
        computation = Computation(trace)
        events = [trace.event(number) for number in range(len(trace))]
        starts = {event.fn: event.number for event in events if event.kind == "enter"}
        assert len(starts) * 2 + len(trace.processes) == len(events)
        for each in (each for spans in services.values() for each in spans):
            if "parentSpanId" in each:
                first, then = starts[f"s{int(each['parentSpanId'], 16)}"], starts[each["name"]]
                assert not computation.concurrent(first, then) and first < then
                seen["parent"] += 1
        seen["tracks"] += len(trace.processes)
    assert seen["parent"] > 500 and seen["tracks"] > 900


# ---- the example ------------------------------------------------------------------------------------


def test_the_shop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run.jsonl"
    assert main(["import", "otlp", str(EXAMPLE / "spans.json"), "-o", str(run)]) == 0
    assert main(["check", str(run), "--spec", str(EXAMPLE / "shop.spec"), "--only", "mailed"]) == 0
    capsys.readouterr()
    assert main(["check", str(run), "--spec", str(EXAMPLE / "shop.spec"), "--only", "apart"]) == 1
    assert "The recorded order satisfies it; another order" in capsys.readouterr().out


def test_an_instance_is_named_where_there_are_several() -> None:
    def entry(instance: str, identifier: str) -> dict[str, Any]:
        names = {"service.name": "shop", "service.instance.id": instance}
        attributes = [{"key": key, "value": {"stringValue": text}} for key, text in names.items()]
        times = {"startTimeUnixNano": "10", "endTimeUnixNano": "20"}
        spans = [{"traceId": "ab", "spanId": identifier, "name": "x", **times}]
        return {"resource": {"attributes": attributes}, "scopeSpans": [{"spans": spans}]}

    def names(*entries: dict[str, Any]) -> list[str]:
        ((_, trace),) = import_otlp([json.dumps({"resourceSpans": list(entries)})])
        return [process.name for process in trace.processes]

    assert names(entry("one", "a1")) == ["shop"]
    assert names(entry("one", "a1"), entry("two", "b2")) == ["shop@one", "shop@two"]
