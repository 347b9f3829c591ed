"""Spans of OpenTelemetry that arrive while services run: a collector that checks properties.

Here belongs what has arrived and what it is worth, and the requests of exporters, no words for the user. A
span arrives when it has ended, often before its parent, and only all of them together tell the tracks and the
order (`trace.importers.otlp`). So the run so far is put together anew and checked whenever there is time, and
what is found is of the spans so far: nothing is final before the end.

Law: memory is bounded. Requests have a largest size, also when they are unpacked, and beyond `most` spans
nothing more is taken; everything is unknown then. A bad request is answered as such and changes nothing.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import replace as copied
from http.server import BaseHTTPRequestHandler, HTTPServer
from time import perf_counter
from typing import Any

from possibly.errors import FormulaError, TraceError, UsageError
from possibly.logic.specification import Specification
from possibly.records import replace
from possibly.session.checking.check import Options, check_trace
from possibly.session.watching.listening import LOOPBACK, Address
from possibly.session.watching.watch import Change
from possibly.trace.importers.otlp import spans_of
from possibly.trace.importers.otlp_protobuf import request_of
from possibly.trace.importers.otlp_tracks import Key, Span, trace_of
from possibly.trace.intern import decoded
from possibly.trace.model import Trace
from possibly.verdict.model import Report, Truth, Verdict

MOST_SPANS = 500_000
LARGEST = 32 << 20
"""Bytes of a request, packed and unpacked."""
PATH = "/v1/traces"
SECONDS = 30.0
"""That a sender may take for its request."""
SCHEME = "otlp://"


class WatchedSpans:
    """The spans so far, each once: an exporter that heard no answer sends again."""

    def __init__(self, specification: Specification, options: Options, *, most: int = MOST_SPANS) -> None:
        self.specification, self.options = specification, options
        self._most = most
        self._spans: dict[Key, Span] = {}
        self.is_full = False
        self._told: dict[str, Truth] = {}
        self._checked = 0
        self._cost = self._checked_when = 0.0

    def __len__(self) -> int:
        return len(self._spans)

    def add(self, request: dict[str, Any]) -> None:
        """The spans of one request; an error leaves all of them out."""
        for span in spans_of(request):
            if span.key not in self._spans and len(self._spans) >= self._most:
                self.is_full = True
                return
            self._spans.setdefault(span.key, span)

    def trace(self) -> Trace:
        """The run so far; the spans stay as they are."""
        return trace_of([copied(span) for span in self._spans.values()], None)

    def changes(self, now: float, *, share: float = 0.1) -> Iterator[Change]:
        """Verdicts on the run so far that are new, if to find out takes at most this share of the time."""
        if len(self) == self._checked or now - self._checked_when < self._cost / share:
            return
        started = perf_counter()
        self._checked = len(self)
        for each in self.specification.properties:
            truth = self._truth(replace(self.specification, properties=(each,)))
            if truth is not None and self._told.get(each.name) is not truth:
                self._told[each.name] = truth
                yield Change(each, truth, False, len(self))
        self._cost, self._checked_when = perf_counter() - started, now

    def _truth(self, specification: Specification) -> Truth | None:
        try:
            report = check_trace(self.trace(), specification, replace(self.options, explain=False))
        except FormulaError:
            return None  # a service or an attribute that nobody has spoken of yet
        return report.verdicts[0].truth

    def report(self, name: str) -> Report:
        if self.is_full:
            reason = f"there were more than {self._most:,} spans"
            found = self.specification.properties
            verdicts = [
                Verdict(each.name, each.language, each.text, Truth.UNKNOWN, reason=reason) for each in found
            ]
            return Report(name, 0, 0, tuple(verdicts))
        return replace(check_trace(self.trace(), self.specification, self.options), trace=name)


class Collector(HTTPServer):
    """OTLP over HTTP, on the loopback interface alone; one request at a time."""

    def __init__(self, text: str, watched: WatchedSpans) -> None:
        address = Address.of(text.removeprefix(SCHEME).rstrip("/"))
        if address.path or address.host not in LOOPBACK:
            raise UsageError("otlp:// is a port of this machine", hint="such as otlp://127.0.0.1:4318")
        self.watched = watched
        self.refused: list[str] = []
        try:
            super().__init__((address.host, address.port), _Requests)
        except OSError as error:
            raise UsageError(f"cannot listen on {address}: {error.strerror or error}") from None
        self.timeout = 0.2

    def handle_error(self, *_: object) -> None:
        """Whoever hangs up in the middle is his own loss."""


class _Requests(BaseHTTPRequestHandler):
    server: Collector
    timeout = SECONDS
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        if self.path.rstrip("/") != PATH:
            self._answer(404, b"")
            return
        is_json = "json" in self.headers.get("Content-Type", "")
        try:
            body = self._body()
            request = decoded(body.decode()) if is_json else request_of(body)
            if not isinstance(request, dict):
                raise TraceError("a request must be an object")
            self.server.watched.add(request)
        except (TraceError, UnicodeDecodeError, OSError, EOFError) as error:
            self.server.refused.append(str(error))
            self._answer(400, json.dumps({"message": str(error)}).encode())
            return
        self._answer(200, b"{}" if is_json else b"", is_json)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            raise TraceError(f"a request has a Content-Length of at most {LARGEST:,} bytes")
        body = self.rfile.read(int(length))
        if self.headers.get("Content-Encoding", "") != "gzip":
            return body
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            found = file.read(LARGEST + 1)
        if len(found) > LARGEST:
            raise TraceError(f"a request unpacks to more than {LARGEST:,} bytes")
        return found

    def _answer(self, status: int, body: bytes, is_json: bool = True) -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if is_json else "application/x-protobuf")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the monitor says what matters."""
