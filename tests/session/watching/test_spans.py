"""Spans that arrive live: from the real SDK in protobuf, in JSON, and what a stranger may send."""

from __future__ import annotations

import gzip
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from possibly.errors import UsageError
from possibly.logic.specification import Specification, property_from_text
from possibly.session.checking.check import Options
from possibly.session.watching import spans as module
from possibly.session.watching.spans import Collector, WatchedSpans
from possibly.verdict.model import Truth
from tests.waiting import PATIENCE

SECOND = 1_000_000_000


def watched(most: int = 100, **properties: str) -> WatchedSpans:
    found = [property_from_text(name[:3], text, name) for name, text in properties.items()]
    return WatchedSpans(Specification(properties=tuple(found)), Options(), most=most)


@contextmanager
def collecting(spans: WatchedSpans) -> Iterator[Collector]:
    with Collector("otlp://127.0.0.1:0", spans) as collector:
        thread = threading.Thread(target=collector.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


def posted(collector: Collector, body: bytes, path: str = "/v1/traces", **headers: str) -> int:
    url = f"http://127.0.0.1:{collector.server_address[1]}{path}"
    fields = {
        "Content-Type": "application/json",
        **{key.replace("_", "-"): text for key, text in headers.items()},
    }
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, fields), timeout=PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def span(name: str, identifier: str, start: int, end: int, **attributes: Any) -> dict[str, Any]:
    values = [{"key": key, "value": {"intValue": value}} for key, value in attributes.items()]
    times = {"startTimeUnixNano": str(start * SECOND), "endTimeUnixNano": str(end * SECOND)}
    return {"traceId": "ab" * 16, "spanId": identifier * 8, "name": name, "attributes": values, **times}


def request(*spans: dict[str, Any], service: str = "shop") -> bytes:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return json.dumps(
        {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}
    ).encode()


def test_the_sdk_of_opentelemetry_sends_protobuf() -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    spans = watched(ctl1="AG(!(shop.items == -3))", ctl2='EF(shop.ok & shop.rate == 0.5 & shop.who == "ann")')
    with collecting(spans) as collector:
        provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
        endpoint = f"http://127.0.0.1:{collector.server_address[1]}/v1/traces"
        provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        tracer = provider.get_tracer("test")
        with tracer.start_as_current_span("order") as outer:
            outer.set_attributes({"items": 3, "ok": True, "rate": 0.5, "who": "ann"})
            with tracer.start_as_current_span("pay") as inner:
                inner.set_attribute("items", -3)
                inner.add_event("charged", {"cents": 5})
        provider.shutdown()
    assert len(spans) == 2 and not collector.refused
    trace = spans.trace()
    kinds = [(trace.event(number).kind, trace.event(number).fn) for number in range(len(trace))]
    assert kinds[:2] == [("enter", "order"), ("enter", "pay")] and kinds[-2:-1] == [("exit", "order")]
    assert [verdict.truth for verdict in spans.report("run").verdicts] == [Truth.VIOLATED, Truth.HOLDS]


def test_json_and_gzip_and_a_second_time() -> None:
    spans = watched(ctl1="AG(!(shop.x >= 2))")
    with collecting(spans) as collector:
        body = request(span("a", "a1", 1, 2, x=1))
        assert posted(collector, body) == 200
        assert posted(collector, gzip.compress(body), Content_Encoding="gzip") == 200
        assert len(spans) == 1
        assert [change.truth for change in spans.changes(1.0)] == [Truth.HOLDS]
        inner = {**span("b", "b1", 1, 2, x=2), "parentSpanId": "a1" * 8}
        assert posted(collector, request(inner)) == 200
        assert [change.truth for change in spans.changes(10_000.0)] == [Truth.VIOLATED]
        assert list(spans.changes(20_000.0)) == []


@pytest.mark.parametrize(
    "body, headers",
    [
        (b"nonsense", {}),
        (b"[]", {}),
        (b"\xff\xff", {}),
        (request({"name": "no time", "spanId": "a1"}), {}),
        (b"\x0a\xff", {"Content_Type": "application/x-protobuf"}),
        (b"\x08\x01", {"Content_Type": "application/x-protobuf"}),
        (b"no gzip", {"Content_Encoding": "gzip"}),
    ],
)
def test_a_bad_request_changes_nothing(body: bytes, headers: dict[str, str]) -> None:
    spans = watched(ctl1="AG(!(shop.x >= 2))")
    with collecting(spans) as collector:
        assert posted(collector, body, **headers) == 400
        assert posted(collector, request(span("a", "a1", 1, 2, x=1))) == 200
        assert len(spans) == 1 and len(collector.refused) == 1


def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 2000)
    spans = watched(most=1, ctl1="AG(!(shop.x >= 2))")
    with collecting(spans) as collector:
        assert posted(collector, b" " * 3000) == 400
        assert posted(collector, gzip.compress(b" " * 9000), Content_Encoding="gzip") == 400
        assert posted(collector, b"{}", path="/elsewhere") == 404
        assert posted(collector, request(span("a", "a1", 1, 2, x=1), span("b", "b1", 1, 2, x=1))) == 200
    assert spans.is_full and spans.report("run").verdicts[0].truth is Truth.UNKNOWN


def test_only_this_machine() -> None:
    with pytest.raises(UsageError, match="this machine"):
        Collector("otlp://0.0.0.0:4318", watched())
